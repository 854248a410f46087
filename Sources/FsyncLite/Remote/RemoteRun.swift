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

    deinit {
        link.close()
        process.close()
    }

    /// Has the command carried out.
    ///
    /// - Parameters:
    ///   - source: the directory to give; nil for a command without one.
    ///   - filters: what they leave out is not given, whatever is asked for.
    ///   - inquiry: the command that tells what became of it.
    /// - Returns: the exit code.
    /// - Throws: `SyncError` with code `unreachable`.
    package func run(
        _ command: RemoteCommand, source: MirrorSource?, _ filters: Filters, inquiry: String
    ) throws -> Int32 {
        var hasAsked = false
        var mayCommit = false
        do {
            try link.greet { [terminal] in
                if terminal.signal != nil {
                    throw SyncError(.interrupted, "interrupted; the target is unchanged")
                }
            }
            for frame in command.frames() { try link.tell(frame) }
            hasAsked = true
            var isCancelled = false
            _ = try Service(link, source.map { .only($0, filters) } ?? .nothing).run { [link, terminal] in
                if !isCancelled, let signal = terminal.signal {
                    var frame = FrameWriter(.cancel)
                    frame.byte(UInt8(truncatingIfNeeded: signal))
                    try link.tell(frame)
                    isCancelled = true
                }
                if link.takeReady() {
                    mayCommit = true
                    try link.tell(FrameWriter(.go))
                }
            }
            if let code = link.outcome {
                process.hangUp()
                return Int32(code)
            }
            throw ServiceLink.Ended(reason: link.reasonOfEnd)
        } catch let end as ServiceLink.Ended {
            let reason = end.reason ?? "the connection was lost"
            let outcome =
                mayCommit
                ? "; the commit may have begun there, and ends by itself. To find out: \(inquiry)"
                : hasAsked ? "; the target is unchanged" : ""
            throw SyncError(.unreachable, path: endpoint.bytes, reason + outcome)
        }
    }
}
