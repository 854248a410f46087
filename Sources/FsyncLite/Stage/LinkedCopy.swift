import FileStorage
import FileSystem

/// Creates a second tree from a target's objects. Directories are new, with all their metadata. Other objects get
/// another name. If they will change, they are copied.
final class LinkedCopy {
    private let root: Directory
    private let old: PathResolver
    private let new: PathResolver
    private let scan: TreeScan
    private let changes: ChangeList
    /// The renamed matches, by the present paths of their objects in the target, with their new paths.
    private var renamed = PackedMap<PathCoding>()
    /// The known inodes of uncovered entries.
    private let resting: Set<UInt64>
    /// The inodes of the copies of these entries, even if somebody has moved the originals.
    private(set) var renumbered: [UInt64: UInt64] = [:]
    private let linkLimit: UInt32?
    private let hasDomains: Bool
    private let scanned: FileTime
    private let policy: ComparisonPolicy
    /// The manifest of a target that was not scanned. It shows edits before links moved the change times.
    private let recorded: ManifestReader?
    private var isRecordRead = false
    private var copier = FileCopier()
    /// The copies of files with several names, if these names are linked in the new tree too.
    private var copies: [UInt64: RelativePath] = [:]
    /// The change times of linked files with several names, before the first link. Each link moves the change time.
    private var linked: [UInt64: FileTime] = [:]
    /// Objects of the new tree that changed after the scan began, or after they were recorded if there was no scan.
    /// Their present state was not compared.
    private(set) var changed: Set<UInt64> = []

    /// - Parameters:
    ///   - tree: empty.
    ///   - scanned: the start of this run's scan.
    ///   - recorded: the present manifest, if the target was not scanned.
    ///   - resting: the known inodes of uncovered entries.
    init(
        of root: Directory, in tree: Directory, for difference: Difference, scanned: FileTime,
        recorded: ManifestReader? = nil, resting: Set<UInt64> = [], monitor: any Monitor
    ) throws {
        self.resting = resting
        self.root = root
        policy = difference.policy
        self.recorded = recorded
        changes = difference.changes
        self.scanned = scanned
        old = PathResolver(root)
        new = PathResolver(tree)
        scan = try TreeScan(root, .target, monitor: monitor)
        let info = try FileSystemInfo(of: root)
        (linkLimit, hasDomains) = (info.linkLimit, info.hasDomains)
        for index in changes.indices where changes.head(at: index).isRenamed {
            let path = changes.targetPath(at: index)
            renamed[path] = (path, changes.path(at: index))
        }
        // Each directory gets its project when it is complete.
        if hasDomains { try tree.openToAll() }
    }

    /// Creates the whole tree.
    ///
    /// - Throws: `SyncError` with code `refused` for objects that cannot be in a second tree. The target is unchanged.
    func fill() throws {
        // The directories on the way to the present entry. Each gets its attributes when it is complete.
        var open = [RelativePath.root]
        while try scan.advance() {
            while let last = open.last, !scan.path.isBelow(last) {
                try finish(last)
                open.removeLast()
            }
            if let mount = scan.findings.mounts.first {
                throw refusal(mount.path, "something is mounted here")
            }
            guard let (holder, name) = try old.location(of: scan.path),
                let (parent, _) = try new.location(of: scan.path)
            else { continue }
            let isEdited = try isEdited()
            if scan.status.type == .directory {
                try parent.makeMirrored(name)
                open.append(scan.path)
            } else {
                try carry(name, from: holder, to: parent)
            }
            let rests = resting.contains(scan.status.inode)
            guard isEdited || rests, let copy = try parent.status(of: name) else { continue }
            if isEdited { changed.insert(copy.inode) }
            if rests, copy.identity != scan.status.identity { renumbered[scan.status.inode] = copy.inode }
        }
        while let last = open.popLast() { try finish(last) }
    }

    /// Whether the scanned object may have changed after its comparison. Each name is asked: the first may have no
    /// record.
    private func isEdited() throws -> Bool {
        var status = scan.status
        if let before = linked[status.inode] { status.changed = before }
        if status.changed >= scanned { return true }
        guard let recorded else { return false }
        while !isRecordRead, recorded.path < scan.path { isRecordRead = try !recorded.advance() }
        return recorded.path == scan.path && !policy.hasKnownTime(status, recorded.targetChanged)
    }

