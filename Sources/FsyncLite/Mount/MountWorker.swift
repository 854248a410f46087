import FileStorage
import FileSystem

/// Answers the kernel's requests, on one thread.
final class MountWorker: FuseWorker {
    private let mounted: MountedTarget
    private let connection: FuseConnection
    private let passes: () -> Bool
    private let reader = RowReader()
    private let presentReader = EntryReader()
    /// Finds objects in the target that a view is of.
    private var resolver: (view: MountView, paths: PathResolver)?

    /// Seconds: what a snapshot has never changes, but which snapshots there are.
    private static let (long, short): (UInt64, UInt64) = (6 * 3600, 1)

    init(_ mounted: MountedTarget, _ connection: FuseConnection, passes: @escaping () -> Bool) {
        (self.mounted, self.connection, self.passes) = (mounted, connection, passes)
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
                guard try isWorthAnotherLook(view, &misses) else {
                    mounted.complain("\(error)")
                    throw .inputOutput
                }
            }
        }
    }

    /// Whether what was not found may be found now. A run may have moved it.
    private func isWorthAnotherLook(
        _ view: MountView, _ misses: inout Int, _ isInterrupted: () -> Bool = { false }
    ) throws(Errno) -> Bool {
        switch mounted.change(since: view) {
        case .renewed: return true
        case .going: return try mounted.wait(isInterrupted)
        case .none:
            // A run can move a file and move it back: then it is missing once.
            misses += 1
            return misses < 2
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
            return own(node, .symlink, 0o777, size: name.count + (link == .id ? 3 : 0))
        case .date(let slot):
            let status = try with(slot) { view, entry in try view.rootFile(entry).status }
            return FuseNode(node.number, status, lifetime: MountWorker.short)
        case .object(let slot, let object):
            _ = try seek(slot, object)
            return present(slot)
        }
    }

    /// The row that was read last.
    private func present(_ slot: UInt64) -> FuseNode {
        FuseNode(
            MountNode.object(slot, reader.object).number, reader.status, lifetime: MountWorker.long)
    }

    /// One that the mount itself has.
    private func own(_ node: MountNode, _ type: FileType, _ mode: UInt16, size: Int = 0) -> FuseNode {
        let newest = mounted.view.shown.first?.created?.fileTime
        var status = FileStatus(type: type, modified: newest ?? FileTime(seconds: 0, nanoseconds: 0))
        (status.permissions, status.owner, status.size) = (
            mode, Account.effectiveUser, ByteCount(clamping: size)
        )
        return FuseNode(node.number, status, lifetime: MountWorker.short)
    }

    func node(_ id: UInt64) throws(Errno) -> FuseNode {
        guard let node = MountNode(id) else { throw .stale }
        return try self.node(node)
    }

    func node(_ name: [UInt8], in directory: UInt64) throws(Errno) -> FuseNode {
        switch MountNode(directory) {
        case .root?, .ids?:
            mounted.change(since: mounted.view)
            let view = mounted.view
            guard let found = (directory == MountNode.ids.number ? view.ids : view.names)[name] else {
                throw .noSuchFile
            }
            return try node(found)
        case .date(let slot)?:
            return try find(name, slot) { view, entry in try (view.open(entry, reader.lines).list, .root) }
        case .object(let slot, let object)?:
            return try find(name, slot) { view, entry in
                let list = try view.open(entry, reader.lines).list
                guard let row = list.row(of: object) else { throw Errno.stale }
                try reader.seek(row, in: list)
                return (list, reader.path)
            }
        case .link?: throw .notDirectory
        case nil: throw .stale
        }
    }

    private func find(
        _ name: [UInt8], _ slot: UInt64,
        _ directory: (MountView, MountView.Shown) throws -> (MountedList, RelativePath)
    ) throws(Errno) -> FuseNode {
        guard let name = FileName(name) else { throw .noSuchFile }
        return try with(slot) { view, entry in
            let (list, above) = try directory(view, entry)
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
            return try with(slot) { _, entry in (link == .id ? Array("../".utf8) : []) + entry.name }
        case .object(let slot, let object)?:
            _ = try seek(slot, object)
            guard reader.status.type == .symlink else { throw .invalid }
            guard !reader.omitted.contains(.purged) else { throw lost(.object(slot, object)) }
            return reader.destination
        case nil: throw .stale
        default: throw .invalid
        }
    }

    func extendedAttributes(of node: UInt64) throws(Errno) -> ExtendedAttributes {
        switch MountNode(node) {
        case .date(let slot)?: return try with(slot) { view, entry in try view.rootFile(entry).extended }
        case .object(let slot, let object)?:
            _ = try seek(slot, object)
            return reader.extended
        case nil: throw .stale
        default: return ExtendedAttributes()
        }
    }

    func place() throws(Errno) -> Directory { mounted.view.root }

    // MARK: Directories

    func openDirectory(_ node: UInt64) throws(Errno) -> FuseOpening {
        guard let node = MountNode(node) else { throw .stale }
        var directory = MountedFiles.OpenDirectory(node: node)
        switch node {
        case .root, .ids:
            mounted.change(since: mounted.view)
            let view = mounted.view
            directory.names = (node == .ids ? view.ids : view.names).map { (name: $0, node: $1) }.sorted {
                $0.name.lexicographicallyPrecedes($1.name)
            }
            return .changing(mounted.files.open(directory))
        case .date(let slot):
            directory.list = try with(slot) { view, entry in try view.open(entry, reader.lines).list }
        case .object(let slot, let object):
            let (_, opened, row) = try seek(slot, object)
            guard reader.status.type == .directory else { throw .notDirectory }
            (directory.list, directory.path, directory.first) = (opened.list, reader.path, row + 1)
        case .link: throw .notDirectory
        }
        return .cached(mounted.files.open(directory))
    }

    func closeDirectory(_ handle: UInt64) { mounted.files.closeDirectory(handle) }

    /// The positions of `.` and `..`; that of a row comes after them.
    private static let positions: UInt64 = 3

    func list(_ handle: UInt64, after position: UInt64, into list: inout FuseList) throws(Errno) {
        guard let directory = mounted.files.directory(handle) else { throw .badDescriptor }
        for (number, name) in [".", ".."].enumerated() where number >= position {
            let node = own(directory.node, .directory, 0)
            guard list.add(name.utf8, node, position: UInt64(number + 1), isKnown: true) else { return }
        }
        guard let rows = directory.list else {
            for (number, entry) in directory.names.enumerated().dropFirst(max(Int(clamping: position) - 2, 0))
            {
                // One may be gone by now.
                guard let node = try? self.node(entry.node) else { continue }
                guard list.add(entry.name, node, position: UInt64(number) + MountWorker.positions) else {
                    return
                }
            }
            return
        }
        do {
            try self.list(rows, directory, after: position, into: &list)
        } catch {
            mounted.complain("\(error)")
            throw .inputOutput
        }
    }

    private func list(
        _ rows: MountedList, _ directory: MountedFiles.OpenDirectory, after position: UInt64,
        into list: inout FuseList
    ) throws {
        guard case .date(let slot) = directory.node.date else { return }
        var row = directory.first
        if position >= MountWorker.positions {
            row = Int(clamping: position - MountWorker.positions)
            guard row < rows.count else { return }
            try reader.seek(row, in: rows)
            row = try next(row, in: rows)
        }
        while row < rows.count {
            try reader.seek(row, in: rows)
            guard directory.path.isRoot || reader.path.isBelow(directory.path) else { return }
            if !reader.isUncovered {
                let name = reader.path.lastComponent
                guard list.add(name, present(slot), position: UInt64(row) + MountWorker.positions) else {
                    return
                }
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

    func open(_ node: UInt64, _ isInterrupted: () -> Bool) throws(Errno) -> FuseOpening {
        guard case .object(let slot, let object)? = MountNode(node) else { throw .stale }
        var misses = 0
        while true {
            let (view, opened, _) = try seek(slot, object)
            guard reader.status.type == .file else { throw .invalid }
            let found = try with(slot) { _, _ in try file(object, view, opened) }
            if let found {
                return mounted.files.open(found, of: node) { (file: borrowing FileDescriptor) -> Int32? in
                    guard passes() else { return nil }
                    // Where the kernel refuses, the file is read here.
                    return try? connection.pass(file)
                }
            }
            guard try isWorthAnotherLook(view, &misses, isInterrupted) else {
                throw lost(.object(slot, object))
            }
        }
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
    private func lost(_ node: MountNode) -> Errno {
        let problem: Problem =
            reader.omitted.contains(.purged)
            ? .purged(reader.path) : .lost(reader.path, at: reader.present ?? .lost)
        let name = mounted.view.shown.first { .date($0.slot) == node.date }?.name ?? []
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

extension MountNode {
    /// The directory of the snapshot that has it.
    fileprivate var date: MountNode {
        switch self {
        case .object(let slot, _), .link(let slot, _): .date(slot)
        case .root, .ids, .date: self
        }
    }
}
