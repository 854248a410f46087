import FsyncLite

enum SnapshotVerifyCommand: TargetCommand, ReadingCommand {
    static let description = CommandDescription(
        name: "snapshot verify",
        summary: "Check that the records and files of all snapshots exist.",
        arguments: [.target], options: [.quiet] + OptionDescription.remote,
        examples: [("fsync-lite snapshot verify mirror", "After a disk had errors")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.target()
        return try report(
            target.verifyHistory(), of: target, isQuiet: invocation.options.has(.quiet), &console)
    }

    /// Prints the result.
    ///
    /// - Parameter part: the part of the files that was read.
    static func report(
        _ found: Target.HistoryCheck, of target: Target, _ part: Verification.Part = .all, isQuiet: Bool,
        _ console: inout Console
    ) throws -> ExitCode {
        let (faults, count, shared) = (found.faults, found.count, found.shared)
        for (snapshot, _, error) in faults {
            Console.complain("\(SnapshotName.short(snapshot)) and older snapshots: \(error)")
        }
        let damaged = Set(faults.compactMap(\.file)).sorted()
        if !damaged.isEmpty {
            let patterns = damaged.prefix(3).map { Shell.word([UInt8(ascii: "/")] + $0.bytes) }
            Console.complain(
                "next: if no old version of these files is needed: fsync-lite snapshot purge \(Shell.path(target.name)) \(patterns.joined(separator: " "))"
            )
        }
        if let file = found.lost.first, !isQuiet {
            Console.complain(
                "note: \(Amount.of(found.lost.count, "old version is", "old versions are")) lost, because the copy was changed in the target: \(file.path), in \(SnapshotName.short(file.snapshot)) and older snapshots"
            )
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
