import FileStorage
import FileSystem

/// Runs one command line and returns its exit code.
func run(_ arguments: [[UInt8]]) -> ExitCode {
    var console = Console()
    do {
        let code = try CommandLineParser(program: .fsyncLite).parse(arguments).run(&console)
        try console.flush()
        return code
    } catch {
        return ExitCode(reporting: error)
    }
}

HostProcess.exit(run(HostProcess.arguments).rawValue)
