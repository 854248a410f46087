import FileSystem

/// The directory `stage/TX`: everything new, with its full metadata, before anything in the tree moves.
final class Stage {
    /// What became of an arrival.
    enum Outcome: Sendable {
        /// The entry as the manifest will have it, and the staged object's inode.
        case staged(File, inode: UInt64)
        /// It is no longer in the source.
        case vanished
        case failed(Problem)
    }

    let directory: Directory
    private let recorder: StageRecorder
    private let previous: PreviousStage?
    private let contents: SourceContents
    private let source: TreeWalker
    private let layout: Layout
    private let monitor: any Monitor
    private var progress = Progress(.staging)
    private var copier = FileCopier()
    private let attributes: MirroredAttributes
    /// Files that get more names, by the path that the others know them by.
    private var leaders: [RelativePath: (place: RelativePath, file: File, inode: UInt64)] = [:]
    private let stage: TreeWalker

    /// New directories that are being filled, the innermost last.
    private var open: [(index: Int, path: RelativePath, name: FileName, parent: Directory)] = []
    private var chain: DirectoryChain?
    private var slotDirectories: [Int: Directory] = [:]
    private(set) var outcomes: [Outcome] = []

    /// Makes the stage of a transaction.
    ///
    /// - Parameters:
    ///   - root: the target's, opened before anything was staged.
    ///   - previous: what runs that were cut short left.
    init(
        _ transaction: FileName, in state: TargetState, layout: Layout, source: SourceContents,
        root: Directory,
        previous: PreviousStage?, attributes: MirroredAttributes, monitor: any Monitor
    ) throws {
        let stages = try state.subdirectory(TargetState.Name.stage)
        _ = try state.subdirectory(TargetState.Name.history)
        try stages.makeDirectory(transaction)
        directory = try stages.directory(transaction)
        // The target's root may have handed ACLs down to here; what is staged has the source's and no others.
        let own = try ObjectHandle(of: directory)
        let inherited = try own.extendedAttributes(MirroredAttributes.acls.extended)
        if !inherited.isEmpty { _ = try own.setExtendedAttributes(ExtendedAttributes(), over: inherited) }
        stage = TreeWalker(directory)
        self.attributes = attributes
        recorder = try StageRecorder(
            transaction, attributes, in: directory, root: root, monitor: monitor)
        self.previous = previous
        self.layout = layout
        contents = source
        self.source = source.walker()
        self.monitor = monitor
        progress.totalEntries = layout.arrivals.count
        progress.totalBytes = layout.arrivals.reduce(0) { $0 &+ ($1.file.isFile ? $1.file.size : 0) }
        try probe()
        try makeSlotDirectories(layout.slotDirectories)
    }

    /// Makes the slot directories that are missing.
    func makeSlotDirectories(_ count: Int) throws {
        for number in 0..<count where try directory.status(of: FileName(number: number)) == nil {
            try directory.makeDirectory(FileName(number: number))
        }
    }

    /// The renames that a commit is made of work here.
    private func probe() throws {
        let (first, second) = (FileName("probe-1"), FileName("probe-2"))
        try directory.makeDirectory(first)
        try directory.makeDirectory(second)
        do {
            try directory.rename(first, to: directory, second, .exchange)
        } catch {
            throw SyncError(
                .refused, path: directory.path, "this file system cannot exchange two names: \(error.errno)")
        }
        do {
            try directory.rename(first, to: directory, second, .noReplace)
            throw SyncError(
                .refused, path: directory.path, "this file system replaces a name that it was told to keep")
        } catch let error as SystemError where error.errno == .exists {
            try directory.removeDirectory(first)
            try directory.removeDirectory(second)
        }
    }

    /// Stages every arrival, and when it is interrupted leaves a record of what it has. What cannot be read is an outcome; what cannot be written is an error.
    func fill() throws {
        do {
            try fillAll()
            try recorder.close()
        } catch let error as SyncError where error.code == .interrupted {
            try recorder.save()
            throw error
        }
    }

