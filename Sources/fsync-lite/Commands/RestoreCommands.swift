import FileStorage
import FileSystem
import FsyncLite

/// `snapshot restore` and `undo`: an earlier tree, by the steps of an apply.
enum RestoreCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let directory = invocation.value("--to")
        guard (directory == nil) == invocation.has("--in-place") else {
            throw UsageError(
                "where to?", hint: "give --to DIR for a copy, or --in-place to take the target back")
        }
        var restoration = Restoration(
            target: try invocation.argument("TARGET"), snapshot: try invocation.argumentText("ID"),
            paths: try invocation.arguments("PATH").map(path), destination: directory)
        restoration.linksFiles = invocation.has("--link")
        guard directory != nil || !restoration.linksFiles else {
            throw UsageError("--link is for a copy", hint: "give --to DIR, or leave it away")
        }
        return try run(restoration, invocation, &console)
    }

    static func undo(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.argument("TARGET")
        guard try Target(path: target).snapshots().count > 1 else {
            throw SyncError(.inputMissing, path: target, "there is nothing to undo: no apply is kept")
        }
        var restoration = Restoration(target: target, snapshot: "latest~1")
        restoration.keepsDrift = true
        return try run(restoration, invocation, &console)
    }

    private static func run(
        _ restoration: Restoration, _ invocation: Invocation, _ console: inout Console
    ) throws -> ExitCode {
        let command = SyncCommand(invocation, restoration)
        if invocation.has("--dry-run") { return try PlanCommand.run(command, &console) }
        TerminationSignal.watch()
        return ExitCode(try ApplyCommand.run(command, &console))
    }

    /// A path in the tree, as people type it.
    static func path(_ given: [UInt8]) throws -> RelativePath {
        guard let path = RelativePath(given.last == UInt8(ascii: "/") ? given.dropLast() : given[...]),
            !path.isRoot
        else {
            throw UsageError(
                "\(quoted(given)) is no path in the tree",
                hint: "give one such as src/main.c, without ./ and without / at the beginning")
        }
        return path
    }
}
