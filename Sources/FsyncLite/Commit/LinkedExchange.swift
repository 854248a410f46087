import FileStorage
import FileSystem

/// Builds the complete new tree beside the target and swaps it in with one rename. A reader always sees one whole tree.
///
/// The new tree is a copy of the old one, made of links. The ordinary operations of a commit run on the copy, so old
/// objects are in the stage's slots as usual. The transaction then has one operation on the target.
struct LinkedExchange {
    private let staged: StagedCommit
    private let location: (parent: Directory, name: FileName)
    /// The new tree, locked.
    private let tree: Directory
    private let copy: LinkedCopy
    /// The time when the first file was linked. Later changes of the old tree would be lost.
    private let began: FileTime

    /// Copies the target into the stage, and applies the operations to the copy.
    init(_ staged: StagedCommit, at location: (parent: Directory, name: FileName)) throws {
        (self.staged, self.location) = (staged, location)
        let (stage, options) = (staged.stage.directory, staged.options)
        // Syncs now, so that the last barrier is fast and the time between copy and swap is short.
        try staged.target.syncFileSystem()
        if options.verifiesCopies { try staged.stage.reread() }
        try stage.makeDirectory(TransactionEntry.tree)
        tree = try stage.directory(TransactionEntry.tree)
        try tree.lock()
        began = try tree.status().changed
        let difference = staged.plan.difference
        copy = try LinkedCopy(
            of: staged.target, in: tree, for: difference, scanned: staged.scanned,
            recorded: difference.policy.trustsTarget ? staged.state.manifest(withUncovered: true) : nil,
            resting: LinkedExchange.resting(in: stage), monitor: staged.monitor)
        try copy.fill()
        try staged.besideTarget {
            let journal = try Commit.prepare(
                staged.graph, id: staged.id, root: tree, state: staged.state, isCopy: true)
            try Commit(journal, root: tree, state: staged.state).runOnCopy()
        }
        try renumber()
    }

    /// The inodes of uncovered entries in the staged manifest.
    private static func resting(in stage: Directory) throws -> Set<UInt64> {
        let staged = try stagedManifest(in: stage)
        var inodes: Set<UInt64> = []
        while try staged.advance() {
            if staged.marks.contains(.uncovered) { inodes.insert(staged.targetInode) }
        }
        return inodes
    }

    private static func stagedManifest(in stage: Directory) throws -> ManifestReader {
        let name = TransactionEntry.manifest
        return try ManifestReader(
            stage.open(name, [.read, .noFollow]), path: stage.path(of: name), withUncovered: true)
    }

    /// Writes the staged manifest again with the inodes of the new tree. An uncovered entry may differ from its
    /// recorded object. It is identified as the copy of that object.
    private func renumber() throws {
        let manifest = try LinkedExchange.stagedManifest(in: staged.stage.directory)
        var header = staged.header
        header.rootIdentity = try tree.status().identity
        var file = try staged.stage.newManifest()
        var writer = ManifestWriter(header)
        let scan = try TreeScan(tree, TreeScan.Options(), monitor: staged.monitor)
        while try manifest.advance() {
            while scan.path < manifest.path, try scan.advance() {}
            let isThere = scan.path == manifest.path
            var status = manifest.status
            if isThere, copy.changed.contains(scan.status.inode) { status.changed = .unexamined }
            var inode = manifest.targetInode
            if manifest.marks.contains(.uncovered) {
                inode = copy.renumbered[inode] ?? inode
            } else if isThere {
                inode = scan.status.inode
            }
            writer.append(
                path: manifest.path, status: status, destination: manifest.destination,
                extended: manifest.extended,
                omitted: manifest.omitted, targetInode: inode, marks: manifest.marks, digest: manifest.digest,
                object: manifest.object)
            try writer.drain(to: &file)
        }
        writer.end()
        try writer.drain(to: &file, all: true)
        try file.commit(durably: false)
    }

    /// Swaps the trees.
    ///
    /// - Throws: `SyncError` if names were added to or removed from the old tree since it was copied.
    func commit(in root: inout TargetRoot) throws -> StateDirectory {
        let target = staged.target
        try LinkedExchange.checkUnchanged(target, since: began, comparesFiles: false, staged.monitor)
        let graph = OperationGraph(
            exchanging: location.name, root: staged.rootAttributes, seen: try target.status(),
            transaction: staged.stage.name, replacesManifest: staged.replacesManifest)
        let journal = try Commit.prepare(graph, id: staged.id, root: location.parent, state: staged.state)
        try ReservedSpace.make(for: journal, in: staged.stage.directory)
        try root.moveState(beside: true)
        let state = try root.makeState()
        try state.markLinked(began: began)
        try Recovery(root: location.parent, state: state).commit(journal)
        root.becomes(tree)
        return state
    }

    /// RACE: an entry that is added to the old tree between this check and the swap is missing from the new one. It is
    /// found later in the old tree, and moved into the history. See `RetiredTree`.
    static func checkUnchanged(
        _ root: Directory, since began: FileTime, comparesFiles: Bool, _ monitor: any Monitor
    ) throws {
        let scan = try TreeScan(root, .target, monitor: monitor)
        while try scan.advance() {
            // Links move the change times of files.
            guard scan.status.type == .directory || comparesFiles, scan.status.changed > began else {
                continue
            }
            throw SyncError(
                .failed, path: root.path + [UInt8(ascii: "/")] + scan.path.bytes,
                "it was changed in the target while the new tree was made; run again")
        }
        if let mount = scan.findings.mounts.first {
            throw SyncError(
                .exchangeImpossible(
                    "something is mounted here, or another subvolume begins; nothing was exchanged"),
                path: root.path + [UInt8(ascii: "/")] + mount.path.bytes)
        }
    }
}
