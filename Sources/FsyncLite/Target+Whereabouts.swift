import FileStorage
import FileSystem

extension Target {
    /// The refusal of a path, or a pattern, that a snapshot lacks and another one has.
    ///
    /// - Returns: nil if no snapshot has it.
    package func refusal(of path: RelativePath, lackedBy name: String) throws -> Refusal? {
        var selection = EntrySelection()
        guard selection.add(pattern: path.isPattern ? path.bytes : path.pattern) else { return nil }
        let snapshots = try names()
        let lacking = try SnapshotName.index(of: name, in: snapshots)
        let found = try find(selection).found.filter {
            (path.isPattern || $0.file.path == path) && !$0.file.omitted.contains(.purged)
        }.flatMap { finding in
            finding.snapshots.compactMap { snapshot in
                snapshots.firstIndex { $0.id == snapshot.id }.map { (index: $0, file: finding.file) }
            }
        }
        let older = found.filter { $0.index > lacking }.min { $0.index < $1.index }
        let newer = found.filter { $0.index < lacking }.max { $0.index < $1.index }
        guard let nearest = older ?? newer else { return nil }
        let run = snapshots[older == nil ? nearest.index : nearest.index - 1]
        let fate = older == nil ? .broughtLater : try fate(of: nearest.file.path, in: run)
        return .notInSnapshot(
            nearest.file.path, name, run.created, fate, nearest.file, in: snapshots[nearest.index].shortID)
    }

    /// The error of a restoration, for people. If a path is not in the snapshot, it names a snapshot with that path.
    package func explained(_ error: SyncError, _ restoration: Restoration) -> SyncError {
        guard error.code == .inputMissing,
            let path = restoration.paths.first(where: { $0.bytes == error.path })
        else { return error }
        // The search may fail for the same reason.
        if let refusal = try? refusal(of: path, lackedBy: restoration.snapshot) { return SyncError(refusal) }
        return path.isPattern
            ? SyncError(.noMatch, "no path of \(escapedText(restoration.snapshot.utf8)) matches \(path)")
            : error
    }

    /// The paths in a snapshot for a path as typed. If it is a pattern, the matching paths, without those below others.
    package func paths(named path: RelativePath, in name: String) throws -> [RelativePath] {
        var selection = EntrySelection()
        guard path.isPattern, selection.add(pattern: path.bytes) else { return [path] }
        let snapshots = try names()
        let id = snapshots[try SnapshotName.index(of: name, in: snapshots)].id
        let paths = try find(selection).found.filter { $0.snapshots.contains { $0.id == id } }.map(
            \.file.path)
        let found = Set(paths)
        let matching = paths.filter { !$0.isBelow(anyOf: found) }
        // A name may have these characters.
        return matching.isEmpty ? [path] : matching
    }

    /// The action of a run on a path that is gone.
    private func fate(of path: RelativePath, in run: Snapshot) throws -> Refusal.Fate {
        let actions = try changes(of: run.id).plan.actions
        if let move = actions.first(where: { $0.from == path }) { return .moved(to: move.path) }
        return actions.contains { $0.verb == .delete && ($0.path == path || path.isBelow($0.path)) }
            ? .deleted : .gone
    }
}
