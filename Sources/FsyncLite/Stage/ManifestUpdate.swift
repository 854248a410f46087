import FileSystem

/// The new manifest as the old one plus changes. Unchanged entries are copied through, so memory holds only the
/// changes.
package struct ManifestUpdate: Sendable {
    struct Entry: Sendable {
        var file: File
        var targetInode: UInt64
        var targetChanged: FileTime?
        var marks: EntryMarks
        /// The number of its object; 0 in a manifest without numbers.
        var object: UInt64
        /// The present location of the object in the target; nil for a new one.
        var location: RelativePath?
    }

    /// The origin of a change: an entry of the difference, by its index, or one that was set or removed.
    enum Origin: UInt32, Sendable {
        /// The path is removed: of a forgotten or deleted entry, or of the target's entry of a match.
        case forgotten, deleted, left
        case removed
        /// A match whose object stays; a staged entry.
        case kept, staged
        case set
    }

    private typealias Change = OriginAndIndex<Origin>
    private var changes: [Change] = []
    @Boxed private var difference: Difference
    private let moves: MoveMap
    private let outcomes: OutcomeList
    private let numbers: ObjectNumbers
    private var removed: [RelativePath] = []
    private var entries: [Entry] = []

    /// Paths that could not be read: they and their contents were not examined.
    private var unexamined: Set<RelativePath> = []

    /// Single paths that the run left unchanged.
    private var passedOver: Set<RelativePath> = []

    /// Entries that become uncovered.
    private var uncovered: Set<RelativePath> = []

    /// Directories, by present path, in which the commit adds or removes names: it moves their change times.
    private var touchedDirectories: Set<RelativePath> = []
    /// The same for objects with other names, by inode.
    private var touchedObjects: Set<UInt64> = []

    package init() { self.init(Difference(), MoveMap(Difference()), OutcomeList(), ObjectNumbers()) }

    /// - Parameter outcomes: of the stage.
    init(_ difference: Difference, _ moves: MoveMap, _ outcomes: OutcomeList, _ numbers: ObjectNumbers) {
        (self.difference, self.moves, self.outcomes) = (difference, moves, outcomes)
        self.numbers = numbers
        changes.reserveCapacity(
            difference.forgotten.count + difference.deleted.count + difference.created.count
                + difference.matches.heads.reduce(0) { $0 + ($1.isRenamed ? 2 : 1) })
    }

    mutating func append(_ origin: Origin, _ index: Int) {
        changes.append(Change(origin, index))
    }

    /// Declares objects whose change times the commit moves.
    mutating func touch(directories: Set<RelativePath>, objects: Set<UInt64>) {
        touchedDirectories = directories
        touchedObjects = objects
    }

    /// The present change time of the object at a path, if the commit does not move it.
    private func untouched(
        _ changed: FileTime?, _ type: FileType, _ path: RelativePath?, _ inode: UInt64
    ) -> FileTime? {
        let isTouched =
            type == .directory
            ? path.map(touchedDirectories.contains) ?? true
            : !touchedObjects.isEmpty && touchedObjects.contains(inode)
        return isTouched ? nil : changed
    }

    /// Marks the entries at and below a path for comparison in the next run: they were last examined before the new
    /// manifest, which must not vouch for changes since.
    package mutating func distrust(_ path: RelativePath) {
        unexamined.insert(path)
    }

    /// The same for single entries, without their contents.
    mutating func passOver(_ paths: [RelativePath]) {
        passedOver.formUnion(paths)
    }

    private func isUnexamined(_ path: RelativePath) -> Bool {
        !passedOver.isEmpty && passedOver.contains(path)
            || !unexamined.isEmpty && (unexamined.contains(path) || path.isBelow(anyOf: unexamined))
    }

    private func recorded(_ status: FileStatus, at path: RelativePath) -> FileStatus {
        isUnexamined(path) ? status.unexamined : status
    }

    /// Marks the entries at these paths as uncovered.
    mutating func uncover(_ paths: Set<RelativePath>) {
        uncovered = paths
    }

    package mutating func remove(_ path: RelativePath) {
        append(.removed, removed.count)
        removed.append(path)
    }

    /// Sets the new entry of a path. It overrides a removal, which must come first.
    ///
    /// - Parameter targetChanged: the change time of its object, if the commit does not move it.
    package mutating func set(
        _ file: File, targetInode: UInt64, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        at location: RelativePath? = nil
    ) {
        guard ManifestUpdate.holds(file) else { return }
        append(.set, entries.count)
        entries.append(
            Entry(
                file: file, targetInode: targetInode, targetChanged: targetChanged, marks: marks,
                object: file.object, location: location))
    }

    /// A socket left in the target has no data, and manifests have no type for it.
    static func holds(_ file: File) -> Bool { file.status.type != .socket }

    private func path(_ change: Change) -> RelativePath {
        let index = change.index
        return switch change.origin {
        case .removed: removed[index]
        case .set: entries[index].file.path
        case .forgotten: difference.forgotten[index]
        case .deleted: difference.deleted.path(at: index)
        case .left: difference.matches.targetPath(at: index)
        case .staged: outcomes.path(index)
        case .kept: difference.matches.path(at: index)
        }
    }

    /// nil: the entry is removed.
    private func entry(_ change: Change) -> Entry? {
        let index = change.index
        return switch change.origin {
        case .forgotten, .deleted, .left, .removed: nil
        case .set: entries[index]
        case .kept: kept(index)
        case .staged: staged(index)
        }
    }

    /// The entry of a match whose object stays.
    private func kept(_ index: Int) -> Entry {
        let (match, policy) = (difference.matches[index], difference.policy)
        let target = match.target.status
        let stays = !match.changesAttributes && (!match.isRenamed || moves.isCarried(match))
        return Entry(
            file: match.held, targetInode: target.inode,
            targetChanged: stays && !policy.movesLater(target) ? target.changed : nil,
            marks: policy.marks(of: match.source, base: match.base?.known),
            object: numbers.wanted(match, at: index), location: match.target.path)
    }

    /// The entry of a staged object.
    private func staged(_ index: Int) -> Entry? {
        guard case .staged(let file, let inode)? = outcomes[index] else { return nil }
        return Entry(
            file: file, targetInode: inode, marks: difference.policy.marks(of: file, base: nil),
            object: numbers.number(arriving: file))
    }

    /// Sorts the changes by path, and keeps for each path only the last.
    private mutating func order() {
        // Taken out, as the order needs the rest of this value.
        var ordered: [Change] = []
        swap(&ordered, &changes)
        // A constant: each access to a value that can change would copy all of it.
        let rest = self
        // The sort is stable, and fast for changes that are in order.
        ordered.sort { rest.path($0) < rest.path($1) }
        var count = 0
        for index in ordered.indices {
            if count > 0, rest.path(ordered[count - 1]) == rest.path(ordered[index]) { count -= 1 }
            ordered[count] = ordered[index]
            count += 1
        }
        ordered.removeLast(ordered.count - count)
        changes = ordered
    }

    /// Writes the new manifest.
    ///
    /// - Parameter missing: computes the digests of files that have none; nil leaves them out.
    mutating func write(
        _ header: ManifestHeader, over old: (some EntryStream)?, to sink: inout some ByteSink & ~Copyable,
        digests missing: MissingDigests? = nil
    ) throws -> ManifestSummary {
        order()
        return try writeOrdered(header, over: old, to: &sink, digests: missing)
    }

    private func writeOrdered(
        _ header: ManifestHeader, over old: (some EntryStream)?, to sink: inout some ByteSink & ~Copyable,
        digests missing: MissingDigests?
    ) throws -> ManifestSummary {
        var writer = ManifestWriter(header)
        var next = changes.startIndex
        let uncovered = uncovered
        func write(_ entry: Entry) {
            writer.append(
                path: entry.file.path, status: recorded(entry.file.status, at: entry.file.path),
                destination: entry.file.destination, extended: entry.file.extended,
                omitted: entry.file.omitted, targetInode: entry.targetInode,
                targetChanged: entry.targetChanged, marks: entry.marks, digest: entry.file.digest,
                object: writer.isNumbered ? entry.object : 0)
        }
        func append(_ entry: Entry) throws {
            if let missing { try missing.add(entry, write) } else { write(entry) }
        }
        func append(_ change: Change) throws {
            guard var entry = entry(change) else { return }
            entry.targetChanged = untouched(
                entry.targetChanged, entry.file.status.type, entry.location, entry.targetInode)
            entry.marks.formUnion(entry.file.isGrowing ? .growing : [])
            entry.marks.formUnion(uncovered.contains(entry.file.path) ? .uncovered : [])
            try append(entry)
        }
        var times = TargetTimes.Cursor(difference.targetTimes)
        var number: UInt32 = 0
        if let old {
            while try old.advance() {
                let isCovered = !old.marks.contains(.uncovered)
                let found = isCovered ? times.time(of: number) : nil
                if isCovered { number += 1 }
                var isChanged = false
                while next < changes.endIndex, !isChanged {
                    let order = path(changes[next]).order(comparedTo: old.path)
                    guard order <= 0 else { break }
                    try append(changes[next])
                    // Any number of new entries may come before an old one.
                    try writer.drain(to: &sink)
                    next += 1
                    isChanged = order == 0
                }
                if isChanged { continue }
                try writer.drain(to: &sink)
                let changed = untouched(
                    old.targetChanged ?? found, old.status.type, old.path, old.targetInode)
                if missing != nil || isUnexamined(old.path) || changed != old.targetChanged
                    || !old.append(to: &writer)
                {
                    try append(
                        Entry(
                            file: old.file, targetInode: old.targetInode, targetChanged: changed,
                            marks: old.marks, object: old.object,
                            location: isCovered ? old.path : nil))
                }
            }
        }
        for change in changes[next...] {
            try append(change)
            try writer.drain(to: &sink)
        }
        try missing?.finish(write)
        writer.end()
        try writer.drain(to: &sink, all: true)
        return writer.summary
    }
}
