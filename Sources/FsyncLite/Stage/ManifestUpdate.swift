import FileSystem

/// The new manifest as the old one with changes laid over it: what did not change is copied through, so
/// memory holds the changes only.
package struct ManifestUpdate: Sendable {
    private struct Entry: Sendable {
        var file: File
        var targetInode: UInt64
        var targetChanged: FileTime?
        var marks: EntryMarks
        /// Where the object stands in the target until the commit; nil for a new one.
        var location: RelativePath?
    }

    private struct Change: Sendable {
        let path: RelativePath
        /// nil: the path is gone.
        let entry: Entry?
    }

    private var changes: [Change] = []

    /// What could not be read: nothing was looked at, at and below these paths.
    private var unexamined: Set<RelativePath> = []

    /// Paths alone that the run left as they are.
    private var passedOver: Set<RelativePath> = []

    /// Paths whose entries take no part from now on.
    private var uncovered: Set<RelativePath> = []

    private let targetTimes: TargetTimes
    /// Directories that names come to or go from, where they are now: the commit moves their change times.
    private var touchedDirectories: Set<RelativePath> = []
    /// The same of objects that have other names, by inode.
    private var touchedObjects: Set<UInt64> = []

    /// - Parameter count: about how many entries will change.
    package init(changing count: Int = 0, targetTimes: TargetTimes = TargetTimes()) {
        self.targetTimes = targetTimes
        changes.reserveCapacity(count)
    }

    /// Says of these objects that the commit moves their change times.
    mutating func touch(directories: Set<RelativePath>, objects: Set<UInt64>) {
        touchedDirectories = directories
        touchedObjects = objects
    }

    /// The change time of an object that stands at a path now, if the commit leaves it.
    private func untouched(
        _ changed: FileTime?, _ type: FileType, _ path: RelativePath?, _ inode: UInt64
    ) -> FileTime? {
        let isTouched =
            type == .directory
            ? path.map(touchedDirectories.contains) ?? true
            : !touchedObjects.isEmpty && touchedObjects.contains(inode)
        return isTouched ? nil : changed
    }

    /// Makes the entries at and below a path suspects of the next run: the new manifest is later than the last
    /// look at them, and would vouch for all that has happened there since.
    package mutating func distrust(_ path: RelativePath) {
        unexamined.insert(path)
    }

    /// The same for these entries, and not for what is below them.
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

    /// The entries at these paths take no part from now on.
    mutating func uncover(_ paths: Set<RelativePath>) {
        uncovered = paths
    }

    package mutating func remove(_ path: RelativePath) {
        changes.append(Change(path: path, entry: nil))
    }

    /// The entry of a path from now on; it wins over a removal, which must come first.
    ///
    /// - Parameter targetChanged: the change time of its object, if the commit does nothing to it.
    package mutating func set(
        _ file: File, targetInode: UInt64, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        at location: RelativePath? = nil
    ) {
        // A socket that was left in the target holds nothing, and a manifest has no word for it.
        guard file.status.type != .socket else { return }
        let entry = Entry(
            file: file, targetInode: targetInode, targetChanged: targetChanged, marks: marks, location: location)
        changes.append(Change(path: file.path, entry: entry))
    }

    /// In the order of their paths, one for each: the last.
    private var ordered: [Change] {
        var ordered: [Change] = []
        ordered.reserveCapacity(changes.count)
        // The sort is stable, and quick where changes came in order.
        for change in changes.sorted(by: { $0.path < $1.path }) {
            if ordered.last?.path == change.path { ordered.removeLast() }
            ordered.append(change)
        }
        return ordered
    }

    /// Writes the new manifest.
    ///
    /// - Parameter missing: asked for the digests of files that have none; without it they stay without.
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
