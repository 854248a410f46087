import FileStorage
import FileSystem

// The target's manifest replaces the listing of a source on another machine.

extension DirectorySource {
    /// The target's manifest, if it has all the facts that a scan of the source would find.
    func record(_ policy: ComparisonPolicy) -> SourceRecord? {
        guard tree.facts.isRemote, tree.facts.hasDirectoryDigests, root.capabilities == nil, let header,
            let state = root.state, policy.commitSpans != nil, policy.followsIdentity,
            !policy.alwaysComparesContent, !policy.alwaysInspects, options.repairs.isEmpty,
            header.filters == options.filters.summary
        else { return nil }
        return SourceRecord(
            open: {
                guard let manifest = try state.manifest(), manifest.header == header else {
                    throw SyncError(
                        .failed, path: state.path(of: .manifest), "it was replaced meanwhile; run this again")
                }
                return manifest
            }, needsDigests: options.recordsDigests)
    }

    func rereadSource(of difference: inout Difference) throws {
        func isChanging(_ head: Change.Head) -> Bool {
            head.kind != .deleted && (head.arrives || head.isOpen || !head.causes.isSubset(of: .renamed))
        }
        try difference.edit { difference in
            try tree.reread(
                {
                    let changes = difference.changes
                    let changing = changes.indices.lazy.filter { isChanging(changes.head(at: $0)) }
                    return Set(changing.map { changes.path(at: $0).parent ?? .root })
                },
                { path, status in
                    // An entry that changed since then keeps its recorded status, and the next run finds the change.
                    // All other values are equal.
                    guard let index = difference.changes.index(at: path, where: { $0.kind != .deleted })
                    else { return }
                    let file = difference.changes[file: index]
                    guard file.identity == status.identity, file.status.changed == status.changed else {
                        return
                    }
                    var known = file.status
                    known.allocated = status.allocated
                    difference.changes[file: index] = file.with(known)
                })
        }
    }
}
