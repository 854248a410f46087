import FileStorage
import FileSystem

/// The destination of a file's content: another file, or another machine.
protocol CopyGoal: ~Copyable {
    /// For messages.
    var path: [UInt8] { get }
    /// Begins an attempt. Data of an earlier attempt is dropped.
    func begin(_ status: FileStatus, attempt: Int) throws(Errno)
    /// - Returns: the number of bytes that were copied, as by `FileCopier`.
    func take(
        _ source: borrowing FileDescriptor, _ status: FileStatus, keepsHoles: Bool,
        _ copier: inout FileCopier, isCancelled: () -> Bool
    ) throws(Errno) -> Int64
    /// Whether a file begins with the bytes that were copied.
    func isStart(
        of source: borrowing FileDescriptor, _ count: Int64, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool
    /// The digest of the copy; nil if it has more bytes of holes than `mostHoles`.
    func digest(mostHoles: Int64, _ isCancelled: () -> Bool) throws(SystemError) -> Digest?
}

extension ObjectHandle: CopyGoal {
    func begin(_ status: FileStatus, attempt: Int) throws(Errno) {
        if attempt > 1 { try descriptor.truncate(to: 0) }
    }

    func take(
        _ source: borrowing FileDescriptor, _ status: FileStatus, keepsHoles: Bool,
        _ copier: inout FileCopier, isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        try copier.copy(
            source, to: descriptor, size: status.size, allocated: status.allocated, keepsHoles: keepsHoles,
            isCancelled: isCancelled)
    }

    func isStart(
        of source: borrowing FileDescriptor, _ count: Int64, _ isCancelled: () -> Bool
    ) throws(FileComparison.Failure) -> Bool {
        try FileComparison.haveSameContent(source, descriptor, upTo: count, isCancelled: isCancelled)
    }

    func digest(mostHoles: Int64, _ isCancelled: () -> Bool) throws(SystemError) -> Digest? {
        do throws(Errno) {
            return Digest(try descriptor.digest(mostHoles: mostHoles, isCancelled: isCancelled))
        } catch {
            guard error != .overflow else { return nil }
            throw SystemError("read", path, error)
        }
    }
}

/// Copies the content of single files as of one moment. For a file that only grows, this may be its first part.
final class ContentCopier: FileSource {
    private let source: PathResolver
    private let options: CopyOptions
    /// Whether the files belong to an earlier tree.
    private let isEarlier: Bool
    private let monitor: any Monitor
    private var copier: FileCopier
    private var announced: AnnouncedFiles

    /// From this size on, the file's status is read again before copying, which costs little compared with the copy.
    /// Then a file that has grown since the scan is copied only once.
    private static let largeSize: ByteCount = 1_048_576

    /// The file's state while it was copied.
    private struct Reading {
        var (before, after): (FileStatus, FileStatus)
        /// The number of bytes of the copy.
        var copied: Int64
        /// nil if they cannot be read.
        var extended: ExtendedAttributes?
        /// The digest of the source.
        var digest: Digest?
        /// Whether the kernel generates the content, as in proc or sysfs. The copy would differ each time.
        var isSynthetic: Bool
        var isSettled: Bool

        var isWhole: Bool { copied == after.size.rawCount && after.isUnchanged(since: before) }
    }

    /// - Parameter source: resolves the paths of the entries.
    init(
        _ source: PathResolver, _ options: CopyOptions, isEarlier: Bool = false, monitor: any Monitor
    ) {
        (self.source, self.options, self.isEarlier) = (source, options, isEarlier)
        self.monitor = monitor
        copier = FileCopier(limit: options.limit)
        announced = AnnouncedFiles(source)
    }

    /// Whether copies read the source. False until the first copy has shown that the file systems share no blocks.
    var readsContent: Bool { !copier.canClone }

    /// Opens files ahead and announces them to the kernel.
    func announce(_ files: [File]) {
        announced.announce(files.lazy.filter { $0.isFile && $0.size > 0 }.map(\.path))
    }

    func onCopy(_ body: @escaping (Int) -> Void) {
        copier.advanced = body
    }

    func copy(_ file: File, to staged: borrowing ObjectHandle, attempt: Int) throws -> File? {
        try copy(file, into: staged, attempt: attempt)
    }

