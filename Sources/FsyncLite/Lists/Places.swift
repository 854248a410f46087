import FileSystem

/// Where a step put an object that it displaced.
package struct StoredObject: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// In a slot of the history: `0/12`.
        case slot(RelativePath)
        /// In another object, which is displaced too, under this name.
        case inside(UInt64, FileName)
    }

    package var object: UInt64
    package var place: Place
    /// The transaction that displaced it; nil for that of the record.
    package var transaction: FileName?

    package init(_ object: UInt64, _ place: Place, transaction: FileName? = nil) {
        (self.object, self.place, self.transaction) = (object, place, transaction)
    }
}

/// The objects in the history, by their places.
package struct ObjectsByPlace: Sendable {
    private struct Inside: Hashable {
        let object: UInt64
        let name: FileName
    }

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

    /// The object at a path below the history; nil for one that no list has.
    package func object(at path: RelativePath) -> UInt64? {
        if let object = slots[path] { return object }
        guard let parent = path.parent, !parent.isRoot, let name = path.fileName,
            let directory = object(at: parent)
        else { return nil }
        return inside[Inside(object: directory, name: name)]
    }
}

/// The places of objects by number. Of an object that is not in the present list, the newest line is right.
package struct Places: Sendable {
    /// What a line says, in sixteen bytes: where the name begins, or which of the slots it is.
    private struct Location {
        /// 0 for a slot.
        let directory: UInt64
        let position: Int
    }

    private var locations: [UInt64: Location] = [:]
    private var slots: [(transaction: FileName, path: RelativePath)] = []
    /// Each with a NUL behind it.
    private var names: [UInt8] = []

    package init() {}

    /// Adds the lines of a record; newer records come first.
    package mutating func add(_ lines: some Sequence<StoredObject>, of transaction: FileName) {
        for line in lines where locations[line.object] == nil {
            switch line.place {
            case .slot(let path):
                locations[line.object] = Location(directory: 0, position: slots.count)
                slots.append((line.transaction ?? transaction, path))
            case .inside(let directory, let name):
                locations[line.object] = Location(directory: directory, position: names.count)
                names += name.bytes
                names.append(0)
            }
        }
    }

    /// The line of an object that a step displaced, with the transaction of a slot.
    private func line(_ object: UInt64) -> StoredObject? {
        guard let location = locations[object] else { return nil }
        guard location.directory > 0 else {
            let slot = slots[location.position]
            return StoredObject(object, .slot(slot.path), transaction: slot.transaction)
        }
        guard let name = FileName(names[location.position...].prefix { $0 != 0 }) else { return nil }
        return StoredObject(object, .inside(location.directory, name))
    }

    /// The lines, as a record of this transaction has them.
    package func lines(of transaction: FileName) -> [StoredObject] {
        locations.keys.sorted().compactMap { object in
            var line = line(object)
            if line?.transaction == transaction { line?.transaction = nil }
            return line
        }
    }

    /// Whether a step displaced the object.
    func hasStored(_ object: UInt64) -> Bool { locations[object] != nil }

    package var objects: ObjectsByPlace { ObjectsByPlace(locations.keys.lazy.compactMap(line)) }

    package enum Place: Hashable, Sendable {
        /// Below the root of the tree.
        case tree(RelativePath)
        /// Below the history: `TX/0/12`, or what is in that.
        case history(RelativePath)
    }

    /// An object, and the displaced directories above it, one after the other. A chain of damaged lines may be a ring, which
    /// Brent's algorithm finds (R. P. Brent, *An improved Monte Carlo factorization algorithm*, 1980).
    private struct Chain {
        private(set) var object: UInt64
        private var mark: UInt64
        private var (steps, limit) = (0, 1)

        init(_ object: UInt64) { (self.object, mark) = (object, object) }

        /// - Returns: false in a ring.
        mutating func move(to directory: UInt64) -> Bool {
            object = directory
            guard object != mark else { return false }
            steps += 1
            if steps == limit { (mark, limit) = (object, 2 * limit) }
            return true
        }
    }

    /// The displaced directories that an object was left in, from the inside.
    package func directories(of object: UInt64) -> [UInt64] {
        var (directories, chain) = ([UInt64](), Chain(object))
        while let directory = locations[chain.object]?.directory, directory > 0, chain.move(to: directory) {
            directories.append(directory)
        }
        return directories
    }

    /// The place of an object; nil for one that is lost.
    ///
    /// - Parameter present: the path of an object in the present list.
    package func place(of object: UInt64, present: (UInt64) -> RelativePath?) -> Place? {
        var (names, chain) = ([FileName](), Chain(object))
        func below(_ path: RelativePath) -> RelativePath {
            names.reversed().reduce(path) { $0.appending($1) }
        }
        while true {
            if let path = present(chain.object) { return .tree(below(path)) }
            guard let line = line(chain.object) else { return nil }
            switch line.place {
            case .slot(let slot):
                return line.transaction.map {
                    .history(below(RelativePath.root.appending($0).appending(slot)))
                }
            case .inside(let directory, let name):
                names.append(name)
                guard chain.move(to: directory) else { return nil }
            }
        }
    }
}
