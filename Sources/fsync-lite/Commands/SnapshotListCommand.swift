import FsyncLite

enum SnapshotListCommand: Command {
    static let description = CommandDescription(
        "snapshot list", summary: "List the trees that can be had, the newest first.", arguments: [.target],
        options: [.json, .settingsFile],
        examples: [("fsync-lite snapshot list mirror", "What there is, and why it stays")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument(.target)
        let options = try RetentionOptions(settingsFor: path, invocation.options)
        let snapshots = try Target(path: path).snapshots(options)
        let rules = try Target(path: path).retention(options)
        if invocation.options.has(.json) {
            try SnapshotText.writeDocument(path, snapshots, rules, to: &console)
        } else {
            try SnapshotText.write(snapshots, rules, to: &console)
        }
        return snapshots.contains { $0.damage != nil } ? .invalidDocument : .done
    }
}
