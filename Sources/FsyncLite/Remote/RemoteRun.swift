import FileStorage
import FileSystem

/// A command that another machine carries out on its target, while this one gives the source and shows what it says.
package final class RemoteRun {
    /// What the far end writes, and what this user wants meanwhile.
    package protocol Terminal: Sendable {
        /// Called on another thread.
        func write(_ bytes: ArraySlice<UInt8>, to stream: RemoteCommand.Stream)
        /// A signal that is to end the run.
        var signal: Int32? { get }
    }

    private struct Output: ServiceLink.CommandOutput {
        let terminal: any Terminal

        func take(_ bytes: ArraySlice<UInt8>, of stream: RemoteCommand.Stream) {
            terminal.write(bytes, to: stream)
        }
    }

    private let endpoint: Endpoint
    private let process: FarProcess
    private let link: ServiceLink
    private let terminal: any Terminal

    /// Begins to connect.
    package init(on endpoint: Endpoint, _ access: RemoteAccess, _ terminal: any Terminal) throws {
        (self.endpoint, self.terminal) = (endpoint, terminal)
        process = try FarProcess(to: endpoint, access, isReadOnly: false)
        do {
            link = try ServiceLink(process, Output(terminal: terminal))
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
    ///   - source: the directory to give; nil for a command without one.
    ///   - filters: what they leave out is not given, whatever is asked for.
    ///   - inquiry: the command that tells what became of it.
    /// - Returns: the exit code.
    /// - Throws: `SyncError` with code `unreachable`; `interrupted` after a signal.
    package func run(
        _ command: RemoteCommand, source: MirrorSource?, _ filters: Filters, _ certainty: Certainty,
        inquiry: String
    ) throws -> Int32 {
        var hasAsked = false
        var mayCommit = false
        do {
            try link.greet { [terminal] in
                if terminal.signal != nil { throw RemoteRun.interrupted }
            }
            hasAsked = true
            for frame in command.frames() { try link.tell(frame) }
            try passOnSignal()
            _ = try Service(link, source.map { .only($0, filters) } ?? .nothing).run { [link] in
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
            let outcome: String
            switch certainty {
            case .asks where !mayCommit:
                // A command that has begun nothing ends at once by a signal.
                if terminal.signal != nil { throw RemoteRun.interrupted }
                outcome = hasAsked ? "; the target is unchanged" : ""
            case .asks:
                outcome =
                    "; the commit may have begun there, and ends by itself. To find out: \(inquiry)"
            case .writes:
                outcome = hasAsked ? "; what became of it is not known. To find out: \(inquiry)" : ""
            case .reads: outcome = ""
            }
            throw SyncError(.unreachable, path: endpoint.bytes, reason + outcome)
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
