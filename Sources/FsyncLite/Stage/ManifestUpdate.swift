import FileSystem

/// The new manifest, as the old one plus changes. Unchanged entries are copied, so only the changes are in memory.
package struct ManifestUpdate: Sendable {
    struct Entry: Sendable {
        var file: File
        var targetInode: UInt64
        var targetChanged: FileTime?
        var marks: EntryMarks
        /// The number of its object; 0 in a manifest without numbers.
        var object: UInt64
        /// The present location of the object in the target; nil for a new object.
        var location: RelativePath?
    }

    @Boxed private var difference: Difference
    private let moves: MoveMap
    private let staged: OperationGraph.StagedList
    private let numbers: ObjectNumbers
    private var removed: [RelativePath] = []
    private var entries: [Entry] = []

    /// Paths that could not be read. They and their contents were not examined.
    private var unexamined: Set<RelativePath> = []

    /// Single paths that the run left unchanged. The next run compares their entries, but not those below.
    var passedOver: Set<RelativePath> = []

    /// Entries that become uncovered.
    var uncovered: Set<RelativePath> = []

    /// The present paths of directories in which the commit adds or removes names. This moves their change times.
    var touchedDirectories: Set<RelativePath> = []
    /// The inodes of objects with other names whose change times the commit moves.
    var touchedObjects: Set<UInt64> = []

    package init() { self.init(Difference(), MoveMap(Difference()), .init(), ObjectNumbers()) }

    init(
        _ difference: Difference, _ moves: MoveMap, _ staged: OperationGraph.StagedList,
        _ numbers: ObjectNumbers
    ) {
        (self.difference, self.moves, self.staged) = (difference, moves, staged)
        self.numbers = numbers
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

    /// Makes the next run compare the entries at and below a path. They were last examined before the new manifest,
    /// which must not hide changes since then.
    package mutating func distrust(_ path: RelativePath) {
        unexamined.insert(path)
    }

    private func isUnexamined(_ path: RelativePath) -> Bool {
        !passedOver.isEmpty && passedOver.contains(path)
            || !unexamined.isEmpty && (unexamined.contains(path) || path.isBelow(anyOf: unexamined))
    }

    package mutating func remove(_ path: RelativePath) { removed.append(path) }

    /// Sets the new entry of a path, unless an entry was staged there.
    ///
    /// - Parameter targetChanged: the change time of its object, if the commit does not move it.
    package mutating func set(
        _ file: File, targetInode: UInt64, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        at location: RelativePath? = nil
    ) {
        guard ManifestUpdate.holds(file) else { return }
        entries.append(
            Entry(
                file: file, targetInode: targetInode, targetChanged: targetChanged, marks: marks,
                object: file.object, location: location))
    }

    /// False for a socket that is left in the target. It has no data, and manifests have no type for it.
    static func holds(_ file: File) -> Bool { file.status.type != .socket }

    /// The new entries by their paths; nil for a path that is removed.
    private func edits() -> PathMerge<Entry?> {
        let changes = difference.changes
        // The manifest has no entries of the history.
        var left = changes.indices.filter {
            changes.head(at: $0).isRenamed && !changes.head(at: $0).targetIsInState
        }.map { UInt32($0) }
        left.sort { changes.targetPath(at: Int($0)) < changes.targetPath(at: Int($1)) }
        let others = changes.indices(where: { $0.kind == .deleted || !$0.arrives && !$0.isSocket })
        let set = entries.sorted { $0.file.path < $1.file.path }
        typealias Edit = PathMerge<Entry?>.Element
        func origin(_ edits: some Sequence<Edit>) -> AnyIterator<Edit> { AnyIterator(edits.makeIterator()) }
        return PathMerge([
            origin(removed.sorted().lazy.map { ($0, nil) as Edit }),
            origin(left.lazy.map { (changes.targetPath(at: Int($0)), nil) as Edit }),
            origin(others.map { (changes.path(at: $0), remainingEntry(at: $0)) as Edit }),
            origin(set.lazy.map { ($0.file.path, $0) as Edit }),
            origin(staged.indices.lazy.compactMap { staged(at: $0) }.map { ($0.file.path, $0) as Edit }),
        ])
    }

    /// The entry of a match without a new object; nil for a deleted entry.
    private func remainingEntry(at index: Int) -> Entry? {
        guard case .match(let match) = difference.changes[index] else { return nil }
        let policy = difference.policy
        let target = match.target.status
        let hasKnownTime = !match.changesAttributes && (!match.isRenamed || moves.isCarried(match))
        return Entry(
            file: match.asStored, targetInode: target.inode,
            targetChanged: hasKnownTime && !policy.movesLater(target) ? target.changed : nil,
            marks: policy.marks(of: match.source, base: match.base?.known),
            object: numbers.wanted(match, at: index), location: match.target.path)
    }

    /// The entry of a staged object.
    private func staged(at index: Int) -> Entry? {
        guard case .staged(let file, let inode)? = staged.outcome(at: index), ManifestUpdate.holds(file)
        else { return nil }
        return Entry(
            file: file, targetInode: inode, marks: difference.policy.marks(of: file, base: nil),
            object: numbers.number(arriving: file))
    }

    /// Writes the new manifest.
    ///
    /// - Parameter missing: computes the digests of files that have none. If it is nil, they are left out.
    func write(
        _ header: ManifestHeader, over old: (some EntryStream)?, to sink: inout some ByteSink & ~Copyable,
        digests missing: MissingDigests? = nil
    ) throws -> ManifestSummary {
        var writer = ManifestWriter(header)
        var edits = edits()
        let uncovered = uncovered
        func write(_ entry: Entry) {
            let (path, status) = (entry.file.path, entry.file.status)
            writer.append(
                path: path, status: isUnexamined(path) ? status.unexamined : status,
                destination: entry.file.destination, extended: entry.file.extended,
                omitted: entry.file.omitted, targetInode: entry.targetInode,
                targetChanged: entry.targetChanged, marks: entry.marks, digest: entry.file.digest,
                object: writer.isNumbered ? entry.object : 0)
        }
        func append(_ entry: Entry) throws {
            if let missing { try missing.add(entry, write) } else { write(entry) }
        }
        func appendNext() throws {
            guard var entry = edits.next()?.value else { return }
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
                while let path = edits.path, !isChanged {
                    let order = path.order(comparedTo: old.path)
                    guard order <= 0 else { break }
                    try appendNext()
                    // Many new entries may be before the next old one.
                    try writer.drain(to: &sink)
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
        while edits.path != nil {
            try appendNext()
            try writer.drain(to: &sink)
        }
        try missing?.finish(write)
        writer.end()
        try writer.drain(to: &sink, all: true)
        return writer.summary
    }
}
