import FileStorage
import FileSystem

@testable import FsyncLite

/// An earlier tree of a target, computed from its present manifest and a reverse delta, entry by entry, with the
/// location of each content. Memory holds the changed entries and those in moved directories.
package struct SnapshotTree: Sendable {
    /// Entries that differ from the manifest, in order.
    let changed: PackedList<DeltaEntryCoding>
    /// The root as it was; nil if unchanged.
    let root: File?
    private var touched: PackedList<TouchedCoding>
    /// Files with names among the changed entries: by the source's inode, how many names they had.
    private let linked: [UInt64: UInt32]
    private let scope: Scope
    /// Known entries of the tree that its manifest did not cover: they are restored and not recorded.
    let uncovered: Set<RelativePath>
    /// Entries covered in the earlier tree and not now: their identities there, by present path.
    let recovered: [RelativePath: FileIdentity]
    /// Uncovered entries that came since: from the history, or as new ones.
    let returned: (fromHistory: Set<RelativePath>, new: Set<RelativePath>)

    /// The wanted part of the tree.
    struct Scope: Sendable {
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
        _ changes: consuming ReverseDelta, present: @autoclosure () throws -> some EntryStream,
        root: File? = nil,
        paths: [RelativePath] = [], withoutRest: Bool = false, withUncovered: Bool = false
    ) throws {
        touched = changes.touched
        self.root = paths.isEmpty || withoutRest ? changes.entries[.root]?.file ?? root : nil
        scope = Scope(
            paths: paths,
            above: Set(paths.flatMap(\.ancestors)).subtracting([.root]), withoutRest: withoutRest)
        var builder = SnapshotTreeBuilder(consume changes, scope, withUncovered: withUncovered)
        if builder.hasLinkedFiles { try builder.findCopies(in: present()) }
        try builder.follow(present(), touched)
        builder.joinNames()
        (uncovered, returned, recovered) = (builder.uncovered, builder.returned, builder.recoveredIdentities)
        (changed, linked) = (consume builder).finish()
    }

    /// The location of an entry's content, below the target's root.
    package func location(of path: RelativePath) -> RelativePath { changed.location(of: path) }

    /// Frees what only `entries` and `replaced` need.
    mutating func forgetTouched() { touched = [] }

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
        var cursor = Cursor(touched)
        var moved = PackedList<PathCoding>()
        for index in changed.indices { moved.append((changed.location(at: index), changed.path(at: index))) }
        moved.sort()
        while try present.advance() {
            cursor.advance(to: present.path)
            guard present.status.type == .file else { continue }
            var paths = cursor.isElsewhere ? [] : [present.path]
            var index = moved.index(of: present.path) ?? moved.count
            while index < moved.count, moved.order(index, comparedTo: present.path) == 0 {
                paths.append(moved[index].other)
                index += 1
            }
            paths.removeAll { !scope.contains($0) || location(of: $0) != present.path }
            guard !paths.isEmpty,
                // Errors are left to the copy, which reports them.
                let status = try? resolver.status(of: present.path), status.inode != present.targetInode,
                status.size == present.status.size, status.modified == present.status.modified
            else { continue }
            if let written, let made = status.created, made > written { continue }
            replaced.formUnion(paths)
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
    struct Cursor {
        private let touched: PackedList<TouchedCoding>
        private var index = 0
        /// The touched paths at and above the present one, and whether the object was elsewhere, or not there at all.
        private var above: [(path: RelativePath, isElsewhere: Bool)] = []
        private var isTouched = false

        init(_ touched: PackedList<TouchedCoding>) {
            self.touched = touched
        }

        /// - Parameter path: they come in order.
        mutating func advance(to path: RelativePath) {
            while let last = above.last, !path.isBelow(last.path) { above.removeLast() }
            while index < touched.count, touched.order(index, comparedTo: path) < 0 { index += 1 }
            isTouched = index < touched.count && touched.order(index, comparedTo: path) == 0
            if isTouched { above.append((path, touched[index].withAllBelow)) }
        }

        /// Whether a path is touched; called with paths in order.
        mutating func touches(_ path: RelativePath) -> Bool {
            advance(to: path)
            return isTouched || above.contains(where: \.isElsewhere)
        }

        /// The earlier tree has the object at another path, or not at all.
        var isElsewhere: Bool { above.last?.isElsewhere ?? false }
    }

    private final class ChangedEntries: EntryStream {
        private let entries: PackedList<DeltaEntryCoding>
        private(set) var index = -1
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
            let isTouched = cursor.touches(path)
            guard tree.scope.contains(path) else {
                return tree.scope.withoutRest && (isTouched || !tree.scope.above.contains(path))
            }
            return isTouched
                && (cursor.isElsewhere || tree.isChanged(path) || tree.uncovered.contains(path))
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
    /// Restores the link count of a file that had more names in the earlier tree.
    func asNameOf(_ linked: [UInt64: UInt32]) -> FileStatus {
        guard type != .directory, let names = linked[inode], names > links else { return self }
        var status = self
        status.links = names
        return status
    }
}
