/// The open directories on the way from a root to some directory below it.
///
/// Few handles are open at a time: most of deep ones are let go and found again by their names, each checked to be
/// the same directory. So depth and the length of a path have no limit.
package struct DirectoryChain: Sendable {
    private struct Link: Sendable {
        let name: FileName
        /// nil where the handle was let go.
        var directory: Directory?
        let inode: UInt64
    }

    package let root: Directory
    private var links: [Link] = []

    /// The innermost handles, which are kept open, and at most as many again on the way there.
    private static let openLinks = 64
    /// One in so many of the others stays open: the way back to one that was let go is no longer.
    private var stride = 1

    package init(root: Directory) {
        self.root = root
    }

    /// How many directories lie between the root and the present one, itself included.
    package var depth: Int { links.count }

    /// The name of the directory at a level, from 1.
    package func name(at level: Int) -> FileName { links[level - 1].name }

    /// Enters a directory of the present one that has been opened already.
    package mutating func push(_ directory: Directory, _ name: FileName, inode: UInt64) {
        links.append(Link(name: name, directory: directory, inode: inode))
        let others = links.count - DirectoryChain.openLinks
        if others > stride * DirectoryChain.openLinks {
            stride *= 2
            for level in 0..<others where level % stride != 0 { links[level].directory = nil }
        } else if others > 0, (others - 1) % stride != 0 {
            links[others - 1].directory = nil
        }
    }

    /// Enters a directory of the present one.
    package mutating func descend(_ name: FileName) throws(SystemError) {
        let directory = try current().directory(name)
        push(directory, name, inode: try directory.status().inode)
    }

    /// Goes back to the directory above.
    package mutating func pop() {
        links.removeLast()
    }

    /// The handle of the present directory, opened again where it was let go.
    ///
    /// - Throws: `stale` when another directory has the name by now.
    package mutating func current() throws(SystemError) -> Directory {
        guard let last = links.last else { return root }
        if let directory = last.directory { return directory }
        var level = links.count
        while level > 0, links[level - 1].directory == nil { level -= 1 }
        var directory = level > 0 ? links[level - 1].directory ?? root : root
        while level < links.count {
            let link = links[level]
            directory = try directory.directory(link.name)
            guard try directory.status().inode == link.inode else {
                throw SystemError("openat", directory.path, .stale)
            }
            // The lower half stays open: the walk will come back to it.
            if links.count - level <= DirectoryChain.openLinks / 2 { links[level].directory = directory }
            level += 1
        }
        return directory
    }
}
