import FileStorage
import FileSystem

/// Stages single entries with their full metadata, on one of the threads that fill a stage.
final class StageWorker {
    private let contents: any ContentSource
    private let source: any SourceReader
    private let stage: PathResolver
    private let attributes: MirroredAttributes
    private let extendedKinds: ExtendedAttributes.Selection
    private let setsOwner: Bool
    /// The step of the target's times.
    private let timeStep: Int64
    /// Whether each file is synced, because one sync for all does nothing.
    private let syncsFiles: Bool
    private let log: StageLog
    private let monitor: any Monitor
    private let copier: any FileSource
    private let options: CopyOptions

    /// - Parameters:
    ///   - stage: the directory `stage/TX`.
    init(
        source: any ContentSource, stage: Directory, _ options: CopyOptions, log: StageLog,
        monitor: any Monitor
    ) {
        contents = source
        self.source = source.reader(monitor)
        copier = source.copier(options, monitor)
        self.stage = PathResolver(stage)
        let capabilities = stage.fileSystem?.capabilities
        (timeStep, syncsFiles) = (capabilities?.timeStep ?? 1, capabilities?.syncsAsAWhole == false)
        attributes = options.attributes
        // An earlier tree is recorded with all kinds.
        extendedKinds = source.isEarlier ? .readable : attributes.extended
        setsOwner = attributes.contains(.owner)
        self.options = options
        self.log = log
        self.monitor = monitor
    }

    /// Called with the number of bytes of each piece that was copied.
    func onCopy(_ body: @escaping (Int) -> Void) {
        copier.onCopy(body)
    }

    /// Whether copies read the source. They do not if they are clones.
    var readsContent: Bool { copier.readsContent }

    /// Announces entries to the source. Stage them next, in this order.
    func announce(_ files: [File]) {
        // First: another machine answers in order, and sends content only after earlier answers were taken.
        source.announce(attributesOf: files.filter { !$0.isFile }, extendedKinds)
        copier.announce(files)
    }

    /// Creates an entry with all its metadata. A directory exists already, and gets its metadata when its content is
    /// complete.
    ///
    /// - Parameters:
    ///   - index: the index of the staged entry.
    ///   - location: its path below the stage.
    ///   - makesAccessible: adds the permissions that ordinary users need to move a directory or add to it. The commit
    ///     removes them at its end.
    /// - Throws: an error if it cannot be written. If the source cannot be read, this is an outcome.
    func stage(
        _ index: Int, _ file: File, at location: RelativePath, makesAccessible: Bool = false
    ) throws -> Stage.Outcome {
        try monitor.checkCancellation()
        return try stage.root.naming(file.path) {
            let (parent, name) = try resolve(location)
            if file.isFile { return try stageContent(index, file, at: location, parent, name) }
            if let problem = try make(file, name, in: parent) { return .failed(problem) }
            return try finish(file, name, parent, makesAccessible: makesAccessible)
        }
    }

    private func resolve(_ location: RelativePath) throws -> (Directory, FileName) {
        guard let found = try stage.location(of: location) else {
            preconditionFailure("the stage itself is not a staged file")
        }
        return found
    }

    /// Creates an object without content, except a directory.
    private func make(_ file: File, _ name: FileName, in parent: Directory) throws -> Problem? {
        do throws(SystemError) {
            try parent.make(file, name)
        } catch {
            // Errors of this object alone, such as a symlink longer than a block of ext4, or than 1,024 bytes on XFS.
            let own: Set<Errno> = [.notPermitted, .nameTooLong, .invalid, .notSupported, .notImplemented]
            guard own.contains(error.errno) else { throw error }
            let reason =
                error.call == "mknodat" && !Account.isRoot
                ? "only root makes device nodes" : "the target's file system does not take it: \(error.errno)"
            return Problem(path: file.path, code: .unsupported, message: reason)
        }
        return nil
    }

    /// Uses a file that an earlier run has staged.
    func adopt(
        _ status: FileStatus, for index: Int, _ file: File, at location: RelativePath
    ) throws -> Stage.Outcome {
        try stage.root.naming(file.path) {
            let (parent, name) = try resolve(location)
            var file = file
            log.note(index, file, at: location, file.status, stagedInode: status.inode)
            let present = try parent.extendedAttributes(of: name, extendedKinds)
            let wanted = try readAttributes(of: &file)
            file = file.with(wantedStatus(file.status, on: status))
            file.digest =
                options.digests != .none
                ? try digest(
                    of: ObjectHandle(opening: name, in: parent, [.read, .noFollow]), options.mostHoles)
                : nil
            return staged(file, as: status, wanted, wanted.filter { present[$0.name] != $0.value })
        }
    }

    /// Makes another name for a staged file. Returns false if it cannot have one. Then it is copied again.
    func link(_ location: RelativePath, to other: RelativePath) throws -> Bool {
        let (holder, own) = try resolve(location)
        let (parent, name) = try resolve(other)
        do throws(SystemError) {
            try holder.link(own, to: parent, name)
            return true
        } catch {
            let others: Set<Errno> = [.manyLinks, .accessDenied, .notPermitted, .crossDevice]
            guard others.contains(error.errno) else { throw error }
            return false
        }
    }

    private func finish(
        _ file: File, _ name: FileName, _ parent: Directory, makesAccessible: Bool
    ) throws -> Stage.Outcome {
        let handle = try ObjectHandle(name, in: parent)
        var file = file
        let extended = try readAttributes(of: &file)
        let made = try handle.status()
        var own = file.status
        // The wanted time is set even if the present one is near. The commit may set it once more.
        own.keepUnmirrored(of: made, mirroring: attributes, timeStep: 1)
        var wanted = Attributes(own, extended: extended.isEmpty ? nil : extended)
        if makesAccessible { wanted.permissions |= 0o700 }
        let refused = try handle.set(wanted, over: made, setsOwner: setsOwner, extendedKinds)
        var status = try handle.status()
        if makesAccessible, attributes.contains(.mode) { status.permissions = own.permissions }
        return staged(file.with(own), as: status, extended, refused.extended)
    }

