import FileSystem

/// Stages single entries, each with its full metadata: what one of the threads that fill a stage does.
final class StageWorker {
    /// Which digests the manifest gets.
    enum Digests: Sendable {
        case none
        /// Of what the target has got: the source is only read once.
        case ofCopies
        /// For copies that will be read again and compared.
        case ofSources

        init(_ options: SyncOptions) {
            self = options.verifiesCopies ? .ofSources : options.recordsDigests ? .ofCopies : .none
        }
    }

    private let contents: ContentSource
    private let source: PathResolver
    private let stage: PathResolver
    private let attributes: MirroredAttributes
    private let extendedKinds: ExtendedAttributes.Selection
    private let setsOwner: Bool
    private let digests: Digests
    private let isStrict: Bool
    private let log: StageLog
    private let monitor: any Monitor
    private var copier: FileCopier

    /// - Parameters:
    ///   - stage: the directory `stage/TX`.
    ///   - isStrict: a file that only grows while it is copied is no better than one that changes otherwise.
    ///   - limit: how fast content is copied, by all of them together.
    init(
        source: ContentSource, stage: Directory, _ attributes: MirroredAttributes, _ digests: Digests,
        isStrict: Bool, log: StageLog, limit: RateLimit?, monitor: any Monitor
    ) {
        copier = FileCopier(limit: limit)
        contents = source
        self.source = source.walker()
        self.stage = PathResolver(stage)
        self.attributes = attributes
        extendedKinds = attributes.extended
        setsOwner = attributes.contains(.owner)
        self.digests = digests
        self.isStrict = isStrict
        self.log = log
        self.monitor = monitor
    }

    /// Has the bytes of each stretch of a file told that is copied.
    func onCopy(_ body: @escaping (Int) -> Void) {
        copier.advanced = body
    }

    /// Makes an entry and gives it all it has; a directory is made already, and gets its metadata when everything in
    /// it is there.
    ///
    /// - Parameters:
    ///   - place: below the stage.
    ///   - staysOpen: whoever is not root needs these permissions to move a directory or into it; the commit takes
    ///     them away at its end.
    /// - Throws: for what cannot be written. What cannot be read is an outcome.
    func stage(_ file: File, at place: RelativePath, staysOpen: Bool = false) throws -> Stage.Outcome {
        try monitor.checkCancellation()
        let (parent, name) = try self.place(place)
        if file.isFile { return try stageContent(file, at: place, parent, name) }
        if let problem = try make(file, name, in: parent) { return .failed(problem) }
        return try finish(file, name, parent, staysOpen: staysOpen)
    }

    private func place(_ place: RelativePath) throws -> (Directory, FileName) {
        guard let found = try stage.place(of: place) else { preconditionFailure("the stage is no arrival") }
        return found
    }

    /// Makes what has no content, unless it is a directory.
    private func make(_ file: File, _ name: FileName, in parent: Directory) throws -> Problem? {
        do throws(SystemError) {
            try parent.make(file, name)
        } catch {
            guard error.call == "mknodat", error.errno == .notPermitted else { throw error }
            return Problem(path: file.path, code: .unsupported, message: "only root makes device nodes")
        }
        return nil
    }

    /// Takes over what an earlier run has staged.
    func adopt(_ status: FileStatus, for file: File, at place: RelativePath) throws -> Stage.Outcome {
        let (parent, name) = try self.place(place)
        log.note(StagedFile(path: file.path, place: place, source: file.status, stagedInode: status.inode))
        let held = try parent.extendedAttributes(of: name, extendedKinds)
        let wanted = try extendedAttributes(of: file)
        var file = file.with(wantedStatus(file.status, on: status))
        file.digest =
            digests == .none ? nil : try digest(of: parent.open(name, [.read, .noFollow]), parent, name)
        return staged(file, as: status, wanted, wanted.filter { held[$0.name] != $0.value })
    }

