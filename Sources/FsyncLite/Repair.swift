import FileStorage
import FileSystem

extension Verification {
    /// Replaces each copy that changed since it was recorded with the good one. In the tree, which must be a target, a
    /// run does that and makes no other change. In a source on this machine, a new file takes the name. Edited files,
    /// and files that have changed since they were judged, are left unchanged.
    ///
    /// - Returns: the same discrepancies, with their results.
    public func repair(_ found: [Discrepancy]) throws -> [Discrepancy] {
        var found = found
        for index in found.indices where found[index].kind == .edited {
            found[index].message = Verification.wayOut(of: found[index].side)
        }
        guard let source, found.contains(where: \.isRepairable) else { return found }
        let (mirror, original) = (
            PathResolver(try LocalFile(bytes: tree).directory().asTarget()),
            source.isRemote ? nil : PathResolver(try source.open())
        )
        var inodes: [UInt64: [Int]] = [:]
        for index in found.indices where found[index].isRepairable {
            guard found[index].side == .tree || original != nil else {
                found[index].message = "a copy on another machine is not repaired from here"
                continue
            }
            guard let judged = found[index].judged else {
                found[index].message = "it cannot be read, and may have been changed since it was recorded"
                continue
            }
            do {
                if found[index].side == .source, let original {
                    try Verification.restore(judged, in: original, from: mirror)
                    found[index].isRepaired = true
                } else if let (directory, name) = try mirror.location(of: judged.path),
                    let status = try directory.status(of: name)
                {
                    try Verification.check(directory.trueStatus(of: name), judged, directory.path(of: name))
                    inodes[status.inode, default: []].append(index)
                }
            } catch {
                found[index].message = "\(error)"
            }
        }
        guard !inodes.isEmpty else { return found }
        let report = try apply(repairing: Set(inodes.keys), from: source)
        let updated = Set(report.actions.map(\.path))
        for index in inodes.values.joined() {
            found[index].isRepaired = report.outcome == .committed && updated.contains(found[index].path)
            if !found[index].isRepaired {
                found[index].message =
                    report.error?.description ?? report.refusals.first?.reason ?? "it has changed meanwhile"
            }
        }
        return found
    }

    /// Repairs by an ordinary transaction, so the replaced objects move into the history.
    private func apply(repairing inodes: Set<UInt64>, from source: MirrorSource) throws -> Report {
        guard let header = try Tree(path: tree).header() else {
            throw SyncError(
                .noTarget("only a target of fsync-lite can be repaired; copy by hand"),
                path: tree)
        }
        var options = SyncOptions()
        options.repairs = inodes
        // Good content equals the recorded content, so any copy of the source is valid.
        options.changeSource = true
        options.allowsWeakCommit = true
        options.verifiesCopies = true
        options.attributes = header.attributes
        // Other problems do not stop the repair.
        options.keepGoing = true
        return try Synchronizer(source, target: tree, options: options, monitor: monitor).apply()
    }

    private static func wayOut(of side: Discrepancy.Side) -> String {
        let command =
            switch side {
            case .tree: "; apply copies the source's file over it"
            case .source: "; apply --trust-source mirrors it"
            case .both: ""
            }
        return "not repaired, as it was changed after it was recorded\(command)"
    }

    private static func check(
        _ status: FileStatus?, _ judged: File, _ path: @autoclosure () -> [UInt8]
    ) throws {
        guard status?.isUnchanged(since: judged.status) == true else {
            throw SyncError(.stale, path: path(), "it has changed since it was read; verify it again")
        }
    }

    /// Replaces only the content of a file.
    private static func restore(_ judged: File, in tree: PathResolver, from good: PathResolver) throws {
        guard let (origin, name) = try good.location(of: judged.path),
            let (directory, _) = try tree.location(of: judged.path)
        else {
            return
        }
        let file = try origin.open(name, [.read, .noFollow, .nonBlocking])
        let handle = try ObjectHandle(name, in: directory)
        let (old, above) = (try handle.status(), try directory.status())
        guard old.type == .file, old.links == 1 else {
            throw SyncError(.failed, path: directory.path(of: name), "it has other names; copy it by hand")
        }
        let pending = try PendingFile(name, in: directory)
        _ = try pending.copy(file)
        // RACE: the good copy may have changed since it was read, too.
        guard try Digest(pending.digest()) == judged.digest else {
            throw SyncError(.stale, path: origin.path(of: name), "it no longer has the recorded content")
        }
        try pending.setAttributes(
            like: old, extended: handle.extendedAttributes(MirroredAttributes.all.extended))
        try check(directory.status(of: name), judged, directory.path(of: name))
        try pending.commit()
        try ObjectHandle(of: directory).setModified(above.modified)
    }
}
