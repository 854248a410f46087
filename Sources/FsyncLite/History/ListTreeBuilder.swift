import FileSystem

extension ListTree {
    /// The part of the list that is wanted.
    struct Scope: Sendable {
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

    /// The part of the present list that the tree needs: that of single paths, or the entries that the list lacks.
    struct Part {
        private let scope: Scope
        private var part: ListPart
        var excerpt: ManifestExcerpt { part.excerpt }

        init(of manifest: ManifestReader, _ layer: ListLayer, _ scope: Scope) {
            (self.scope, part) = (scope, ListPart(of: manifest, layer))
        }

        /// - Returns: false if the whole list is needed.
        mutating func take(_ manifest: ManifestReader, isWanted: Bool) throws -> Bool {
            let path = manifest.path
            let isNeeded = (scope.withoutRest ? scope.contains(path) : part.isElsewhere(path)) || isWanted
            // A change of one name concerns all names.
            guard scope.withoutRest || !isNeeded || !manifest.status.isMultiplyLinked else { return false }
            return try part.take(manifest, isWanted: isNeeded)
        }

        mutating func end() throws { try part.end() }
    }

    /// Finds the locations of the objects of a list.
    struct Builder {
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
        private var present = ObjectPaths()
        private var presentAbove: Set<RelativePath> = []
        /// The uncovered entries of the present list.
        private(set) var uncovered: [RelativePath: UInt64] = [:]
        /// Those that the list excludes, too. Other names of the same object may be covered.
        private(set) var resting: Set<RelativePath> = []
        /// The directories of the present list at whose path the list has another one. They remain: they may have entries
        /// that no run copied. Of those that the list excludes, the entries become uncovered.
        private var remaining: Set<RelativePath> = []

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
                if isWanted { present.append(path, of: object) }
                if manifest.marks.contains(.uncovered) {
                    uncovered[path] = object
                    if rests(path, object, manifest.status.type) { resting.insert(path) }
                } else if manifest.status.type == .directory {
                    if remains(path, object) { remaining.insert(path) }
                    if scope.above.contains(path) { presentAbove.insert(path) }
                }
                if try part?.take(manifest, isWanted: isWanted) == false { part = nil }
            }
            present.sort()
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

        /// Whether a restore in place leaves a directory, although the list has another one there, or excludes it.
        private func remains(_ path: RelativePath, _ object: UInt64) -> Bool {
            guard !scope.withoutRest, let head = own.index(of: path).flatMap(own.beginning) else {
                return false
            }
            return head.isDirectory && (head.isUncovered || !wants(object))
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
            let (path, names) = (entry.file.path, present[entry.object])
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
                of: object, near: &neighbour, present: { $0 == object ? nil : present[$0].first })
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
                guard !location.isLost || returning.contains(path) || remaining.contains(path) else {
                    return nil
                }
            }
            var (file, status) = (entry.file, entry.file.status)
            if !entry.isUncovered, location.isInState, remaining.contains(path) {
                (location, file.object) = (path, 0)
            }
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
