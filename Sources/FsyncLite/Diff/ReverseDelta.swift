import FileSystem

/// How a tree becomes an earlier one: a pure value, proportional to what changed in between.
///
/// Objects are followed by location: a path of the tree, or a slot of the history, which is a path of the same name
/// space. So an undo moves an object out of its slot by an ordinary move.
package struct ReverseDelta: Sendable {
    /// An entry of the earlier tree.
    package struct Entry: Hashable, Sendable {
        package var file: File
        /// The present location of its object, below the target's root.
        package var location: RelativePath
        /// The earlier tree's manifest covers it.
        package var isCovered = true
        /// No record of that tree names it, and nothing says that it came in between: it was uncovered in a later tree,
        /// or is a stray.
        package var isAssumed = false

        /// No manifest had it, and a later apply found it as new. It may have come along with a displaced directory: then
        /// an older tree names it.
        var isStray: Bool { isAssumed && isCovered }

        /// By size and time: an exchange may have copied it, so its identity says nothing.
        fileprivate func hasContent(of other: Entry) -> Bool {
            let (own, other) = (file.status, other.file.status)
            return own.type == other.type && (own.type == .directory || own.hasSameContent(as: other))
        }
    }

    /// By path in the earlier tree. Entries missing here are unchanged, at the location that their directory gives
    /// them.
    package private(set) var entries = PackedMap<DeltaEntryCoding>()
    /// By present location, also in a displaced directory: what the earlier tree lacks.
    package private(set) var gone = PackedMap<FileCoding>()
    private var pathsBefore = PackedMap<PathCoding>()
    /// Some entries are assumed.
    private var assumes = false
    /// By the inode of a clone, the inode of its original.
    private(set) var originals: [UInt64: UInt64] = [:]

    /// Nothing changed.
    package init() {}

    /// The delta of a history record.
    ///
    /// - Parameter originals: by the inode of a clone, the inode of its original.
    package init(_ actions: some Collection<UndoEntry>, originals: [UInt64: UInt64] = [:]) {
        var actions = actions as? UndoEntries ?? UndoEntries(actions)
        self.init(taking: &actions, originals: originals)
    }

    /// The same, with the lines taken out of the list, which frees them as it goes.
    ///
    /// - Parameter isTree: no still older tree is computed from this: files of the history have no entries.
    init(taking actions: inout UndoEntries, originals: [UInt64: UInt64] = [:], isTree: Bool = false) {
        self.originals = originals
        // Directories come first: an entry without a slot lies in its directory's.
        actions.sort()
        actions.drain { _, action in
            let path = action.file.path
            switch action.verb {
            case .delete:
                gone[path] = action.file
            case .create, .update:
                let location =
                    action.slot.map { RelativePath.history.appending($0) } ?? locationByParent(of: path)
                set(Entry(action, at: location), isTree: isTree)
                if action.verb == .update {
                    let present = action.from ?? path
                    gone[present] = action.file.moved(to: present)
                }
            case .move, .attributes, .cover, .uncover:
                set(Entry(action, at: action.from ?? path), isTree: isTree)
            }
        }
    }

    /// The inode of the original of a clone, through clones of clones; any other inode itself.
    func original(of inode: UInt64) -> UInt64 {
        guard !originals.isEmpty else { return inode }
        var (inode, steps) = (inode, 0)
        // Inodes are reused, so the chain may have a cycle.
        while let original = originals[inode], steps < originals.count {
            (inode, steps) = (original, steps + 1)
        }
        return inode
    }

    package var isEmpty: Bool { entries.isEmpty && gone.isEmpty }

    private mutating func set(_ entry: Entry, isTree: Bool = false) {
        // A directory gives those below it their location.
        if !isTree || entry.file.isDirectory || !entry.file.path.isInState {
            entries[entry.file.path] = entry
        }
        pathsBefore[entry.location] = (entry.location, entry.file.path)
        assumes = assumes || entry.isAssumed
    }

    // MARK: Locations

    /// The present location of the object that had this path in the earlier tree.
    package func location(of path: RelativePath) -> RelativePath {
        entries[path]?.location ?? locationByParent(of: path)
    }

    /// What is known of an entry of a still earlier tree. A stray with other content is not taken for it.
    private func known(_ entry: Entry) -> Entry? {
        entries[entry.location].flatMap { $0.isStray && !$0.hasContent(of: entry) ? nil : $0 }
    }

    /// The present location of the object of an entry of a still earlier tree.
    package func location(of entry: Entry) -> RelativePath {
        known(entry)?.location ?? locationByParent(of: entry.location)
    }

    private func locationByParent(of path: RelativePath) -> RelativePath {
        guard let parent = path.parent else { return path }
        return RelativePath.followed(parent, path) { entries[$0].map { .some($0.location) } } ?? path
    }

    /// The path in the earlier tree of the object now at this location; nil if the tree lacked it.
    package func pathBefore(of location: RelativePath) -> RelativePath? {
        RelativePath.followed(location, location) { above in
            if let before = pathsBefore[above] { return .some(before.other) }
            return gone.contains(above) ? .some(nil) : nil
        }
    }

    /// Present paths whose entries the earlier tree lacks, or has elsewhere or with other content, in order; and
    /// whether that goes for everything below them.
    var touched: PackedList<TouchedCoding> {
        var touched = PackedList<TouchedCoding>()
        for (location, path) in pathsBefore.values where !location.isInState && !location.isRoot {
            touched.append((location, location != path))
        }
        for path in gone.keys where !path.isInState && !path.isRoot && !pathsBefore.contains(path) {
            touched.append((path, true))
        }
        touched.sort()
        return touched
    }

    /// Takes the entries out: `pathBefore` and `original` need none.
    mutating func takeEntries() -> PackedMap<DeltaEntryCoding> {
        defer { entries = PackedMap() }
        return entries
    }

    // MARK: Composition

    /// This delta followed by one to a still earlier tree.
    ///
    /// - Parameters:
    ///   - isDrift: the older delta is that of changes by others between two applies.
    ///   - covers: whether the filters of the wanted tree cover a file; nil where a still older tree is wanted. Of the
    ///     entries that the tree does not name, strays and covered ones are absent from it; an older tree may have them.
    package func followed(
        by older: ReverseDelta, isDrift: Bool = false, covers: ((File) -> Bool)? = nil
    ) -> ReverseDelta {
        if isEmpty, originals.isEmpty, !older.assumes { return older }
        var result = ReverseDelta()
        result.gone = gone
        result.originals = older.originals.merging(originals) { $1 }
        var unnamed: [RelativePath: Entry] = [:]
        func leave(_ path: RelativePath, _ file: File) {
            let location = location(of: path)
            // A displaced object stays in its slot; one in a displaced directory may come back with that.
            guard !location.isInState || location.isInSlot else { return }
            result.gone[location] = file.moved(to: location)
        }
        for file in older.gone.values { leave(file.path, file) }
        for entry in older.entries.values {
            let seen = known(entry)
            var entry = entry
            entry.location = seen?.location ?? locationByParent(of: entry.location)
            if let seen = seen?.file {
                // An exchange may have copied the object in between: its identity is the last one seen.
                if seen.status.inode != 0 { entry.file = entry.file.with(seen.identity) }
                // The content was not vouched for when the object was last seen.
                if seen.digest != entry.file.digest { entry.file.digest = nil }
            }
            if entry.isAssumed { unnamed[entry.file.path] = entry } else { result.set(entry) }
        }
        // Uncovered entries that the wanted tree lacks, with everything below them.
        var absent: Set<RelativePath> = []
        for entry in entries.values {
            let path = entry.file.path
            let before = older.pathBefore(of: path)
            let known = before.flatMap { result.entries[$0] ?? unnamed[$0] }
            guard let before, known == nil else {
                if isDrift, before == nil, older.gone.contains(path), result.entries[path] == nil {
                    var stray = entry
                    (stray.isCovered, stray.isAssumed) = (true, true)
                    result.set(stray)
                    continue
                }
                // There is no record of an uncovered entry that came to the path of another entry, or that came along
                // with a directory and may have left it since.
                if known?.location != entry.location {
                    leave(path, entry.file)
                    if let before { absent.insert(before) }
                }
                continue
            }
            var entry = entry
            entry.file = entry.file.moved(to: before)
            entry.isAssumed = entry.isStray || !entry.isCovered && !before.isInState
            if entry.isAssumed { unnamed[before] = entry } else { result.set(entry) }
        }
        if let covers {
            absent.formUnion(unnamed.lazy.filter { $1.isStray || covers($1.file) }.map(\.key))
        }
        for (path, entry) in unnamed {
            if absent.contains(path) || path.isBelow(anyOf: absent) {
                result.gone[entry.location] = entry.file.moved(to: entry.location)
            } else {
                result.set(entry)
            }
        }
        return result
    }

    /// The paths of the strays.
    var strays: Set<RelativePath> { Set(assumes ? entries.values.filter(\.isStray).map(\.file.path) : []) }

    /// Drops entries of slots in transactions that are not wanted, and strays that are not.
    func keeping(slotsOf transactions: Set<FileName>, strays: Set<RelativePath> = []) -> ReverseDelta {
        var result = ReverseDelta()
        (result.gone, result.originals) = (gone, originals)
        for entry in entries.values {
            let path = entry.file.path
            if path.isInState && !transactions.contains(where: { path.isBelow(.history.appending($0)) })
                || entry.isStray && !strays.contains(path)
            {
                // The wanted trees lack it, but it still has to leave its location or its displaced directory.
                result.gone[entry.location] = entry.file.moved(to: entry.location)
            } else {
                result.set(entry)
            }
        }
        // The content of displaced directories that are not wanted does not matter.
        let locations = Set(result.pathsBefore.keys)
        result.gone.remove(where: { $0.path.isInState && !$0.path.isBelow(anyOf: locations) })
        return result
    }

    /// As the lines of a history record.
    package var actions: UndoEntries {
        var actions = UndoEntries()
        var updated: Set<RelativePath> = []
        for entry in entries.values {
            let path = entry.file.path
            let isImplied = entry.location == locationByParent(of: path)
            if let slot = entry.location.relative(to: .history) {
                let isUpdate = gone.contains(path)
                if isUpdate { updated.insert(path) }
                actions.append(
                    UndoEntry(isUpdate ? .update : .create, entry, slot: isImplied ? nil : slot))
            } else {
                let from = entry.location == path ? nil : entry.location
                actions.append(UndoEntry(isImplied || from == nil ? .attributes : .move, entry, from: from))
            }
        }
        for file in gone.values where !updated.contains(file.path) {
            actions.append(UndoEntry(.delete, file))
        }
        actions.sort(thenBy: { $0.verb < $1.verb })
        return actions
    }
}

extension ReverseDelta.Entry {
    fileprivate init(_ action: UndoEntry, at location: RelativePath) {
        self.init(
            file: action.file, location: location, isCovered: !action.wasUncovered,
            isAssumed: action.isAssumed)
    }
}

extension UndoEntry {
    fileprivate init(
        _ verb: Verb, _ entry: ReverseDelta.Entry, from: RelativePath? = nil, slot: RelativePath? = nil
    ) {
        self.init(verb, entry.file, from: from, slot: slot, wasUncovered: !entry.isCovered)
        isAssumed = entry.isAssumed
    }
}

extension RelativePath {
    /// The location of `path`, given that of its nearest known ancestor or itself.
    ///
    /// - Parameter lookUp: nil for an unknown path; a nil path for one that leads nowhere.
    fileprivate static func followed(
        _ start: RelativePath, _ path: RelativePath, _ lookUp: (RelativePath) -> RelativePath??
    ) -> RelativePath? {
        var above = start
        while true {
            if let found = lookUp(above) {
                guard let found, above != path else { return found }
                return path.relative(to: above).map(found.appending)
            }
            guard let parent = above.parent else { return path }
            above = parent
        }
    }
}
