import FileSystem

/// The new manifest as the old one plus changes. Unchanged entries are copied through, so memory holds only the
/// changes.
package struct ManifestUpdate: Sendable {
    private struct Entry: Sendable {
        var file: File
        var targetInode: UInt64
        var targetChanged: FileTime?
        var marks: EntryMarks
        /// The present location of the object in the target; nil for a new one.
        var location: RelativePath?
    }

    private struct Change: Sendable {
        let path: RelativePath
        /// nil: the entry is removed.
        let entry: Entry?
    }

    private var changes: [Change] = []

    /// Paths that could not be read: they and their contents were not examined.
    private var unexamined: Set<RelativePath> = []

    /// Single paths that the run left unchanged.
    private var passedOver: Set<RelativePath> = []

    /// Entries that become uncovered.
    private var uncovered: Set<RelativePath> = []

    private let targetTimes: TargetTimes
    /// Directories, by present path, in which the commit adds or removes names: it moves their change times.
    private var touchedDirectories: Set<RelativePath> = []
    /// The same for objects with other names, by inode.
    private var touchedObjects: Set<UInt64> = []

    /// - Parameter count: the approximate number of changed entries.
    package init(changing count: Int = 0, targetTimes: TargetTimes = TargetTimes()) {
        self.targetTimes = targetTimes
        changes.reserveCapacity(count)
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
        guard isUnexamined(path) else { return status }
        var status = status
        status.changed = CommitSpans.unexamined
        return status
    }

    /// Marks the entries at these paths as uncovered.
    mutating func uncover(_ paths: Set<RelativePath>) {
        uncovered = paths
    }

    package mutating func remove(_ path: RelativePath) {
        changes.append(Change(path: path, entry: nil))
    }

    /// Sets the new entry of a path. It overrides a removal, which must come first.
    ///
    /// - Parameter targetChanged: the change time of its object, if the commit does not move it.
    package mutating func set(
        _ file: File, targetInode: UInt64, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        at location: RelativePath? = nil
    ) {
        // A socket left in the target has no data, and manifests have no type for it.
        guard file.status.type != .socket else { return }
        let entry = Entry(
            file: file, targetInode: targetInode, targetChanged: targetChanged, marks: marks,
            location: location)
        changes.append(Change(path: file.path, entry: entry))
    }

    /// Sorted by path, and for each path only the last.
    private var ordered: [Change] {
        var ordered: [Change] = []
        ordered.reserveCapacity(changes.count)
        // The sort is stable, and fast for changes that are in order.
        for change in changes.sorted(by: { $0.path < $1.path }) {
            if ordered.last?.path == change.path { ordered.removeLast() }
            ordered.append(change)
        }
        return ordered
    }

    /// Writes the new manifest.
    ///
    /// - Parameter missing: computes the digests of files that have none; nil leaves them out.
    func write(
        _ header: ManifestHeader, over old: (some EntryStream)?, to sink: inout some ByteSink & ~Copyable,
        digests missing: MissingDigests? = nil
    ) throws -> ManifestSummary {
        var writer = ManifestWriter(header)
        let changes = ordered
        var next = changes.startIndex
        let uncovered = uncovered
        func append(_ change: Change) throws {
            guard let entry = change.entry else { return }
            let path = change.path
            var digest = entry.file.digest
            if let missing, let location = entry.location, digest == nil, entry.file.isFile {
                digest = try missing.digest(of: path, at: location, inode: entry.targetInode)
            }
            writer.append(
                path: path, status: recorded(entry.file.status, at: path),
                destination: entry.file.destination, extended: entry.file.extended,
                omitted: entry.file.omitted, targetInode: entry.targetInode,
                targetChanged: untouched(
                    entry.targetChanged, entry.file.status.type, entry.location, entry.targetInode),
                marks: entry.marks.union(entry.file.isGrowing ? .growing : [])
                    .union(uncovered.contains(path) ? .uncovered : []), digest: digest)
        }
        var times = TargetTimes.Cursor(targetTimes)
        var number: UInt32 = 0
        if let old {
            while try old.advance() {
                let isCovered = !old.marks.contains(.uncovered)
                let found = isCovered ? times.time(of: number) : nil
                if isCovered { number += 1 }
                try writer.drain(to: &sink)
                while next < changes.endIndex, changes[next].path < old.path {
                    try append(changes[next])
                    next += 1
                }
                if next < changes.endIndex, changes[next].path == old.path {
                    try append(changes[next])
                    next += 1
                    continue
                }
                let changed = untouched(
                    old.targetChanged ?? found, old.status.type, old.path, old.targetInode)
                if isUnexamined(old.path) || (missing != nil && isCovered) || changed != old.targetChanged
                    || !old.append(to: &writer)
                {
                    var digest = old.digest
                    if let missing, isCovered, digest == nil, old.status.type == .file {
                        digest = try missing.digest(of: old.path, at: old.path, inode: old.targetInode)
                    }
                    writer.append(
                        path: old.path, status: recorded(old.status, at: old.path),
                        destination: old.destination, extended: old.extended, omitted: old.omitted,
                        targetInode: old.targetInode, targetChanged: changed, marks: old.marks,
                        digest: digest)
                }
            }
        }
        for change in changes[next...] {
            try append(change)
            try writer.drain(to: &sink)
        }
        writer.end()
        try writer.drain(to: &sink, all: true)
        return writer.summary
    }
}
