import FileStorage
import FileSystem

/// Searches through the history.
extension Target {
    /// A version of an entry, and the snapshots that have it.
    package struct Finding: Sendable {
        package let file: File
        /// Newest first.
        package fileprivate(set) var snapshots: [Snapshot]
    }

    private struct Version: Hashable {
        let path: RelativePath
        let type: FileType
        let size: ByteCount
        let modified: FileTime
        let destination: [UInt8]

        init(_ entry: some EntryStream) {
            let status = entry.status
            (path, type, modified) = (entry.path, status.type, status.modified)
            size = type == .file ? status.size : 0
            destination = type == .symlink ? entry.destination : []
        }
    }

    /// The versions of the selected entries in all snapshots, by path, the newest first. Also the error if older
    /// snapshots cannot be read.
    ///
    /// - Throws: `SyncError`, as `snapshots()`.
    package func find(_ selection: EntrySelection) throws -> (found: [Finding], damage: SyncError?) {
        try atOneMoment { try find(selection, in: history(of: $1)) }
    }

    private func find(
        _ selection: EntrySelection, in history: History
    ) throws -> (found: [Finding], damage: SyncError?) {
        var found: [Finding] = []
        var indices: [Version: Int] = [:]
        let snapshots = try history.snapshots()
        let damage = try TargetLists(history).visit(selection) { entry, index, isFound, isStored in
            // Excluded entries are shown only if a run moved them into the history.
            guard isFound, !entry.marks.contains(.uncovered) || isStored else { return }
            let version = Version(entry)
            if let known = indices[version] {
                found[known].snapshots.append(snapshots[index])
            } else {
                indices[version] = found.count
                found.append(Finding(file: entry.file, snapshots: [snapshots[index]]))
            }
        }
        // The order within a path is that of the snapshots.
        let sorted = found.enumerated().sorted { ($0.1.file.path, $0.0) < ($1.1.file.path, $1.0) }.map(\.1)
        return (sorted, damage)
    }

    /// The actions of the runs on the selected paths, newest first. Also the error if older runs cannot be read. A path
    /// is followed through renames.
    package func life(
        of selection: EntrySelection
    ) throws -> (steps: [(snapshot: Snapshot, actions: [Action])], damage: SyncError?) {
        try atOneMoment { try life(of: selection, in: history(of: $1)) }
    }

    private func life(
        of selection: EntrySelection, in history: History
    ) throws -> (steps: [(snapshot: Snapshot, actions: [Action])], damage: SyncError?) {
        var damage = history.damage
        let lists = try TargetLists(history)
        var followed = FollowedPaths()
        let manifest = try history.state.manifest(of: path)
        var present = selection
        while try manifest.advance() {
            if present.selects(manifest) { followed.insert(manifest.path) }
        }
        var found: [(Snapshot, [Action])] = []
        let snapshots = try history.snapshots()
        func note(_ index: Int, _ step: TargetLists.Step) throws {
            guard followed.mayChange(in: step.list.step, selection) else { return }
            let changes = try lists.changes(of: step)
            let chosen = changes.actions.filter { action in
                let (path, isDirectory) = (action.path, action.type == FileType.directory.documentName)
                // An object that leaves a path is skipped if a followed object arrives there.
                return followed.names.contains(path) || selection.selects(path, isDirectory)
                    || action.from.map { !followed.names.contains($0) && selection.selects($0, isDirectory) }
                        ?? false
            }
            var actions = chosen
            var origins: [RelativePath: RelativePath] = [:]
            for action in changes.actions { if let from = action.from { origins[action.path] = from } }
            let (moves, moved) = (
                MoveMap(changes.difference), Set(chosen.lazy.filter { $0.from != nil }.map(\.path))
            )
            var renamed: [(name: RelativePath, old: RelativePath)] = []
            if !origins.isEmpty || !moves.isEmpty {
                for name in followed.names {
                    let old = origins[name] ?? moves.oldPath(of: name)
                    if old != name { renamed.append((name, old)) }
                }
                renamed.sort { $0.name < $1.name }
            }
            for (name, old) in renamed where !moved.contains(name) && !name.isBelow(anyOf: moved) {
                // The object moved with a directory.
                actions.append(Action(carried: name, from: old))
            }
            followed.remove(renamed.map(\.name))
            for old in renamed.map(\.old) + chosen.map({ $0.from ?? $0.path }) { followed.insert(old) }
            if !actions.isEmpty { found.append((snapshots[index], actions)) }
        }
        do {
            try lists.forEachStep(note)
        } catch let error as SyncError where error.code == .invalidDocument {
            damage = error
        }
        return (found, damage)
    }

