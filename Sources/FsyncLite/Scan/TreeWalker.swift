import FileSystem

/// Finds directories of a tree by path, one name at a time and without following a symlink. Paths that come
/// in the order of a scan cost one open per directory.
package final class TreeWalker {
    private var chain: DirectoryChain
    /// Where the last call led: neighbours come one after the other.
    private var last: (path: RelativePath, directory: Directory)?
    /// Where an entry lies, when not at its path.
    private let places: ((RelativePath) -> RelativePath)?

    package init(_ root: Directory, places: ((RelativePath) -> RelativePath)? = nil) {
        chain = DirectoryChain(root: root)
        self.places = places
    }

    /// The directory at a path.
    package func directory(_ path: RelativePath) throws(SystemError) -> Directory {
        if let last, last.path == path { return last.directory }
        let components = path.components
        var shared = 0
        while shared < min(components.count, chain.depth),
            chain.name(at: shared + 1).bytes.elementsEqual(components[shared])
        {
            shared += 1
        }
        while chain.depth > shared { chain.pop() }
        for component in components[shared...] {
            guard let name = FileName(component) else { break }
            try chain.descend(name)
        }
        let directory = try chain.current()
        last = (path, directory)
        return directory
    }

    /// The directory that holds an entry, and the entry's name in it; nil for the root.
    package func place(of path: RelativePath) throws(SystemError) -> (directory: Directory, name: FileName)? {
        let path = places?(path) ?? path
        guard let parent = path.parent, let name = path.fileName else { return nil }
        return (try directory(parent), name)
    }
}
