import FileStorage
import FileSystem

/// Answers the kernel's requests, on one thread.
final class MountWorker: FuseWorker {
    private let mounted: MountedTarget
    private let connection: FuseConnection
    private let turn: FuseTurn
    private let enforcesACLs: Bool
    private let passes: () -> Bool
    private let reader = RowReader()
    private let presentReader = EntryReader()
    /// Finds objects in the target that a view is of.
    private var resolver: (view: MountView, paths: PathResolver)?

    /// A snapshot never changes. The kernel asks for the mount's own directories before it shows the lists that it has, but
    /// also for each path that leads through them.
    private static let (long, short, ownDirectory) = (
        Duration.seconds(6 * 3600), Duration.seconds(1), Duration.milliseconds(20)
    )

    init(
        _ mounted: MountedTarget, _ connection: FuseConnection, _ turn: FuseTurn, enforcesACLs: Bool,
        passes: @escaping () -> Bool
    ) {
        (self.mounted, self.connection, self.turn, self.passes) = (mounted, connection, turn, passes)
        self.enforcesACLs = enforcesACLs
    }

    // MARK: Views

    /// Runs `body` with a snapshot and its list, and again if a run has changed the target meanwhile.
    private func with<Value>(
        _ slot: UInt64, _ body: (MountView, MountView.Shown) throws -> Value
    ) throws(Errno) -> Value {
        var misses = 0
        while true {
            let view = mounted.view
            guard let entry = view.shown(slot) else { throw .stale }
            do {
                return try body(view, entry)
            } catch let error as Errno {
                throw error
            } catch {
                guard isWorthAnotherLook(view, &misses, isUnreadable: true) else {
                    mounted.complain("\(error)")
                    throw .inputOutput
                }
            }
        }
    }

    /// Whether what was not found may be found now. A run may have moved it.
    private func isWorthAnotherLook(
        _ view: MountView, _ misses: inout Int, isUnreadable: Bool = false
    ) -> Bool {
        turn.pass()
        switch mounted.change(since: view, isUnreadable: isUnreadable) {
        case .renewed: return true
        case .going: return mounted.wait()
        case .none:
            // A run can move a file and move it back: then it is missing once.
            misses += 1
            return misses < 2
        }
    }

    /// Reads a list. It never changes, so another look would not help.
    private func reading<Value>(_ body: () throws -> Value) throws(Errno) -> Value {
        do {
            return try body()
        } catch let error as Errno {
            throw error
        } catch {
            mounted.complain("\(error)")
            throw .inputOutput
        }
    }

    /// Reads the row of an object.
    private func seek(_ slot: UInt64, _ object: UInt64) throws(Errno) -> (
        view: MountView, opened: MountView.Opened, row: Int
    ) {
        try with(slot) { view, entry in
            let opened = try view.open(entry, reader.lines)
            guard let row = opened.list.row(of: object) else { throw Errno.stale }
            try reader.seek(row, in: opened.list)
            return (view, opened, row)
        }
    }

    // MARK: Nodes

    private func node(_ node: MountNode) throws(Errno) -> FuseNode {
        switch node {
        case .root, .ids: return own(node, .directory, 0o755)
        case .link(let slot, let link):
            let name = try with(slot) { _, entry in entry.name }
            return own(node, .symlink, 0o777, size: link.above.utf8.count + name.count)
        case .date(let slot):
            let root = try with(slot) { view, entry in try view.rootFile(entry) }
            return FuseNode(node.number, shown(root.status, root.extended), lifetime: MountWorker.short)
        case .object(let slot, let object, _):
            _ = try seek(slot, object)
            return present(slot)
        }
    }

    /// The row that was read last.
    private func present(_ slot: UInt64) -> FuseNode {
        let node = MountNode.object(slot, reader.object, hasExtended: !reader.extended.isEmpty)
        return FuseNode(node.number, shown(reader.status, reader.extended), lifetime: MountWorker.long)
    }

