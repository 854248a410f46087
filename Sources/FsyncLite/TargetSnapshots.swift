import FileStorage

extension Service.Snapshots {
    /// The snapshots of all targets, or of those beneath a directory.
    ///
    /// - Parameters:
    ///   - mayLock: the other machine may make other runs wait. It could also do that without a reason.
    ///   - read: turns a typed path into a path in a target's tree.
    package static func beneath(
        _ served: ServedDirectory?, mayLock: Bool,
        _ read: @escaping @Sendable ([UInt8], _ target: [UInt8]) throws -> RelativePath
    ) -> Self {
        Self { path, request in
            var restoration = Restoration(target: path, snapshot: request.snapshot)
            if let served {
                restoration.target = try served.confine(to: path, isWriting: false)
                try Target(path: restoration.target).checkMark()
            }
            let target = Target(path: restoration.target)
            restoration.paths = try request.paths.flatMap {
                try target.paths(named: read($0, restoration.target), in: restoration.snapshot)
            }
            return try open(restoration, request.locks && mayLock)
        }
    }

    /// The snapshot of this restoration, for every request.
    package static func only(_ restoration: Restoration) -> Self {
        Self { try open(restoration, $1.locks) }
    }

    private static func open(_ restoration: Restoration, _ locks: Bool) throws -> Opened {
        let holder = locks ? try restoration.lockTarget() : nil
        do {
            return (try CopiedSnapshot(of: restoration), holder)
        } catch let error as SyncError {
            let found = Target(path: restoration.target).explained(error, restoration)
            // The client shows a path as one on this machine, so a path in the tree gets the target's path before it.
            let isOfTree = restoration.paths.contains { $0.bytes == found.path }
            guard found.refusal == nil, found.code != .noMatch, found.path == nil || isOfTree else {
                throw found
            }
            let path = found.path.map { restoration.target + [UInt8(ascii: "/")] + $0 }
            throw SyncError(found.code, path: path ?? restoration.target, found.message)
        }
    }
}
