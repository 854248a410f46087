import FileSystem

/// Resolves paths of a tree, one name at a time and without following symlinks. Paths in the order of a scan need one
/// open per directory.
package final class PathResolver {
    private var chain: DirectoryChain
    /// The result of the last call. The next path is usually near it.
    private var last: (path: RelativePath, directory: Directory)
    /// Maps an entry to its present location, if that differs from its path.
    private let locations: ((RelativePath) -> RelativePath)?

    package init(_ root: Directory, locations: ((RelativePath) -> RelativePath)? = nil) {
        self.locations = locations
        chain = DirectoryChain(root: root)
        last = (.root, root)
    }

    var root: Directory { chain.root }

    package func directory(_ path: RelativePath) throws(SystemError) -> Directory {
        if last.path == path { return last.directory }
        let shared = path.sharedDirectoryLength(with: last.path)
        for _ in 0..<last.path.depth(after: shared) { chain.pop() }
        // If a lower name does not exist, the chain ends here.
        last = (RelativePath(validated: Array(path.bytes[..<shared])), try chain.current())
        for component in path.bytes[shared...].split(separator: UInt8(ascii: "/")) {
            guard let name = FileName(component) else { break }
            if chain.depth == 0, name == FileName.state,
                let state = try chain.root.reservedDirectoryBeside()
            {
                chain.push(state, name, inode: try state.status().inode)
            } else {
                try chain.descend(name)
            }
            last = (last.path.appending(name), try chain.current())
        }
        return last.directory
    }

    /// The directory of an entry and the entry's name in it; nil for the root.
    package func location(of path: RelativePath) throws(SystemError) -> (
        directory: Directory, name: FileName
    )? {
        let path = present(path)
        guard let parent = path.parent, let name = path.fileName else { return nil }
        return (try directory(parent), name)
    }

    /// Opens a file for reading.
    func open(_ path: RelativePath) throws(SystemError) -> AnnouncedFile {
        guard let (directory, name) = try location(of: path) else {
            throw SystemError("openat", path.bytes, .isDirectory)
        }
        return try directory.openContent(name)
    }

    /// The present location of an entry.
    func present(_ path: RelativePath) -> RelativePath { locations?(path) ?? path }

    /// The status of an entry; nil if the entry or a directory on its path no longer exists.
    func status(of path: RelativePath) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            guard let (directory, name) = try location(of: path) else { return nil }
            return try directory.status(of: name)
        } catch {
            guard Errno.noDirectory.contains(error.errno) else { throw error }
            return nil
        }
    }

    /// Whether an entry has this content, as far as size and time show.
    func hasContent(of wanted: FileStatus, at path: RelativePath) throws(SystemError) -> Bool {
        try status(of: path)?.equals(wanted, in: .content) ?? false
    }
}
