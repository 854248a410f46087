import FileStorage
import FileSystem

/// A list of a target as a tree to restore: its entries, and the present location of their content. In memory are only
/// the entries that the present list does not have at their path.
package struct ListTree: Sendable {
    /// An entry that the present list does not have at its path.
    package struct Entry: Hashable, Sendable {
        package var file: File
        /// The location of its object, below the target's root.
        package var location: RelativePath
        /// The filters of the list exclude it.
        var isUncovered: Bool
    }

    private var lists: TargetLists
    private var layer: ListLayer
    private let scope: Scope
    /// In the order of their paths.
    let changed: PackedList<ListTreeCoding>
    /// The earlier root; nil if the root is left unchanged.
    let root: File?
    let header: ManifestHeader
    /// The changes by hand between the run that left the list and the step that found it.
    let hand: ListLayer
    /// The places of the objects that the steps moved into the history.
    private var places: Places
    /// Entries of the tree that its filters exclude, and that return or remain.
    private(set) var uncovered: Set<RelativePath> = []
    /// Uncovered entries in the history that a copy does not get, because no wanted path names them.
    private(set) var unnamed: Set<RelativePath> = []
    /// The directories of uncovered entries that return from the history.
    private var returning: Set<RelativePath> = []
    /// Names of objects in the tree that are excluded now.
    private(set) var leftOutNames: [RelativePath: UInt64] = [:]
    /// Uncovered entries of the present list that the tree covers, by their present paths.
    private(set) var recovered: Set<RelativePath> = []
    /// Uncovered entries of the present list that the tree lacks: those that were in the history, and new ones.
    private(set) var returned: (fromHistory: Set<RelativePath>, new: Set<RelativePath>) = ([], [])

    /// - Parameters:
    ///   - index: of the list; 0 for the present one.
    ///   - directory: the root of the target.
    ///   - paths: the wanted paths, with all entries below them; all paths if empty.
    ///   - isInPlace: the target itself returns to the list; otherwise another directory becomes a copy.
    ///   - copiesDisplaced: objects that return from the history in place are copied, not moved.
    ///   - withoutUnchanged: most entries at the same path in the present list are left out of both.
    /// - Throws: `SyncError` with code `inputMissing` for a wanted path that the list lacks.
    init(
        _ lists: TargetLists, _ index: Int, in directory: Directory, paths: [RelativePath] = [],
        isInPlace: Bool,
        copiesDisplaced: Bool = false, withoutUnchanged: Bool = false
    ) throws {
        let layers = try lists.layers(to: index)
        (self.lists, layer, places) = (lists, layers.found, layers.places)
        header = try layers.list?.header ?? lists.present().header
        hand = layers.list?.hand ?? ListLayer()
        scope = Scope(paths, withoutRest: !isInPlace, copiesDisplaced: copiesDisplaced)
        root = paths.isEmpty || !isInPlace ? isInPlace && index == 0 ? nil : header.rootEntry : nil
        let own = try ListStream(layer, over: lists.present).own
        var builder = Builder(scope, layers.places, layer, own, PathResolver(directory))
        let present = try lists.present()
        var part = withoutUnchanged || !isInPlace && !paths.isEmpty ? Part(of: present, layer, scope) : nil
        try builder.look(at: present, taking: &part)
        self.lists.excerpt = part?.excerpt
        var changed: PackedList<ListTreeCoding>
        repeat {
            (changed, uncovered, unnamed) = (PackedList(), [], [])
            returning = try builder.ancestorsOfReturning()
            for case let entry? in own.lazy.map(\.entry) {
                guard let entry = try builder.entry(entry, returning) else { continue }
                if entry.isUncovered {
                    guard try isInPlace || builder.isNamed(entry) else {
                        if entry.location.isInState { unnamed.insert(entry.file.path) }
                        continue
                    }
                    uncovered.insert(entry.file.path)
                }
                changed.append(entry)
            }
        } while try builder.findAssumed(in: lists.present)
        self.changed = changed
        leftOutNames = builder.uncovered.filter { builder.wants($0.value) }
        sortUncovered(builder)
        try checkPaths()
    }

    /// Sorts the uncovered names of the present list by what the tree has of their objects.
    private mutating func sortUncovered(_ builder: Builder) {
        var names: [UInt64: Int] = [:]
        for (path, object) in builder.uncoveredNames {
            if names[object, default: 0] < builder.coveredNames(of: object) {
                names[object, default: 0] += 1
                recovered.insert(path)
            } else if names[object] != nil || !builder.wants(object) {
                if object < header.nextObject ?? 0 {
                    returned.fromHistory.insert(path)
                } else {
                    returned.new.insert(path)
                }
            }
        }
    }

    private func checkPaths() throws {
        guard !scope.paths.isEmpty else { return }
        var missing = Set(scope.paths)
        let entries = try entries()
        while try !missing.isEmpty && entries.advance() { missing.remove(entries.path) }
        if let path = missing.min() {
            throw SyncError(.inputMissing, path: path.bytes, "the snapshot has no such path")
        }
    }

    var changesCoverage: Bool {
        !(uncovered.isEmpty && recovered.isEmpty && returned.fromHistory.isEmpty && returned.new.isEmpty)
    }

    /// The location of an entry's content, below the target's root.
    package func location(of path: RelativePath) -> RelativePath { changed.location(of: path) }

    /// The problem of an entry that cannot return because its content is gone.
    func problem(ofLost path: RelativePath) -> Problem {
        let isPurged = changed.index(of: path).map { changed[$0].file.omitted.contains(.purged) } ?? false
        return isPurged ? .purged(path) : .lost(path, at: location(of: path))
    }

    /// Whether the present list lacks the entry at its path.
    func isChanged(_ path: RelativePath) -> Bool { changed.index(of: path) != nil }

    /// The number of entries that are left out.
    var leftOut: Int { lists.excerpt?.leftOut.covered ?? 0 }

    /// The present list, with uncovered entries.
    func present() throws -> ManifestReader { try lists.present() }

    /// The entries in order.
    func entries() throws -> some EntryStream {
        try ListTreeEntries(
            ListStream(layer, over: lists.present), changed,
            rest: scope.withoutRest || scope.paths.isEmpty ? nil : lists.present(), scope,
            made: scope.withoutRest && !scope.paths.isEmpty ? returning : [])
    }

    /// The same, and frees their memory as soon as they were read. They can be taken once.
    mutating func takeEntries() throws -> some EntryStream {
        defer { layer = ListLayer() }
        return try entries()
    }

    /// The places, which are taken once.
    mutating func takePlaces() -> Places {
        defer { places = Places() }
        return places
    }

    /// Files whose object was replaced by another of the same size and modification time, which may have other content.
    /// The change time is no evidence: a removal from the history moves that of a file with several names.
    func replaced(in root: Directory) throws -> Set<RelativePath> {
        var there: [RelativePath: [RelativePath]] = [:]
        for index in changed.indices where !changed.location(at: index).isInState {
            there[changed.location(at: index), default: []].append(changed.path(at: index))
        }
        let (resolver, present) = (PathResolver(root), try lists.present())
        var replaced: Set<RelativePath> = []
        while try present.advance() {
            guard present.status.type == .file else { continue }
            var paths = there[present.path] ?? []
            if layer.resolve(present.path) == .newer(present.path) { paths.append(present.path) }
            paths.removeAll { !scope.contains($0) }
            guard !paths.isEmpty,
                // The copy of the file reports such errors.
                let status = try? resolver.status(of: present.path), status.inode != present.targetInode,
                status.equals(present.status, in: .content)
            else { continue }
            replaced.formUnion(paths)
        }
        return replaced
    }
}

