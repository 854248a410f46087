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

    /// The versions of the selected entries in all snapshots, by path, the newest first.
    ///
    /// - Throws: `SyncError`, as `snapshots()`, and `pending` if an apply replaces the tree meanwhile.
    package func find(_ selection: EntrySelection) throws -> [Finding] {
        let history = try history()
        let version = try history.state.manifestVersion()
        let found = Result { try find(selection, in: history) }
        guard try history.state.manifestVersion() == version else {
            throw SyncError.overtaken(path)
        }
        return try found.get()
    }

    private func find(_ selection: EntrySelection, in history: History) throws -> [Finding] {
        var found: [Finding] = []
        var indices: [Version: Int] = [:]
        for (index, snapshot) in try history.snapshots().enumerated() {
            let tree = try SnapshotTree(
                history.changes(to: index), present: manifest(history.state, withUncovered: true))
            let entries = tree.entries(over: try manifest(history.state))
            var selection = selection
            while try entries.advance() {
                guard selection.selects(entries) else { continue }
                let version = Version(entries)
                if let known = indices[version] {
                    found[known].snapshots.append(snapshot)
                } else {
                    indices[version] = found.count
                    found.append(Finding(file: entries.file, snapshots: [snapshot]))
                }
            }
        }
        // The order within a path is that of the snapshots.
        return found.enumerated().sorted { ($0.1.file.path, $0.0) < ($1.1.file.path, $1.0) }.map(\.1)
    }

    /// What the applies changed in the selected paths, newest first. A path is followed through renames.
    package func life(of selection: EntrySelection) throws -> [(snapshot: Snapshot, actions: [Action])] {
        let history = try history()
        var names: Set<RelativePath> = []
        let manifest = try manifest(history.state)
        var present = selection
        while try manifest.advance() {
            if present.selects(manifest) { names.insert(manifest.path) }
        }
        var found: [(Snapshot, [Action])] = []
        for (step, snapshot) in zip(history.steps, try history.snapshots()) {
            let inverses = try history.actions(step).actions
            let chosen = inverses.filter { inverse in
                let (path, isDirectory) = (inverse.file.path, inverse.file.isDirectory)
                let present = inverse.from ?? path
                // An object that leaves a path is skipped if a followed object arrives there.
                return names.contains(present) || selection.selects(present, isDirectory)
                    || present != path && !names.contains(path) && selection.selects(path, isDirectory)
            }
            var actions = Action.joined(chosen.flatMap(\.applied))
            let moved = Set(actions.lazy.filter { $0.verb == .move }.map(\.path))
            let delta = ReverseDelta(inverses)
            var before: Set<RelativePath> = []
            for name in names.sorted() {
                guard let old = delta.pathBefore(of: name), old != name, !old.isInState else {
                    before.insert(name)
                    continue
                }
                // It moved with a directory.
                if !moved.contains(name), !name.isBelow(anyOf: moved) {
                    actions.append(Action(carried: name, from: old))
                }
                before.insert(old)
            }
            names = before.union(chosen.lazy.map(\.file.path).filter { !$0.isInState })
            if !actions.isEmpty { found.append((snapshot, actions)) }
        }
        return found
    }
}
