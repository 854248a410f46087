/// Copies directory trees. A copy is complete and durable, or does not exist.
public struct TreeCopy: ~Copyable {
    /// The statuses of the copied objects of the source, by inode number.
    private var copied: [UInt64: FileStatus] = [:]
    private var copier = FileCopier()
    private let attributes: CopiedAttributes

    public enum CopiedAttributes: Sendable {
        /// The permission bits.
        case permissions
        /// Permissions, owner and modification time.
        case all
    }

    public init(_ attributes: CopiedAttributes) {
        self.attributes = attributes
    }

    /// Copies a directory to a name in another directory. Symlinks remain symlinks. Each name of a file becomes a file.
    ///
    /// - Throws: `stale` for a file that changed meanwhile; `invalid` for a device, a socket, or a directory that would
    ///   be copied into itself.
    public mutating func copy(
        _ top: Directory, to name: FileName, in target: Directory, _ mode: Directory.RenameMode
    ) throws(SystemError) {
        let temporary = PendingFile.temporaryName
        try target.makeDirectory(temporary)
        do throws(SystemError) {
            let made = try target.directory(temporary)
            try copy(top, to: made)
            try made.syncFileSystem()
            try target.rename(temporary, to: target, name, mode)
        } catch {
            // The first error is reported. Objects that cannot be removed are left under the hidden name.
            try? TreeRemoval.remove(temporary, in: target)
            throw error
        }
        try target.sync()
    }

    /// Copies an open regular file to a name in a directory.
    ///
    /// - Parameter path: for messages.
    /// - Throws: `stale` if the file changed meanwhile.
    public mutating func copy(
        _ file: borrowing FileDescriptor, at path: [UInt8], to name: FileName, in target: Directory,
        _ mode: Directory.RenameMode
    ) throws(SystemError) {
        let before = try calling("statx", path) { () throws(Errno) in try file.status() }
        let copy = try PendingFile(name, in: target)
        _ = try copy.copy(file)
        switch attributes {
        case .permissions: try copy.setPermissions(before.permissions & 0o777)
        case .all: try copy.setAttributes(like: before)
        }
        let after = try calling("statx", path) { () throws(Errno) in try file.status() }
        guard after.isUnchanged(since: before) else { throw SystemError("read", path, .stale) }
        try copy.commit(mode)
        copied[before.inode] = before
    }

    /// Whether an object is unchanged since its copy. A change of one of several names moves the change time of all.
    public func isUnchanged(_ status: FileStatus) -> Bool {
        guard let known = copied[status.inode] else { return false }
        let parts: FileStatus.Differences = known.links > 1 ? .content : [.content, .changed]
        return known.equals(status, in: parts.union(.object))
    }

    /// Copies the content of a directory. Few directories are open at a time, even in a deep tree.
    private mutating func copy(_ top: Directory, to made: Directory) throws(SystemError) {
        var (from, to) = (DirectoryChain(root: top), DirectoryChain(root: made))
        let root = try made.status()
        var levels = [(names: try DirectoryListing.names(in: top), status: try top.status())]
        while let level = levels.indices.last {
            let (source, target) = (try from.current(), try to.current())
            guard let name = levels[level].names.popLast() else {
                try set(levels[level].status, on: ObjectHandle(of: target))
                levels.removeLast()
                if !levels.isEmpty {
                    from.pop()
                    to.pop()
                }
                continue
            }
            guard let status = try source.status(of: name) else { continue }
            switch status.type {
            case .directory:
                guard !status.isSameObject(as: root) else {
                    throw SystemError("mkdirat", target.path(of: name), .invalid)
                }
                try target.makeDirectory(name)
                try from.descend(name)
                try to.descend(name)
                levels.append((try DirectoryListing.names(in: from.current()), status))
            case .file: try copyFile(name, source, target)
            case .symlink:
                try target.makeSymlink(name, to: source.destination(of: name))
                if attributes == .all { try set(status, on: ObjectHandle(name, in: target)) }
                copied[status.inode] = status
            case .fifo:
                try target.makeFIFO(name)
                try set(status, on: ObjectHandle(name, in: target))
                copied[status.inode] = status
            default: throw SystemError("openat", source.path(of: name), .invalid)
            }
        }
    }

    private mutating func copyFile(
        _ name: FileName, _ source: Directory, _ target: Directory
    ) throws(SystemError) {
        let file = try source.open(name, [.read, .nonBlocking, .noFollow])
        let path = source.path(of: name)
        let before = try calling("statx", path) { () throws(Errno) in try file.status() }
        guard before.type == .file else { throw SystemError("openat", path, .stale) }
        let copy = try ObjectHandle(
            opening: name, in: target, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
        _ = try calling("copy_file_range", path) { () throws(Errno) in
            try copier.copy(file, to: copy.descriptor, size: before.size, allocated: before.allocated)
        }
        let after = try calling("statx", path) { () throws(Errno) in try file.status() }
        guard after.isUnchanged(since: before) else { throw SystemError("read", path, .stale) }
        try set(before, on: copy)
        copied[before.inode] = before
    }

    private func set(_ status: FileStatus, on copy: borrowing ObjectHandle) throws(SystemError) {
        switch attributes {
        case .permissions: try copy.setPermissions(status.permissions & 0o777)
        case .all:
            let refused = try copy.set(
                Attributes(status, extended: nil), over: copy.status(), setsOwner: true, nil)
            if let error = refused.owner { throw error }
        }
    }
}
