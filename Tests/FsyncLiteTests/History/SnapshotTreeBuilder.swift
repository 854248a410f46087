import FileStorage
import FileSystem

@testable import FsyncLite

/// The steps by which an earlier tree is made of a reverse delta and the present manifest.
struct SnapshotTreeBuilder {
    private var changes: ReverseDelta
    private let scope: SnapshotTree.Scope
    /// The entries that differ from the present ones, by their path in the earlier tree.
    private var found: PackedMap<DeltaEntryCoding>
    private(set) var uncovered: Set<RelativePath>
    private(set) var returned: (fromHistory: Set<RelativePath>, new: Set<RelativePath>) = ([], [])
    /// Directories of uncovered entries that come back from the history.
    private let needed: Set<RelativePath>
    /// Entries covered in the earlier tree and not now: their paths there, by present path.
    private var recovered: [RelativePath: RelativePath] = [:]
    /// Wanted paths that were not met yet.
    private var missing: Set<RelativePath>
    /// Directories above the wanted paths that are there now.
    private var presentAbove: Set<RelativePath> = []

    /// Names of files that have other names in the tree; the manifest identifies the file.
    private let linked: [RelativePath: ReverseDelta.Entry]
    /// By the last known inode of a file, the inode of the copy that an exchange has made since.
    private var copies: [UInt64: UInt64] = [:]
    /// The present inodes of these files, and the best name of each.
    private var held: Set<UInt64> = []
    private var sharers: [UInt64: Sharer] = [:]

    /// One name, in the present tree, of a file that has names in the earlier tree.
    private struct Sharer: Comparable {
        /// The recorded status of the file.
        let recorded: FileStatus
        /// Its status in the earlier tree.
        let then: FileStatus
        /// The path of the file, if it was there in the earlier tree and is not displaced.
        let location: RelativePath?
        private let rank: Int

        /// - Parameters:
        ///   - isOfBoth: the earlier tree has this name too.
        ///   - isCovered: false for an uncovered entry, whose identity is that of the target's object: the source may
        ///     have changed since.
        init(
            recorded: FileStatus, then: FileStatus, at location: RelativePath? = nil, isOfBoth: Bool,
            _ isCovered: Bool
        ) {
            (self.recorded, self.then, self.location) = (recorded, then, location)
            rank = (isCovered ? 2 : 0) + (isOfBoth ? 1 : 0)
        }

        static func == (left: Self, right: Self) -> Bool { left.rank == right.rank }
        static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    /// - Parameter withUncovered: also all uncovered entries, not only displaced ones that are named.
    init(_ delta: consuming ReverseDelta, _ scope: SnapshotTree.Scope, withUncovered: Bool) {
        var found = delta.takeEntries()
        (changes, self.scope, missing) = (delta, scope, Set(scope.paths))
        let needed = Set(
            found.values.filter {
                !$0.isCovered && $0.location.isInState && !$0.location.isLost
            }.flatMap { $0.file.path.ancestors })
        // Uncovered entries edited since are not restored, except directories of restored entries.
        found.remove(where: { entry in
            let path = entry.file.path
            return path.isInState || path.isRoot
                || !(entry.isCovered || !entry.location.isLost || needed.contains(path))
        })
        let uncovered = Set(found.values.filter { !$0.isCovered }.map(\.file.path))
        if !withUncovered {
            // Such a displaced one is wanted with all below it, and needs its directories.
            let named = uncovered.intersection(scope.paths).filter { found[$0]?.location.isInState ?? false }
            let wanted = named.union(named.lazy.flatMap(\.ancestors))
            for path in uncovered where !wanted.contains(path) && !path.isBelow(anyOf: named) {
                found[path] = nil
            }
        }
        (self.needed, self.found, self.uncovered) = (needed, found, uncovered)
        linked = Dictionary(
            uniqueKeysWithValues: found.values.filter { $0.file.linkCount > 1 }.map { ($0.file.path, $0) })
    }

