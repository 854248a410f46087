import FileStorage
import FileSystem

/// Copies the content of single files, as of one moment, or the first part of a file that only grows.
final class ContentCopier {
    private let contents: ContentSource
    private let source: PathResolver
    private let attributes: MirroredAttributes
    private let digests: StageWorker.Digests
    private let isStrict: Bool
    private let monitor: any Monitor
    private var copier: FileCopier
    private var announced: AnnouncedFiles

    /// From this size on, the file's status is read again before copying: it costs little next to the copy, and a file
    /// that has grown since the scan is then copied only once.
    private static let largeSize: Int64 = 1 << 20

    /// The file's state while it was copied.
    private struct Reading {
        var (before, after): (FileStatus, FileStatus)
        /// Bytes of the copy.
        var copied: Int64
        var extended: ExtendedAttributes
        /// Of the source.
        var digest: Digest?
        /// The kernel generates the content, as in proc or sysfs: the copy would differ each time.
        var isSynthetic: Bool

        var isWhole: Bool { copied == after.size && after.isUnchanged(since: before) }
    }

    /// An outcome, thrown out of a copy.
    struct Unstageable: Error {
        let outcome: Stage.Outcome
    }

    /// - Parameter source: resolves the entries of `contents`.
    init(
        _ contents: ContentSource, _ source: PathResolver, _ attributes: MirroredAttributes,
        _ digests: StageWorker.Digests, isStrict: Bool, limit: RateLimit?, monitor: any Monitor
    ) {
        (self.contents, self.source, self.attributes, self.digests) = (contents, source, attributes, digests)
        (self.isStrict, self.monitor) = (isStrict, monitor)
        copier = FileCopier(limit: limit)
        announced = AnnouncedFiles(source)
    }

    /// Copies read the source; false until the first copy has shown that the file systems share no blocks.
    var readsContent: Bool { !copier.canClone }

    /// Opens files ahead and announces them to the kernel; they are copied next, in this order.
    func announce(_ files: some Sequence<File>) {
        announced.announce(files.lazy.filter { $0.isFile && $0.size > 0 }.map(\.path))
    }

    /// Called with the number of bytes of each piece that was copied.
    func onCopy(_ body: @escaping (Int) -> Void) {
        copier.advanced = body
    }

    /// Copies the content once, and reads the extended attributes.
    ///
    /// - Parameters:
    ///   - staged: the new file, empty or with the content of an earlier attempt.
    ///   - attempt: from 1.
    /// - Returns: the file as copied; nil if it changed meanwhile other than by growing. For the first attempt at a
    ///   small file, "meanwhile" is since the scan.
    /// - Throws: `Unstageable` for what cannot be read, other errors for what cannot be written.
    func copy(_ file: File, to staged: borrowing ObjectHandle, attempt: Int) throws -> File? {
        // Another attempt is at what has the name by then.
        let opened = try attempt == 1 ? announced.take(file.path) ?? openSource(file) : openSource(file)
        let isAsScanned = attempt == 1 && !contents.isEarlier && file.size < ContentCopier.largeSize
        let reading: Reading
        do throws(Errno) {
            guard let found = try read(opened.descriptor, file, to: staged.descriptor, attempt, isAsScanned)
            else {
                return nil
            }
            reading = found
        } catch {
            switch error {
            case .cancelled: throw SyncError(.interrupted, "interrupted; the target is unchanged")
            case .noSpace, .quotaExceeded, .readOnlyFileSystem, .fileTooLarge:
                throw SystemError("write", staged.path, error)
            default:
                // The name may lead to another type by now, which must not be read like a file.
                guard attempt > 1 else { return nil }
                throw unreadable(file, error)
            }
        }
        if reading.isSynthetic {
            let problem = Problem(
                path: file.path, code: .unsupported, message: "it says that it is empty and is not")
            throw Unstageable(outcome: .failed(problem))
        }
        // The attributes of an object of an earlier tree may have changed since.
        if contents.isEarlier { return reading.isWhole ? file : nil }
        var (status, digest) = (reading.after, reading.digest)
        if !reading.isWhole {
            let before = reading.before
            guard !isStrict, !isAsScanned, status.size > before.size, try isStillThere(file, before),
                try hasFirst(reading.copied, of: opened.descriptor, staged, file)
            else { return nil }
            status = before
            status.size = reading.copied
            // The next run compares it even if size and time agree.
            status.changed = CommitSpans.unexamined
        }
        if !reading.isWhole || digests == .ofCopies {
            digest = digests == .none ? nil : try self.digest(of: staged)
        }
        var result = file.with(status)
        (result.extended, result.digest, result.isGrowing) = (reading.extended, digest, !reading.isWhole)
        return result
    }

