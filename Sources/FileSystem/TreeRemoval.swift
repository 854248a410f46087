/// Deletes a directory with all that is in it, by handles: no symlink is followed, no mount is entered.
///
/// An explicit stack and a bounded number of open descriptors: the directories far above are closed and
/// looked up again, name by name and checked for identity, when the walk comes back to them.
package struct TreeRemoval {
    private struct Level {
        let name: FileName
        let inode: UInt64
        let device: DeviceNumber
        var directory: Directory?
        var subdirectories: [FileName]
    }

    private static let openLevels = 64

    private let parent: Directory
    private var levels: [Level] = []

    private init(parent: Directory) {
        self.parent = parent
    }

    /// Deletes the directory `name`. An error leaves what was not deleted by then.
    package static func remove(_ name: FileName, in parent: Directory) throws(SystemError) {
        var removal = TreeRemoval(parent: parent)
        try removal.enter(name, in: parent)
        while let last = removal.levels.indices.last {
            if let name = removal.levels[last].subdirectories.popLast() {
                try removal.enter(name, in: removal.directory(at: last))
            } else {
                let level = removal.levels.removeLast()
                let above = last == 0 ? parent : try removal.directory(at: last - 1)
                try above.removeDirectory(level.name)
            }
        }
    }

    /// Deletes everything in a directory but its subdirectories, which are noted for later.
    private mutating func enter(_ name: FileName, in above: Directory) throws(SystemError) {
        let directory = try above.directory(name)
        let status = try directory.status()
        // What is mounted there belongs to somebody else.
        if status.isMountRoot { throw SystemError("unlinkat", directory.path, .crossDevice) }
        var level = Level(
            name: name, inode: status.inode, device: status.device, directory: directory, subdirectories: [])
        for name in try DirectoryListing.names(in: directory) {
            guard let entry = try directory.status(of: name) else { continue }
            if entry.type == .directory {
                level.subdirectories.append(name)
            } else {
                try directory.unlink(name)
            }
        }
        levels.append(level)
        if levels.count > TreeRemoval.openLevels {
            levels[levels.count - 1 - TreeRemoval.openLevels].directory = nil
        }
    }

    private mutating func directory(at index: Int) throws(SystemError) -> Directory {
        if let directory = levels[index].directory { return directory }
        var directory = parent
        for position in 0...index {
            directory = try directory.directory(levels[position].name)
            let status = try directory.status()
            // RACE: the directory was swapped for another. Going on would delete from a tree nobody named.
            guard status.inode == levels[position].inode, status.device == levels[position].device else {
                throw SystemError("openat", directory.path, .stale)
            }
            if position + TreeRemoval.openLevels > index { levels[position].directory = directory }
        }
        return directory
    }
}
