import FileStorage
import FileSystem

extension Target {
    /// Serves the snapshots as a read-only file system, until it is unmounted or a signal comes.
    ///
    /// - Parameters:
    ///   - only: the only snapshot to show; nil for all.
    ///   - allowsOthers: users of this machine have access, each with the rights that the entries give.
    ///   - tell: called with each line for the user who started it.
    ///   - begun: called with the place after it is mounted.
    package func mount(
        at place: LocalFile, only: String?, allowsOthers: Bool, tell: @escaping @Sendable (String) -> Void,
        begun: ([UInt8]) throws -> Void
    ) throws {
        let source = MountSource(path: path, name: name) { [self] in try open() }
        let mounted = try MountedTarget(source, only: only, complaints: tell)
        let root = mounted.view.root
        let place = MountPlace(place, tell)
        let directory = try place.directory(outside: root)
        if allowsOthers { try place.checkOthers(root) }
        let connection = try place.explaining {
            try FuseConnection.mount(root.presentPath(), at: directory, allowsOthers: allowsOthers)
        }
        let server = FuseServer(connection)
        try server.start { MountWorker(mounted, connection) { server.passesFiles } }
        try begun(connection.place)
        while !server.hasEnded(within: .milliseconds(200)) {
            guard TerminationSignal.signal == nil else {
                try connection.unmount()
                break
            }
            mounted.change(since: mounted.view)
            for (name, node) in mounted.takeStale() {
                connection.forget(name, in: MountNode.root.number)
                connection.forget(node.number)
            }
        }
    }
}
