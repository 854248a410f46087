import FileStorage
import FileSystem

/// The history that an earlier version wrote, as lists. Its records name objects by their locations, and an undo moves
/// them back out of the history. So the layers here also have lines in the state. Through them, the slot of an older
/// record leads to the present location of its object.
struct OldHistory {
    private struct Record {
        let transaction: FileName
        var header: ManifestHeader
        var stored: [StoredObject] = []
    }

    /// Newest first.
    private var records: [Record] = []
    /// Two for each record: that of the step, and that of the changes by hand. Their objects are those of `objects`.
    private var layers: [ListLayer] = []
    private var objects: OldObjects
    /// Transactions from which objects returned out of the history.
    private var returned: Set<FileName> = []
    /// The error of the record that ends the history early.
    private var damage: SyncError?
    /// The first number that no object has.
    private(set) var nextObject: UInt64 = 1

    /// - Parameter present: the manifest from its beginning, with uncovered entries.
    init(_ history: History, present: ManifestReader) throws {
        let clones = history.steps.map(\.header.originals)
        objects = OldObjects(clones.reduce(into: [:]) { $0.merge($1) { newer, _ in newer } })
        var newer = present.header
        for step in history.steps {
            do {
                newer = try add(
                    step, OldAction.read(step.header, in: history.directory(step)), after: newer)
            } catch let error as SyncError where error.code == .invalidDocument {
                damage = error
                break
            }
        }
        nextObject = try objects.number(by: present)
    }

    var count: Int { records.count }

    /// The lists that a step found and that the one before it left, as their differences from the newer ones.
    ///
    /// - Parameter index: counted from the newest step.
    /// - Throws: `SyncError` with code `invalidDocument` for a damaged record and all older ones.
    func document(_ index: Int) throws -> ListDocument {
        if let damage, index >= count { throw damage }
        let record = records[index]
        var seen: Set<UInt64> = []
        let stored = record.stored.compactMap { object in
            let numbered = objects.numbered(object)
            // If a file has several names, any place is right.
            return seen.insert(numbered.object).inserted ? numbered : nil
        }
        return ListDocument(
            record.header, step: listed(layers[2 * index]), hand: listed(layers[2 * index + 1]),
            stored: stored)
    }

    /// The layer without its lines in the state.
    private func listed(_ layer: ListLayer) -> ListLayer {
        ListLayer(
            layer.lines.values.lazy.filter { !$0.path.isInState }.map { line in
                guard let entry = line.entry else { return line }
                // The recorded identity is that of the target's object, so it is removed.
                var status = entry.file.status
                (status.inode, status.created, status.changed) = (0, nil, FileTime.unexamined)
                var file = entry.file.with(status)
                file.object = objects.number(of: entry.object)
                return ListLine(
                    ListEntry(file, isUncovered: entry.isUncovered),
                    below: line.below.flatMap { $0.isInState ? nil : $0 })
            })
    }

    // MARK: Records

    /// - Returns: the header of the list that the step before left.
    private mutating func add(
        _ step: History.Step,
        _ lines: (actions: PackedList<OldActionCoding>, drift: PackedList<OldActionCoding>),
        after newer: ManifestHeader
    ) throws -> ManifestHeader {
        let old = step.header
        var header = ManifestHeader(
            id: old.previous ?? Snapshot.initialID, root: newer.root,
            created: old.previousCreated.flatMap(Timestamp.init(iso8601:)) ?? .unknown)
        header.sources = old.sourcesBefore ?? newer.sources
        header.filters = old.filtersBefore ?? newer.filters
        header.attributes = old.attributesBefore ?? newer.attributes
        records.append(Record(transaction: step.name, header: header))
        var root = newer.rootEntry
        layers.append(layer(lines.actions, &root))
        records[records.count - 1].header.rootEntry = root
        layers.append(layer(lines.drift, &root))
        header.rootEntry = root
        return header
    }

