import FileSystem

/// The manifest of a target with the identities of an earlier tree for entries that were covered then and are not now.
final class RecoveredEntries: EntryStream {
    private let manifest: ManifestReader
    private let tree: SnapshotTree

    init(_ manifest: ManifestReader, _ tree: SnapshotTree) {
        (self.manifest, self.tree) = (manifest, tree)
    }

    func advance() throws -> Bool { try manifest.advance() }

    var path: RelativePath { manifest.path }
    var status: FileStatus {
        guard manifest.marks.contains(.uncovered), let identity = tree.recovered[manifest.path] else {
            return manifest.status
        }
        var status = manifest.status
        (status.inode, status.created) = (identity.inode, identity.created?.fileTime)
        return status
    }
    var destination: [UInt8] { manifest.destination }
    var extended: ExtendedAttributes { manifest.extended }
    var omitted: Omissions { manifest.omitted }
    var targetInode: UInt64 { manifest.targetInode }
    var targetChanged: FileTime? { manifest.targetChanged }
    var marks: EntryMarks { manifest.marks }
    var digest: Digest? { manifest.digest }
}
