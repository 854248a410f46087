import FileStorage
import FileSystem

/// An earlier tree of a target, or paths of it, for another directory. The target may be on another machine.
struct CopiedSnapshot: Sendable {
    /// The id of the snapshot.
    let id: String
    /// The header of the snapshot's list, with its sources and its root.
    let header: ManifestHeader
    /// The attributes that are mirrored.
    let attributes: MirroredAttributes
    /// The wanted paths, with all entries below them; all paths if empty.
    let paths: [RelativePath]
    let notes: [String]
    let contents: any ContentSource
    /// Begins a new stream of the entries, in order.
    let entries: @Sendable () throws -> any EntryStream
    /// The problems with the content.
    let faults: @Sendable () throws -> Faults

    /// Entries whose content is gone, and files that may have other content.
    struct Faults: Sendable {
        var lost: [Problem] = []
        var replaced: [Problem] = []
    }

}

extension CopiedSnapshot {
    /// A snapshot of a target on this machine.
    init(of restoration: Restoration) throws {
        let found = try FoundSnapshot(of: restoration)
        let tree = try ListTree(
            found.lists, found.index, in: found.directory, paths: restoration.paths, isInPlace: false)
        var header = found.header(of: tree)
        let attributes = found.attributes(with: header)
        header.rootEntry = tree.root
        // In a copy of a target, inodes show nothing.
        let knowsInodes =
            try !found.holder.isCopy(of: found.header) && FileSystemInfo(of: found.directory).keepsIdentity
        self.init(
            id: found.id, header: header, attributes: attributes, paths: restoration.paths,
            notes: found.notes(on: tree, within: restoration.paths),
            contents: found.contents(tree),
            entries: { try tree.entries() }
        ) { [directory = found.directory] in
            let replaced = knowsInodes ? try tree.replaced(in: directory) : []
            return try Faults(of: tree, replaced: replaced, in: directory)
        }
    }
}

extension CopiedSnapshot.Faults {
    /// - Parameter replaced: files that were replaced by another, which only the inode shows.
    fileprivate init(of tree: ListTree, replaced: Set<RelativePath>, in root: Directory) throws {
        let (entries, present) = (try tree.entries(), PathResolver(root))
        while try entries.advance() {
            guard entries.status.type == .file || entries.omitted.contains(.purged) else { continue }
            let path = entries.path
            if try !present.hasContent(of: entries.status, at: tree.location(of: path)) {
                lost.append(tree.problem(ofLost: path))
            } else if replaced.contains(path), entries.digest == nil {
                // If a file has a digest, the stage finds that.
                self.replaced.append(.replaced(path))
            }
        }
    }
}