    /// The status as the kernel may have it. If it does not check ACLs, only the owner may use a file with one.
    private func shown(_ status: FileStatus, _ extended: ExtendedAttributes) -> FileStatus {
        guard !enforcesACLs, extended[ExtendedAttributes.accessACL] != nil else { return status }
        mounted.complain(
            "a new snapshot has files with ACLs, and shows them to their owners only. To let others in, mount again"
        )
        var status = status
        status.permissions &= 0o7700
        return status
    }

    /// One that the mount itself has.
    private func own(_ node: MountNode, _ type: FileType, _ mode: UInt16, size: Int = 0) -> FuseNode {
        var status = FileStatus(type: type, modified: mounted.view.made)
        (status.permissions, status.owner, status.size) = (
            mode, Account.effectiveUser, ByteCount(clamping: size)
        )
        return FuseNode(
            node.number, status, lifetime: type == .directory ? MountWorker.ownDirectory : MountWorker.short)
    }

    func node(_ id: UInt64) throws(Errno) -> FuseNode {
        guard let node = MountNode(id) else { throw .stale }
        if node == .root || node == .ids { mounted.change(since: mounted.view) }
        return try self.node(node)
    }

    func node(_ name: [UInt8], in directory: UInt64) throws(Errno) -> FuseNode {
        guard let directory = MountNode(directory) else { throw .stale }
        guard directory != .root, directory != .ids else {
            mounted.change(since: mounted.view)
            let view = mounted.view
            guard let found = (directory == .ids ? view.ids : view.names)[name] else { throw .noSuchFile }
            return try node(found)
        }
        guard let name = FileName(name) else { throw .noSuchFile }
        let (slot, list, above, _) = try self.directory(directory)
        return try reading {
            let path = above.appending(name)
            let row = try list.row(notBefore: path, reader.lines)
            guard row < list.count else { throw Errno.noSuchFile }
            try reader.seek(row, in: list)
            guard reader.path == path, !reader.isUncovered else { throw Errno.noSuchFile }
            return present(slot)
        }
    }

    func destination(of node: UInt64) throws(Errno) -> [UInt8] {
        switch MountNode(node) {
        case .link(let slot, let link)?:
            return try with(slot) { _, entry in Array(link.above.utf8) + entry.name }
        case .object(let slot, let object, _)?:
            _ = try seek(slot, object)
            guard reader.status.type == .symlink else { throw .invalid }
            guard !reader.omitted.contains(.purged) else { throw lost(slot) }
            return reader.destination
        case nil: throw .stale
        default: throw .invalid
        }
    }

    func extendedAttributes(of node: UInt64) throws(Errno) -> ExtendedAttributes {
        switch MountNode(node) {
        case .date(let slot)?: return try with(slot) { view, entry in try view.rootFile(entry).extended }
        case .object(let slot, let object, hasExtended: true)?:
            _ = try seek(slot, object)
            return reader.extended
        case nil: throw .stale
        default: return ExtendedAttributes()
        }
    }

    func place() throws(Errno) -> Directory { mounted.view.root }

    // MARK: Directories

    /// A directory of a snapshot: its list, its path there, and the first row that may be below it.
    private func directory(
        _ node: MountNode
    ) throws(Errno) -> (slot: UInt64, list: MountedList, path: RelativePath, first: Int) {
        switch node {
        case .date(let slot):
            return (slot, try with(slot) { view, entry in try view.open(entry, reader.lines).list }, .root, 0)
        case .object(let slot, let object, _):
            let (_, opened, row) = try seek(slot, object)
            guard reader.status.type == .directory else { throw .notDirectory }
            return (slot, opened.list, reader.path, row + 1)
        case .root, .ids, .link: throw .notDirectory
        }
    }

