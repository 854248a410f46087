import FileStorage
import FileSystem

// The target's manifest in place of what another machine would tell of the source.

extension DirectorySource {
    /// The target's manifest, where it can tell everything that a scan of the source would.
    func record(_ policy: ComparisonPolicy) -> SourceRecord? {
        guard tree.facts.isRemote, tree.facts.tellsDigests, root.capabilities == nil, let header,
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
        func isChanging(_ head: Match.Head) -> Bool {
            head.replacesContent || head.isOpen || !head.causes.isSubset(of: .renamed)
        }
        try difference.edit { difference in
            try tree.reread(
                {
                    let (matches, created) = (difference.matches, difference.created)
                    let changing = matches.indices.lazy.filter { isChanging(matches.head(at: $0)) }
                    return Set(changing.map { matches.path(at: $0).parent ?? .root })
                        .union(created.indices.lazy.map { created.path(at: $0).parent ?? .root })
                },
                { path, status in
                    // What has changed since keeps what was recorded, which the next run finds out. Nothing else differs.
                    func update(_ file: inout File) {
                        guard file.identity == status.identity, file.status.changed == status.changed else {
                            return
                        }
                        var known = file.status
                        known.allocated = status.allocated
                        file = file.with(known)
                    }
                    if let index = difference.matches.index(of: path) {
                        update(&difference.matches[index].source)
                    } else if let index = difference.created.index(of: path) {
                        update(&difference.created[index].file)
                    }
                })
        }
    }
}
