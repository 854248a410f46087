import FileStorage
import FileSystem

/// A snapshot of a target on this machine, and the values needed to read its tree.
struct FoundSnapshot {
    /// The target that has it.
    let holder: TargetRoot
    let directory: Directory
    let state: StateDirectory
    /// The header of the present manifest.
    let header: ManifestHeader
    let lists: TargetLists
    /// 0 for the present tree.
    let index: Int
    let id: String

    /// - Parameter root: the target, if it is open already.
    /// - Throws: `SyncError` with code `inputMissing` if there was no run there, or there is no such snapshot.
    init(of restoration: Restoration, in root: TargetRoot? = nil) throws {
        holder = try root ?? TargetRoot(restoration.target)
        guard let directory = holder.directory, let state = holder.state else {
            throw SyncError(.inputMissing, path: restoration.target, "no run has written to this target")
        }
        guard let header = try state.manifest()?.header, !header.sources.isEmpty else {
            throw try state.noManifest(restoration.target)
        }
        (self.directory, self.state, self.header) = (directory, state, header)
        let history = try History(state)
        let snapshots = try history.snapshots()
        index = try SnapshotName.index(of: restoration.snapshot, in: snapshots)
        id = snapshots[index].id
        lists = try TargetLists(history)
    }

    /// The header of the snapshot's list, with its sources.
    func header(of tree: ListTree) -> ManifestHeader {
        var header = tree.header
        if header.sources.isEmpty { header.sources = self.header.sources }
        return header
    }

    /// The manifest also records attributes that are not mirrored.
    func attributes(with header: ManifestHeader) -> MirroredAttributes {
        self.header.attributes.union(header.attributes)
    }

    /// The present objects of a tree.
    func contents(_ tree: ListTree) -> EarlierTree {
        EarlierTree(
            directory, earlier: tree.root,
            location: { [changed = tree.changed] in changed.location(of: $0) })
    }

    /// Whether the last check found damage in old versions that may return. They are moved, not read.
    var notesOnDamage: [String] {
        get throws {
            let damaged = Set(try state.lastCheck()?.findings?.flatMap(\.damaged) ?? [])
            guard !damaged.isEmpty else { return [] }
            let snapshots = try lists.history.snapshots().prefix(index + 1)
            return snapshots.first { damaged.contains($0.id) }.map {
                [
                    "the last check found damaged old versions in \($0.shortID), and they are not read now. To see them: snapshot verify"
                ]
            } ?? []
        }
    }

    /// Names the first wanted entry that was changed in the target after the snapshot. The next run recorded such
    /// entries as it found them.
    func notes(on tree: ListTree, within paths: [RelativePath]) -> [String] {
        guard index > 0 else { return [] }
        let unnamed = tree.unnamed.filter {
            !$0.isBelow(anyOf: tree.unnamed) && (paths.isEmpty || $0.isWithin(paths))
        }
        let changed = tree.hand.lines.values.filter { line in
            // No run made it. It is in the tree if the next run moved it into the history.
            guard let entry = line.entry else { return tree.isChanged(line.path) }
            return !entry.isUncovered && line.below == nil
        }.map(\.path)
        return FoundSnapshot.note(
            "changed in the target after this snapshot was made, and restored with that change",
            Set(changed.filter { paths.isEmpty || $0.isWithin(paths) }))
            + FoundSnapshot.note(
                "excluded when this snapshot was made, and restored only if you name them", unnamed)
    }

    static func note(_ what: String, _ paths: Set<RelativePath>) -> [String] {
        paths.min().map { ["\(what): \(Amount.list([$0.description], of: paths.count))"] } ?? []
    }
}
