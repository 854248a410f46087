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
    private var stored: [UInt64: StoredObject] = [:]

    package init() {}

    /// Adds the lines of a record; newer records come first.
    package mutating func add(_ lines: some Sequence<StoredObject>, of transaction: FileName) {
        for var line in lines where stored[line.object] == nil {
            line.transaction = line.transaction ?? transaction
            stored[line.object] = line
        }
    }

    /// The lines, as a record of this transaction has them.
    package func lines(of transaction: FileName) -> [StoredObject] {
        stored.values.sorted { $0.object < $1.object }.map { line in
            var line = line
            if line.transaction == transaction { line.transaction = nil }
            return line
        }
    }

    /// Whether a step displaced the object.
    func hasStored(_ object: UInt64) -> Bool { stored[object] != nil }

    package var objects: ObjectsByPlace { ObjectsByPlace(stored.values) }

    package enum Place: Hashable, Sendable {
        /// Below the root of the tree.
        case tree(RelativePath)
        /// Below the history: `TX/0/12`, or what is in that.
        case history(RelativePath)
    }

    /// The displaced directories that an object was left in, from the inside.
    package func directories(of object: UInt64) -> [UInt64] {
        var directories: [UInt64] = []
        var seen: Set<UInt64> = []
        var object = object
        while case .inside(let directory, _)? = stored[object]?.place, seen.insert(directory).inserted {
            directories.append(directory)
            object = directory
        }
        return directories
    }

    /// The place of an object; nil for one that is lost.
    ///
    /// - Parameter present: the path of an object in the present list.
    package func place(of object: UInt64, present: (UInt64) -> RelativePath?) -> Place? {
        var (object, names, seen) = (object, [FileName](), Set<UInt64>())
        func below(_ path: RelativePath) -> RelativePath {
            names.reversed().reduce(path) { $0.appending($1) }
        }
        // A chain of damaged lines may be a ring.
        while seen.insert(object).inserted {
            if let path = present(object) { return .tree(below(path)) }
            guard let line = stored[object] else { return nil }
            switch line.place {
            case .slot(let slot):
                return line.transaction.map {
                    .history(below(RelativePath.root.appending($0).appending(slot)))
                }
            case .inside(let directory, let name):
                names.append(name)
                object = directory
            }
        }
        return nil
    }
}