    func list(_ directory: UInt64, after position: UInt64, into list: inout FuseList) throws(Errno) {
        guard let node = MountNode(directory) else { throw .stale }
        for (number, name) in [".", ".."].enumerated() where number >= position {
            let node = own(node, .directory, 0)
            guard list.add(name.utf8, node, position: UInt64(number + 1), isKnown: true) else { return }
        }
        guard node == .root || node == .ids else {
            let directory = try self.directory(node)
            return try reading { try self.list(directory, after: position, into: &list) }
        }
        mounted.change(since: mounted.view)
        let view = mounted.view
        // In the order of their numbers, which are their positions: another view may list the rest.
        let names = (node == .ids ? view.ids : view.names).sorted { $0.value.number < $1.value.number }
        for (name, node) in names where node.number > position {
            // A snapshot may be gone by now.
            guard let found = try? self.node(node) else { continue }
            guard list.add(name, found, position: node.number) else { return }
        }
    }

    /// The position of the present row in listings. A snapshot has the same rows in each view, unless a run found changes by
    /// hand; then the object may be another one.
    private func position(_ row: Int) -> UInt64 { UInt64(row + 1) << 24 | reader.object & 0xFF_FFFF }

    private func list(
        _ directory: (slot: UInt64, list: MountedList, path: RelativePath, first: Int),
        after position: UInt64, into list: inout FuseList
    ) throws {
        let rows = directory.list
        var row = directory.first
        if position >> 24 > 0 {
            row = Int(position >> 24) - 1
            guard row < rows.count else { throw Errno.stale }
            try reader.seek(row, in: rows)
            guard position == self.position(row) else { throw Errno.stale }
            row = try next(row, in: rows)
        }
        while row < rows.count {
            try reader.seek(row, in: rows)
            guard directory.path.isRoot || reader.path.isBelow(directory.path) else { return }
            if !reader.isUncovered {
                let name = reader.path.lastComponent
                guard list.add(name, present(directory.slot), position: self.position(row)) else { return }
            }
            row = try next(row, in: rows)
        }
    }

    /// The row behind the present one and all that is below it.
    private func next(_ row: Int, in rows: MountedList) throws -> Int {
        guard reader.status.type == .directory else { return row + 1 }
        return try rows.row(notBefore: reader.path.endOfSubtree, reader.lines)
    }

    // MARK: Files

    func open(_ node: UInt64) throws(Errno) -> FuseOpening {
        mounted.files.open(try file(of: node), of: node) { (file: borrowing FileDescriptor) -> Int32? in
            guard passes() else { return nil }
            // Where the kernel refuses, the file is read here.
            return try? connection.pass(file)
        }
    }

    /// The file of a node, at its present place.
    private func file(of node: UInt64) throws(Errno) -> AnnouncedFile {
        guard case .object(let slot, let object, _)? = MountNode(node) else { throw .stale }
        var misses = 0
        while true {
            let (view, opened, _) = try seek(slot, object)
            guard reader.status.type == .file else { throw .invalid }
            if let found = try with(slot, { _, _ in try file(object, view, opened) }) { return found }
            guard isWorthAnotherLook(view, &misses) else { throw lost(slot) }
        }
    }

    func seek(_ handle: UInt64, of node: UInt64, _ offset: Int64, _ stretch: FileDescriptor.Stretch)
        throws(Errno)
        -> Int64?
    {
        // A file that the kernel reads by itself is not open here.
        let found = if let open = mounted.files.file(handle) { open } else { try file(of: node) }
        return try found.descriptor.seek(offset, stretch)
    }

    func read(_ handle: UInt64, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno)
        -> Int
    {
        guard let file = mounted.files.file(handle) else { throw .badDescriptor }
        return try file.descriptor.read(into: buffer, at: offset)
    }

    func close(_ handle: UInt64) {
        if let id = mounted.files.close(handle) { connection.endPassing(id) }
    }

