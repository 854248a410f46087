import FileStorage
import FileSystem
import FsyncLite

/// Runs one command line and says how it ended.
func run(_ arguments: [[UInt8]]) -> ExitCode {
    var console = Console()
    do {
        let program = ProgramDescription.fsyncLite
        let code: ExitCode
        switch try CommandLineParser(program: program).parse(arguments) {
        case .version:
            try console.line("\(program.name) \(program.version)")
            code = .done
        case .help(let command):
            try console.write(Array(HelpText(program: program).text(for: command).utf8))
            code = .done
        case .manual:
            try console.write(Array(ManualPage(program: program).text.utf8))
            code = .done
        case .invocation(let invocation):
            code = try run(invocation, &console)
        }
        try console.flush()
        return code
    } catch {
        return ExitCode(reporting: error)
    }
}

func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
    switch invocation.command.name {
    case "plan": try PlanCommand.run(invocation, &console)
    case "apply": try ApplyCommand.run(invocation, &console)
    case "run": try RunCommand.run(invocation, &console)
    case "recover": try RecoverCommand.run(invocation, &console)
    case "status": try StatusCommand.run(invocation, &console)
    case "manifest create": try ManifestCreateCommand.run(invocation, &console)
    case "manifest show": try ManifestShowCommand.run(invocation, &console)
    case "manifest list": try ManifestListCommand.run(invocation, &console)
    case "manifest diff": try ManifestDiffCommand.run(invocation, &console)
    case "snapshot list": try SnapshotListCommand.run(invocation, &console)
    case "snapshot show": try SnapshotShowCommand.run(invocation, &console)
    case "snapshot diff": try SnapshotDiffCommand.run(invocation, &console)
    case "snapshot log": try SnapshotLogCommand.run(invocation, &console)
    case "snapshot restore": try RestoreCommand.run(invocation, &console)
    case "snapshot create": try SnapshotCreateCommand.run(invocation, &console)
    case "snapshot prune": try SnapshotPruneCommand.run(invocation, &console)
    case "snapshot verify": try SnapshotVerifyCommand.run(invocation, &console)
    case "undo": try RestoreCommand.undo(invocation, &console)
    case "manifest export": try ManifestExportCommand.run(invocation, &console)
    case "completions": try CompletionsCommand.run(invocation, &console)
    case "manifest verify": try ManifestVerifyCommand.run(invocation, &console)
    case "settings show": try SettingsShowCommand.run(invocation, &console)
    case "settings init": try SettingsInitCommand.run(invocation, &console)
    default: throw UsageError("no command \(invocation.command.name)", hint: "run fsync-lite help")
    }
}

HostProcess.exit(run(HostProcess.arguments).rawValue)
