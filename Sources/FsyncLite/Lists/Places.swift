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
    /// The content of a line in sixteen bytes. `position` is the offset of the name, or of the slot's path.
    private struct Location {
        /// 0 for a slot.
        let directory: UInt64
        let position: Int
    }

    private var locations: [UInt64: Location] = [:]
    /// The directories that contain an object.
    private var directories: Set<UInt64> = []
    /// The transactions of the slots, each with the position at which its slots begin.
    private var transactions: [(start: Int, name: FileName)] = []
    /// The names, and the paths of slots, each with a NUL after it.
    private var names: [UInt8] = []

    package init() {}

    /// Adds the lines of a record. Add newer records first. A newer record with objects in a directory has all that were
    /// in it, each by one name. An object that only an older record has there was replaced by hand: it came back with
    /// the directory. Then the older line is left out.
    package mutating func add(_ lines: some Sequence<StoredObject>, of transaction: FileName) {
        for line in lines where locations[line.object] == nil {
            switch line.place {
            case .slot(let path):
                let transaction = line.transaction ?? transaction
                if transactions.last?.name != transaction { transactions.append((names.count, transaction)) }
                locations[line.object] = Location(directory: 0, position: names.count)
                addName(path.bytes)
            case .inside(let directory, let name):
                guard !directories.contains(directory) else { continue }
                locations[line.object] = Location(directory: directory, position: names.count)
                addName(name.bytes)
            }
        }
        for case let inside? in lines.lazy.map(\.inside) { directories.insert(inside.object) }
    }

    private mutating func addName(_ name: some Sequence<UInt8>) {
        names += name
        names.append(0)
    }

    /// The line of an object in the history. For a slot, it has the transaction.
    private func line(_ object: UInt64) -> StoredObject? {
        guard let location = locations[object] else { return nil }
        let name = names[location.position...].prefix { $0 != 0 }
        guard location.directory > 0 else {
            let next = transactions.partitionPoint { $0.start <= location.position }
            return StoredObject(
                object, .slot(RelativePath(validated: Array(name))), transaction: transactions[next - 1].name)
        }
        return FileName(name).map { StoredObject(object, .inside(location.directory, $0)) }
    }

    /// The lines as the record of this transaction has them.
    package func lines(of transaction: FileName) -> [StoredObject] {
        locations.keys.sorted().compactMap { object in
            var line = line(object)
            if line?.transaction == transaction { line?.transaction = nil }
            return line
        }
    }

    /// Whether a run moved the object into the history.
    func hasStored(_ object: UInt64) -> Bool { locations[object] != nil }

    package var objects: ObjectsByPlace { ObjectsByPlace(locations.keys.lazy.compactMap(line)) }

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
        while let directory = locations[chain.object]?.directory, directory > 0, chain.move(to: directory) {
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
        neighbour.directory = locations[object]?.directory
        neighbour.place = names.dropFirst().reversed().reduce(found) { $0.appending($1) }
        return neighbour.place.appending(name)
    }

    /// The place of a single object.
    package func place(of object: UInt64, present: (UInt64) -> RelativePath?) -> Place? {
        var neighbour = Neighbour()
        return place(of: object, near: &neighbour, present: present)
    }
}
