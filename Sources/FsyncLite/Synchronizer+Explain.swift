import FileStorage

extension Synchronizer {
    /// Which filter decides about a path, in words.
    public func explain(_ path: RelativePath) throws -> String {
        switch source {
        case .mirror(let source):
            return "\(try options.filters.explain(path, source: source, target: target))"
        case .remote:
            throw SyncError(
                .usage,
                "which filter decides is told only where the source and the target are on one machine: run it there, "
                    + "with a path of that machine for each")
        case .snapshot: throw SyncError(.usage, path: target, "no filter decides about an earlier tree")
        }
    }
}
