import Synchronization

/// A directory of another machine, and the connection to it. A run connects only once.
final class RemoteSource: Sendable {
    private let connecting: @Sendable (any Monitor) throws -> RemoteLink
    private let link = Mutex<RemoteLink?>(nil)

    /// The source at a client that has connected.
    init(_ client: Client) { connecting = { _ in client.link } }

    /// nil if the source is on this machine.
    init?(_ source: MirrorSource) {
        guard case .remote(let endpoint, let access) = source else { return nil }
        connecting = { try FarProgram(endpoint: endpoint, access: access).connectToRead($0).link }
    }

    @discardableResult
    func connect(_ monitor: any Monitor) throws -> RemoteLink {
        try link.withLock { link in
            if let link { return link }
            let made = try connecting(monitor)
            link = made
            return made
        }
    }

    func open(_ options: SyncOptions, _ monitor: any Monitor) throws -> RemoteTree {
        try RemoteTree(connect(monitor), options, monitor)
    }
}