    /// The layer of some lines of the last record.
    ///
    /// - Parameter root: the root of the newer list; after this, of the older one.
    private mutating func layer(_ lines: PackedList<OldActionCoding>, _ root: inout File?) -> ListLayer {
        var (lines, layer) = (lines, ListLayer())
        // The paths of the newer list at which the older one does not have the same objects.
        var left: [RelativePath] = []
        lines.drain { _, line in
            let path = line.file.path
            guard !path.isRoot else {
                root = line.file
                return
            }
            if line.verb == .delete { return left.append(path) }
            if line.verb == .update { left.append(line.from ?? path) }
            let location = self.location(of: line, in: layer)
            // An object that moved with its directory may have returned to its path, which is in another directory now.
            if line.verb == .move || location != path, !location.isInState { left.append(location) }
            let (object, isStored) = self.object(at: location, of: line.file)
            var file = line.file
            file.object = object
            let entry = ListEntry(file, isUncovered: line.wasUncovered)
            if isStored { store(object, of: line, at: location, in: layer) }
            layer.add(ListLine(entry, below: location))
            if let slot = path.relative(to: .history), let transaction = slot.firstName {
                returned.insert(transaction)
            }
        }
        let directories = layer.directories
        for path in left.sorted() {
            for path in layer.olderPaths(of: path, directories) { layer.add(ListLine(absent: path)) }
        }
        return layer
    }

    /// The location of a line's object in the newer list; in the history for an object that moved there.
    private func location(of line: OldAction, in layer: ListLayer) -> RelativePath {
        if let slot = line.slot { return .history.appending(slot) }
        let path = line.file.path
        guard line.verb == .create || line.verb == .update, let parent = path.parent, let name = path.fileName
        else { return line.from ?? path }
        return layer.content(of: parent)?.appending(name) ?? path
    }

    private mutating func store(
        _ object: UInt64, of line: OldAction, at location: RelativePath, in layer: ListLayer
    ) {
        let path = line.file.path
        if line.slot == nil, let name = path.fileName,
            let directory = path.parent.flatMap({ layer.lines[$0]?.entry })
        {
            records[records.count - 1].stored.append(StoredObject(object, .inside(directory.object, name)))
        } else if let path = location.relative(to: .history), let transaction = path.firstName,
            let slot = path.relative(to: .root.appending(transaction))
        {
            let isOwn = transaction == records[records.count - 1].transaction
            records[records.count - 1].stored.append(
                StoredObject(object, .slot(slot), transaction: isOwn ? nil : transaction))
        }
    }

    // MARK: Objects

    /// The object at a location in the newer list of the layer that is being made.
    ///
    /// - Returns: whether it is still at that location, in the history.
    private mutating func object(at location: RelativePath, of file: File) -> (UInt64, isStored: Bool) {
        let isDisplaced = location.isInState
        if isDisplaced, location.isLost || !mayHaveReturned(location) {
            return (objects.add(file), !location.isLost)
        }
        var (path, wasNew) = (location, false)
        for index in layers.indices.reversed() where !layers[index].lines.isEmpty {
            switch layers[index].resolve(path) {
            case .newer(let there): path = there
            case .entry(let entry?):
                let isSame = wasNew ? entry.file.isSame(as: file) : entry.file.status.type == file.status.type
                return (objects.add(file, as: isSame ? entry.object : nil), false)
            // An entry that a run found as new may have come with a directory that an undo restored.
            case .entry(nil) where !index.isMultiple(of: 2): wasNew = true
            case .entry(nil): return (objects.add(file), false)
            }
        }
        guard path.isInState else { return (objects.add(file, at: path), false) }
        return (objects.add(file), isDisplaced && path == location)
    }

    private func mayHaveReturned(_ location: RelativePath) -> Bool {
        guard !returned.isEmpty else { return false }
        let transaction = location.relative(to: .history)?.firstName
        return transaction.map(returned.contains) ?? false
    }
}

