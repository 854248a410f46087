import FileStorage
import FileSystem

/// An earlier tree of a target, computed from its present manifest and a reverse delta, entry by entry, with the
/// location of each content. Memory holds the changed entries and those in moved directories.
package struct SnapshotTree: Sendable {
    /// Entries that differ from the manifest, in order.
    let changed: PackedList<DeltaEntryCoding>
    /// The root as it was; nil if unchanged.
    let root: File?
    private let touched: PackedList<TouchedCoding>
    /// Files with names among the changed entries: by the source's inode, how many names they had.
    private let linked: [UInt64: UInt32]
    private let changes: ReverseDelta
    private let scope: Scope
    /// Known entries of the tree that its manifest did not cover: they are restored and not recorded.
    let uncovered: Set<RelativePath>
    /// Entries covered in the earlier tree and not now: their identities there, by present path.
    let recovered: [RelativePath: FileIdentity]
    /// Uncovered entries that came since: from the history, or as new ones.
    let returned: (fromHistory: Set<RelativePath>, new: Set<RelativePath>)

    /// One name, in the present tree, of a file that has names in the earlier tree.
    private struct Sharer: Comparable {
        /// The recorded status of the file.
        let recorded: FileStatus
        /// Its status in the earlier tree.
        let then: FileStatus
        private let rank: Int

        /// - Parameters:
        ///   - isOfBoth: the earlier tree has this name too.
        ///   - isCovered: false for an uncovered entry, whose identity is that of the target's object: the source may
        ///     have changed since.
        init(recorded: FileStatus, then: FileStatus, isOfBoth: Bool, _ isCovered: Bool) {
            (self.recorded, self.then) = (recorded, then)
            rank = (isCovered ? 2 : 0) + (isOfBoth ? 1 : 0)
        }

        static func == (left: Self, right: Self) -> Bool { left.rank == right.rank }
        static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    /// The wanted part of the tree.
    private struct Scope: Sendable {
        var paths: [RelativePath]
        var above: Set<RelativePath> = []
        var withoutRest: Bool

        func contains(_ path: RelativePath) -> Bool {
            paths.isEmpty || path.isWithin(paths)
        }
    }

    /// - Parameters:
    ///   - present: the manifest from its beginning, with uncovered entries; made twice if files had several names.
    ///   - root: the root as it was when the manifest was written; nil for an unchanged one.
    ///   - paths: the wanted paths, with everything below them; everything when empty.
    ///   - withoutRest: the tree has only the wanted paths; otherwise the rest is as it is now.
    package init(
        _ changes: ReverseDelta, present: @autoclosure () throws -> some EntryStream, root: File? = nil,
        paths: [RelativePath] = [], withoutRest: Bool = false, withUncovered: Bool = false
    ) throws {
        touched = changes.touched
        self.root = paths.isEmpty || withoutRest ? changes.entries[.root]?.file ?? root : nil
        scope = Scope(
            paths: paths,
            above: Set(paths.flatMap(\.ancestors)).subtracting([.root]), withoutRest: withoutRest)

        // Uncovered entries edited since are not restored, except directories of restored entries.
        let needed = Set(
            changes.entries.values.filter {
                !$0.isCovered && $0.location.isInState && !$0.location.isLost
            }.flatMap { $0.file.path.ancestors })
        var found = changes.entries
        found.remove(where: { entry in
            let path = entry.file.path
            return path.isInState || path.isRoot
                || !(entry.isCovered || !entry.location.isLost || needed.contains(path))
        })
        var uncovered = Set(found.values.filter { !$0.isCovered }.map(\.file.path))
        if !withUncovered {
            // A displaced one that is named is wanted nevertheless, with all below it, and needs its directories.
            let named = uncovered.intersection(paths).filter { found[$0]?.location.isInState ?? false }
            let wanted = named.union(named.lazy.flatMap(\.ancestors))
            for path in uncovered where !wanted.contains(path) && !path.isBelow(anyOf: named) {
                found[path] = nil
            }
        }
        var recovered: [RelativePath: RelativePath] = [:]
        var returned: (fromHistory: Set<RelativePath>, new: Set<RelativePath>) = ([], [])
        // Names of files that have other names in the tree, by the target's inode; the manifest identifies the file.
        let linkedThen = Dictionary(
            uniqueKeysWithValues: found.values.filter { $0.file.linkCount > 1 }.map { ($0.file.path, $0) })
        let copies = linkedThen.isEmpty ? [:] : try SnapshotTree.copies(of: linkedThen, changes, present())
        func inodeNow(_ inode: UInt64) -> UInt64 {
            let original = changes.original(of: inode)
            return copies[original] ?? original
        }
        let held = Set(linkedThen.values.lazy.map { inodeNow($0.file.status.inode) })
        let present = try present()
        var sharers: [UInt64: Sharer] = [:]
        var presentAbove: Set<RelativePath> = []
        var missing = Set(paths)
        var cursor = Cursor(touched)
        while try present.advance() {
            let isCovered = !present.marks.contains(.uncovered)
            var status = present.status
            if !isCovered { (status.inode, status.created) = (present.targetInode, CommitSpans.unexamined) }
            let key = changes.original(of: present.targetInode)
            if held.contains(key) {
                let before = changes.pathBefore(of: present.path)
                let entry = before.flatMap { found[$0] }
                let then = entry?.location == present.path ? entry?.file.status : before.map { _ in status }
                let sharer = Sharer(recorded: status, then: then ?? status, isOfBoth: then != nil, isCovered)
                if sharers[key].map({ $0 < sharer }) ?? true { sharers[key] = sharer }
            }
            if scope.above.contains(present.path) { presentAbove.insert(present.path) }
            guard cursor.covers(present.path) else {
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
            if !isCovered {
                guard let entry = found[path], entry.location == present.path else { continue }
                guard entry.isCovered else {
                    // It was uncovered then too, and stays. Entries restored elsewhere in it get a new directory
                    // there.
                    if path != present.path, needed.contains(path) {
                        found[path]?.location = .lost
                    } else {
                        found[path] = nil
                        uncovered.remove(path)
                    }
                    continue
                }
                recovered[present.path] = path
            }
            missing.remove(path)
            if var entry = found[path] {
                let digest = entry.file.digest
                entry.file = entry.file.asRecorded(of: status)
                if entry.location == present.path, present.digest != digest { entry.file.digest = nil }
                found[path] = entry
            } else if path != present.path, !uncovered.contains(path) {
                found[path] = ReverseDelta.Entry(file: present.file.moved(to: path), location: present.path)
            }
        }
        missing = missing.filter { !found.contains($0) }
        if let path = missing.min() {
            throw SyncError(.inputMissing, path: path.bytes, "the snapshot has no such path")
        }
        // All names of the file are displaced, some as those of a clone.
        for entry in found.values where !held.isEmpty && entry.location.isInState {
            let inode = inodeNow(entry.file.status.inode)
            if inode != entry.file.status.inode, held.contains(inode), sharers[inode] == nil {
                let status = entry.file.status
                sharers[inode] = Sharer(recorded: status, then: status, isOfBoth: true, entry.isCovered)
            }
        }
        if !sharers.isEmpty {
            found.update { entry in
                // The inode may have been reused by another file.
                guard entry.location.isInState || recovered[entry.location] != nil,
                    let sharer = sharers[
                        entry.location.isInState
                            ? inodeNow(entry.file.status.inode)
                            : changes.original(of: entry.file.status.inode)],
                    sharer.then.isFile(like: entry.file.status)
                else { return nil }
                var entry = entry
                entry.file = entry.file.asRecorded(of: sharer.recorded)
                return entry
            }
        }
        let linked = Dictionary(
            found.values.map(\.file).filter(\.isMultiplyLinked).map { ($0.status.inode, $0.linkCount) },
            uniquingKeysWith: max)
        self.linked = linked
        let scope = scope
        self.recovered = recovered.filter { scope.contains($0.value) }.compactMapValues {
            found[$0]?.file.identity
        }
        (self.uncovered, self.returned) = (uncovered, returned)
        // The scope has most of them.
        found.remove(where: { entry in
            let path = entry.file.path
            return !scope.contains(path)
                && !(scope.above.contains(path) && (withoutRest || !presentAbove.contains(path)))
        })
        found.update { known in
            var entry = known
            var status = entry.file.status.asNameOf(linked)
            // The object holds other content by now.
            if entry.location.isLost { (status.inode, status.created, status.links) = (0, nil, 1) }
            // What also stays at its present location is copied.
            if !withoutRest, !entry.location.isInState, !scope.contains(entry.location) {
                (status.inode, status.created, status.links) = (0, nil, 1)
            }
            entry.file = entry.file.with(status)
            return entry == known ? nil : entry
        }
        changed = found.sorted
        self.changes = changes.withoutFiles
    }

    /// By the last known inode of a file, the inode of the copy that an exchange has made since.
    private static func copies(
        of linked: [RelativePath: ReverseDelta.Entry], _ changes: ReverseDelta,
        _ present: some EntryStream
    ) throws -> [UInt64: UInt64] {
        let paths = Dictionary(linked.lazy.map { ($1.location, $0) }, uniquingKeysWith: { $1 })
        var copies: [UInt64: UInt64] = [:]
        while try present.advance() {
            guard let path = paths[present.path], let entry = linked[path] else { continue }
            let seen = changes.original(of: entry.file.status.inode)
            let now = changes.original(of: present.targetInode)
            if seen != now { copies[seen] = now }
        }
        return copies
    }

    /// The location of an entry's content, below the target's root.
    package func location(of path: RelativePath) -> RelativePath {
        changed.index(of: path).map { changed.location(at: $0) } ?? path
    }

    /// Whether the entry differs from the manifest's.
    func isChanged(_ path: RelativePath) -> Bool { changed.index(of: path) != nil }

    /// The entry of a path, if it differs from the manifest's.
    func entry(_ path: RelativePath) -> ReverseDelta.Entry? { changed.index(of: path).map { changed[$0] } }

    /// Files whose object was replaced by another of the same size and modification time, which may have other
    /// content.
    ///
    /// - Parameters:
    ///   - present: the manifest from its beginning, with uncovered entries.
    ///   - written: when it was written. An object made since is a copy, as in a copied target.
    func replaced(
        _ present: some EntryStream, written: FileTime?, in root: Directory
    ) throws -> Set<RelativePath> {
        let resolver = PathResolver(root)
        var replaced: Set<RelativePath> = []
        while try present.advance() {
            guard present.status.type == .file, let path = changes.pathBefore(of: present.path),
                scope.contains(path), location(of: path) == present.path,
                // Errors are left to the copy, which reports them.
                let status = try? resolver.status(of: present.path), status.inode != present.targetInode,
                status.size == present.status.size, status.modified == present.status.modified
            else { continue }
            if let written, let made = status.created, made > written { continue }
            replaced.insert(path)
        }
        return replaced
    }

    /// The entries in order.
    ///
    /// - Parameter present: the manifest from its beginning.
    package func entries(over present: some EntryStream) -> some EntryStream {
        SnapshotEntries(self, present)
    }

    /// Follows the touched paths as the manifest is read.
    fileprivate struct Cursor {
        private let touched: PackedList<TouchedCoding>
        private var index = 0
        private var above: RelativePath?

        init(_ touched: PackedList<TouchedCoding>) {
            self.touched = touched
        }

        /// Whether a path is touched; called with paths in order.
        mutating func covers(_ path: RelativePath) -> Bool {
            if let above, path.isBelow(above) { return true }
            while index < touched.count, touched.order(index, comparedTo: path) < 0 { index += 1 }
            guard index < touched.count, touched.order(index, comparedTo: path) == 0 else { return false }
            above = touched[index].withAllBelow ? path : nil
            return true
        }
    }

    private final class ChangedEntries: EntryStream {
        private let entries: PackedList<DeltaEntryCoding>
        private var index = -1
        private(set) var file = File(path: .root, status: EntryRecord().status, destination: [])

        init(_ entries: PackedList<DeltaEntryCoding>) {
            self.entries = entries
        }

        func advance() -> Bool {
            index += 1
            guard index < entries.count else { return false }
            file = entries[index].file
            return true
        }

        var path: RelativePath { file.path }
        var status: FileStatus { file.status }
        var destination: [UInt8] { file.destination }
        var extended: ExtendedAttributes { file.extended }
        var omitted: Omissions { file.omitted }
        var digest: Digest? { file.digest }
    }

    private final class SnapshotEntries<Present: EntryStream>: EntryStream {
        private let tree: SnapshotTree
        private let changed: ChangedEntries
        private let present: Present
        private var entries: MergeJoin<ChangedEntries, Present>
        private var cursor: Cursor

        init(_ tree: SnapshotTree, _ present: Present) {
            (self.tree, self.present) = (tree, present)
            changed = ChangedEntries(tree.changed)
            entries = MergeJoin(changed, present)
            cursor = Cursor(tree.touched)
        }

        func advance() throws -> Bool {
            while try entries.advance() {
                if entries.side == .left { return true }
                let isLeftOut = isLeftOut(present.path)
                if entries.side == .both || !isLeftOut { return true }
            }
            return false
        }

        private func isLeftOut(_ path: RelativePath) -> Bool {
            let isTouched = cursor.covers(path)
            guard tree.scope.contains(path) else {
                return tree.scope.withoutRest && (isTouched || !tree.scope.above.contains(path))
            }
            return isTouched
                && (tree.isChanged(path) || tree.uncovered.contains(path)
                    || tree.changes.pathBefore(of: path) != path)
        }

        private var isChanged: Bool { entries.side != .right }

        var path: RelativePath { entries.path }
        var status: FileStatus { isChanged ? changed.status : present.status.asNameOf(tree.linked) }
        var destination: [UInt8] { isChanged ? changed.destination : present.destination }
        var extended: ExtendedAttributes { isChanged ? changed.extended : present.extended }
        var omitted: Omissions { isChanged ? changed.omitted : present.omitted }
        var digest: Digest? { isChanged ? changed.digest : present.digest }
        var targetInode: UInt64 { isChanged ? changed.status.inode : present.targetInode }
        var file: File { isChanged ? changed.file : file(at: path) }
    }
}

extension FileStatus {
    /// The same by everything that all names of a file share.
    func isFile(like other: FileStatus) -> Bool {
        type == other.type && size == other.size && modified == other.modified
    }

    /// Restores the link count of a file that had more names in the earlier tree.
    fileprivate func asNameOf(_ linked: [UInt64: UInt32]) -> FileStatus {
        guard type != .directory, let names = linked[inode], names > links else { return self }
        var status = self
        status.links = names
        return status
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
