import FileSystem

/// The complete new tree beside the target, swapped in with one rename: whoever reads sees one tree.
///
/// It is a copy of the old one, made of links, on which the ordinary operations of a commit are carried out; so what
/// they displace lies in the stage's slots as ever. The transaction then has one operation on the target.
struct LinkedExchange {
    private let root: Directory
    /// The new tree, locked.
    let tree: Directory
    /// The directory that holds the target, opened before anything was staged, and the target's name in it.
    private let place: (parent: Directory, name: FileName)
    private let replica: LinkedCopy
    /// When the first file was linked. Later changes of the old tree would be lost.
    let began: FileTime
    private let comparesFiles: Bool
    private let monitor: any Monitor

    /// Copies the target into the stage.
    init(
        of root: Directory, at place: (parent: Directory, name: FileName), in stage: Directory,
        for plan: Plan, known: Set<UInt64>, scanned: FileTime, options: SyncOptions, monitor: any Monitor
    ) throws {
        self.root = root
        self.place = place
        self.monitor = monitor
        comparesFiles = options.clonesUnchanged
        try stage.makeDirectory(TransactionEntry.tree)
        tree = try stage.directory(TransactionEntry.tree)
        try tree.lock()
        began = try tree.status().changed
        replica = try LinkedCopy(
            of: root, in: tree, for: plan.difference, clones: options.clonesUnchanged, scanned: scanned,
            known: known, resting: LinkedExchange.resting(in: stage), monitor: monitor)
        try replica.fill()
    }

    /// The inodes of what takes no part, by the staged manifest.
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

    /// Makes the copy the new tree.
    func change(by layout: OperationGraph, id: String, state: StateDirectory) throws {
        do {
            let transaction = try Commit.prepare(layout, id: id, root: tree, state: state, isCopy: true)
            try Commit(transaction, root: tree, state: state).runOnCopy()
        } catch let error as SyncError where error.code == .pending {
            // No commit has begun.
            throw SyncError(.failed, path: error.path, error.message)
        }
    }

    /// By the inode of a copy, that of the file whose other names are in the history.
    var originals: [UInt64: UInt64] { replica.originals }

    /// The plan as the history tells it. Of linked files it tells the inodes that were there: names that are displaced
    /// already are names of these. Where all files are cloned, what was displaced are the copies.
    func asCopied(_ plan: Plan) -> Plan {
        func asCopied(_ file: File) -> File {
            guard comparesFiles, let copy = replica.copied[file.path] else { return file }
            return file.with(copy.identity)
        }
        var difference = plan.difference
        for index in difference.deleted.indices {
            difference.deleted[index].file = asCopied(difference.deleted[index].file)
        }
        for index in difference.matches.indices {
            difference.matches[index].target = asCopied(difference.matches[index].target)
        }
        for index in difference.uncovered.indices {
            difference.uncovered[index].file = asCopied(difference.uncovered[index].file)
        }
        return Plan(difference, root: plan.root)
    }

    /// Writes the staged manifest anew, with the inodes of the new tree. What takes no part may be another object than
    /// the recorded one, and is known as a copy of that.
    func renumber(_ header: ManifestHeader, in stage: Directory) throws {
        let staged = try LinkedExchange.stagedManifest(in: stage)
        var header = header
        header.rootIdentity = try tree.status().identity
        var file = try PendingFile(TransactionEntry.manifest, in: stage)
        var writer = ManifestWriter(header)
        let scan = try TreeScan(tree, TreeScan.Options(), monitor: monitor)
        while try staged.advance() {
            while scan.path < staged.path, try scan.advance() {}
            let isThere = scan.path == staged.path
            var status = staged.status
            if isThere, replica.changed.contains(scan.status.inode) {
                status.changed = CommitSpans.unexamined
            }
            var inode = staged.targetInode
            if staged.marks.contains(.uncovered) {
                inode = replica.renumbered[inode] ?? inode
            } else if isThere {
                inode = scan.status.inode
            }
            writer.append(
                path: staged.path, status: status, destination: staged.destination, extended: staged.extended,
                omitted: staged.omitted, targetInode: inode, marks: staged.marks, digest: staged.digest)
            try writer.drain(to: &file)
        }
        writer.end()
        try writer.drain(to: &file, all: true)
        try file.commit(durably: false)
    }

    /// The transaction that swaps the trees.
    ///
    /// - Throws: `SyncError` when names came or went in the old tree since it was copied.
    func transaction(
        id: String, _ transaction: FileName, _ rootAttributes: (old: Attributes, new: Attributes),
        replacesManifest: Bool, state: StateDirectory
    ) throws -> Journal {
        try LinkedExchange.checkUnchanged(root, since: began, comparesFiles: comparesFiles, monitor)
        let layout = OperationGraph(
            exchanging: place.name, root: rootAttributes, seen: try root.status(), transaction: transaction,
            replacesManifest: replacesManifest)
        return try Commit.prepare(layout, id: id, root: place.parent, state: state)
    }

    /// What carries the transaction out.
    func recovery(_ state: StateDirectory) -> Recovery { Recovery(root: place.parent, state: state) }

    /// RACE: what comes into the old tree between this and the swap is not in the new one; it is found in the old one
    /// and kept in the history. See `RetiredTree`.
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
                "somebody changed this in the target while the new tree was made; run again")
        }
        if let mount = scan.findings.mounts.first {
            throw SyncError(
                .refused, path: root.path + [UInt8(ascii: "/")] + mount.path.bytes,
                "something is mounted here, or another subvolume begins; nothing was exchanged")
        }
    }
}
