import FsyncLite

enum SnapshotListCommand: TargetCommand, ReadingCommand {
    private static let ids = OptionDescription.flag("--ids", "only the short ids, one per line")

    static let description = CommandDescription(
        name: "snapshot list", summary: "List the snapshots, the newest first.",
        arguments: [.target],
        options: [ids, .json, .settingsFile] + OptionDescription.remote,
        examples: [("fsync-lite snapshot list mirror", "See all snapshots, and why each one is kept")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.target()
        guard !invocation.options.has(ids) else {
            for snapshot in try target.names() { try console.line(snapshot.shortID) }
            return .done
        }
        let options = try RetentionOptions(settingsFor: invocation)
        let snapshots = try target.snapshots(options)
        let rules = try target.retention(options)
        if invocation.options.has(.json) {
            try SnapshotText.writeDocument(target.path, snapshots, rules, to: &console)
        } else {
            try SnapshotText.write(snapshots, rules, to: &console)
        }
        return snapshots.contains { $0.damage != nil } ? .invalidDocument : .done
    }
}
