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
let code = Execution.run(.init(arguments)) {
    try CommandLineParser(program: .fsyncLite).parse(arguments)
}
HostProcess.exit(code.rawValue)