    private func fillAll() throws {
        outcomes.reserveCapacity(layout.arrivals.count)
        for (index, arrival) in layout.arrivals.enumerated() {
            try monitor.checkCancellation()
            while let last = open.last, !arrival.file.path.isBelow(last.path) { try close() }
            outcomes.append(try stage(index, arrival))
            progress.entries += 1
            if arrival.file.isFile { progress.bytes &+= arrival.file.size }
            monitor.report(progress)
        }
        while !open.isEmpty { try close() }
    }

    private func stage(_ index: Int, _ arrival: Layout.Arrival) throws -> Outcome {
        let (parent, name) = try place(arrival)
        let file = arrival.file
        switch file.kind {
        case .directory:
            try parent.makeDirectory(name)
            let directory = try parent.directory(name)
            if chain == nil { chain = DirectoryChain(root: parent) }
            chain?.push(directory, name, inode: try directory.status().inode)
            open.append((index, file.path, name, parent))
            // The rest follows when it is full.
            return .staged(file, inode: 0)
        case .file:
            return try stageFile(arrival, parent, name)
        case .symlink(let destination):
            try parent.makeSymlink(name, to: destination)
        case .fifo, .socket:
            try parent.makeFIFO(name)
        case .characterDevice, .blockDevice:
            do {
                try parent.makeDevice(name, type: file.status.type, file.status.represents)
            } catch  where error.errno == .notPermitted {
                return .failed(
                    Problem(path: file.path, code: .unsupported, message: "only root makes device nodes"))
            }
        }
        return try finish(file, name, parent)
    }

    /// Where an arrival is staged: its slot, or its name in the new directory that is being filled.
    private func place(_ arrival: Layout.Arrival) throws -> (Directory, FileName) {
        if let object = arrival.object, let slot = layout.objects[object].slot {
            let number = layout.objects[slot.parent].old
            if let directory = slotDirectories[slot.parent] { return (directory, slot.name) }
            guard let number else { preconditionFailure("a slot without its directory") }
            let slots = try directory.directory(number.name)
            slotDirectories[slot.parent] = slots
            return (slots, slot.name)
        }
        guard let parent = try chain?.current(), let name = arrival.file.path.fileName else {
            preconditionFailure("an arrival without a place")
        }
        return (parent, name)
    }

    /// Ends the innermost new directory: its times come after its entries.
    private func close() throws {
        guard let (index, _, name, _) = open.popLast() else { return }
        chain?.pop()
        guard let parent = try chain?.current() else { return }
        let file = layout.arrivals[index].file
        outcomes[index] = try finish(
            file, name, parent, staysOpen: layout.deferredDirectories.contains(file.path))
        if open.isEmpty { chain = nil }
    }

    /// Gives an object that is made its attributes.
    ///
    /// - Parameter staysOpen: whoever is not root needs these permissions to move it or into it; the commit takes
    ///   them away at its end.
    private func finish(
        _ file: File, _ name: FileName, _ parent: Directory, staysOpen: Bool = false
    ) throws -> Outcome {
        let handle = try ObjectHandle(name, in: parent)
        let extended = try extendedAttributes(of: file)
        var wanted = Attributes(file.status, extended: extended.isEmpty ? nil : extended)
        if staysOpen { wanted.permissions |= 0o700 }
        let refused = try handle.set(
            wanted, over: try handle.status(), setsOwner: setsOwner, attributes.extended)
        var status = try handle.status()
        if staysOpen { status.permissions = file.status.permissions }
        return .staged(
            file.achieved(as: status, extended, refused: refused, setsOwner: setsOwner), inode: status.inode)
    }

    private var setsOwner: Bool { attributes.contains(.owner) }

    private func extendedAttributes(of file: File) throws -> ExtendedAttributes {
        try contents.extendedAttributes(of: file, attributes.extended, source)
    }

    // MARK: Attributes of what stays

