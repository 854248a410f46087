import FileSystem
import Synchronization

/// Probes the young files of a source as they are read, and counts those that stay racy.
package final class SettlingProbes: Sendable {
    /// The files that stay racy.
    package struct Refused: Sendable {
        /// By reason.
        package var counts: [SettlingProbe.Refusal: Int] = [:]
        /// The first that a program has open for writing, at most 100.
        package var written: [RelativePath] = []
    }

    let check: RacyCheck
    private let found = Mutex(Refused())
    private let latest = Mutex(SettlingProbe.Refusal?.none)

    package var refused: Refused { found.withLock(\.self) }

    init(_ check: RacyCheck) {
        self.check = check
    }

    /// - Parameters:
    ///   - status: of the file, a moment ago.
    ///   - file: open for reading only; its content is read next.
    /// - Returns: nil for a file that needs no probe.
    func probe(
        _ path: RelativePath, _ status: FileStatus, _ file: borrowing FileDescriptor
    ) throws(Errno) -> SettlingProbe? {
        guard check.isWorthProbing(status) else { return nil }
        let probe = try SettlingProbe(file)
        if let refusal = probe.refusal { note(refusal, path) }
        return probe
    }

    /// Counts a file that stays racy.
    func note(_ refusal: SettlingProbe.Refusal, _ path: RelativePath) {
        latest.withLock { $0 = refusal }
        found.withLock {
            $0.counts[refusal, default: 0] += 1
            if refusal == .writer, $0.written.count < 100 { $0.written.append(path) }
        }
    }

    /// The refusal since the last call, where one file is read at a time; another machine counts it.
    func takeLatest() -> SettlingProbe.Refusal? { latest.withLock { $0.take() } }
}
