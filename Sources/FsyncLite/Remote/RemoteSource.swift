import FileSystem
import Synchronization

/// A directory of another machine, and the connection to it, which is made once for a run.
final class RemoteSource: Sendable {
    private let connecting: @Sendable (any Monitor) throws -> RemoteLink
    private let link = Mutex<RemoteLink?>(nil)

    init(_ endpoint: Endpoint, _ access: RemoteAccess) {
        connecting = { monitor in
            try FarProgram(endpoint: endpoint, access: access).connectToRead(monitor).link
        }
    }

    /// The source of a client, which has connected.
    init(_ client: Client) {
        connecting = { _ in client.link }
    }

    /// How a source is reached: by the client that has it, or by an endpoint; nil for one of this machine.
    convenience init?(_ source: MirrorSource, of client: Client? = nil) {
        if let client {
            self.init(client)
        } else if case .remote(let endpoint, let access) = source {
            self.init(endpoint, access)
        } else {
            return nil
        }
    }

    func connect(_ monitor: any Monitor) throws { _ = try connected(monitor) }

    private func connected(_ monitor: any Monitor) throws -> RemoteLink {
        try link.withLock { link in
            if let link { return link }
            let made = try connecting(monitor)
            link = made
            return made
        }
    }

    func open(_ options: SyncOptions, _ monitor: any Monitor) throws -> RemoteTree {
        try RemoteTree(connected(monitor), options, monitor)
    }
}
