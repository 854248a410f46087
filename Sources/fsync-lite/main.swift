import FileSystem

do {
    try HostProcess.openStandardStreams()
} catch {
    Console.complain("\(error)")
    HostProcess.exit(ExitCode.failed.rawValue)
}
HostProcess.returnLargeBuffers()
HostProcess.keepAccessToNewFiles()
let arguments = HostProcess.arguments
let wantsDocument = arguments.prefix { !$0.spells("--") }.contains {
    $0.spells(OptionDescription.json.name)
}
let code = Execution.run(wantsDocument: wantsDocument) {
    try CommandLineParser(program: .fsyncLite).parse(arguments)
}
HostProcess.exit(code.rawValue)
