import FileSystem

/// The place in the history to which a run moved an object.
package struct StoredObject: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// In a slot of the history: `0/12`.
        case slot(RelativePath)
        /// Under this name in another object, which was moved into the history too.
        case inside(UInt64, FileName)
    }

    package var object: UInt64
    package var place: Place
    /// The transaction that moved it there; nil for the record's own transaction.
    package var transaction: FileName?

    package init(_ object: UInt64, _ place: Place, transaction: FileName? = nil) {
        (self.object, self.place, self.transaction) = (object, place, transaction)
    }
}

/// A name in a directory of the history.
struct Inside: Hashable {
    let object: UInt64
    let name: FileName
}

extension StoredObject {
    /// nil in a slot.
    var inside: Inside? {
        guard case .inside(let directory, let name) = place else { return nil }
        return Inside(object: directory, name: name)
    }
}

package enum StoredObjectCoding: PackedCoding {
    /// The slot, or the name.
    package static func path(of line: StoredObject) -> RelativePath {
        switch line.place {
        case .slot(let slot): slot
        case .inside(_, let name): RelativePath.root.appending(name)
        }
    }

    /// The transaction, which is mostly that of the line before.
    package static func otherPath(of line: StoredObject) -> RelativePath? {
        line.transaction.map(RelativePath.root.appending)
    }

    package static func pack(_ line: StoredObject, into store: inout PackedStore) {
        store.put(line.object)
        store.put(line.inside?.object ?? 0)
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> StoredObject {
        let (object, directory) = (cursor.number(), cursor.number())
        let name = directory > 0 ? path.fileName : nil
        return StoredObject(
            object, name.map { .inside(directory, $0) } ?? .slot(path), transaction: other?.fileName)
    }
}

package typealias StoredObjects = PackedList<StoredObjectCoding>

extension StoredObjects {
    func object(at index: Int) -> UInt64 { read(at: index) { $0.number() } }

    /// 0 for a slot.
    func directory(at index: Int) -> UInt64 {
        read(at: index) { cursor in
            _ = cursor.number()
            return cursor.number()
        }
    }
}

/// The objects in the history, by their places.
package struct ObjectsByPlace: Sendable {
    private var slots: [RelativePath: UInt64] = [:]
    private var inside: [Inside: UInt64] = [:]

    fileprivate init(_ stored: some Sequence<StoredObject>) {
        for line in stored {
            switch line.place {
            case .slot(let slot):
                guard let transaction = line.transaction else { continue }
                slots[RelativePath.root.appending(transaction).appending(slot)] = line.object
            case .inside(let directory, let name): inside[Inside(object: directory, name: name)] = line.object
            }
        }
    }

    /// The object at a path below the history; nil if no list has it.
    package func object(at path: RelativePath) -> UInt64? {
        if let object = slots[path] { return object }
        guard let parent = path.parent, !parent.isRoot, let name = path.fileName,
            let directory = object(at: parent)
        else { return nil }
        return inside[Inside(object: directory, name: name)]
    }
}

/// The places of objects by number. For an object that is not in the present list, the newest line is right.
package struct Places: Sendable {
    /// A line with a slot has the transaction.
    private var lines = StoredObjects()
    private var index = HashIndex()
    /// The directories that contain an object.
    private var directories: Set<UInt64> = []

    package init() {}

    /// Adds the lines of a record. Add newer records first. A newer record with objects in a directory has all that were
    /// in it, each by one name. An object that only an older record has there was replaced by hand: it came back with
    /// the directory. Then the older line is left out.
    package mutating func add(_ added: some Sequence<StoredObject>, of transaction: FileName) {
        var inside: Set<UInt64> = []
        for var line in added {
            if let directory = line.inside?.object {
                inside.insert(directory)
                guard !directories.contains(directory) else { continue }
            } else {
                line.transaction = line.transaction ?? transaction
            }
            guard indexOfLine(line.object) == nil else { continue }
            lines.append(line)
            index.add(lines.count - 1) { lines.object(at: $0).hashValue }
        }
        directories.formUnion(inside)
    }

    private func indexOfLine(_ object: UInt64) -> Int? {
        index.first(object.hashValue) { lines.object(at: $0) == object }
    }

    /// The line of an object in the history. For a slot, it has the transaction.
    private func line(_ object: UInt64) -> StoredObject? { indexOfLine(object).map { lines[$0] } }

    /// The directory in which the object was moved into the history; 0 for a slot.
    private func directory(of object: UInt64) -> UInt64? {
        indexOfLine(object).map { lines.directory(at: $0) }
    }

    /// The lines as the record of this transaction has them.
    package func lines(of transaction: FileName) -> StoredObjects {
        var sorted = StoredObjects()
        for index in lines.indices.sorted(by: { lines.object(at: $0) < lines.object(at: $1) }) {
            var line = lines[index]
            if line.transaction == transaction { line.transaction = nil }
            sorted.append(line)
        }
        return sorted
    }

    /// Whether a run moved the object into the history.
    func hasStored(_ object: UInt64) -> Bool { indexOfLine(object) != nil }

    package var objects: ObjectsByPlace { ObjectsByPlace(lines) }

    package enum Place: Hashable, Sendable {
        /// Below the root of the tree.
        case tree(RelativePath)
        /// Below the history: `TX/0/12`, or a path inside it.
        case history(RelativePath)

        func appending(_ name: FileName) -> Place {
            switch self {
            case .tree(let path): .tree(path.appending(name))
            case .history(let path): .history(path.appending(name))
            }
        }
    }

    /// An object and the directories of the history above it, one after the other. Damaged lines may form a ring, which
    /// Brent's algorithm finds (R. P. Brent, *An improved Monte Carlo factorization algorithm*, 1980).
    private struct Chain {
        private(set) var object: UInt64
        private var mark: UInt64
        private var (steps, limit) = (0, 1)

        init(_ object: UInt64) { (self.object, mark) = (object, object) }

        /// - Returns: false if the chain is a ring.
        mutating func move(to directory: UInt64) -> Bool {
            object = directory
            guard object != mark else { return false }
            steps += 1
            if steps == limit { (mark, limit) = (object, 2 * limit) }
            return true
        }
    }

    /// The directories that were moved into the history with an object inside, from the innermost.
    package func directories(of object: UInt64) -> [UInt64] {
        var (directories, chain) = ([UInt64](), Chain(object))
        while let directory = directory(of: chain.object), directory > 0, chain.move(to: directory) {
            directories.append(directory)
        }
        return directories
    }

    /// The directory of the last object, and its place. The next object is usually in the same directory.
    package struct Neighbour: Sendable {
        fileprivate var directory: UInt64?
        fileprivate var place = Place.tree(.root)

        package init() {}
    }

    /// The place of an object; nil if it is lost.
    ///
    /// - Parameters:
    ///   - neighbour: use the same one for all objects that are asked for with the same present list.
    ///   - present: the path of an object in the present list.
    package func place(
        of object: UInt64, near neighbour: inout Neighbour, present: (UInt64) -> RelativePath?
    ) -> Place? {
        var (names, chain) = ([FileName](), Chain(object))
        var found: Place?
        while found == nil {
            if let path = present(chain.object) {
                found = .tree(path)
            } else if !names.isEmpty, chain.object == neighbour.directory {
                found = neighbour.place
            } else {
                switch line(chain.object).map({ ($0.place, $0.transaction) }) {
                case (.slot(let slot), let transaction?)?:
                    found = .history(RelativePath.root.appending(transaction).appending(slot))
                case (.inside(let directory, let name), _)?:
                    names.append(name)
                    guard chain.move(to: directory) else { return nil }
                default: return nil
                }
            }
        }
        guard let found, let name = names.first else { return found }
        neighbour.directory = directory(of: object)
        neighbour.place = names.dropFirst().reversed().reduce(found) { $0.appending($1) }
        return neighbour.place.appending(name)
    }

    /// The place of a single object.
    package func place(of object: UInt64, present: (UInt64) -> RelativePath?) -> Place? {
        var neighbour = Neighbour()
        return place(of: object, near: &neighbour, present: present)
    }
}
