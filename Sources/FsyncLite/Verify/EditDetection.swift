import FileStorage
import FileSystem

/// Distinguishes an edit from rot by the change time, which nobody can set. An edit moves the change time of its file.
/// A disk that loses bits moves none.
///
/// A copy of the recorded tree has other change times from the beginning, so no file in it is reported as edited.
struct EditDetection: Sendable {
    /// The objects that the manifest describes below a root.
    private enum Record {
        case ofSource, ofTarget
    }

    /// By the name of a source; the name of a single root is empty.
    private var records: [ArraySlice<UInt8>: Record] = [:]
    var policy = ComparisonPolicy()

    init(in tree: Directory, _ header: ManifestHeader?) throws {
        guard let header, try FileSystemInfo(of: tree).keepsIdentity else { return }
        let identity = try tree.status().identity
        if identity == header.rootIdentity {
            records[[]] = .ofTarget
            do {
                policy.commitSpans = try EditDetection.commits(in: tree, header)
            } catch is SyncError {
                // A state that is not trusted, or is damaged, shows nothing.
            }
        } else if identity == header.source?.identity {
            records[[]] = .ofSource
        }
    }

    /// The spans in which commits changed the change times of a target; nil if the manifest is not its present one.
    private static func commits(in target: Directory, _ header: ManifestHeader) throws -> CommitSpans? {
        guard let state = try StateDirectory(of: target.asTarget()),
            let present = try state.manifest()?.header,
            present.id == header.id, present.revision == header.revision
        else { return nil }
        return try state.commitSpans(present)
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
            return recorded.status.changed != .unexamined
                && !policy.isUnchanged(file, recorded.status)
        case .ofTarget:
            // After a recovery, no span shows which change times the commit moved.
            let isKnown = recorded.targetChanged != nil || policy.commitSpans?.spans.isEmpty == false
            return recorded.targetInode != file.inode
                || isKnown && !policy.hasKnownTime(file, recorded.targetChanged)
        }
    }
}