/// The objects of old records, by their own numbers until those of the lists are known.
private struct OldObjects {
    /// Identifies the names of one file, because an inode may be reused.
    private struct Linked: Hashable {
        let inode: UInt64
        let type: FileType
        let size: ByteCount
        let modified: FileTime

        init(_ status: FileStatus, _ inode: UInt64) {
            (self.inode, type, size, modified) = (inode, status.type, status.size, status.modified)
        }
    }

    /// The inode of the original, by the inode of a clone that an exchange made.
    private let clones: [UInt64: UInt64]
    /// The numbers in the lists, by object; 0 for none yet. There is no object 0.
    private var numbers: [UInt64] = [0]
    /// The manifest's objects, by their paths in it.
    private var present: [RelativePath: UInt64] = [:]
    private var linked: [Linked: UInt64] = [:]
    /// Another object that is the same file.
    private var same: [UInt64: UInt64] = [:]

    init(_ clones: [UInt64: UInt64]) { self.clones = clones }

    /// Adds an object of a list.
    ///
    /// - Parameters:
    ///   - path: its path in the manifest, if it has one.
    ///   - known: the object, if a newer list has it.
    mutating func add(_ file: File, at path: RelativePath? = nil, as known: UInt64? = nil) -> UInt64 {
        var object = UInt64(numbers.count)
        if let known = known ?? path.flatMap({ present[$0] }) {
            object = known
        } else {
            numbers.append(0)
            if let path { present[path] = object }
        }
        guard file.isMultiplyLinked, file.status.inode != 0 else { return object }
        let name = Linked(file.status, original(of: file.status.inode))
        if let other = linked[name].map(first), first(object) != other {
            same[first(object)] = other
        } else {
            linked[name] = object
        }
        return object
    }

    private func first(_ object: UInt64) -> UInt64 {
        var object = object
        while let other = same[object] { object = other }
        return object
    }

    private func original(of inode: UInt64) -> UInt64 {
        var (inode, steps) = (inode, 0)
        // Inodes are reused, so the chain may be a ring.
        while let original = clones[inode], steps < clones.count { (inode, steps) = (original, steps + 1) }
        return inode
    }

    /// Gives each object the number of the manifest, or a new one if that has none.
    ///
    /// - Returns: the first number that no object has.
    mutating func number(by manifest: ManifestReader) throws -> UInt64 {
        while try manifest.advance() {
            let status = manifest.status
            if let object = present[manifest.path] {
                numbers[Int(object)] = manifest.object
                give(manifest.object, to: first(object))
            }
            guard !linked.isEmpty, status.type != .directory else { continue }
            let name = Linked(status, original(of: manifest.targetInode))
            if let object = linked[name] { give(manifest.object, to: first(object)) }
        }
        var next = manifest.nextObject
        for object in numbers.indices.dropFirst() where numbers[object] == 0 {
            let first = first(UInt64(object))
            if give(next, to: first) { next += 1 }
            numbers[object] = numbers[Int(first)]
        }
        return next
    }

    @discardableResult
    private mutating func give(_ number: UInt64, to object: UInt64) -> Bool {
        guard numbers[Int(object)] == 0 else { return false }
        numbers[Int(object)] = number
        return true
    }

    func number(of object: UInt64) -> UInt64 { numbers[Int(object)] }

    func numbered(_ stored: StoredObject) -> StoredObject {
        var stored = stored
        stored.object = number(of: stored.object)
        if case .inside(let directory, let name) = stored.place {
            stored.place = .inside(number(of: directory), name)
        }
        return stored
    }
}

extension File {
    /// By size and time: an exchange may have copied the file, so its identity shows nothing.
    fileprivate func isSame(as other: File) -> Bool {
        status.type == other.status.type && (isDirectory || status.equals(other.status, in: .content))
    }
}

extension RelativePath {
    fileprivate var firstName: FileName? { FileName(firstComponent) }
}
