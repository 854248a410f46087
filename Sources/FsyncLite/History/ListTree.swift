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

    /// The part of the list that is wanted.
    fileprivate struct Scope: Sendable {
        let paths: [RelativePath]
        let above: Set<RelativePath>
        /// The tree has only the wanted paths. Otherwise the other paths are those of the present list.
        let withoutRest: Bool
        /// See `ListTree.init`.
        let copiesDisplaced: Bool

        init(_ paths: [RelativePath], withoutRest: Bool, copiesDisplaced: Bool) {
            (self.paths, self.withoutRest, self.copiesDisplaced) = (paths, withoutRest, copiesDisplaced)
            above = Set(paths.flatMap(\.ancestors)).subtracting([.root])
        }

        func contains(_ path: RelativePath) -> Bool { paths.isEmpty || path.isWithin(paths) }
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
    var leftOut: Int { lists.excerpt?.leftOut ?? 0 }

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

    /// The part of the present list that the tree needs: that of single paths, or the entries that the list lacks.
    private struct Part {
        private let scope: Scope
        private let moved: [RelativePath: [RelativePath]]
        private var walk: LayerWalk
        private(set) var excerpt: ManifestExcerpt

        init(of manifest: ManifestReader, _ layer: ListLayer, _ scope: Scope) {
            (self.scope, moved, walk) = (scope, layer.movedDirectories, LayerWalk(layer))
            excerpt = ManifestExcerpt(of: manifest)
        }

        /// - Returns: false if the whole list is needed.
        mutating func take(_ manifest: ManifestReader, isWanted: Bool) throws -> Bool {
            let path = manifest.path
            let isNeeded = (scope.withoutRest ? scope.contains(path) : walk.isElsewhere(path)) || isWanted
            // A change of one name concerns all names.
            let hasOtherNames = manifest.status.links > 1 && manifest.status.type != .directory
            guard scope.withoutRest || !isNeeded || !hasOtherNames else { return false }
            let isBelowMoved = !moved.isEmpty && path.ancestors.contains { moved[$0] != nil }
            return try excerpt.take(manifest, isWanted: isNeeded || isBelowMoved)
        }

        mutating func end() throws { try excerpt.end() }
    }

    /// Finds the locations of the objects of a list.
    private struct Builder {
        private let scope: Scope
        private let places: Places
        private let layer: ListLayer
        private let directories: [RelativePath: [RelativePath]]
        private let own: PackedList<ListLineCoding>
        /// Of the target, also of paths below its history.
        private let resolver: PathResolver
        /// The objects of entries that the present list does not have at their path, and the directories in the history
        /// that contain them. In order, also those of covered entries.
        private let wanted: [UInt64]
        private let covered: [UInt64]
        /// The paths of these objects in the present list; most have none.
        private var present: [UInt64: [RelativePath]] = [:]
        private var presentAbove: Set<RelativePath> = []
        /// The uncovered entries of the present list.
        private(set) var uncovered: [RelativePath: UInt64] = [:]
        /// Those that the list excludes, too. Other names of the same object may be covered.
        private(set) var resting: Set<RelativePath> = []

        private var neighbour = Places.Neighbour()
        /// The paths of objects that may have returned with their directory. The present list does not name them.
        private var assumed: Set<RelativePath> = []
        /// The objects that the present list has at these paths; nil until the search for them.
        private var assumedObjects: [RelativePath: UInt64]?

        init(
            _ scope: Scope, _ places: Places, _ layer: ListLayer, _ own: PackedList<ListLineCoding>,
            _ resolver: PathResolver
        ) {
            (self.scope, self.places, self.layer, self.own, self.resolver) = (
                scope, places, layer, own, resolver
            )
            directories = layer.movedDirectories
            var (wanted, covered) = ([UInt64](), [UInt64]())
            for case let entry? in own.indices.lazy.map(own.beginning) {
                wanted.append(entry.object)
                if !entry.isUncovered { covered.append(entry.object) }
                wanted += places.directories(of: entry.object)
            }
            wanted.sort()
            covered.sort()
            (self.wanted, self.covered) = (wanted, covered)
        }

        func wants(_ object: UInt64) -> Bool {
            let index = wanted.partitionPoint(where: { $0 < object })
            return index < wanted.count && wanted[index] == object
        }

        /// How many names of an object the filters of the list cover.
        func coveredNames(of object: UInt64) -> Int {
            let first = covered.partitionPoint(where: { $0 < object })
            return covered[first...].partitionPoint(where: { $0 == object }) - first
        }

        /// The uncovered names that the list covers or lacks. A name that the list has at this path comes first.
        var uncoveredNames: [(path: RelativePath, object: UInt64)] {
            func isSame(_ path: RelativePath, _ object: UInt64) -> Bool {
                own.index(of: path).flatMap(own.beginning)?.object == object
            }
            return uncovered.lazy.filter { !resting.contains($0.key) }
                .map { (isElsewhere: !isSame($0.key, $0.value), path: $0.key, object: $0.value) }
                .sorted { ($0.isElsewhere ? 1 : 0, $0.path) < ($1.isElsewhere ? 1 : 0, $1.path) }
                .map { ($0.path, $0.object) }
        }

        /// - Parameter part: takes the entries that the tree needs; nil if it needs the whole list.
        mutating func look(at manifest: ManifestReader, taking part: inout Part?) throws {
            while try manifest.advance() {
                let (path, object) = (manifest.path, manifest.object)
                let isWanted = wants(object)
                if isWanted { present[object, default: []].append(path) }
                if manifest.marks.contains(.uncovered) {
                    uncovered[path] = object
                    if rests(path, object, manifest.status.type) { resting.insert(path) }
                }
                if scope.above.contains(path), manifest.status.type == .directory,
                    !manifest.marks.contains(.uncovered)
                {
                    presentAbove.insert(path)
                }
                if try part?.take(manifest, isWanted: isWanted) == false { part = nil }
            }
            try part?.end()
        }

        /// Whether the list also excludes this entry of the present list. For a directory the path is enough: no other
        /// directory replaces it, because its content may remain.
        private func rests(_ path: RelativePath, _ object: UInt64, _ type: FileType) -> Bool {
            if let index = own.index(of: path) {
                guard let head = own.beginning(at: index), head.isUncovered else { return false }
                return head.object == object || head.isDirectory && type == .directory
            }
            return !layer.olderPaths(of: path, directories).isEmpty
        }

        /// Looks for objects of the present list at the assumed paths.
        ///
        /// - Returns: whether there are any. Then the locations must be found again.
        mutating func findAssumed(in present: () throws -> ManifestReader) throws -> Bool {
            guard assumedObjects == nil, !assumed.isEmpty else { return false }
            var found: [RelativePath: UInt64] = [:]
            let manifest = try present()
            while try manifest.advance() {
                if assumed.contains(manifest.path) { found[manifest.path] = manifest.object }
            }
            assumedObjects = found
            return !found.isEmpty
        }

        private mutating func location(of entry: ListEntry) throws -> RelativePath {
            let (path, names) = (entry.file.path, present[entry.object] ?? [])
            if names.contains(path) { return path }
            // A resting name remains, so its object is at no other path. An uncovered entry returns only from the
            // history.
            if !entry.isUncovered, let name = names.first(where: { !resting.contains($0) }) {
                return try slot(of: entry, insteadOf: name) ?? name
            }
            switch place(of: entry.object) {
            case .tree(let path)?:
                assumed.insert(path)
                let isReplaced = assumedObjects?[path].map { $0 != entry.object } ?? false
                return isReplaced ? names.first ?? .lost : path
            // An object with names in the tree may have left its slot again.
            case .history(let path)?
            where try names.isEmpty || resolver.status(of: .history.appending(path)) != nil:
                return .history.appending(path)
            case .history, nil: return names.first ?? .lost
            }
        }

        /// The place of an object that is not at its own path in the present list.
        private mutating func place(of object: UInt64) -> Places.Place? {
            places.place(
                of: object, near: &neighbour, present: { $0 == object ? nil : present[$0]?.first })
        }

        /// The place of a file in the history, if a run moved one of its names there and somebody edited or removed
        /// the other one. Otherwise nil.
        private mutating func slot(of entry: ListEntry, insteadOf name: RelativePath) throws -> RelativePath?
        {
            let status = entry.file.status
            guard entry.file.isFile, places.hasStored(entry.object),
                try !resolver.hasContent(of: status, at: name),
                case .history(let path)? = place(of: entry.object),
                try resolver.hasContent(of: status, at: .history.appending(path))
            else { return nil }
            return .history.appending(path)
        }

        /// The directories of uncovered entries that return from the history.
        mutating func ancestorsOfReturning() throws -> Set<RelativePath> {
            var directories: Set<RelativePath> = []
            for index in own.indices where own.beginning(at: index)?.isUncovered ?? false {
                guard let entry = own[index].entry else { continue }
                let location = try location(of: entry)
                if location.isInState, !location.isLost { directories.formUnion(entry.file.path.ancestors) }
            }
            return directories
        }

        /// The entry to restore; nil if it is not wanted. An uncovered entry returns, with its directories, only if a
        /// run moved it into the history.
        mutating func entry(_ entry: ListEntry, _ returning: Set<RelativePath>) throws -> Entry? {
            let path = entry.file.path
            guard
                scope.contains(path)
                    || scope.above.contains(path) && (scope.withoutRest || !presentAbove.contains(path))
            else { return nil }
            if entry.isUncovered, resting.contains(path), uncovered[path] != entry.object { return nil }
            var location = try location(of: entry)
            if entry.isUncovered, !location.isInState || location.isLost {
                let rests = uncovered[location] == entry.object
                guard !rests || path != location && returning.contains(path) else { return nil }
                if rests { location = .lost }
                guard !location.isLost || returning.contains(path) else { return nil }
            }
            var (file, status) = (entry.file, entry.file.status)
            // An object that also remains at its present location is copied.
            if !scope.withoutRest, !location.isInState, !scope.contains(location) { file.object = 0 }
            // The copy of a directory is another object. Its unwanted content remains in the original.
            if scope.copiesDisplaced, location.isInState, file.isDirectory { file.object = 0 }
            if file.object == 0 || location.isLost { status.links = 1 }
            file = file.with(status)
            return Entry(file: file, location: location, isUncovered: entry.isUncovered)
        }

        /// In a copy, an uncovered entry is wanted only if a wanted path names it, or one above or below it.
        mutating func isNamed(_ entry: Entry) throws -> Bool {
            let path = entry.file.path
            for wanted in scope.paths where path == wanted || path.isBelow(wanted) || wanted.isBelow(path) {
                guard let entry = own.index(of: wanted).flatMap({ own[$0].entry }), entry.isUncovered else {
                    continue
                }
                if try location(of: entry).isInState { return true }
            }
            return false
        }
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
