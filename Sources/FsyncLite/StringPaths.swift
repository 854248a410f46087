// Paths as text, for programs that have text paths.

extension Synchronizer {
    /// - Parameters:
    ///   - source: the path of a directory, whose *contents* are mirrored; a symlink to one is followed.
    ///   - target: the path of the directory that becomes the mirror.
    public init(
        source: String, target: String, options: SyncOptions = SyncOptions(),
        monitor: any Monitor = SilentMonitor()
    ) {
        self.init(
            source: Array(source.utf8), target: Array(target.utf8), options: options, monitor: monitor)
    }
}

extension Target {
    /// - Parameter path: the path of a directory, which need not exist.
    public init(path: String) {
        self.init(path: Array(path.utf8))
    }
}

extension Tree {
    /// See the initializer that takes bytes.
    public init(path: String) throws {
        try self.init(path: Array(path.utf8))
    }
}

extension Restoration {
    /// - Parameters:
    ///   - target: the target with the snapshot.
    ///   - snapshot: an id or its beginning, `latest~1`, or a date.
    ///   - paths: the wanted paths, with all entries below them; all paths if empty.
    ///   - destination: the directory that becomes a copy of it; nil for the target itself.
    public init(target: String, snapshot: String, paths: [RelativePath] = [], destination: String? = nil) {
        self.init(
            target: Array(target.utf8), snapshot: snapshot, paths: paths,
            destination: destination.map { Array($0.utf8) })
    }
}
