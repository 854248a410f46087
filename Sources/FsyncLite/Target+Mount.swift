import FileStorage
import FileSystem

extension Target {
    /// Serves the snapshots as a read-only file system, until it is unmounted or a signal comes.
    ///
    /// - Parameters:
    ///   - only: shows this snapshot alone; nil for all.
    ///   - allowsOthers: users of this machine get in, each with the rights that the entries give.
    ///   - tell: a line for whoever started it.
    ///   - begun: called once it is mounted, with its place.
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
        // At the end, also by an error: who looks into the place of a server that is gone gets an error.
        var isEnded = false
        defer { if !isEnded { try? connection.unmount() } }
        TerminationSignal.finishes(true)
        let server = FuseServer(connection)
        try server.start { MountWorker(mounted, connection, $0) { server.passesFiles } }
        try begun(connection.place)
        while try !server.hasEnded(within: .milliseconds(200)) {
            guard TerminationSignal.signal == nil else {
                isEnded = true
                return try connection.unmount()
            }
            mounted.change(since: mounted.view)
            for name in mounted.takeStale() { connection.forget(name, in: MountNode.root.number) }
        }
        isEnded = true
    }
}