    // MARK: The present manifest

    var hasLinkedFiles: Bool { !linked.isEmpty }

    /// Finds the copies that exchanges made of files with several names.
    mutating func findCopies(in present: some EntryStream) throws {
        let paths = Dictionary(linked.lazy.map { ($1.location, $0) }, uniquingKeysWith: { $1 })
        while try present.advance() {
            guard let path = paths[present.path], let entry = linked[path] else { continue }
            let seen = changes.original(of: entry.file.status.inode)
            let now = changes.original(of: present.targetInode)
            if seen != now { copies[seen] = now }
        }
    }

    private func inodeNow(_ inode: UInt64) -> UInt64 {
        let original = changes.original(of: inode)
        return copies[original] ?? original
    }

    /// The best present name of the file of a displaced or recovered entry.
    private func sharer(of entry: ReverseDelta.Entry) -> Sharer? {
        let inode = entry.file.status.inode
        if entry.location.isInState { return sharers[inodeNow(inode)] }
        return recovered[entry.location] == nil ? nil : sharers[changes.original(of: inode)]
    }

    /// Takes what the present manifest tells of the entries that changed: identities, and what moved with its directory.
    ///
    /// - Throws: `SyncError` for a wanted path that the earlier tree lacks.
    mutating func follow(_ present: some EntryStream, _ touched: PackedList<TouchedCoding>) throws {
        held = Set(linked.values.map { inodeNow($0.file.status.inode) })
        var cursor = SnapshotTree.Cursor(touched)
        while try present.advance() {
            let isCovered = !present.marks.contains(.uncovered)
            var status = present.status
            if !isCovered { (status.inode, status.created) = (present.targetInode, CommitSpans.unexamined) }
            note(present, status, isCovered)
            if scope.above.contains(present.path) { presentAbove.insert(present.path) }
            guard cursor.touches(present.path) else {
                if isCovered { missing.remove(present.path) }
                continue
            }
            guard let path = changes.pathBefore(of: present.path) else {
                if !isCovered { returned.new.insert(present.path) }
                continue
            }
            guard !path.isInState else {
                if !isCovered { returned.fromHistory.insert(present.path) }
                continue
            }
            guard isCovered || recovers(present, path) else { continue }
            missing.remove(path)
            take(present, status, path)
        }
        missing = missing.filter { !found.contains($0) }
        if let path = missing.min() {
            throw SyncError(.inputMissing, path: path.bytes, "the snapshot has no such path")
        }
    }

    /// Notes a name of a file that has names in the earlier tree.
    private mutating func note(_ present: some EntryStream, _ status: FileStatus, _ isCovered: Bool) {
        guard !held.isEmpty else { return }
        let key = changes.original(of: present.targetInode)
        guard held.contains(key) else { return }
        let before = changes.pathBefore(of: present.path)
        let entry = before.flatMap { found[$0] }
        let then = entry?.location == present.path ? entry?.file.status : before.map { _ in status }
        let sharer = Sharer(
            recorded: status, then: then ?? status, at: then.map { _ in present.path }, isOfBoth: then != nil,
            isCovered)
        if sharers[key].map({ $0 < sharer }) ?? true { sharers[key] = sharer }
    }

    /// Whether an entry that is uncovered now was covered in the earlier tree. One that was uncovered then too stays;
    /// entries that are restored elsewhere in it get a new directory there.
    private mutating func recovers(_ present: some EntryStream, _ path: RelativePath) -> Bool {
        guard let entry = found[path], entry.location == present.path else { return false }
        if entry.isCovered {
            recovered[present.path] = path
        } else if path != present.path, needed.contains(path) {
            found[path]?.location = .lost
        } else {
            found[path] = nil
            uncovered.remove(path)
        }
        return entry.isCovered
    }