    /// What becomes of the attributes that a commit is to set: tried out here, so that the manifest does not
    /// say what the target cannot hold.
    func tryAttributes(of pairs: [Pair]) throws -> [RelativePath: File] {
        var achieved: [RelativePath: File] = [:]
        let names: [FileType: FileName] = [
            .directory: FileName("probe-directory"), .symlink: FileName("probe-symlink"),
        ]
        let other = FileName("probe-file")
        for pair in pairs where pair.changesAttributes {
            let name = names[pair.source.status.type] ?? other
            if try directory.status(of: name) == nil {
                switch pair.source.status.type {
                case .directory: try directory.makeDirectory(name)
                case .symlink: try directory.makeSymlink(name, to: [UInt8(ascii: ".")])
                default:
                    _ = try directory.open(
                        name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
                }
            }
            let probe = try ObjectHandle(name, in: directory)
            let wanted = pair.attributes.new
            // Whether setgid may be set depends on the group. Who may not give the file to it sees that below.
            if !setsOwner { try? probe.setOwner(wanted.owner, group: wanted.group) }
            let refused = try probe.set(
                wanted, over: try probe.status(), setsOwner: setsOwner, attributes.extended)
            var status = try probe.status()
            if !setsOwner { (status.owner, status.group) = (wanted.owner, wanted.group) }
            let result = pair.source.achieved(
                as: status, pair.source.extended, refused: refused, setsOwner: setsOwner)
            if result != pair.source { achieved[pair.source.path] = result }
        }
        for name in [other] + names.values where try directory.status(of: name) != nil {
            try TreeRemoval.remove(name, in: directory)
        }
        return achieved
    }

    // MARK: Files

    private func stageFile(_ arrival: Layout.Arrival, _ parent: Directory, _ name: FileName) throws -> Outcome
    {
        let leader = arrival.leader ?? arrival.file.path
        if attributes.contains(.hardLinks), let (place, file, inode) = leaders[leader],
            try link(place, to: parent, name)
        {
            return .staged(file.moved(to: arrival.file.path), inode: inode)
        }
        let outcome = try stageContent(arrival.file, parent, name)
        if arrival.file.linkCount > 1, case .staged(let file, let inode) = outcome,
            let place = RelativePath(parent.path(of: name).dropFirst(directory.path.count + 1))
        {
            leaders[leader] = (place, file, inode)
        }
        return outcome
    }

    /// False where the file cannot have one more name: then it is copied once more.
    private func link(_ place: RelativePath, to parent: Directory, _ name: FileName) throws -> Bool {
        do throws(SystemError) {
            guard let (holder, own) = try stage.place(of: place) else { return false }
            try holder.link(own, to: parent, name)
            return true
        } catch {
            guard [.manyLinks, .accessDenied, .notPermitted].contains(error.errno) else { throw error }
            return false
        }
    }

    private func stageContent(_ file: File, _ parent: Directory, _ name: FileName) throws -> Outcome {
        if let status = try previous?.take(file, to: parent, name) {
            note(file.status, status, file, parent, name)
            let held = try ObjectHandle(name, in: parent).extendedAttributes(attributes.extended)
            let wanted = try extendedAttributes(of: file)
            let refused = wanted.filter { held[$0.name] != $0.value }
            return .staged(
                file.achieved(as: status, wanted, refused: refused, setsOwner: setsOwner), inode: status.inode
            )
        }
        let staged = try parent.open(name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
        let path = parent.path(of: name)
        do {
            for attempt in 1...3 {
                guard let (source, extended) = try copy(file, to: staged, path, attempt) else { continue }
                var refused = ExtendedAttributes()
                let target = try calling("fchmod", path) { () throws(Errno) -> FileStatus in
                    if setsOwner { try staged.setOwner(source.owner, group: source.group) }
                    if !extended.isEmpty {
                        refused = try staged.setExtendedAttributes(extended, over: ExtendedAttributes())
                    }
                    try staged.setPermissions(source.permissions)
                    try staged.setModified(source.modified)
                    return try staged.status()
                }
                note(source, target, file, parent, name)
                return .staged(
                    file.with(source).achieved(as: target, extended, refused: refused, setsOwner: setsOwner),
                    inode: target.inode)
            }
        } catch let problem as Unstageable {
            try parent.unlink(name)
            return problem.outcome
        }
        try parent.unlink(name)
        if contents.earlier != nil { return .failed(.lost(file.path)) }
        return .failed(
            Problem(path: file.path, code: .changing, message: "it was still changing after three tries"))
    }

    /// For a later run, should this one be cut short.
    private func note(
        _ source: FileStatus, _ target: FileStatus, _ file: File, _ parent: Directory, _ name: FileName
    ) {
        let place = parent.path(of: name).dropFirst(directory.path.count + 1)
        recorder.note(
            .init(path: file.path.bytes, place: Array(place), source: source, stagedInode: target.inode))
    }

    /// An outcome on its way out of a copy.
    private struct Unstageable: Error {
        let outcome: Outcome
    }

    /// Copies the content once, and looks at the extended attributes. nil when the source changed meanwhile: its
    /// status before and after differs.
    private func copy(
        _ file: File, to staged: borrowing FileDescriptor, _ stagedPath: [UInt8], _ attempt: Int
    ) throws -> (FileStatus, ExtendedAttributes)? {
        let source: FileDescriptor
        do {
            guard let (directory, name) = try self.source.place(of: file.path) else { return nil }
            source = try directory.open(name, [.read, .noFollow, .nonBlocking])
        } catch {
            switch error.errno {
            case .noSuchFile, .notDirectory:
                throw contents.earlier == nil ? Unstageable(outcome: .vanished) : lost(file)
            default: throw unreadable(file, error.errno)
            }
        }
        let before: FileStatus
        let after: FileStatus
        let copied: Int64
        let extended: ExtendedAttributes
        // A file of proc or sysfs, for which the kernel makes up content: a copy would differ for ever.
        let isMadeUp: Bool
        do throws(Errno) {
            before = try source.status()
            guard before.type == .file, contents.earlier == nil || before.holdsContent(of: file) else {
                return nil
            }
            if attempt > 1 { try staged.truncate(to: 0) }
            copied = try copier.copy(
                source, to: staged, size: before.size, allocated: before.allocated,
                keepsHoles: attributes.contains(.holes), isCancelled: { monitor.isCancelled })
            extended = try source.extendedAttributes(attributes.extended)
            after = try source.status()
            isMadeUp = after.size == 0 ? try source.isReadable(at: 0) : false
        } catch {
            switch error {
            case .cancelled: throw SyncError(.interrupted, "interrupted; the target is unchanged")
            case .noSpace, .quotaExceeded, .readOnlyFileSystem, .fileTooLarge:
                throw SystemError("write", stagedPath, error)
            default:
                throw unreadable(file, error)
            }
        }
        if isMadeUp {
            throw Unstageable(
                outcome: .failed(
                    Problem(
                        path: file.path, code: .unsupported, message: "it says that it is empty and is not")))
        }
        let isWhole =
            copied == after.size && before.size == after.size && before.modified == after.modified
            && before.changed == after.changed
        guard isWhole else { return nil }
        // An object may have got other attributes since.
        return contents.earlier == nil ? (after, extended) : (file.status, file.extended)
    }

    private func lost(_ file: File) -> Unstageable {
        Unstageable(outcome: .failed(.lost(file.path)))
    }

    private func unreadable(_ file: File, _ errno: Errno) -> Unstageable {
        Unstageable(outcome: .failed(Problem(path: file.path, code: .unreadable, message: errno.description)))
    }
}

extension FileStatus {
    /// As far as size and time tell.
    fileprivate func holdsContent(of file: File) -> Bool {
        size == file.size && modified == file.status.modified
    }
}

extension File {
    /// The entry as the manifest has it: the source's, with what the target took of its attributes.
    fileprivate func achieved(
        as target: FileStatus, _ extended: ExtendedAttributes, refused: ExtendedAttributes, setsOwner: Bool
    ) -> File {
        var omitted: Omissions = []
        if target.modified != status.modified { omitted.insert(.modified) }
        if status.type != .symlink, target.permissions != status.permissions { omitted.insert(.mode) }
        if setsOwner, target.owner != status.owner || target.group != status.group { omitted.insert(.owner) }
        for attribute in refused.attributes { omitted.insert(attribute.isACL ? .acls : .xattrs) }
        var file = holding(target)
        file.extended = refused.isEmpty ? extended : extended.filter { refused[$0.name] == nil }
        file.omitted = omitted
        return file
    }
}