    /// - Parameter isAsScanned: assumes that the file did not change between the scan and the copy.
    /// - Returns: nil if the name leads to another object now.
    private func read(
        _ source: borrowing FileDescriptor, _ file: File, to staged: borrowing FileDescriptor, _ attempt: Int,
        _ isAsScanned: Bool
    ) throws(Errno) -> Reading? {
        let before = isAsScanned ? file.status : try source.status()
        guard before.type == .file, !contents.isEarlier || before.hasSameContent(as: file.status) else {
            return nil
        }
        if attempt > 1 { try staged.truncate(to: 0) }
        let copied = try copier.copy(
            source, to: staged, size: before.size, allocated: before.allocated,
            keepsHoles: attributes.contains(.holes), isCancelled: { monitor.isCancelled })
        let extended = try source.extendedAttributes(attributes.extended)
        var digest: Digest?
        if digests == .ofSources {
            digest = Digest(try source.digest(upTo: copied) { monitor.isCancelled })
        }
        let after = try source.status()
        // Checked again: it may have just begun to grow.
        var isSynthetic = false
        if after.size == 0, try source.isReadable(at: 0) { isSynthetic = try source.status().size == 0 }
        return Reading(
            before: before, after: after, copied: copied, extended: extended, digest: digest,
            isSynthetic: isSynthetic)
    }

    /// Whether the name still leads to the file. A rotated log continues to grow under another name.
    private func isStillThere(_ file: File, _ status: FileStatus) throws -> Bool {
        try source.status(of: file.path)?.isSameObject(as: status) ?? false
    }

    /// Whether a file that has grown still begins with the copied bytes. Then the copy is its content at a time between
    /// the two readings, unless the old content was restored; a clone is of one instant.
    private func hasFirst(
        _ size: Int64, of source: borrowing FileDescriptor, _ staged: borrowing ObjectHandle, _ file: File
    ) throws -> Bool {
        if copier.hasCloned { return true }
        do throws(FileComparison.Failure) {
            return try FileComparison.haveSameContent(source, staged.descriptor, upTo: size) {
                monitor.isCancelled
            }
        } catch {
            try monitor.checkCancellation()
            guard error.side == .first else {
                throw SystemError("read", staged.path, error.errno)
            }
            throw unreadable(file, error.errno)
        }
    }

    /// The digest of what is staged.
    func digest(of staged: borrowing ObjectHandle) throws -> Digest {
        do {
            return Digest(
                try calling("read", staged.path) { () throws(Errno) in
                    try staged.descriptor.digest { monitor.isCancelled }
                })
        } catch {
            try monitor.checkCancellation()
            throw error
        }
    }

    private func openSource(_ file: File) throws -> AnnouncedFile {
        do {
            guard let (directory, name) = try source.location(of: file.path) else { throw gone(file) }
            return try directory.openContent(name)
        } catch let error as SystemError {
            switch error.errno {
            case .noSuchFile, .notDirectory: throw gone(file)
            // A symlink or a socket has its name, or a symlink that of a directory above.
            case .tooManyLinks, .noSuchDevice:
                throw contents.isEarlier
                    ? gone(file) : Unstageable(outcome: .failed(.retyped(file.path)))
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