package enum ListTreeCoding: PackedCoding {
    package static func path(of entry: ListTree.Entry) -> RelativePath { entry.file.path }
    package static func otherPath(of entry: ListTree.Entry) -> RelativePath? {
        entry.location == entry.file.path ? nil : entry.location
    }

    package static func pack(_ entry: ListTree.Entry, into store: inout PackedStore) {
        store.put(byte: entry.isUncovered ? 1 : 0)
        store.put(entry.file)
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> ListTree.Entry {
        let isUncovered = cursor.byte() != 0
        return ListTree.Entry(
            file: store.file(&cursor, at: path), location: other ?? path, isUncovered: isUncovered)
    }
}

extension PackedList<ListTreeCoding> {
    func location(at index: Int) -> RelativePath { otherPath(at: index) ?? path(at: index) }

    /// The location of an entry; its own path if it is not in the list.
    func location(of path: RelativePath) -> RelativePath { index(of: path).map { location(at: $0) } ?? path }
}

/// The wanted entries of a list, and the present entries at all other paths.
private final class ListTreeEntries: EntryStream {
    private let list: ListStream<ManifestReader>
    private let changed: PackedList<ListTreeCoding>
    private let rest: ManifestReader?
    private let scope: ListTree.Scope
    /// Directories of a copy that are made although they are uncovered.
    private let made: Set<RelativePath>
    private var entries: MergeJoin<ListStream<ManifestReader>, PathsOf>
    private var nextChanged = 0
    /// The entry, if it is not the present list's; else nil.
    private var entry: File?
    private var isOfList = true

    init(
        _ list: ListStream<ManifestReader>, _ changed: PackedList<ListTreeCoding>, rest: ManifestReader?,
        _ scope: ListTree.Scope, made: Set<RelativePath>
    ) {
        (self.list, self.changed, self.rest, self.scope, self.made) = (list, changed, rest, scope, made)
        entries = MergeJoin(list, PathsOf(rest))
    }

    /// The paths of the rest, if there is one.
    private struct PathsOf: PathStream {
        private let manifest: ManifestReader?

        init(_ manifest: ManifestReader?) { self.manifest = manifest }

        func advance() throws -> Bool { try manifest?.advance() ?? false }
        var path: RelativePath { manifest?.path ?? .root }

        func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            guard let manifest else { return path.bytes.withUnsafeBytes(body) }
            return manifest.withPathBytes(body)
        }
    }

    func advance() throws -> Bool {
        while try entries.advance() {
            let path = entries.path
            let isWanted = scope.contains(path)
            // A wanted path needs the directories above it.
            let isInTheWay =
                scope.above.contains(path)
                && (rest?.status.type != .directory || rest?.marks.contains(.uncovered) ?? false)
            isOfList = entries.side != .right && (isWanted || entries.side == .left || isInTheWay)
            entry = nil
            if isOfList {
                if !list.isPresent {
                    while nextChanged < changed.count, changed.order(nextChanged, comparedTo: path) < 0 {
                        nextChanged += 1
                    }
                    guard nextChanged < changed.count, changed.order(nextChanged, comparedTo: path) == 0
                    else { continue }
                    entry = changed[nextChanged].file
                    return true
                }
                guard isWanted || scope.withoutRest && scope.above.contains(path),
                    !list.marks.contains(.uncovered) || made.contains(path)
                else { continue }
                return true
            }
            guard !isWanted, let rest, !rest.marks.contains(.uncovered) else { continue }
            return true
        }
        return false
    }

    var path: RelativePath { entry?.path ?? entries.path }
    var status: FileStatus {
        let status = of(\.status, list: \.status, rest: \.status)
        // The tree is copied to another directory, so only the number identifies an object.
        return scope.withoutRest ? status.with(FileIdentity(ofObject: object)) : status
    }
    var destination: [UInt8] { of(\.destination, list: \.destination, rest: \.destination) }
    var extended: ExtendedAttributes { of(\.extended, list: \.extended, rest: \.extended) }
    var omitted: Omissions { of(\.omitted, list: \.omitted, rest: \.omitted) }
    var digest: Digest? { of(\.digest, list: \.digest, rest: \.digest) }
    var object: UInt64 { of(\.object, list: \.object, rest: \.object) }
    var targetInode: UInt64 { of(\.status.inode, list: \.targetInode, rest: \.targetInode) }
    var isPresent: Bool { entry == nil }

    private func of<Value>(
        _ own: (File) -> Value, list path: (ListStream<ManifestReader>) -> Value,
        rest other: (ManifestReader) -> Value
    ) -> Value {
        if let entry { return own(entry) }
        if let rest, !isOfList { return other(rest) }
        return path(list)
    }
}
