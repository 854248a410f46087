import FileSystem

/// How a tree becomes an earlier one: a pure value, in proportion to what changed in between.
///
/// Objects are followed by where they stand: at a path of the tree, or in a slot of the history, which counts as
/// a path of the same name space. So that an undo moves an object out of its slot is a move like any other.
package struct ReverseDelta: Hashable, Sendable {
    /// An entry of the earlier tree.
    package struct Entry: Hashable, Sendable {
        package var file: File
        /// Where its object stands now, below the target's root.
        package var location: RelativePath
        /// The earlier tree's manifest has it.
        package var isCovered = true
    }

    /// By path in the earlier tree. What is not in here is unchanged, in the place that its directory gives it.
    package private(set) var entries: [RelativePath: Entry] = [:]
    /// By path now, or by place in a displaced directory: what the earlier tree does not have.
    package private(set) var gone: [RelativePath: File] = [:]
    private var pathsBefore: [RelativePath: RelativePath] = [:]
    /// By the inode of a clone, that of the file that it was made of.
    private(set) var originals: [UInt64: UInt64] = [:]

    /// Nothing changed.
    package init() {}

    /// What a record says.
    ///
    /// - Parameter originals: by the inode of a clone, that of the file that it was made of.
    package init(_ actions: [UndoEntry], originals: [UInt64: UInt64] = [:]) {
        self.originals = originals
        // Directories come first: what has no slot of its own lies in theirs.
        for action in actions.sorted(by: { $0.file.path < $1.file.path }) {
            let path = action.file.path
            switch action.verb {
            case .delete:
                gone[path] = action.file
            case .create, .update:
                let location =
                    action.slot.map { RelativePath.history.appending($0) } ?? locationByParent(of: path)
                set(Entry(file: action.file, location: location, isCovered: !action.wasUncovered))
                if action.verb == .update {
                    let present = action.from ?? path
                    gone[present] = action.file.moved(to: present)
                }
            case .move, .attributes, .cover, .uncover:
                set(
                    Entry(
                        file: action.file, location: action.from ?? path, isCovered: !action.wasUncovered))
            }
        }
    }

    /// The inode of the file of which clones of clones were made; that of any other file is its own.
    func original(of inode: UInt64) -> UInt64 {
        guard !originals.isEmpty else { return inode }
        var (inode, steps) = (inode, 0)
        // An inode comes back when its file is gone, so it may lead to itself.
        while let original = originals[inode], steps < originals.count {
            (inode, steps) = (original, steps + 1)
        }
        return inode
    }

    package var isEmpty: Bool { entries.isEmpty && gone.isEmpty }

    private mutating func set(_ entry: Entry) {
        entries[entry.file.path] = entry
        pathsBefore[entry.location] = entry.file.path
    }

    // MARK: Places

    /// Where the object now stands that had this path then.
    package func location(of path: RelativePath) -> RelativePath {
        entries[path]?.location ?? locationByParent(of: path)
    }

    private func locationByParent(of path: RelativePath) -> RelativePath {
        guard let parent = path.parent else { return path }
        return RelativePath.followed(parent, path) { entries[$0].map { .some($0.location) } } ?? path
    }

    /// Where the object stood then that is now in this place; nil where it was not in the tree.
    package func pathBefore(of location: RelativePath) -> RelativePath? {
        RelativePath.followed(location, location) { above in
            if let before = pathsBefore[above] { return .some(before) }
            return gone[above] == nil ? nil : .some(nil)
        }
    }

    /// Paths now whose entries the earlier tree has not, or elsewhere, or otherwise, in order; and whether that
    /// goes for all that lies below them.
    package var touched: [(path: RelativePath, withAllBelow: Bool)] {
        Set(gone.keys).union(pathsBefore.keys).filter { !$0.isInState && !$0.isRoot }.sorted()
            .map { ($0, pathsBefore[$0] != $0) }
    }

    // MARK: Composition

    /// These changes, and then those that lead to a tree still earlier.
    ///
    /// - Parameter covers: whether the filters of the tree that is asked for cover a path: what took no part later, and
    ///   that tree does not name, takes no part in it. A still older one may have it.
    package func followed(
        by older: ReverseDelta, covers: (File) -> Bool = { _ in false }
    ) -> ReverseDelta {
        var result = ReverseDelta()
        result.gone = gone
        result.originals = older.originals.merging(originals) { $1 }
        func leave(_ path: RelativePath, _ file: File) {
            let location = location(of: path)
            // What a displaced directory took along would come back with it.
            guard !location.isInState || location == locationByParent(of: path) else { return }
            result.gone[location] = file.moved(to: location)
        }
        for (path, file) in older.gone { leave(path, file) }
        for (_, entry) in older.entries {
            var file = entry.file
            // An exchange may have made a copy in between: the object goes by what it was when last seen.
            if let known = entries[entry.location]?.file {
                if known.status.inode != 0 { file = file.with(known.identity) }
                // When it was last seen nobody vouched for what it holds.
                if known.digest != file.digest { file.digest = nil }
            }
            result.set(Entry(file: file, location: location(of: entry.location), isCovered: entry.isCovered))
        }
        var unnamed: [RelativePath: Entry] = [:]
        // What took no part and is not in that tree, and what lies below.
        var absent: Set<RelativePath> = []
        for (path, entry) in entries {
            let before = older.pathBefore(of: path)
            let known = before.flatMap { result.entries[$0] }
            guard let before, known == nil else {
                // No record tells of what took no part and came to the path of something else, nor of what came along
                // with a directory, and may have left it since.
                if known?.location != entry.location {
                    leave(path, entry.file)
                    if let before { absent.insert(before) }
                }
                continue
            }
            let entry = Entry(
                file: entry.file.moved(to: before), location: entry.location, isCovered: entry.isCovered)
            if entry.isCovered || before.isInState { result.set(entry) } else { unnamed[before] = entry }
        }
        absent.formUnion(unnamed.values.lazy.map(\.file).filter(covers).map(\.path))
        for (path, entry) in unnamed {
            if absent.contains(path) || path.isBelow(anyOf: absent) {
                result.gone[entry.location] = entry.file.moved(to: entry.location)
            } else {
                result.set(entry)
            }
        }
        return result
    }

    /// Without what is said of slots that nobody asks for.
    func keeping(slotsOf transactions: Set<FileName>) -> ReverseDelta {
        var result = ReverseDelta()
        (result.gone, result.originals) = (gone, originals)
        for (path, entry) in entries {
            if path.isInState, !transactions.contains(where: { path.isBelow(.history.appending($0)) }) {
                // It was in nobody's tree, and still has to leave its place, or the displaced directory that holds it.
                result.gone[entry.location] = entry.file.moved(to: entry.location)
            } else {
                result.set(entry)
            }
        }
        // A displaced directory that nobody asks for tells nothing of what it holds.
        let locations = Set(result.pathsBefore.keys)
        result.gone = result.gone.filter { !$0.key.isInState || $0.key.isBelow(anyOf: locations) }
        return result
    }

    /// As the lines of a record.
    package var actions: [UndoEntry] {
        var actions: [UndoEntry] = []
        var updated: Set<RelativePath> = []
        for (path, entry) in entries {
            let isImplied = entry.location == locationByParent(of: path)
            if let slot = entry.location.relative(to: .history) {
                let isUpdate = gone[path] != nil
                if isUpdate { updated.insert(path) }
                actions.append(
                    UndoEntry(
                        isUpdate ? .update : .create, entry.file, slot: isImplied ? nil : slot,
                        wasUncovered: !entry.isCovered))
            } else {
                let from = entry.location == path ? nil : entry.location
                actions.append(
                    UndoEntry(
                        isImplied || from == nil ? .attributes : .move, entry.file, from: from,
                        wasUncovered: !entry.isCovered))
            }
        }
        for (path, file) in gone where !updated.contains(path) {
            actions.append(UndoEntry(.delete, file))
        }
        return actions.sorted {
            ($0.file.path, $0.verb) < ($1.file.path, $1.verb)
        }
    }
}

extension RelativePath {
    /// Follows a path to where the nearest directory that is known leads it, itself first.
    ///
    /// - Parameter lookUp: nil for what is not known; a nil path for what leads nowhere.
    fileprivate static func followed(
        _ start: RelativePath, _ path: RelativePath, _ lookUp: (RelativePath) -> RelativePath??
    ) -> RelativePath? {
        var above = start
        while true {
            if let found = lookUp(above) {
                guard let found, above != path else { return found }
                return path.relative(to: above).map(found.appending)
            }
            guard let parent = above.parent else { return path }
            above = parent
        }
    }
}