    /// The status that an object on this file system shall have.
    private func wantedStatus(_ source: FileStatus, on made: FileStatus) -> FileStatus {
        var status = source
        status.keepUnmirrored(of: made, mirroring: attributes, timeStep: timeStep)
        return status
    }

    /// The extended attributes of the source's entry; empty if it no longer exists, or if they cannot be read.
    private func readAttributes(of file: inout File) throws -> ExtendedAttributes {
        do {
            return try source.extendedAttributes(of: file, extendedKinds) ?? ExtendedAttributes()
        } catch let error as SystemError where !Errno.exhausted.contains(error.errno) {
            file = file.withoutAttributes()
            return ExtendedAttributes()
        }
    }

    private func digest(of staged: borrowing ObjectHandle, _ mostHoles: Int64 = .max) throws -> Digest? {
        do {
            return try staged.digest(mostHoles: mostHoles) { monitor.isCancelled }
        } catch {
            try monitor.checkCancellation()
            throw error
        }
    }

    private func staged(
        _ file: File, as status: FileStatus, _ extended: ExtendedAttributes, _ refused: ExtendedAttributes
    ) -> Stage.Outcome {
        .staged(
            file.achieved(
                as: status, extended, refused: refused, mirroring: attributes, timeStep: timeStep),
            inode: status.inode)
    }

    // MARK: Files

    private func stageContent(
        _ index: Int, _ file: File, at location: RelativePath, _ parent: Directory, _ name: FileName
    ) throws -> Stage.Outcome {
        // Other users cannot enter the stage, so a file can have its permissions at once.
        let staged = try ObjectHandle(
            opening: name, in: parent, [.readWrite, .create, .exclusive, .noFollow],
            permissions: file.status.permissions & 0o777)
        do {
            for attempt in 1...3 {
                guard let copied = try copier.copy(file, to: staged, attempt: attempt) else { continue }
                let (wanted, status, refused) = try setAttributes(
                    of: staged, to: copied.status, copied.extended)
                if syncsFiles {
                    try calling("fsync", staged.path) { () throws(Errno) in try staged.descriptor.sync() }
                }
                // Another run could not use the first part of a growing file.
                if !copied.isGrowing {
                    log.note(index, file, at: location, copied.status, stagedInode: status.inode)
                }
                return self.staged(copied.with(wanted), as: status, copied.extended, refused)
            }
        } catch let error as SyncError where [.interrupted, .unreachable].contains(error.code) {
            try notePart(of: file, staged, at: location)
            throw error
        } catch let error as SystemError where error.errno == .fileTooLarge {
            try parent.unlink(name)
            return .failed(.tooLarge(file.path))
        } catch let obstacle as Unstageable {
            try parent.unlink(name)
            switch obstacle {
            // An earlier tree is not looked at again by a later run.
            case .vanished where contents.isEarlier: return .failed(.lost(file.path, at: file.path))
            case .vanished: return .vanished
            case .failed(let problem): return .failed(problem)
            }
        }
        try parent.unlink(name)
        if contents.isEarlier { return .failed(.lost(file.path, at: file.path)) }
        return .failed(.changing(file.path))
    }

    /// A part with fewer bytes is copied again.
    private static let smallPart: ByteCount = 1_048_576

    /// Lets the next run continue with a file from another machine.
    private func notePart(
        of file: File, _ staged: borrowing ObjectHandle, at location: RelativePath
    ) throws(SystemError) {
        let status = try staged.status()
        guard contents.resolver() == nil, status.size >= StageWorker.smallPart else { return }
        log.note(
            part: StagedFile(
                path: file.path, location: location, source: file.status, stagedInode: status.inode,
                isPart: true))
    }

    /// Sets the attributes that the file did not get when it was created. Usually this is only the time.
    ///
    /// - Returns: the wanted status, the status it has, and the attributes that it does not accept.
    private func setAttributes(
        of staged: borrowing ObjectHandle, to source: FileStatus, _ extended: ExtendedAttributes
    ) throws(SystemError) -> (wanted: FileStatus, FileStatus, refused: ExtendedAttributes) {
        try staged.setModified(source.modified)
        let made = try staged.status()
        let wanted = wantedStatus(source, on: made)
        guard
            made.owner != wanted.owner || made.group != wanted.group
                || made.permissions != wanted.permissions || !extended.isEmpty
        else { return (wanted, made, ExtendedAttributes()) }
        var attributes = Attributes(wanted, extended: extended.isEmpty ? nil : extended)
        // The time is set already, as precisely as the file system can.
        attributes.modified = made.modified
        let refused = try staged.set(attributes, over: made, setsOwner: true, nil)
        return (wanted, try staged.status(), refused.extended)
    }
}

extension Directory {
    /// Runs `body`. If an error names a place in this directory, a stage, it gets the path of the entry instead. The
    /// place no longer exists when somebody reads the message.
    func naming<Value>(_ path: RelativePath, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as SystemError where error.path.starts(with: self.path) {
            throw SystemError(error.call, path.bytes, error.errno)
        }
    }

    /// Creates an object without content, except a directory.
    func make(_ file: File, _ name: FileName) throws(SystemError) {
        switch file.kind {
        case .directory, .file: break
        case .symlink(let destination): try makeSymlink(name, to: destination)
        case .fifo, .socket: try makeFIFO(name)
        case .characterDevice, .blockDevice:
            try makeDevice(name, type: file.status.type, file.status.represents)
        }
    }
}
