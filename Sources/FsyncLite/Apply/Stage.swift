import FileSystem

/// The directory `stage/TX`: everything new, with its full metadata, before anything in the tree moves.
final class Stage {
    /// What became of an arrival.
    enum Outcome: Sendable {
        /// The source's status as it was copied, and the staged object's.
        case staged(source: FileStatus, target: FileStatus)
        /// It is no longer in the source.
        case vanished
        case failed(Problem)
    }

    let directory: Directory
    private let recorder: StageRecorder
    private let previous: PreviousStage?
    private let source: TreeWalker
    private let layout: Layout
    private let monitor: any Monitor
    private var progress = Progress(.staging)
    private var copier = FileCopier()
    private let setsOwner = Account.isRoot

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
        _ transaction: FileName, in state: TargetState, layout: Layout, source: Directory, root: Directory,
        previous: PreviousStage?, monitor: any Monitor
    ) throws {
        let stages = try state.subdirectory(TargetState.Name.stage)
        _ = try state.subdirectory(TargetState.Name.history)
        try stages.makeDirectory(transaction)
        directory = try stages.directory(transaction)
        recorder = try StageRecorder(transaction, in: directory, root: root, monitor: monitor)
        self.previous = previous
        self.layout = layout
        self.source = TreeWalker(source)
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
        switch arrival.file.kind {
        case .directory:
            try parent.makeDirectory(name)
            let directory = try parent.directory(name)
            if chain == nil { chain = DirectoryChain(root: parent) }
            chain?.push(directory, name, inode: try directory.status().inode)
            open.append((index, arrival.file.path, name, parent))
            // The rest follows when it is full.
            return .staged(source: arrival.file.status, target: arrival.file.status)
        case .file:
            return try stageFile(arrival.file, parent, name)
        case .symlink(let destination):
            try parent.makeSymlink(name, to: destination)
        case .fifo, .socket:
            try parent.makeFIFO(name)
        case .characterDevice, .blockDevice:
            do {
                try parent.makeDevice(name, type: arrival.file.status.type, arrival.file.status.represents)
            } catch  where error.errno == .notPermitted {
                return .failed(
                    Problem(
                        path: arrival.file.path, code: .unsupported, message: "only root makes device nodes"))
            }
        }
        return .staged(
            source: arrival.file.status,
            target: try Stage.setAttributes(of: name, in: parent, like: arrival.file.status))
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
        // Whoever is not root needs these to move it or into it; the commit takes them away at its end.
        var attributes = file.status
        if layout.deferredDirectories.contains(file.path) { attributes.permissions |= 0o700 }
        var status = try Stage.setAttributes(of: name, in: parent, like: attributes)
        status.permissions = file.status.permissions
        outcomes[index] = .staged(source: file.status, target: status)
        if open.isEmpty { chain = nil }
    }

    private static func setAttributes(
        of name: FileName, in parent: Directory, like wanted: FileStatus
    ) throws -> FileStatus {
        let handle = try ObjectHandle(name, in: parent)
        if Account.isRoot { try handle.setOwner(wanted.owner, group: wanted.group) }
        if wanted.type != .symlink { try handle.setPermissions(wanted.permissions) }
        try handle.setModified(wanted.modified)
        return try handle.status()
    }

    // MARK: Files

    private func stageFile(_ file: File, _ parent: Directory, _ name: FileName) throws -> Outcome {
        if let status = try previous?.take(file, to: parent, name) {
            note(file.status, status, file, parent, name)
            return .staged(source: file.status, target: status)
        }
        let staged = try parent.open(name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
        let path = parent.path(of: name)
        do {
            for attempt in 1...3 {
                guard let source = try copy(file, to: staged, path, attempt) else { continue }
                let target = try calling("fchmod", path) { () throws(Errno) -> FileStatus in
                    if setsOwner { try staged.setOwner(source.owner, group: source.group) }
                    try staged.setPermissions(source.permissions)
                    try staged.setModified(source.modified)
                    return try staged.status()
                }
                note(source, target, file, parent, name)
                return .staged(source: source, target: target)
            }
        } catch let problem as Unstageable {
            try parent.unlink(name)
            return problem.outcome
        }
        try parent.unlink(name)
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

    /// Copies the content once. nil when the source changed meanwhile: its status before and after differs.
    private func copy(
        _ file: File, to staged: borrowing FileDescriptor, _ stagedPath: [UInt8], _ attempt: Int
    ) throws -> FileStatus? {
        let source: FileDescriptor
        do {
            guard let (directory, name) = try self.source.place(of: file.path) else { return nil }
            source = try directory.open(name, [.read, .noFollow, .nonBlocking])
        } catch {
            switch error.errno {
            case .noSuchFile, .notDirectory: throw Unstageable(outcome: .vanished)
            default: throw unreadable(file, error.errno)
            }
        }
        let before: FileStatus
        let after: FileStatus
        let copied: Int64
        // A file of proc or sysfs, for which the kernel makes up content: a copy would differ for ever.
        let isMadeUp: Bool
        do throws(Errno) {
            before = try source.status()
            guard before.type == .file else { return nil }
            if attempt > 1 { try staged.truncate(to: 0) }
            copied = try copier.copy(
                source, to: staged, size: before.size, allocated: before.allocated,
                isCancelled: { monitor.isCancelled })
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
        return isWhole ? after : nil
    }

    private func unreadable(_ file: File, _ errno: Errno) -> Unstageable {
        Unstageable(outcome: .failed(Problem(path: file.path, code: .unreadable, message: errno.description)))
    }
}