    /// The paths of what is followed, in the list that a step left.
    private struct FollowedPaths {
        private(set) var names: Set<RelativePath> = []
        /// The names and the directories above them, also of newer lists.
        private var above: Set<RelativePath> = []

        mutating func insert(_ path: RelativePath) {
            guard names.insert(path).inserted else { return }
            var next: RelativePath? = path
            while let path = next, above.insert(path).inserted { next = path.parent }
        }

        mutating func remove(_ paths: [RelativePath]) { names.subtract(paths) }

        /// Whether a step may have changed one of the paths.
        func mayChange(in step: ListLayer, _ selection: EntrySelection) -> Bool {
            step.lines.values.contains { line in
                // An entry that is gone from the present tree may have been below this path.
                if names.isEmpty, line.entry == nil { return true }
                return [line.path, line.below].contains { path in
                    guard let path else { return false }
                    let isDirectory = line.entry?.file.isDirectory ?? true
                    return above.contains(path) || path.isBelow(anyOf: names)
                        || selection.selects(path, isDirectory)
                        || selection.selects(path, false)
                }
            }
        }
    }
}

extension TargetLists {
    /// Passes the selected entries of each list, the newest list first. It follows them back from list to list, and
    /// also the entries below directories that move.
    ///
    /// - Parameter body: gets an entry and the index of the snapshot. `isFound`: the list is as the next run found it,
    ///   not as the run left it. `isStored`: a run moved the entry's object into the history.
    /// - Returns: the error if older lists cannot be read; else nil.
    func visit(
        _ selection: EntrySelection, _ body: (ListedEntries, Int, _ isFound: Bool, _ isStored: Bool) -> Void
    ) throws -> SyncError? {
        var (moving, last, damage) = (Set<RelativePath>(), 0, history.damage)
        do {
            for index in history.steps.indices {
                let list = try document(index)
                for layer in [list.step, list.hand] { moving.formUnion(layer.movedDirectories.keys) }
                last = index + 1
            }
        } catch let error as SyncError where error.code == .invalidDocument {
            damage = error
        }
        func selected(_ list: some EntryStream) throws -> PackedList<ListLineCoding> {
            var (selection, entries) = (selection, PackedList<ListLineCoding>())
            while try list.advance() {
                guard selection.selects(list) || !moving.isEmpty && list.path.isBelow(anyOf: moving)
                else { continue }
                entries.append(ListLine(list.listEntry))
            }
            return entries
        }
        var (followed, places) = (try selected(present()), Places())
        func follow(_ layer: ListLayer, to index: Int, isFound: Bool) throws {
            if !layer.isEmpty { followed = try selected(ListStream(layer) { ListedEntries(followed) }) }
            let entries = ListedEntries(followed)
            while entries.advance() {
                guard selection.selectsAlone(entries) else { continue }
                body(entries, index, isFound, places.hasStored(entries.object))
            }
        }
        try follow(ListLayer(), to: 0, isFound: true)
        for index in 0..<last {
            let list = try document(index)
            places.add(list.stored, of: history.steps[index].name)
            try follow(list.step, to: index + 1, isFound: true)
            try follow(list.hand, to: index + 1, isFound: false)
        }
        return damage
    }
}

extension Action {
    /// An entry that moved with its directory; its type is not recorded.
    fileprivate init(carried path: RelativePath, from before: RelativePath) {
        self.init(
            .move,
            File(
                path: path, status: FileStatus(type: .file, modified: .init(seconds: 0, nanoseconds: 0)),
                destination: []),
            from: before, causes: [.renamed])
        size = nil
    }
}
