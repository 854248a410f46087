import FileSystem
import FsyncLite

enum SnapshotVerifyCommand: TargetCommand, ReadingCommand {
    static let description = CommandDescription(
        name: "snapshot verify",
        summary: "Check that the records and files of all snapshots exist.",
        arguments: [.target], options: [.quiet] + OptionDescription.remote,
        examples: [("fsync-lite snapshot verify mirror", "After a disk had errors")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        try report(invocation.target().verifyHistory(), isQuiet: invocation.options.has(.quiet), &console)
    }

    /// Prints the result.
    ///
    /// - Parameter part: the part of the files that was read.
    static func report(
        _ found: Target.HistoryCheck, of part: Verification.Part = .all, isQuiet: Bool,
        _ console: inout Console
    ) throws -> ExitCode {
        let (faults, count, shared) = (found.faults, found.count, found.shared)
        for (snapshot, error) in faults {
            Console.complain("\(SnapshotName.short(snapshot)) and older snapshots: \(error)")
        }
        let outside = shared.filter(\.isOutside)
        for file in outside {
            Console.complain(
                "\(SnapshotName.short(file.snapshot)): \(file.path) is also a file outside of the target, and an edit there changes this snapshot"
            )
            Console.complain(
                "next: find DIR -xdev -inum \(file.inode), and replace the other name that it finds with a copy"
            )
        }
        if faults.isEmpty, !isQuiet {
            let snapshots = Amount.of(count, "snapshot")
            try console.line(
                part.text.map { "\(snapshots): no damage in \($0)" }
                    ?? "\(snapshots) \(count == 1 ? "is" : "are") whole")
            let inTree = shared.count - outside.count
            if inTree > 0 {
                try console.line(
                    "\(Amount.of(inTree, "old version is", "old versions are")) also in the present tree, by hard links: edit the source only"
                )
            }
        }
        return !faults.isEmpty ? .invalidDocument : outside.isEmpty ? .done : .different
    }
}