    /// The same, to any destination.
    func copy<Goal: CopyGoal & ~Copyable>(
        _ file: File, into goal: borrowing Goal, attempt: Int
    ) throws -> File? {
        // A further attempt opens the name again.
        let opened = try attempt == 1 ? announced.take(file.path) ?? openSource(file) : openSource(file)
        let isAsScanned =
            attempt == 1 && options.trustsScan && !isEarlier && file.size < ContentCopier.largeSize
        let reading: Reading
        do throws(Errno) {
            guard let found = try read(opened.descriptor, file, to: goal, attempt, isAsScanned)
            else { return nil }
            reading = found
        } catch {
            switch error {
            case .cancelled: throw SyncError(.interrupted, "interrupted; the target is unchanged")
            case .noSpace, .quotaExceeded, .readOnlyFileSystem, .fileTooLarge:
                throw SystemError("write", goal.path, error)
            default:
                // The name may now lead to another type, which must not be read like a file.
                guard attempt > 1 else { return nil }
                throw Unstageable.failed(.unreadable(file.path, error))
            }
        }
        if reading.isSynthetic {
            let problem = Problem(
                path: file.path, code: .unsupported, message: "it says that it is empty and is not")
            throw Unstageable.failed(problem)
        }
        // In an earlier tree, the attributes of the object may have changed since then.
        if isEarlier {
            guard reading.isWhole else { return nil }
            try checkContent(of: file, goal)
            return file
        }
        var (status, digest) = (reading.after, reading.digest)
        if !reading.isWhole {
            let before = reading.before
            guard !options.isStrict, !isAsScanned, status.size > before.size, try isStillThere(file, before),
                try hasFirst(reading.copied, of: opened.descriptor, goal, file)
            else { return nil }
            status = before
            status.size = ByteCount(clamping: reading.copied)
            // Makes the next run compare it, even if size and time agree.
            status.changed = .unexamined
        }
        if !reading.isWhole || options.digests == .ofCopies {
            if options.digests != .none { monitor.note(holesOf: status, upTo: options.mostHoles) }
            digest = options.digests == .none ? nil : try self.digest(of: goal, options.mostHoles)
        }
        var result = file.with(status)
        result.extended = reading.extended ?? ExtendedAttributes()
        (result.digest, result.isGrowing) = (digest, !reading.isWhole)
        result.isSettled = reading.isSettled && reading.isWhole && reading.extended != nil
        return reading.extended == nil ? result.withoutAttributes() : result
    }

    /// - Parameter isAsScanned: assume that the file did not change between the scan and the copy.
    /// - Returns: nil if the name leads to another object now.
    private func read<Goal: CopyGoal & ~Copyable>(
        _ source: borrowing FileDescriptor, _ file: File, to goal: borrowing Goal, _ attempt: Int,
        _ isAsScanned: Bool
    ) throws(Errno) -> Reading? {
        let seen = isAsScanned ? file.status : try source.status()
        let probe = isEarlier ? nil : try options.probes?.probe(file.path, seen, source)
        let before = probe?.status ?? seen
        guard before.type == .file, !isEarlier || before.equals(file.status, in: .content) else {
            return nil
        }
        try goal.begin(before, attempt: attempt)
        let copied = try goal.take(
            source, before, keepsHoles: options.attributes.contains(.holes), &copier,
            isCancelled: { monitor.isCancelled })
        var extended: ExtendedAttributes?
        do throws(Errno) {
            extended = try source.extendedAttributes(options.extended)
        } catch {
            guard !Errno.exhausted.contains(error) else { throw error }
        }
        var digest: Digest?
        if options.digests == .ofSources {
            digest = Digest(try source.digest(upTo: copied) { monitor.isCancelled })
        }
        let after = try source.status()
        // The size is read again, because the file may have just begun to grow.
        var isSynthetic = false
        if after.size == 0, try source.isReadable(at: 0) { isSynthetic = try source.status().size == 0 }
        return Reading(
            before: before, after: after, copied: copied, extended: extended, digest: digest,
            isSynthetic: isSynthetic, isSettled: probe?.settles(after) ?? false)
    }

    /// Whether the name still leads to the file. A rotated log grows under another name.
    private func isStillThere(_ file: File, _ status: FileStatus) throws -> Bool {
        try source.status(of: file.path)?.isSameObject(as: status) ?? false
    }

    /// Whether a file that has grown still begins with the copied bytes. Then the copy is its content at a time between
    /// the two readings, unless the old content was restored. A clone is of one instant.
    private func hasFirst<Goal: CopyGoal & ~Copyable>(
        _ size: Int64, of source: borrowing FileDescriptor, _ goal: borrowing Goal, _ file: File
    ) throws -> Bool {
        if copier.hasCloned { return true }
        do throws(FileComparison.Failure) {
            return try goal.isStart(of: source, size) { monitor.isCancelled }
        } catch {
            try monitor.checkCancellation()
            guard error.side == .first else {
                throw SystemError("read", goal.path, error.errno)
            }
            throw Unstageable.failed(.unreadable(file.path, error.errno))
        }
    }

    /// Only the digest shows that another name of the object was overwritten, or that a disk lost data.
    private func checkContent<Goal: CopyGoal & ~Copyable>(of file: File, _ goal: borrowing Goal) throws {
        guard let wanted = file.digest, try digest(of: goal, .max) != wanted else { return }
        let object = try source.location(of: file.path).map { $0.path(of: $1) } ?? []
        throw Unstageable.failed(.damaged(file.path, at: escapedText(object)))
    }

    private func digest<Goal: CopyGoal & ~Copyable>(
        of goal: borrowing Goal, _ mostHoles: Int64
    ) throws -> Digest? {
        do {
            return try goal.digest(mostHoles: mostHoles) { monitor.isCancelled }
        } catch {
            try monitor.checkCancellation()
            throw error
        }
    }

    private func openSource(_ file: File) throws -> AnnouncedFile {
        do throws(SystemError) {
            return try source.open(file.path)
        } catch {
            switch error.errno {
            case .noSuchFile, .notDirectory: throw try gone(file)
            // The name leads to a symlink or a socket, or a directory above is a symlink.
            case .tooManyLinks, .noSuchDevice:
                throw isEarlier ? try gone(file) : Unstageable.failed(.retyped(file.path))
            default: throw Unstageable.failed(.unreadable(file.path, error.errno))
            }
        }
    }

    private func gone(_ file: File) throws -> Unstageable {
        if isEarlier { return .failed(.lost(file.path, at: source.present(file.path))) }
        try source.root.checkIsInPlace()
        return .vanished
    }
}
