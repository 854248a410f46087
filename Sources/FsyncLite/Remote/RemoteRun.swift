import FileStorage
import FileSystem

/// A command that another machine carries out on its target, while this one gives the source and shows what it says.
package final class RemoteRun {
    /// What the far end writes, and what this user wants meanwhile.
    package protocol Terminal: Sendable {
        /// Called on the thread that reads.
        ///
        /// - Returns: false if it was not asked for, which ends the run.
        func write(_ bytes: ArraySlice<UInt8>, to stream: RemoteCommand.Stream) -> Bool
        /// A signal that is to end the run.
        var signal: Int32? { get }
    }

    private let endpoint: Endpoint
    private let terminal: any Terminal
    private let process: FarProcess
    private let link: ServiceLink

    /// Connects, and waits until the far end has said who it is.
    package init(on endpoint: Endpoint, _ access: RemoteAccess, _ terminal: any Terminal) throws {
        (self.endpoint, self.terminal) = (endpoint, terminal)
        do {
            let program = FarProgram(endpoint: endpoint, access: access)
            (process, link) = try program.connect(isReadOnly: false) { process in
                let link = try ServiceLink(process, terminal)
                do {
                    try link.greet { if terminal.signal != nil { throw RemoteRun.interrupted } }
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

    /// What is known of the target once the line is lost.
    package enum Certainty: Sendable {
        /// The command only reads.
        case reads
        /// It asks for the word before its commit.
        case asks
        /// It writes at any time.
        case writes
    }

    /// Has the command carried out.
    ///
    /// - Parameters:
    ///   - access: what the far end may ask for.
    ///   - recovery: the command line that ends what a lost line may have left.
    /// - Returns: its exit code.
    /// - Throws: `SyncError` with code `unreachable`; `pending` if the line was lost after it may have written; `interrupted`
    ///   after a signal.
    package func run(
        _ command: RemoteCommand, giving access: Service.Access, _ certainty: Certainty, recovery: String
    ) throws -> Int32 {
        var mayCommit = false
        do {
            for frame in command.frames() { try link.tell(frame) }
            try passOnSignal()
            _ = try Service(link, access).run { [link] in
                guard link.takeReady() else { return }
                mayCommit = true
                try link.tell(FrameWriter(.go))
            }
            if let code = link.outcome {
                process.hangUp()
                return Int32(code)
            }
            throw ServiceLink.Ended(reason: link.reasonOfEnd)
        } catch let end as ServiceLink.Ended {
            let reason = end.reason ?? "the connection was lost"
            // A command that has begun nothing ends at once by a signal.
            if case .asks = certainty, !mayCommit, terminal.signal != nil { throw RemoteRun.interrupted }
            let mayHaveWritten =
                switch certainty {
                case .reads: false
                case .asks: mayCommit
                case .writes: true
                }
            if mayHaveWritten {
                throw SyncError(
                    .pending, path: endpoint.bytes,
                    "\(reason). The run may go on there and ends by itself, but its result is unknown here. Before the next run: \(recovery)"
                )
            }
            let isUnchanged = if case .asks = certainty { true } else { false }
            throw SyncError(
                .unreachable, path: endpoint.bytes, reason + (isUnchanged ? "; the target is unchanged" : ""))
        }
    }

    /// On a thread of its own, as this one may be sending a large file.
    private func passOnSignal() throws {
        try WorkerThread().start { [link, terminal] in
            let pause = Semaphore()
            while !link.hasEnded {
                guard let signal = terminal.signal else {
                    _ = pause.wait(atMost: .milliseconds(100))
                    continue
                }
                var frame = FrameWriter(.cancel)
                frame.byte(UInt8(truncatingIfNeeded: signal))
                // Whether it arrives or the line is lost, the other thread finds out.
                try? link.tell(frame)
                return
            }
        }
    }
}