    /// Another name for a staged file. False where it cannot have one more: then it is copied once more.
    func link(_ place: RelativePath, to other: RelativePath) throws -> Bool {
        let (holder, own) = try self.place(place)
        let (parent, name) = try self.place(other)
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
        _ file: File, _ name: FileName, _ parent: Directory, staysOpen: Bool
    ) throws -> Stage.Outcome {
        let handle = try ObjectHandle(name, in: parent)
        let extended = try extendedAttributes(of: file)
        var wanted = Attributes(file.status, extended: extended.isEmpty ? nil : extended)
        if staysOpen { wanted.permissions |= 0o700 }
        let refused = try handle.set(
            wanted, over: try handle.status(), setsOwner: setsOwner, extendedKinds)
        var status = try handle.status()
        if staysOpen { status.permissions = file.status.permissions }
        return staged(file, as: status, extended, refused.extended)
    }

    /// What an object that is made here is to have.
    private func wantedStatus(_ source: FileStatus, on made: FileStatus) -> FileStatus {
        var status = source
        if !setsOwner { status.keepOwner(of: made) }
        return status
    }

    /// Those of the source's entry; none where it has gone meanwhile.
    private func extendedAttributes(of file: File) throws -> ExtendedAttributes {
        try contents.extendedAttributes(of: file, extendedKinds, source)
    }

    private func staged(
        _ file: File, as status: FileStatus, _ extended: ExtendedAttributes, _ refused: ExtendedAttributes
    ) -> Stage.Outcome {
        .staged(
            file.achieved(as: status, extended, refused: refused, setsOwner: setsOwner), inode: status.inode)
    }

    // MARK: Files

    private func stageContent(
        _ file: File, at place: RelativePath, _ parent: Directory, _ name: FileName
    ) throws -> Stage.Outcome {
        if contents.linksFiles, let status = try linkContent(of: file, parent, name) {
            return self.staged(file, as: status, file.extended, ExtendedAttributes())
        }
        // The stage's own directory keeps others out, so a file may have its permissions from the start.
        let staged = try parent.open(
            name, [.readWrite, .create, .exclusive, .noFollow],
            permissions: file.status.permissions & 0o777)
        do {
            for attempt in 1...3 {
                guard let copied = try copy(file, to: staged, parent, name, attempt) else { continue }
                let (wanted, status, refused) = try setMetadata(
                    of: staged, to: copied.status, copied.extended, parent.path(of: name))
                // The first part of a file serves no other run.
                if !copied.isGrowing {
                    log.note(
                        StagedFile(
                            path: file.path, place: place, source: copied.status, stagedInode: status.inode))
                }
                return self.staged(copied.with(wanted), as: status, copied.extended, refused)
            }
        } catch let problem as Unstageable {
            try parent.unlink(name)
            return problem.outcome
        }
        try parent.unlink(name)
        if contents.isEarlier { return .failed(.lost(file.path)) }
        return .failed(.changing(file.path))
    }

    /// Gives the object that holds the content one more name; nil where that cannot be, or the object is not all that
    /// the file was, and a copy is made.
    private func linkContent(
        of file: File, _ parent: Directory, _ name: FileName
    ) throws -> FileStatus? {
        do throws(SystemError) {
            guard let (holder, own) = try source.place(of: file.path) else { return nil }
            try holder.link(own, to: parent, name)
        } catch {
            // Of what is not there, the copy tells.
            let others: Set<Errno> = [.crossDevice, .manyLinks, .notPermitted, .accessDenied]
            guard others.union(Errno.noDirectory).contains(error.errno) else { throw error }
            return nil
        }
        // RACE: somebody may have put another object there just now. It is looked at under its new name.
        let handle = try ObjectHandle(name, in: parent)
        let status = try handle.status()
        if status.type == .file, status.holdsContent(of: file), status.permissions == file.mode,
            status.owner == file.owner, status.group == file.group,
            try handle.extendedAttributes(extendedKinds) == file.extended
        {
            return status
        }
        try parent.unlink(name)
        return nil
    }

