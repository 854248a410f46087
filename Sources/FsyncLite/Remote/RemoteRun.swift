import FileStorage
import FileSystem

/// A command that another machine runs on its target. This machine gives the source and shows the output.
package final class RemoteRun {
    /// Receives the output of the other machine, on the reading thread. It returns false if the output was not asked
    /// for. That ends the run.
    package typealias Output = @Sendable (ArraySlice<UInt8>, RemoteCommand.Stream) -> Bool

    private let endpoint: Endpoint
    private let process: FarProcess
    private let link: ServiceLink

    /// Connects, and waits for the greeting of the other end.
    package init(on endpoint: Endpoint, _ access: RemoteAccess, _ output: @escaping Output) throws {
        self.endpoint = endpoint
        do {
            let program = FarProgram(endpoint: endpoint, access: access)
            (process, link) = try program.connect(isReadOnly: false) { process in
                let link = try ServiceLink(process, output)
                do {
                    try link.greet { if TerminationSignal.signal != nil { throw RemoteRun.interrupted } }
                } catch {
                    link.close()
                    throw error
                }
                return (process, link)
            }
        } catch let end as ServiceLink.Ended {
            throw SyncError(.unreachable, path: endpoint.bytes, end.reason ?? "the connection was lost")
        }
    }

    private static let interrupted = SyncError(.interrupted, "interrupted; the target is unchanged")

    deinit {
        link.close()
        process.close()
    }

    /// The state of the target if the connection is lost.
    package enum Certainty: Sendable {
        /// The command only reads.
        case reads
        /// The command asks before its commit.
        case asks
        /// The command may write at any time.
        case writes
    }

    /// Runs the command.
    ///
    /// - Parameters:
    ///   - access: what the other end may ask for.
    ///   - recovery: the command line to finish what a lost connection may have left.
    /// - Returns: its exit code.
    /// - Throws: `SyncError`: `unreachable`; `pending` if the connection was lost after the command may have
    ///   written; `interrupted` after a signal.
    package func run(
        _ command: RemoteCommand, giving access: Service.Access, _ certainty: Certainty, recovery: String
    ) throws -> Int32 {
        var mayCommit = false
        do {
            for frame in command.frames() { try link.sendWithoutGrant(frame) }
            try passOnSignal()
            _ = try Service(link, access).run { [link] in
                guard link.takeReady() else { return }
                mayCommit = true
                try link.sendWithoutGrant(FrameWriter(.go))
            }
            if let code = link.outcome {
                // After that it is ended by `deinit`.
                _ = process.end(atMost: .seconds(2))
                return Int32(code)
            }
            throw ServiceLink.Ended(reason: link.reasonOfEnd)
        } catch let end as ServiceLink.Ended {
            let reason = end.reason ?? "the connection was lost"
            // A command that has begun nothing ends at once by a signal.
            if certainty == .asks, !mayCommit, TerminationSignal.signal != nil { throw RemoteRun.interrupted }
            if certainty == .writes || certainty == .asks && mayCommit {
                throw SyncError(
                    .pending, path: endpoint.bytes,
                    "\(reason). The run may go on there and ends by itself, but its result is unknown here. Before the next run: \(recovery)"
                )
            }
            throw SyncError(
                .unreachable, path: endpoint.bytes,
                reason + (certainty == .asks ? "; the target is unchanged" : ""))
        }
    }

    /// Sends a signal to the other end. It has its own thread: the caller may be sending a large file.
    private func passOnSignal() throws {
        try WorkerThread().start { [link] in
            let pause = Semaphore()
            while !link.hasEnded {
                guard let signal = TerminationSignal.signal else {
                    _ = pause.wait(atMost: .milliseconds(100))
                    continue
                }
                var frame = FrameWriter(.cancel)
                frame.byte(UInt8(truncatingIfNeeded: signal))
                // If this fails, the other thread finds that the connection is lost.
                try? link.sendWithoutGrant(frame)
                return
            }
        }
    }
}
