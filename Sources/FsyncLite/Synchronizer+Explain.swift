import FileStorage

extension Synchronizer {
    /// Which filter decides about a path, in words.
    public func explain(_ path: RelativePath) throws -> String {
        switch source {
        case .mirror(let source):
            return "\(try options.filters.explain(path, source: source, target: target))"
        case .remote(let source):
            let target = LocalFile(bytes: target)
            let status = try target.exists ? PathResolver(target.directory()).status(of: path) : nil
            try source.connect(monitor)
            return try source.open(options, monitor).explain(path, ifMissing: status?.type, monitor)
        case .snapshot: throw SyncError(.usage, path: target, "no filter decides about an earlier tree")
        }
    }
}
