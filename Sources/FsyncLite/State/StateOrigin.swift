import FileStorage
import FileSystem

// No mirrored directory is a state. A state has a mark (`StateMark`), which no mirror sets. Earlier versions set none.
// Their state is accepted if it is not inside a target, and if its documents name the directory that it is in.

extension StateDirectory {
    /// Whether it was never written to, because the run that began to make it was killed.
    var isEmpty: Bool {
        get throws { try mark != .state && DirectoryListing.names(in: directory).isEmpty }
    }

    /// - Throws: `SyncError` with code `refused` unless it is certainly the state of this directory.
    func checkOrigin(of root: Directory) throws {
        guard mark != .state else { return }
        func refuse(_ reason: String) -> SyncError {
            SyncError(.unmarkedState(reason, of: root.path), path: directory.path)
        }
        guard mark != .mirrored else {
            throw refuse("a mirror made this directory, so it is not the state of a target; move it away")
        }
        if let outer = try root.enclosingTarget() {
            throw refuse(
                "it has no mark of a state, and the target \(escapedText(outer)) may have mirrored it. To keep its history, move \(escapedText(root.path)) out of that target"
            )
        }
        if try root.liesInState() {
            throw refuse("it is inside the state of a target")
        }
        guard try mark == .unsupported || root.fileSystem != nil || names(root) else {
            throw refuse(
                "it may be the copy of another target's state: it has no mark, and its documents name other files"
            )
        }
    }

    /// The number of entries of a manifest that are checked.
    private static let lookedAt = 1000

    /// Whether its documents name this directory or an object in it, by inode. Those of a copied state do not.
    private func names(_ root: Directory) throws -> Bool {
        let identity = try root.status().identity
        if let (_, journal) = try pendingJournal() {
            return try journal.root == identity || isBeside && journal.root == root.parent().status().identity
        }
        guard let manifest = try manifest() else { return false }
        if let recorded = manifest.header.rootIdentity { return recorded == identity }
        let present = PathResolver(root)
        for _ in 0..<StateDirectory.lookedAt {
            guard try manifest.advance() else { return false }
            if try present.status(of: manifest.path)?.inode == manifest.targetInode { return true }
        }
        return false
    }
}

extension TargetRoot {
    /// Whether the target's file system can store the mark of a state.
    func keepsMarks() throws -> Bool { try anchor().stateMark() != .unsupported }

    /// A note about a state in the tree of another target; nil for any other state.
    func nestingNote() throws -> String? {
        guard state != nil, let outer = try enclosingTarget() else { return nil }
        return "this target is inside another one, \(LocalFile(bytes: outer))"
    }
}
