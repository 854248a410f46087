import FileSystem
import Synchronization

/// Probes the young files of a source when they are read, and counts those that remain racy.
package final class SettlingProbes: Sendable {
    /// The files that remain racy.
    package struct Refused: Sendable {
        /// By reason.
        package var counts: [SettlingProbe.Refusal: Int] = [:]
        /// The first files that a program has open for writing, at most 100.
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
    ///   - status: the status of the file, a moment ago.
    ///   - file: open for reading only. Its content must be read next.
    /// - Returns: nil for a file that needs no probe.
    func probe(
        _ path: RelativePath, _ status: FileStatus, _ file: borrowing FileDescriptor
    ) throws(Errno) -> SettlingProbe? {
        guard check.isWorthProbing(status) else { return nil }
        let probe = try SettlingProbe(file)
        if let refusal = probe.refusal { note(refusal, path) }
        return probe
    }

    /// Counts a file that remains racy.
    func note(_ refusal: SettlingProbe.Refusal, _ path: RelativePath) {
        latest.withLock { $0 = refusal }
        found.withLock {
            $0.counts[refusal, default: 0] += 1
            if refusal == .writer, $0.written.count < 100 { $0.written.append(path) }
        }
    }

    /// The refusal since the last call, for a caller that reads one file at a time. The other machine counts it.
    func takeLatest() -> SettlingProbe.Refusal? { latest.withLock { $0.take() } }
}