    /// Sets what the file did not get when it was made: most need a time only.
    ///
    /// - Returns: what it should have, what it has, and what it does not take.
    private func setMetadata(
        of staged: borrowing FileDescriptor, to source: FileStatus, _ extended: ExtendedAttributes,
        _ path: @autoclosure () -> [UInt8]
    ) throws(SystemError) -> (wanted: FileStatus, FileStatus, refused: ExtendedAttributes) {
        try calling("futimens", path()) { () throws(Errno) in try staged.setModified(source.modified) }
        let made = try calling("statx", path()) { () throws(Errno) in try staged.status() }
        let wanted = wantedStatus(source, on: made)
        let isOthers = made.owner != wanted.owner || made.group != wanted.group
        guard isOthers || made.permissions != wanted.permissions || !extended.isEmpty else {
            return (wanted, made, ExtendedAttributes())
        }
        var permissions = wanted.permissions
        if isOthers {
            do throws(Errno) {
                try staged.setOwner(wanted.owner, group: wanted.group)
            } catch {
                guard RefusedAttributes.ofOwner.contains(error) else {
                    throw SystemError("fchown", path(), error)
                }
                permissions &= ~FileStatus.identityBits
            }
        }
        var refused = ExtendedAttributes()
        if !extended.isEmpty {
            refused = try calling("fsetxattr", path()) { () throws(Errno) in
                try staged.setExtendedAttributes(extended, over: ExtendedAttributes())
            }
        }
        // After the owner, which takes setuid away, and after ACLs, which have permissions in them.
        try calling("fchmod", path()) { () throws(Errno) in try staged.setPermissions(permissions) }
        let status = try calling("statx", path()) { () throws(Errno) in try staged.status() }
        return (wanted, status, refused)
    }

    /// An outcome on its way out of a copy.
    private struct Unstageable: Error {
        let outcome: Stage.Outcome
    }

    /// From here on the file's status is asked for once more before it is copied: that costs nothing beside the
    /// copy, and what has grown since the scan need not be copied twice.
    private static let largeSize: Int64 = 1 << 20

    /// Copies the content once, and looks at the extended attributes.
    ///
    /// - Returns: the file as it was copied; nil when it changed meanwhile, and not only by growing. For the first
    ///   attempt at a small file that is: since the scan.
    private func copy(
        _ file: File, to staged: borrowing FileDescriptor, _ parent: Directory, _ name: FileName,
        _ attempt: Int
    ) throws -> File? {
        let source = try openSource(file)
        let before: FileStatus
        let after: FileStatus
        let copied: Int64
        let extended: ExtendedAttributes
        var digest: Digest?
        let isAsScanned = attempt == 1 && !contents.isEarlier && file.size < StageWorker.largeSize
        // A file of proc or sysfs, for which the kernel makes up content: a copy would differ for ever.
        var isSynthetic = false
        do throws(Errno) {
            before = isAsScanned ? file.status : try source.status()
            guard before.type == .file, !contents.isEarlier || before.holdsContent(of: file) else {
                return nil
            }
            if attempt > 1 { try staged.truncate(to: 0) }
            copied = try copier.copy(
                source, to: staged, size: before.size, allocated: before.allocated,
                keepsHoles: attributes.contains(.holes), isCancelled: { monitor.isCancelled })
            extended = try source.extendedAttributes(extendedKinds)
            if digests == .ofSources {
                digest = Digest(try source.digest(upTo: copied) { monitor.isCancelled })
            }
            after = try source.status()
            // Asked once more: it may have begun to grow just now.
            if after.size == 0, try source.isReadable(at: 0) { isSynthetic = try source.status().size == 0 }
        } catch {
            switch error {
            case .cancelled: throw SyncError(.interrupted, "interrupted; the target is unchanged")
            case .noSpace, .quotaExceeded, .readOnlyFileSystem, .fileTooLarge:
                throw SystemError("write", parent.path(of: name), error)
            default:
                // What the scan saw may be something else by now, which is not read like a file.
                guard attempt > 1 else { return nil }
                throw unreadable(file, error)
            }
        }
        if isSynthetic {
            throw Unstageable(
                outcome: .failed(
                    Problem(
                        path: file.path, code: .unsupported, message: "it says that it is empty and is not")))
        }
        let isWhole =
            copied == after.size && before.size == after.size && before.modified == after.modified
            && before.changed == after.changed && before.identity == after.identity
        // An object of an earlier tree may have got other attributes since.
        if contents.isEarlier { return isWhole ? file : nil }
        var status = after
        if !isWhole {
            guard !isStrict, !isAsScanned, after.size > before.size,
                try isStillThere(file, before), try hasFirst(copied, of: source, staged, file, parent, name)
            else { return nil }
            status = before
            status.size = copied
            // The next run compares it, whatever the times say.
            status.changed = CommitSpans.unexamined
        }
        if !isWhole || digests == .ofCopies {
            digest = digests == .none ? nil : try self.digest(of: staged, parent, name)
        }
        var result = file.with(status)
        (result.extended, result.digest, result.isGrowing) = (extended, digest, !isWhole)
        return result
    }

