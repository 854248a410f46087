import FileStorage
import FileSystem

/// A run that may have written when the line to it was lost.
package struct LostLine: Sendable {
    package let reason: String
    /// Its commit, if it has announced one.
    package let commit: SyncProgress.Commit?
    /// What became of it; an error where that could not be asked.
    package let fate: Result<CommitFate, SyncError>

    init(reason: String, _ commit: SyncProgress.Commit?, fate: Result<CommitFate, SyncError>) {
        (self.reason, self.commit, self.fate) = (reason, commit, fate)
    }
}

extension RemoteRun {
    /// Seconds before each try to connect again.
    private static let pauses = [0, 1, 4]

    private struct Silence: ServiceLink.CommandOutput {
        func take(_ bytes: ArraySlice<UInt8>, of stream: RemoteCommand.Stream) -> Bool { false }
    }

    /// Connects again, and asks.
    func fate(of commit: SyncProgress.Commit?, at path: [UInt8]) -> Result<CommitFate, SyncError> {
        hangUp()
        var result = Result<CommitFate, SyncError>.failure(.init(.unreachable, "it was not asked"))
        let pause = Semaphore()
        for seconds in RemoteRun.pauses where terminal.signal == nil {
            if seconds > 0 { _ = pause.wait(atMost: .seconds(seconds)) }
            do {
                return .success(try ask(commit?.transaction ?? "", path))
            } catch let end as ServiceLink.Ended {
                result = .failure(SyncError(.unreachable, end.reason ?? "the connection was lost again"))
            } catch {
                result = .failure(SyncError(wrapping: error))
            }
        }
        return result
    }

    private func ask(_ transaction: String, _ path: [UInt8]) throws -> CommitFate {
        let interrupted = SyncError(.interrupted, "interrupted")
        let (process, link) = try RemoteRun.connect(to: endpoint, access, terminal, Silence(), interrupted)
        defer {
            link.close()
            process.close()
        }
        var frame = FrameWriter(.inquiry)
        frame.bytes(path)
        frame.text(transaction)
        try link.tell(frame)
        do {
            _ = try link.requests { if terminal.signal != nil { throw interrupted } }
            throw ServiceLink.Ended(reason: "it answers with a question")
        } catch let end as ServiceLink.Ended {
            guard let fate = link.outcome.flatMap(CommitFate.init(rawValue:)) else { throw end }
            return fate
        }
    }
}
