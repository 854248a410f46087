import FileStorage
import FileSystem
import FsyncLite

/// Shows the snapshots as a file system until somebody stops it.
enum SnapshotMountCommand: ReadingCommand {
    private static let place = ArgumentDescription(
        "DIR", "an empty directory, on which it is mounted", kind: .directory)
    private static let allowOther = OptionDescription.flag(
        "--allow-other",
        "let other users of this machine in: each reads what the recorded rights let them read")
    private static let snapshot = OptionDescription.value("--snapshot", "ID", "show only this snapshot")

    static let description = CommandDescription(
        name: "snapshot mount",
        summary: "Show each snapshot as a directory, to copy from.",
        discussion: """
            DIR gets a directory for each snapshot, named by its local time, such as 2026-11-23T07:57:55. The present tree \
            is among them. latest and the labels are symlinks. A label that looks like a date is only in DIR/ids, which has \
            the snapshots by their ids. All of it is read-only, and files have their recorded owners, groups, modes, ACLs \
            and times. Copy from it with cp -a. If a file was edited or damaged, it cannot be opened, and standard error \
            names it. The next run moves such an edit to the snapshot before it.
            The command runs in the foreground. Ctrl-C, SIGTERM, SIGHUP or umount DIR end it. Other commands run as ever \
            meanwhile: new snapshots appear, and those that are removed disappear.
            Users other than root need the package fuse3. To mount at each boot, see scripts/systemd/fsync-lite-mount@.service.
            """,
        arguments: [.target, place], options: [allowOther, snapshot],
        examples: [
            ("fsync-lite snapshot mount mirror /mnt/old", "Look around in all snapshots"),
            (
                "fsync-lite snapshot mount /srv/backup /mnt/old --allow-other",
                "Let users fetch their own old files"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument(.target)
        let directory = LocalFile(bytes: try invocation.argument(place))
        if let far = try Endpoint(argument: path) {
            throw UsageError(
                "\(quoted(path)) is on another machine. Run the mount there",
                hint:
                    "next: ssh -t \(far.destination) fsync-lite snapshot mount \(Shell.word(far.path)) DIR")
        }
        TerminationSignal.watchHangUp()
        try Target(path: path).mount(
            at: directory, only: invocation.options.text(snapshot),
            allowsOthers: invocation.options.has(allowOther), tell: { Console.complain($0) }
        ) { place in
            try console.line(
                "\(escapedText(path)) is mounted on \(escapedText(place)); end it with Ctrl-C or: umount \(Shell.word(place))"
            )
            try console.flush()
        }
        return .done
    }
}
