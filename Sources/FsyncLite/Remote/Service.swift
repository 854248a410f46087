import FileStorage

/// Serves a directory or a snapshot of this machine to another one, and writes nothing here. The other end is
/// a `RemoteTree` or a `FarSnapshot`.
public final class Service {
    /// The requests that are allowed.
    package enum Access: Sendable {
        /// Any directory and any snapshot. If `beneath` is given, only beneath it.
        case any(beneath: ServedDirectory?, Snapshots)
        /// This source only. A request must exclude at least what these filters exclude.
        case only(MirrorSource, Filters)
        /// Names, statuses and digests of a source.
        case digests(MirrorSource)
        case snapshot(Snapshots)
        case nothing
    }

    private let link: ServiceLink
    private let access: Access
    private var session: Session?

    init(_ link: ServiceLink, _ access: Access) {
        (self.link, self.access) = (link, access)
    }

    /// Answers requests until the connection ends.
    ///
    /// - Parameter onPause: called again and again while it waits for requests.
    /// - Returns: why it ended; nil if the other end ended it.
    public func run(_ onPause: () throws -> Void = {}) throws -> String? {
        do {
            while true {
                let requests = try link.requests(onPause)
                session?.announce(requests)
                for request in requests { try answer(request) }
            }
        } catch let end as ServiceLink.Ended {
            return end.reason
        }
    }

    private func answer(_ request: ServiceLink.Request) throws {
        do {
            if [.open, .snapshot].contains(request.kind) {
                session = nil
                let session =
                    try request.kind == .snapshot
                    ? Session.ofSnapshot(request, link, access) : Session.ofSource(request, link, access)
                self.session = session
                try session.describe(request.id)
            } else if let session {
                try session.answer(request)
            } else {
                throw WireError("nothing was opened")
            }
        } catch let error as ServiceLink.Ended {
            throw error
        } catch let error as WireError {
            try link.sendWithoutGrant(
                Service.failure(0, SyncError(.failed, "a request is not understood: \(error.reason)")))
            throw ServiceLink.Ended(reason: error.reason)
        } catch {
            try link.send(Service.failure(request.id, SyncError(wrapping: error)))
        }
    }

    /// Sends the other end the reason why this one ends.
    package var refuse: @Sendable (String) -> Void {
        // If this fails, the other end is gone.
        { [link] message in try? link.sendWithoutGrant(Service.failure(0, SyncError(.notServed(message)))) }
    }

    private static func failure(_ id: UInt32, _ error: SyncError) -> FrameWriter {
        var frame = FrameWriter(.failure, for: id)
        frame.text(error.code.rawValue)
        frame.text(error.refusal?.kind.rawValue ?? "")
        frame.bytes(error.refusal?.wayOut.arguments[Refusal.id] ?? [])
        frame.bytes((error.path ?? []).prefix(WireFormat.longestText))
        frame.text(error.message.shortened)
        return frame
    }
}