    private func finish(_ path: RelativePath) throws {
        let (original, copy) = (try old.directory(path), try new.directory(path))
        if hasDomains { try giveDomain(of: original, to: copy, path) }
        try giveAttributes(of: ObjectHandle(of: original), to: ObjectHandle(of: copy), path)
    }

    private func giveDomain(of original: Directory, to copy: Directory, _ path: RelativePath) throws {
        let (wanted, made) = (try original.domain(), try copy.domain())
        guard wanted.policy == made.policy else {
            throw refusal(path, "it is encrypted otherwise than the directory that the new tree is made in")
        }
        guard wanted != made else { return }
        do throws(SystemError) {
            try copy.setProject(wanted.project ?? 0, handsDown: wanted.handsDownProject)
        } catch {
            throw refusal(
                path, "its project \(wanted.project ?? 0) cannot be given to a copy (\(error.errno))")
        }
    }

    private func carry(_ name: FileName, from holder: Directory, to parent: Directory) throws {
        let status = scan.status
        let isGroup = status.links > 1
        if isGroup, let first = copies[status.inode], let (directory, firstName) = try new.location(of: first)
        {
            return try directory.link(firstName, to: parent, name)
        }
        let hasManyNames = linkLimit.map { status.links > $0 / 2 } ?? false
        guard !changesAttributes(at: scan.path), !hasManyNames || linked[status.inode] != nil
        else { return try copy(name, from: holder, to: parent) }
        do throws(SystemError) {
            try holder.link(name, to: parent, name)
        } catch {
            switch error.errno {
            case .manyLinks, .crossDevice: return try copy(name, from: holder, to: parent)
            case .notPermitted, .accessDenied:
                throw refusal(
                    scan.path, "it cannot have a second name: it is immutable, or belongs to another user")
            default: throw error
            }
        }
        if isGroup, linked[status.inode] == nil { linked[status.inode] = status.changed }
    }

    /// Whether an object of the target will get other attributes, which the first tree must not get.
    private func changesAttributes(at path: RelativePath) -> Bool {
        let new = renamed[path]?.other
        guard let index = changes.index(of: .match, at: new ?? path) else { return false }
        let head = changes.head(at: index)
        return head.changesAttributes && (new != nil || !head.isRenamed)
    }

    private func copy(_ name: FileName, from holder: Directory, to parent: Directory) throws {
        let status = scan.status
        if status.type == .file {
            try copyContent(name, from: holder, to: parent)
        } else {
            try parent.make(scan.file, name)
        }
        try giveAttributes(of: ObjectHandle(name, in: holder), to: ObjectHandle(name, in: parent), scan.path)
        if status.links > 1 { copies[status.inode] = scan.path }
    }

    private func copyContent(_ name: FileName, from holder: Directory, to parent: Directory) throws {
        let source = try holder.open(name, [.read, .noFollow, .nonBlocking])
        let copy = try parent.open(name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
        if hasDomains {
            try calling("ioctl", parent.path(of: name)) { () throws(Errno) in
                if let project = try source.domain().project, project != 0 { try copy.setProject(project) }
            }
        }
        _ = try calling("write", parent.path(of: name)) { () throws(Errno) in
            try copier.copy(source, to: copy, size: scan.status.size, allocated: scan.status.allocated)
        }
    }

    private func giveAttributes(
        of original: borrowing ObjectHandle, to copy: borrowing ObjectHandle, _ path: RelativePath
    ) throws {
        let status = try original.status()
        let wanted = Attributes(status, extended: try original.extendedAttributes(.readable))
        let refused = try copy.set(wanted, over: copy.status(), setsOwner: true, .readable)
        guard refused.owner == nil else {
            throw refusal(path, "only root can copy it: it belongs to \(status.owner):\(status.group)")
        }
        if let first = refused.extended.attributes.first {
            throw refusal(path, "its attribute \(escapedText(first.name)) cannot be set on a copy")
        }
    }

    private func refusal(_ path: RelativePath, _ reason: String) -> SyncError {
        SyncError(
            .exchangeImpossible("\(reason); nothing was exchanged"),
            path: root.path + [UInt8(ascii: "/")] + path.bytes)
    }
}