    /// The name still leads to the file. A log that was rotated goes on growing under another one.
    private func isStillThere(_ file: File, _ status: FileStatus) throws -> Bool {
        try source.status(of: file.path)?.isSameObject(as: status) ?? false
    }

    /// Whether a file that has grown still begins with what was copied. So the copy is what it held at the time
    /// between the two readings, unless somebody put back what was there; a clone was made at one instant.
    private func hasFirst(
        _ size: Int64, of source: borrowing FileDescriptor, _ staged: borrowing FileDescriptor, _ file: File,
        _ parent: Directory, _ name: FileName
    ) throws -> Bool {
        if copier.hasCloned { return true }
        do throws(FileComparison.Failure) {
            return try FileComparison.haveSameContent(source, staged, upTo: size) { monitor.isCancelled }
        } catch {
            try monitor.checkCancellation()
            guard error.side == .first else {
                throw SystemError("read", parent.path(of: name), error.errno)
            }
            throw unreadable(file, error.errno)
        }
    }

    private func digest(
        of staged: borrowing FileDescriptor, _ parent: Directory, _ name: FileName
    ) throws -> Digest {
        do {
            return Digest(
                try calling("read", parent.path(of: name)) { () throws(Errno) in
                    try staged.digest { monitor.isCancelled }
                })
        } catch {
            try monitor.checkCancellation()
            throw error
        }
    }

    private func openSource(_ file: File) throws -> FileDescriptor {
        do {
            guard let (directory, name) = try source.place(of: file.path) else { throw gone(file) }
            return try directory.open(name, [.read, .noFollow, .nonBlocking])
        } catch let error as SystemError {
            switch error.errno {
            case .noSuchFile, .notDirectory: throw gone(file)
            default: throw unreadable(file, error.errno)
            }
        }
    }

    private func gone(_ file: File) -> Unstageable {
        Unstageable(outcome: contents.isEarlier ? .failed(.lost(file.path)) : .vanished)
    }

    private func unreadable(_ file: File, _ errno: Errno) -> Unstageable {
        Unstageable(outcome: .failed(Problem(path: file.path, code: .unreadable, message: errno.description)))
    }
}

extension Directory {
    /// Makes what has no content, unless it is a directory.
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

extension FileStatus {
    /// As far as size and time tell.
    fileprivate func holdsContent(of file: File) -> Bool {
        size == file.size && modified == file.status.modified
    }
}

extension File {
    /// The entry as the manifest has it: the source's, with what the target took of its attributes.
    func achieved(
        as target: FileStatus, _ extended: ExtendedAttributes, refused: ExtendedAttributes, setsOwner: Bool
    ) -> File {
        var omitted = self.omitted.intersection(.links)
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
