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
        let (root, enforcesACLs) = (mounted.view.root, try mounted.view.mayHaveACLs())
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
        let server = FuseServer(connection, enforcesACLs: enforcesACLs)
        try server.start {
            MountWorker(mounted, connection, $0, enforcesACLs: enforcesACLs) { server.passesFiles }
        }
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
