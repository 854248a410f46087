import FileSystem
import Synchronization

/// A directory of another machine, and the connection to it, which is made once for a run.
final class RemoteSource: Sendable {
    private let connecting: @Sendable () throws -> RemoteLink
    private let link = Mutex<RemoteLink?>(nil)

    init(_ endpoint: Endpoint, _ access: RemoteAccess) {
        connecting = { try RemoteLink(to: endpoint, access) }
    }

    /// The source of a client, which has connected.
    init(_ client: Client) {
        connecting = { client.link }
    }

    func connect(_ monitor: any Monitor) throws { try connected().greet(monitor) }

    private func connected() throws -> RemoteLink {
        try link.withLock { link in
            if let link { return link }
            let made = try connecting()
            link = made
            return made
        }
    }

    func open(_ options: SyncOptions, _ monitor: any Monitor) throws -> RemoteTree {
        try RemoteTree(connected(), options, monitor)
    }
}
