import FileSystem

/// Tells an edit from rot by the change time, which nobody can set: an edit moves that of its file, a disk that loses bits
/// moves none.
///
/// A copy of the tree that was recorded has other change times from the beginning, so nothing in it shows as an edit.
struct EditDetection: Sendable {
    /// What a manifest holds of the objects below a root.
    private enum Record {
        case ofSource, ofTarget
    }

    /// By the name of a source; that of a single root is empty.
    private var records: [ArraySlice<UInt8>: Record] = [:]
    private var policy = ComparisonPolicy()

    /// - Parameter commits: when commits changed the change times of the tree, if the manifest is its present one.
    init(in tree: Directory, _ header: ManifestHeader?, commits: CommitSpans?) throws {
        guard let header, try FileSystemInfo(of: tree).keepsIdentity else { return }
        let identity = try tree.status().identity
        policy.commitSpans = commits
        if identity == header.rootIdentity {
            records[[]] = .ofTarget
        } else if identity == header.source?.identity {
            records[[]] = .ofSource
        }
    }

    init(in source: SourceFacts, _ header: ManifestHeader?) {
        for (root, keepsIdentity) in zip(source.identities, source.keepsIdentity) where keepsIdentity {
            let isRecorded = header?.sources.contains { $0.name == root.name && $0.identity == root.identity }
            if isRecorded ?? false { records[Array((root.name ?? "").utf8)[...]] = .ofSource }
        }
    }

    /// Whether a file has changed since it was recorded; false if that is unknown.
    func isEdited(_ file: FileStatus, at path: RelativePath, since recorded: BaseStatus) -> Bool {
        switch records[[]] ?? records[path.firstComponent] {
        case nil: return false
        case .ofSource:
            return recorded.status.changed != CommitSpans.unexamined
                && !policy.isUnchanged(file, recorded.status)
        case .ofTarget:
            // After a recovery no span tells what the commit changed.
            let isKnown = recorded.targetChanged != nil || policy.commitSpans?.spans.isEmpty == false
            return recorded.targetInode != file.inode
                || isKnown && !policy.hasKnownTime(file, recorded.targetChanged)
        }
    }
}
