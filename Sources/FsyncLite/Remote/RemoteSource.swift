import FileSystem
import Synchronization

/// A directory of another machine, and the connection to it, which is made once for a run.
final class RemoteSource: Sendable {
    private let endpoint: Endpoint
    private let access: RemoteAccess
    private let link = Mutex<RemoteLink?>(nil)

    init(_ endpoint: Endpoint, _ access: RemoteAccess) {
        (self.endpoint, self.access) = (endpoint, access)
    }

    func connect(_ monitor: any Monitor) throws { try connected().greet(monitor) }

    private func connected() throws -> RemoteLink {
        try link.withLock { link in
            if let link { return link }
            let made = try RemoteLink(to: endpoint, access)
            link = made
            return made
        }
    }

    func open(_ options: SyncOptions, _ monitor: any Monitor) throws -> RemoteTree {
        try RemoteTree(connected(), options, monitor)
    }
}
