import FileStorage
import FileSystem

/// Runs one command line and returns its exit code.
func run(_ arguments: [[UInt8]]) -> ExitCode {
    var console = Console()
    console.wantsDocument = arguments.prefix { !$0.spells("--") }.contains {
        $0.spells(OptionDescription.json.name)
    }
    do {
        let code = try CommandLineParser(program: .fsyncLite).parse(arguments).run(&console)
        try console.flush()
        return code
    } catch {
        let code = ExitCode(reporting: error)
        guard console.wantsDocument, !console.isBegun else { return code }
        console.discard()
        do {
            try ErrorDocument.write(error, code, to: &console)
            try console.flush()
        } catch {
            Console.complain("\(error)")
        }
        return code
    }
}

HostProcess.exit(run(HostProcess.arguments).rawValue)
