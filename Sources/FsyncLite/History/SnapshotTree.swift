import FileStorage
import FileSystem

/// An earlier tree of a target: its present manifest with inverse changes laid over it, entry by entry, and where
/// each content lies. Memory holds what changed and what moved directories hold.
package struct SnapshotTree: Sendable {
    /// Entries that the manifest does not have as they were, in order.
    let changed: [ReverseDelta.Entry]
    /// The root as it was; nil where it is unchanged.
    let root: File?
    private let touched: [(path: RelativePath, withAllBelow: Bool)]
    private let locations: [RelativePath: RelativePath]
    /// Files of which names are among the changed, by the source's inode, and how many names they had.
    private let linked: [UInt64: UInt32]
    private let changes: ReverseDelta
    private let scope: Scope
    /// Entries of the tree that its manifest did not have, though they are known: they are put back and not recorded.
    let uncovered: Set<RelativePath>
    /// Where entries stand that took part in the earlier tree and take none now, and as what they are known.
    let recovered: [RelativePath: FileIdentity]
    /// Entries that take no part and came since: from the history, or as new ones.
    let returned: (fromHistory: Set<RelativePath>, new: Set<RelativePath>)

    /// One name of a file in the present tree that the earlier tree has names of.
    private struct Sharer: Comparable {
        /// As what the file is known.
        let recorded: FileStatus
        /// What it was in the earlier tree.
        let then: FileStatus
        private let rank: Int

        /// - Parameters:
        ///   - isOfBoth: the earlier tree has this name too.
        ///   - takesPart: what takes no part is known as an object of the target: the source's may have changed since.
        init(recorded: FileStatus, then: FileStatus, isOfBoth: Bool, _ takesPart: Bool) {
            (self.recorded, self.then) = (recorded, then)
            rank = (takesPart ? 2 : 0) + (isOfBoth ? 1 : 0)
        }

        static func == (left: Self, right: Self) -> Bool { left.rank == right.rank }
        static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
    }

    /// The part of the tree that is wanted.
    private struct Scope: Sendable {
        var paths: [RelativePath]
        /// Directories on the way to it.
        var above: Set<RelativePath> = []
        var withoutRest: Bool

        func contains(_ path: RelativePath) -> Bool {
            paths.isEmpty || paths.contains { path == $0 || path.isBelow($0) }
        }
    }

    /// - Parameters:
    ///   - present: the manifest from its beginning, with what takes no part; made twice where files had several names.
    ///   - root: the root as it was when the manifest was written; nil leaves it as it is now.
    ///   - paths: all that shall be as it was, with what lies below; everything when empty.
    ///   - withoutRest: nothing else is in the tree; without it the rest is as it is now.
    package init(
        _ changes: ReverseDelta, present: @autoclosure () throws -> some EntryStream, root: File? = nil,
        paths: [RelativePath] = [], withoutRest: Bool = false, withUncovered: Bool = false
    ) throws {
        self.changes = changes
        touched = changes.touched
        self.root = paths.isEmpty || withoutRest ? changes.entries[.root]?.file ?? root : nil
        scope = Scope(
            paths: paths,
            above: Set(paths.flatMap(\.ancestors)).subtracting([.root]), withoutRest: withoutRest)

        // What took no part and was edited since is not missed, but for directories that something comes back into.
        let needed = Set(
            changes.entries.lazy.filter { !$1.isCovered && $1.location.isInState && !$1.location.isLost }
                .flatMap { $0.key.ancestors })
        var found = changes.entries.filter { path, entry in
            !path.isInState && !path.isRoot
                && (entry.isCovered || !entry.location.isLost || needed.contains(path))
        }
        var uncovered = Set(found.lazy.filter { !$0.value.isCovered }.map(\.key))
        if !withUncovered { for path in uncovered { found[path] = nil } }
        var recovered: [RelativePath: RelativePath] = [:]
        var returned: (fromHistory: Set<RelativePath>, new: Set<RelativePath>) = ([], [])
        // A name of a file that has others in the tree, by the target's inode: which file that is, the manifest says.
        let linkedThen = found.filter { $1.file.linkCount > 1 }
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
            let takesPart = !present.marks.contains(.uncovered)
            var status = present.status
            if !takesPart { (status.inode, status.created) = (present.targetInode, CommitSpans.unexamined) }
            let key = changes.original(of: present.targetInode)
            if held.contains(key) {
                let before = changes.pathBefore(of: present.path)
                let entry = before.flatMap { found[$0] }
                let then = entry?.location == present.path ? entry?.file.status : before.map { _ in status }
                let sharer = Sharer(recorded: status, then: then ?? status, isOfBoth: then != nil, takesPart)
                if sharers[key].map({ $0 < sharer }) ?? true { sharers[key] = sharer }
            }
            if scope.above.contains(present.path) { presentAbove.insert(present.path) }
            guard cursor.covers(present.path) else {
                if takesPart { missing.remove(present.path) }
                continue
            }
            guard let path = changes.pathBefore(of: present.path) else {
                if !takesPart { returned.new.insert(present.path) }
                continue
            }
            guard !path.isInState else {
                if !takesPart { returned.fromHistory.insert(present.path) }
                continue
            }
            if !takesPart {
                guard let entry = found[path], entry.location == present.path else { continue }
                guard entry.isCovered else {
                    // It took no part then either, and stays. What comes back into it elsewhere has a directory there.
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
            if let entry = found[path] {
                found[path]?.file = entry.file.asRecorded(of: status)
                if entry.location == present.path, present.digest != entry.file.digest {
                    found[path]?.file.digest = nil
                }
            } else if path != present.path, !uncovered.contains(path) {
                found[path] = ReverseDelta.Entry(file: present.file.moved(to: path), location: present.path)
            }
        }
        missing.subtract(found.keys)
        if let path = missing.min() {
            throw SyncError(.inputMissing, path: path.bytes, "the snapshot has no such path")
        }
        // All of its names are displaced, some as those of a clone.
        for entry in found.values where entry.location.isInState {
            let inode = inodeNow(entry.file.status.inode)
            if inode != entry.file.status.inode, held.contains(inode), sharers[inode] == nil {
                let status = entry.file.status
                sharers[inode] = Sharer(recorded: status, then: status, isOfBoth: true, entry.isCovered)
            }
        }
        for (path, entry) in found {
            // Another file may have the inode by now.
            guard entry.location.isInState || recovered[entry.location] != nil,
                let sharer = sharers[
                    entry.location.isInState
                        ? inodeNow(entry.file.status.inode) : changes.original(of: entry.file.status.inode)],
                sharer.then.isFile(like: entry.file.status)
            else { continue }
            found[path]?.file = entry.file.asRecorded(of: sharer.recorded)
        }
        let linked = Dictionary(
            found.values.lazy.map(\.file).filter(\.isMultiplyLinked).map { ($0.status.inode, $0.linkCount) },
            uniquingKeysWith: max)
        self.linked = linked
        let scope = scope
        self.recovered = recovered.filter { scope.contains($0.value) }.compactMapValues {
            found[$0]?.file.identity
        }
        (self.uncovered, self.returned) = (uncovered, returned)
        changed = found.values.filter { entry in
            scope.contains(entry.file.path)
                || (scope.above.contains(entry.file.path)
                    && (withoutRest || !presentAbove.contains(entry.file.path)))
        }.map { entry in
            var entry = entry
            var status = entry.file.status.asNameOf(linked)
            // The object that it was holds something else by now.
            if entry.location.isLost { (status.inode, status.created, status.links) = (0, nil, 1) }
            // What stays in its present place as well is copied.
            if !withoutRest, !entry.location.isInState, !scope.contains(entry.location) {
                (status.inode, status.created, status.links) = (0, nil, 1)
            }
            entry.file = entry.file.with(status)
            return entry
        }.sorted { $0.file < $1.file }
        locations = Dictionary(uniqueKeysWithValues: changed.map { ($0.file.path, $0.location) })
    }

    /// By the inode of a file as it was last seen, that of the copy which an exchange has made since.
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

    /// Where the content of an entry lies, below the target's root.
    package func location(of path: RelativePath) -> RelativePath { locations[path] ?? path }

    /// Whether the entry is not as the manifest has it.
    func isChanged(_ path: RelativePath) -> Bool { locations[path] != nil }

    /// Files of which another object of the same size and time has taken the place: it may hold something else.
    ///
    /// - Parameters:
    ///   - present: the manifest, from its beginning, with what takes no part.
    ///   - written: when it was. What was made since is a copy: perhaps all of the target is one.
    func replaced(
        _ present: some EntryStream, written: FileTime?, in root: Directory
    ) throws -> Set<RelativePath> {
        let resolver = PathResolver(root)
        var replaced: Set<RelativePath> = []
        while try present.advance() {
            guard present.status.type == .file, let path = changes.pathBefore(of: present.path),
                scope.contains(path), location(of: path) == present.path,
                // Of what cannot be looked at, the copy tells.
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
    /// - Parameter present: the manifest, from its beginning.
    package func entries(over present: some EntryStream) -> some EntryStream {
        SnapshotEntries(self, present)
    }

    /// Walks along the touched paths as the manifest is read.
    fileprivate struct Cursor {
        private let touched: [(path: RelativePath, withAllBelow: Bool)]
        private var index = 0
        private var above: RelativePath?

        init(_ touched: [(path: RelativePath, withAllBelow: Bool)]) {
            self.touched = touched
        }

        /// Whether a path is touched; paths come in order.
        mutating func covers(_ path: RelativePath) -> Bool {
            if let above, path.isBelow(above) { return true }
            while index < touched.count, touched[index].path < path { index += 1 }
            guard index < touched.count, touched[index].path == path else { return false }
            above = touched[index].withAllBelow ? path : nil
            return true
        }
    }

    private final class SnapshotEntries<Present: EntryStream>: EntryStream {
        private let tree: SnapshotTree
        private let changed: FileList
        private let present: Present
        private var entries: MergeJoin<FileList, Present>
        private var cursor: Cursor

        init(_ tree: SnapshotTree, _ present: Present) {
            (self.tree, self.present) = (tree, present)
            changed = FileList(sorted: tree.changed.map(\.file))
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
    }
}

extension FileStatus {
    /// As far as one name of a file can tell of another.
    fileprivate func isFile(like other: FileStatus) -> Bool {
        type == other.type && size == other.size && modified == other.modified
    }

    /// One of as many names as the file had, where the earlier tree has others than the present one.
    fileprivate func asNameOf(_ linked: [UInt64: UInt32]) -> FileStatus {
        guard type != .directory, let names = linked[inode], names > links else { return self }
        var status = self
        status.links = names
        return status
    }
}

extension File {
    /// The same entry with the identity that the source's has. That it is what the source holds now nobody has seen,
    /// whatever the source's change time.
    fileprivate func asRecorded(of source: FileStatus) -> File {
        var status = status
        (status.inode, status.created, status.changed) = (
            source.inode, source.created, CommitSpans.unexamined
        )
        return with(status)
    }
}