    /// Says which entry has no content any more.
    private func lost(_ slot: UInt64) -> Errno {
        let problem: Problem =
            reader.omitted.contains(.purged)
            ? .purged(reader.path) : .lost(reader.path, at: reader.present ?? .lost)
        let name = mounted.view.shown(slot)?.name ?? []
        mounted.complain("\(escapedText(name)): \(problem.path): \(problem.message)")
        return .inputOutput
    }

    /// The file of the present row, at any of its places; nil if none has the recorded file.
    private func file(
        _ object: UInt64, _ view: MountView, _ opened: MountView.Opened
    ) throws -> AnnouncedFile? {
        if let path = reader.present {
            return try file(
                at: path, view, inode: reader.lines.record.targetInode ?? reader.lines.record.status.inode)
        }
        if case .history(let path)? = opened.places.place(of: object, present: { _ in nil }),
            let found = try file(at: .history.appending(path), view, inode: nil)
        {
            return found
        }
        if let (path, inode) = try present(object, in: opened.list.lines),
            let found = try file(at: path, view, inode: inode)
        {
            return found
        }
        // It may have come back with its directory.
        var directories: [UInt64: RelativePath] = [:]
        for directory in opened.places.directories(of: object) {
            directories[directory] = try present(directory, in: opened.list.lines)?.path
        }
        guard case .tree(let path)? = opened.places.place(of: object, present: { directories[$0] }) else {
            return nil
        }
        return try file(at: path, view, inode: nil)
    }

    /// The path of an object in the present tree, and its inode there.
    private func present(
        _ object: UInt64, in lines: ManifestLines
    ) throws -> (path: RelativePath, inode: UInt64)? {
        guard let row = lines.rows(of: object).first else { return nil }
        try presentReader.seek(row, in: lines)
        let record = presentReader.record
        return (RelativePath(validated: record.path), record.targetInode ?? record.status.inode)
    }

    /// The file at a path, if it is the recorded one.
    ///
    /// - Parameter inode: the recorded one; nil if it is not known.
    private func file(at path: RelativePath, _ view: MountView, inode: UInt64?) throws -> AnnouncedFile? {
        if let resolver, resolver.view === view,
            let found = try file(at: path, in: resolver.paths, view, inode)
        {
            return found
        }
        // Directories that were opened before may be others by now.
        let paths = PathResolver(view.root)
        resolver = (view, paths)
        return try file(at: path, in: paths, view, inode)
    }

    private func file(
        at path: RelativePath, in paths: PathResolver, _ view: MountView, _ inode: UInt64?
    ) throws -> AnnouncedFile? {
        do throws(SystemError) {
            let file = try paths.open(path)
            let status = try calling("statx", path.bytes) { () throws(Errno) in try file.descriptor.status() }
            let parts: FileStatus.Differences =
                reader.omitted.contains(.modified) ? [.type, .size] : .content
            guard status.equals(reader.status, in: parts),
                inode == nil || !view.knowsInodes || status.inode == inode
            else { return nil }
            return try isEdited(file, status, at: path, view) ? nil : file
        } catch {
            if Errno.exhausted.contains(error.errno) || error.errno == .accessDenied { throw error.errno }
            guard Errno.noDirectory.union([.stale, .noSuchDevice]).contains(error.errno) else { throw error }
            return nil
        }
    }

    /// An edit that put size and time back shows in the change time. So do harmless changes, and a digest decides.
    private func isEdited(
        _ file: AnnouncedFile, _ status: FileStatus, at path: RelativePath, _ view: MountView
    ) throws(SystemError) -> Bool {
        guard reader.present == path, let digest = reader.digest else { return false }
        let record = reader.lines.record
        let base = BaseStatus(
            status: record.status, targetInode: record.targetInode ?? record.status.inode,
            targetChanged: record.targetChanged, marks: record.marks, omitted: record.omitted, hasDigest: true
        )
        guard view.edits.isEdited(status, at: path, since: base) else { return false }
        return try calling("read", path.bytes) { () throws(Errno) in
            try Digest(file.descriptor.digest()) != digest
        }
    }
}
