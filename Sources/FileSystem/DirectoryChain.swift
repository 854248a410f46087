/// The open directories on the way from a root to a directory below it.
///
/// Few handles are open at a time. Most handles of deep directories are closed, and opened again by name when they are
/// needed. Each is then checked to be the same directory. So neither depth nor path length is limited.
public struct DirectoryChain: Sendable {
    private struct Link: Sendable {
        let name: FileName
        /// nil if the handle was closed.
        var directory: Directory?
        let inode: UInt64
    }

    public let root: Directory
    private var links: [Link] = []

    /// The number of innermost handles that remain open. At most as many again are open above them.
    private static let openLinks = DescriptorBudget.chain
    /// Of the other handles, every `stride`-th is left open. So a closed one is opened again in at most that many
    /// steps.
    private var stride = 1

    public init(root: Directory) {
        self.root = root
    }

    /// The number of directories below the root, the present one included.
    public var depth: Int { links.count }

    /// The name of the directory at a level, from 1.
    public func name(at level: Int) -> FileName { links[level - 1].name }

    /// Enters a child of the present directory.
    ///
    /// - Parameter directory: its handle; nil if it is opened only when it is needed.
    public mutating func push(_ directory: Directory?, _ name: FileName, inode: UInt64) {
        links.append(Link(name: name, directory: directory, inode: inode))
        let others = links.count - DirectoryChain.openLinks
        if others > stride * DirectoryChain.openLinks {
            stride *= 2
            for level in 0..<others where level % stride != 0 { links[level].directory = nil }
        } else if others > 0, (others - 1) % stride != 0 {
            links[others - 1].directory = nil
        }
    }

    /// Enters a child of the present directory.
    public mutating func descend(_ name: FileName) throws(SystemError) {
        let directory = try current().directory(name)
        push(directory, name, inode: try directory.status().inode)
    }

    public mutating func pop() {
        links.removeLast()
    }

    /// The handle of the present directory, reopened if it was closed.
    ///
    /// - Throws: `stale` if the name belongs to another directory now.
    public mutating func current() throws(SystemError) -> Directory {
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
            // The lower half is left open, because the walk will return to it.
            if links.count - level <= DirectoryChain.openLinks / 2 { links[level].directory = directory }
            level += 1
        }
        return directory
    }
}