    private mutating func take(_ present: some EntryStream, _ status: FileStatus, _ path: RelativePath) {
        if var entry = found[path] {
            let digest = entry.file.digest
            entry.file = entry.file.asRecorded(of: status)
            if entry.location == present.path, present.digest != digest { entry.file.digest = nil }
            found[path] = entry
        } else if path != present.path, !uncovered.contains(path) {
            found[path] = ReverseDelta.Entry(file: present.file.moved(to: path), location: present.path)
        }
    }

    // MARK: Files with several names

    /// Gives displaced and recovered names of a file the identity of the names that it has now.
    mutating func joinNames() {
        // All names of the file are displaced, some as those of a clone.
        for entry in found.values where !held.isEmpty && entry.location.isInState {
            let inode = inodeNow(entry.file.status.inode)
            if inode != entry.file.status.inode, held.contains(inode), sharers[inode] == nil {
                let status = entry.file.status
                sharers[inode] = Sharer(recorded: status, then: status, isOfBoth: true, entry.isCovered)
            }
        }
        guard !sharers.isEmpty else { return }
        // Taken out, as the names need the rest of this value.
        var joined = PackedMap<DeltaEntryCoding>()
        swap(&joined, &found)
        defer { swap(&joined, &found) }
        joined.update { entry in
            // The inode may have been reused by another file.
            guard let sharer = sharer(of: entry), sharer.then.isFile(like: entry.file.status) else {
                return nil
            }
            var entry = entry
            entry.file = entry.file.asRecorded(of: sharer.recorded)
            // A name that was removed from the target, or replaced: another one leads to the file.
            if entry.location.isLost, let location = sharer.location { entry.location = location }
            return entry
        }
    }

    // MARK: Result

    /// Entries covered in the earlier tree and not now: their identities there, by present path.
    var recoveredIdentities: [RelativePath: FileIdentity] {
        recovered.filter { scope.contains($0.value) }.compactMapValues { found[$0]?.file.identity }
    }

    /// The wanted entries in order; and of files with names among them, how many names they had, by inode.
    consuming func finish() -> (changed: PackedList<DeltaEntryCoding>, linked: [UInt64: UInt32]) {
        let (scope, presentAbove) = (scope, presentAbove)
        changes = ReverseDelta()
        var linked: [UInt64: UInt32] = [:]
        for entry in found.values where entry.file.isMultiplyLinked {
            let inode = entry.file.status.inode
            linked[inode] = max(linked[inode] ?? 0, entry.file.linkCount)
        }
        // The scope has most of them.
        found.remove(where: { entry in
            let path = entry.file.path
            return !scope.contains(path)
                && !(scope.above.contains(path) && (scope.withoutRest || !presentAbove.contains(path)))
        })
        found.update { known in
            var entry = known
            var status = entry.file.status.asNameOf(linked)
            if status.inode == 0, status.type == .file, entry.location.isInState {
                status.inode = entry.location.slotNumber
            }
            // The object holds other content by now.
            if entry.location.isLost { (status.inode, status.created, status.links) = (0, nil, 1) }
            // What also stays at its present location is copied.
            if !scope.withoutRest, !entry.location.isInState, !scope.contains(entry.location) {
                (status.inode, status.created, status.links) = (0, nil, 1)
            }
            entry.file = entry.file.with(status)
            return entry == known ? nil : entry
        }
        var changed = found.sorted
        found = PackedMap()
        changed.compact()
        return (changed, linked)
    }
}

extension RelativePath {
    /// Tells a displaced object from others where inodes do not last: by FNV-1a, in the 53 bits that every reader of JSON
    /// takes.
    fileprivate var slotNumber: UInt64 {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return hash & (1 << 52 - 1) | 1 << 52
    }
}

extension File {
    /// The same entry with the source's identity, marked as unexamined: it was not compared with the source's present
    /// content.
    fileprivate func asRecorded(of source: FileStatus) -> File {
        var status = status
        (status.inode, status.created, status.changed) = (
            source.inode, source.created, CommitSpans.unexamined
        )
        return with(status)
    }
}
