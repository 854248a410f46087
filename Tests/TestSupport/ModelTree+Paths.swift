import FileSystem
import FsyncLite

/// Trees as literals and edits by path, for tests that tell a story.
extension ModelTree {
    /// A path that ends in `/` is a directory. Any other path is a file with that content. Missing
    /// directories are made. All have one time.
    package init(now: Int64 = 100, firstInode: UInt64 = 10, _ files: [(path: String, content: Int)]) {
        self.init(now: now, firstInode: firstInode)
        for (path, content) in files { add(path, content) }
    }

    package mutating func add(_ path: String, _ content: Int = 0, reusingInode: Bool = false) {
        var directory = ModelTree.root
        let names = path.split(separator: "/").compactMap { FileName($0.utf8) }
        let isDirectory = path.hasSuffix("/")
        for (index, name) in names.enumerated() {
            let place = Place(directory, name)
            let isLast = index == names.count - 1
            if id(at: place) == nil {
                let id = make(
                    isLast && !isDirectory ? .file : .directory, reusingInode: reusingInode && isLast)
                change(id) {
                    $0.content = content
                    $0.status.size = $0.isDirectory ? 0 : 4
                    $0.status.modified = .model(1)
                }
                link(id, place)
            }
            directory = id(at: place) ?? directory
        }
    }

    package func place(_ path: String) -> Place {
        guard let path = RelativePath(path), let name = path.fileName,
            let parent = path.parent.flatMap({ id(at: $0) })
        else { preconditionFailure("no place \(path)") }
        return Place(parent, name)
    }

    package func object(_ path: String) -> Object? { RelativePath(path).flatMap { object(at: $0) } }

    package mutating func move(_ from: String, _ to: String) { move(place(from), place(to)) }
    package mutating func swap(_ one: String, _ other: String) { exchange(place(one), place(other)) }
    package mutating func remove(_ path: String) { remove(place(path)) }

    /// Adds another name to a file.
    package mutating func addLink(_ path: String, to other: String) {
        guard let id = id(at: place(other)) else { return }
        link(id, place(path))
    }

    /// Writes other bytes of the same size, and restores the modification time.
    package mutating func write(_ path: String, _ content: Int) {
        guard let id = id(at: place(path)) else { return }
        change(id) { $0.content = content }
    }
}
