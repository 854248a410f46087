/// Removes a directory tree on one mount. A mount point or a subvolume inside is an error.
public enum TreeRemoval {
    /// Removes everything that can be removed, and throws the first error.
    ///
    /// - Parameter isRemovable: asked for all except directories. A refused object is left, with the directories above
    ///   it.
    public static func remove(
        _ name: FileName, in parent: Directory, where isRemovable: (FileStatus) -> Bool = { _ in true }
    ) throws(SystemError) {
        guard let status = try parent.status(of: name) else { return }
        guard status.type == .directory else {
            if isRemovable(status) { try parent.unlink(name) }
            return
        }
        var chain = DirectoryChain(root: parent)
        var pending: [[FileName]] = []
        var isWhole = true
        var failure: SystemError?
        try enter(name, status, on: status.device, &chain, &pending)
        while let level = pending.indices.last {
            if let entry = pending[level].popLast() {
                let directory = try chain.current()
                guard let inner = try directory.status(of: entry) else { continue }
                guard inner.type == .directory || isRemovable(inner) else {
                    isWhole = false
                    continue
                }
                do throws(SystemError) {
                    if inner.type == .directory {
                        try enter(entry, inner, on: status.device, &chain, &pending)
                    } else {
                        try directory.unlink(entry)
                    }
                } catch {
                    if failure == nil { failure = error }
                }
            } else {
                let name = chain.name(at: chain.depth)
                chain.pop()
                pending.removeLast()
                do throws(SystemError) {
                    try chain.current().removeDirectory(name)
                } catch {
                    if failure == nil, isWhole || error.errno != .notEmpty { failure = error }
                }
            }
        }
        if let failure { throw failure }
    }

    private static func enter(
        _ name: FileName, _ status: FileStatus, on device: DeviceNumber, _ chain: inout DirectoryChain,
        _ pending: inout [[FileName]]
    ) throws(SystemError) {
        let parent = try chain.current()
        guard !status.isMountRoot, status.device == device else {
            throw SystemError("unlinkat", parent.path(of: name), .busy)
        }
        if status.permissions & 0o700 != 0o700 {
            // Without these permissions, only root can remove entries.
            try ObjectHandle(name, in: parent).setPermissions(0o700)
        }
        let directory = try parent.directory(name)
        let names = try DirectoryListing.names(in: directory)
        chain.push(directory, name, inode: try directory.status().inode)
        pending.append(names)
    }
}
