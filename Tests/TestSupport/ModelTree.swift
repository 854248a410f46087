import FileSystem
import FsyncLite

/// A directory tree in memory with inodes and times like a file system. A rename, a write or a deletion moves
/// the same change times, also of the directories around it.
package struct ModelTree: Sendable {
    package typealias ID = Int

    package struct Object: Sendable {
        /// The number of links is counted when it is asked for.
        package var status: FileStatus
        /// Identifies the bytes of a file: two files have the same bytes if it is equal.
        package var content = 0
        package var destination: [UInt8] = []
        /// A program has mapped the file for writing.
        package var isMapped = false
        package var entries: [FileName: ID] = [:]

        package var isDirectory: Bool { status.type == .directory }
    }

    /// A name in a directory.
    package struct Place: Hashable, Sendable {
        package var directory: ID
        package var name: FileName

        package init(_ directory: ID, _ name: FileName) {
            self.directory = directory
            self.name = name
        }
    }

    package struct Entry: Sendable {
        package var path: RelativePath
        package var place: Place
        package var id: ID
    }

    package static let root: ID = 0
    package static let reservedName = FileName(".fsync-lite")

    package private(set) var objects: [ID: Object] = [:]
    /// The clock for change times. It may be the same for two changes, as a real one.
    package var now: Int64
    private var nextID = 1
    private var nextInode: UInt64
    private var freeInodes: [UInt64] = []
    private let hasBirthTimes: Bool

    package init(now: Int64, firstInode: UInt64, hasBirthTimes: Bool = true) {
        self.now = now
        self.hasBirthTimes = hasBirthTimes
        nextInode = firstInode + 1
        var status = FileStatus(type: .directory, modified: .model(now))
        status.permissions = 0o755
        status.inode = firstInode
        status.changed = .model(now)
        status.created = hasBirthTimes ? .model(now) : nil
        objects[ModelTree.root] = Object(status: status)
    }

    package var time: FileTime { .model(now) }

    // MARK: Looking

    package subscript(id: ID) -> Object {
        guard let object = objects[id] else { preconditionFailure("no object \(id)") }
        return object
    }

    package func id(at place: Place) -> ID? { objects[place.directory]?.entries[place.name] }

    package func id(at path: RelativePath) -> ID? {
        var id = ModelTree.root
        for component in path.components {
            guard let name = FileName(component), let next = self[id].entries[name] else { return nil }
            id = next
        }
        return id
    }

    package func object(at path: RelativePath) -> Object? { id(at: path).map { self[$0] } }

    /// All entries below a directory except the reserved one, in the order of a scan.
    package func entries(below directory: ID = ModelTree.root, _ path: RelativePath = .root) -> [Entry] {
        var found: [Entry] = []
        append(below: directory, path, to: &found)
        return found
    }

    private func append(below directory: ID, _ path: RelativePath, to found: inout [Entry]) {
        for (name, id) in self[directory].entries.sorted(by: { $0.key < $1.key }) {
            if directory == ModelTree.root, name == ModelTree.reservedName { continue }
            let entry = Entry(path: path.appending(name), place: Place(directory, name), id: id)
            found.append(entry)
            if self[id].isDirectory { append(below: id, entry.path, to: &found) }
        }
    }

    /// The files as a scan gives them.
    package func files() -> [File] {
        var links: [ID: UInt32] = [:]
        let entries = entries()
        for entry in entries { links[entry.id, default: 0] += 1 }
        return entries.map { entry in
            let object = self[entry.id]
            var status = object.status
            status.links = object.isDirectory ? 2 : links[entry.id] ?? 1
            return File(path: entry.path, status: status, destination: object.destination)
        }
    }

    package var rootStatus: FileStatus { self[ModelTree.root].status }

    /// Whether the directory is the object itself or contains it.
    package func holds(_ directory: ID, _ id: ID) -> Bool {
        directory == id || entries(below: directory).contains { $0.id == id }
    }

    // MARK: Changing

    /// Changes an object, and moves its change time.
    package mutating func change(_ id: ID, _ body: (inout Object) -> Void) {
        body(&objects[id]!)
        objects[id]!.status.changed = time
    }

    /// Restores a status without moving any time.
    package mutating func set(_ id: ID, _ status: FileStatus) {
        objects[id]!.status = status
    }

    /// Stores through a mapping. While the page is dirty, further stores move no time.
    package mutating func store(_ id: ID, closes: Bool) {
        let status = self[id].status
        let isQuiet = self[id].isMapped && status.changed > .model(now - ModelTree.dirtyTicks)
        let time = time
        change(id) { object in
            // The size is the same.
            object.content += 2
            object.status.modified = time
            object.isMapped = !closes
        }
        if isQuiet { set(id, status) }
    }

    /// How long a page remains dirty, in ticks.
    package static let dirtyTicks: Int64 = 40

    private mutating func touchDirectory(_ id: ID) {
        let time = time
        change(id) { $0.status.modified = time }
    }

    /// Makes an object without a name.
    package mutating func make(_ type: FileType, reusingInode: Bool = false) -> ID {
        var status = FileStatus(type: type, modified: time)
        status.permissions = type == .directory ? 0o755 : type == .symlink ? 0o777 : 0o644
        status.changed = time
        status.created = hasBirthTimes ? time : nil
        if reusingInode, let inode = freeInodes.popLast() {
            status.inode = inode
        } else {
            status.inode = nextInode
            nextInode += 1
        }
        let id = nextID
        nextID += 1
        objects[id] = Object(status: status)
        return id
    }

    package mutating func link(_ id: ID, _ place: Place) {
        precondition(self[place.directory].isDirectory && self.id(at: place) == nil)
        objects[place.directory]!.entries[place.name] = id
        touchDirectory(place.directory)
        change(id) { _ in }
    }

    /// Removes a name, but not the object.
    package mutating func unlink(_ place: Place) -> ID {
        guard let id = objects[place.directory]?.entries.removeValue(forKey: place.name) else {
            preconditionFailure("nothing at \(place)")
        }
        touchDirectory(place.directory)
        change(id) { _ in }
        return id
    }

    /// Removes a name. With the last name, the object is removed, and with a directory all its content.
    package mutating func remove(_ place: Place) {
        let id = unlink(place)
        if self[id].isDirectory {
            for name in self[id].entries.keys.sorted() { remove(Place(id, name)) }
        } else if objects.values.contains(where: { $0.entries.values.contains(id) }) {
            return
        }
        freeInodes.append(self[id].status.inode)
        objects[id] = nil
    }

    package mutating func move(_ from: Place, _ to: Place) {
        link(unlink(from), to)
    }

    package mutating func exchange(_ left: Place, _ right: Place) {
        let (first, second) = (unlink(left), unlink(right))
        link(first, right)
        link(second, left)
    }
}

extension FileTime {
    package static func model(_ seconds: Int64) -> FileTime { FileTime(seconds: seconds, nanoseconds: 7) }
}
