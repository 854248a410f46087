import FileSystem
import FsyncLite

enum SnapshotVerifyCommand: Command {
    static var remoteTarget: ArgumentDescription? { .target }
    static var isReading: Bool { true }

    static let description = CommandDescription(
        "snapshot verify", summary: "Check that every snapshot's records and displaced files are there.",
        arguments: [.target], options: [.quiet] + OptionDescription.remote,
        examples: [("fsync-lite snapshot verify mirror", "After a disk had errors")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let (faults, count) = try invocation.target().verifyHistory()
        for (snapshot, error) in faults {
            Console.complain("\(SnapshotName.short(snapshot)) and what is older: \(error)")
        }
        if faults.isEmpty, !invocation.options.has(.quiet) {
            try console.line(count == 1 ? "1 snapshot is whole" : "\(count) snapshots are whole")
        }
        return faults.isEmpty ? .done : .invalidDocument
    }
}
