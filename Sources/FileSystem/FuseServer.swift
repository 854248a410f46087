import CLinux
import Glibc
import Synchronization

/// The right to read the next request. One thread has it, and answers one request after the other: to wake another thread
/// takes longer than most answers do.
public final class FuseTurn {
    private let server: FuseServer
    private var isMine = false
    /// The request that the thread answers.
    fileprivate var request: UInt64 = 0

    fileprivate init(_ server: FuseServer) { self.server = server }

    fileprivate func take() {
        guard !isMine else { return }
        server.turn.wait()
        isMine = true
    }

    /// Lets another thread read requests. The answer to this one may take long.
    public func pass() {
        guard isMine else { return }
        isMine = false
        server.content.withLock { _ = $0.running.insert(request) }
        server.turn.signal()
    }
}

/// Takes the requests of a mounted file system and has them answered by a few threads.
public final class FuseServer: Sendable {
    private let connection: FuseConnection
    /// Whether the kernel checks ACLs. Then it asks for that of each file, which takes most of the time of `ls -l`.
    private let enforcesACLs: Bool
    /// The kernel can read files by itself.
    private let canPass = Atomic(false)
    fileprivate let turn = Semaphore(1)
    fileprivate let content = Mutex(Content())
    private let failure = Mutex<SystemError?>(nil)
    private let ended = Semaphore()

    private static let threads = 10
    /// Threads that open and read files, which may take long: the others list meanwhile.
    private static let readers = 6
    /// The requests that they take.
    private static let slowRequests = [FUSE_OP_OPEN, FUSE_OP_READ, FUSE_OP_LSEEK].map(\.rawValue)
    private static let requestSize = 64 << 10
    private static let largestRead = 1 << 20

    fileprivate struct Content {
        var readers = 0
        /// Requests for which no thread is free.
        var waiting: [[UInt8]] = []
        /// Those that may take long, and the interrupted ones among them: true since the last look.
        var running: Set<UInt64> = []
        var interrupted: [UInt64: Bool] = [:]
    }

    public init(_ connection: FuseConnection, enforcesACLs: Bool) {
        (self.connection, self.enforcesACLs) = (connection, enforcesACLs)
    }

    public var passesFiles: Bool { canPass.load(ordering: .relaxed) }

    /// Begins to answer.
    public func start(_ worker: @escaping @Sendable (FuseTurn) -> any FuseWorker) throws {
        for _ in 0..<FuseServer.threads {
            let thread = WorkerThread()
            try thread.start { [self] in
                do throws(SystemError) {
                    try run(worker)
                } catch {
                    failure.withLock { $0 = error }
                }
                ended.signal()
                withExtendedLifetime(thread) {}
            }
        }
    }

    /// Looks after long requests meanwhile.
    ///
    /// - Returns: whether the file system is unmounted.
    public func hasEnded(within pause: Duration) throws(SystemError) -> Bool {
        let hasEnded = ended.wait(atMost: pause)
        if let failure = failure.withLock(\.self) { throw failure }
        if !hasEnded { endInterrupted() }
        return hasEnded
    }

    private func run(_ worker: (FuseTurn) -> any FuseWorker) throws(SystemError) {
        let request = UnsafeMutableRawBufferPointer.allocate(byteCount: FuseServer.requestSize, alignment: 8)
        let reply = UnsafeMutableRawBufferPointer.allocate(byteCount: FuseServer.largestRead, alignment: 4096)
        let turn = FuseTurn(self)
        let worker = worker(turn)
        defer {
            turn.pass()
            request.deallocate()
            reply.deallocate()
        }
        while true {
            turn.take()
            guard let length = try connection.receive(into: request) else { return }
            let message = UnsafeRawBufferPointer(rebasing: request[..<length])
            let head = message.load(as: fuse_request.self)
            turn.request = head.unique
            guard FuseServer.slowRequests.contains(head.opcode) else {
                answer(head, message, worker, reply)
                continue
            }
            guard enter(message) else { continue }
            turn.pass()
            answer(head, message, worker, reply)
            while let next = leave() {
                next.withUnsafeBytes { answer($0.load(as: fuse_request.self), $0, worker, reply) }
            }
        }
    }

    /// - Returns: false if it has to wait.
    private func enter(_ message: UnsafeRawBufferPointer) -> Bool {
        content.withLock { content in
            guard content.readers < FuseServer.readers else {
                content.running.insert(message.load(as: fuse_request.self).unique)
                content.waiting.append(Array(message))
                return false
            }
            content.readers += 1
            return true
        }
    }

    /// - Returns: a request that has waited.
    private func leave() -> [UInt8]? {
        content.withLock { content in
            guard content.waiting.isEmpty else { return content.waiting.removeFirst() }
            content.readers -= 1
            return nil
        }
    }

    /// Answers interrupted requests, so that who asked can end. A thread may still wait for a disk, and its answer comes too
    /// late. Most requests are quicker than the second look, and programs do not expect this error.
    private func endInterrupted() {
        let overdue = content.withLock { content in
            let overdue = content.interrupted.filter(\.value).keys
            content.interrupted = content.interrupted.filter { !$0.value }.mapValues { _ in true }
            content.waiting.removeAll { bytes in
                overdue.contains(bytes.withUnsafeBytes { $0.load(as: fuse_request.self).unique })
            }
            return overdue
        }
        for unique in overdue { fail(unique, .interrupted) }
    }

    private func fail(_ unique: UInt64, _ error: Errno) {
        connection.send(unique, -error.rawValue, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private func send<Value>(_ unique: UInt64, _ value: Value) -> Bool {
        withUnsafeBytes(of: value) { connection.send(unique, 0, $0) }
    }

    private func send(_ unique: UInt64, bytes: [UInt8]) {
        bytes.withUnsafeBytes { _ = connection.send(unique, 0, $0) }
    }

    private func answer(
        _ head: fuse_request, _ message: UnsafeRawBufferPointer, _ worker: any FuseWorker,
        _ buffer: UnsafeMutableRawBufferPointer
    ) {
        let body = UnsafeRawBufferPointer(rebasing: message[MemoryLayout<fuse_request>.size...])
        do throws(Errno) {
            try perform(head, body, worker, buffer)
        } catch {
            fail(head.unique, error)
        }
        content.withLock { content in
            guard content.running.remove(head.unique) != nil else { return }
            content.interrupted[head.unique] = nil
        }
    }

    private func load<Value: BitwiseCopyable>(_ body: UnsafeRawBufferPointer, _: Value.Type) throws(Errno)
        -> Value
    {
        guard body.count >= MemoryLayout<Value>.size else { throw .invalid }
        return body.loadUnaligned(as: Value.self)
    }

    private func perform(
        _ head: fuse_request, _ body: UnsafeRawBufferPointer, _ worker: any FuseWorker,
        _ buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) {
        let (id, node) = (head.unique, head.nodeid)
        switch fuse_operation(head.opcode) {
        case FUSE_OP_INIT: try begin(id, body)
        case FUSE_OP_LOOKUP:
            _ = send(id, fuse_entry(try worker.node(Array(body.prefix { $0 != 0 }), in: node)))
        case FUSE_OP_GETATTR:
            let found = try worker.node(node)
            _ = send(
                id,
                fuse_attr_reply(
                    valid: found.seconds, valid_nsec: found.nanoseconds, unused: 0,
                    attr: fuse_attributes(found))
            )
        case FUSE_OP_READLINK: send(id, bytes: try worker.destination(of: node))
        case FUSE_OP_OPEN:
            let opening = try reply(worker.open(node))
            // Who asked may be gone: then no RELEASE comes.
            if !send(id, opening) { worker.close(opening.fh) }
        case FUSE_OP_READ:
            let wanted = try load(body, fuse_read_request.self)
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(Int(wanted.size), buffer.count)])
            let count = try worker.read(wanted.fh, at: Int64(clamping: wanted.offset), into: part)
            connection.send(id, 0, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        case FUSE_OP_LSEEK:
            let wanted = try load(body, fuse_seek_request.self)
            let stretch: FileDescriptor.Stretch = wanted.whence == UInt32(SEEK_DATA) ? .data : .hole
            guard let offset = try worker.seek(wanted.fh, of: node, Int64(clamping: wanted.offset), stretch)
            else { throw .noSuchDevice }
            _ = send(id, fuse_seek_reply(offset: UInt64(offset)))
        case FUSE_OP_RELEASE:
            worker.close(try load(body, fuse_release_request.self).fh)
            send(id, bytes: [])
        case FUSE_OP_READDIR, FUSE_OP_READDIRPLUS:
            let wanted = try load(body, fuse_read_request.self)
            var list = FuseList(
                limit: min(Int(wanted.size), FuseServer.largestRead),
                isWhole: head.opcode == FUSE_OP_READDIRPLUS.rawValue)
            try worker.list(node, after: wanted.offset, into: &list)
            send(id, bytes: list.bytes)
        case FUSE_OP_STATFS: _ = send(id, try space(of: worker.place()))
        case FUSE_OP_GETXATTR:
            let name = Array(body.dropFirst(MemoryLayout<fuse_xattr_size>.size).prefix { $0 != 0 })
            guard let value = try worker.extendedAttributes(of: node)[name] else {
                // Then `ls -l` does not ask each file. If ACLs are checked, this answer would forbid the access.
                let isLabel = name.starts(with: "security.".utf8)
                throw isLabel || !enforcesACLs && name == ExtendedAttributes.accessACL
                    ? .notSupported : .noData
            }
            try send(id, value, upTo: load(body, fuse_xattr_size.self).size)
        case FUSE_OP_LISTXATTR:
            var names: [UInt8] = []
            for attribute in try worker.extendedAttributes(of: node).attributes
            where head.uid == 0 || !attribute.name.starts(with: "trusted.".utf8) {
                names += attribute.name + [0]
            }
            try send(id, names, upTo: load(body, fuse_xattr_size.self).size)
        case FUSE_OP_INTERRUPT:
            let interrupted = try load(body, fuse_interrupt_request.self).unique
            content.withLock { content in
                if content.running.contains(interrupted) { content.interrupted[interrupted] = false }
            }
        // None has an answer.
        case FUSE_OP_FORGET, FUSE_OP_BATCH_FORGET: break
        case FUSE_OP_DESTROY: send(id, bytes: [])
        case FUSE_OP_SETATTR, FUSE_OP_SYMLINK, FUSE_OP_MKNOD, FUSE_OP_MKDIR, FUSE_OP_UNLINK, FUSE_OP_RMDIR,
            FUSE_OP_RENAME, FUSE_OP_RENAME2, FUSE_OP_LINK, FUSE_OP_WRITE, FUSE_OP_SETXATTR,
            FUSE_OP_REMOVEXATTR,
            FUSE_OP_CREATE, FUSE_OP_FALLOCATE, FUSE_OP_COPY_FILE_RANGE:
            throw .readOnlyFileSystem
        // After this answer to OPENDIR, the kernel opens directories by itself, and keeps their lists.
        default: throw .notImplemented
        }
    }

    /// - Parameter size: of the place for it; 0 asks for its length.
    private func send(_ id: UInt64, _ value: [UInt8], upTo size: UInt32) throws(Errno) {
        guard size > 0 else {
            _ = send(id, fuse_xattr_size(size: UInt32(value.count), unused: 0))
            return
        }
        guard value.count <= size else { throw Errno(rawValue: ERANGE) }
        send(id, bytes: value)
    }

    private func reply(_ opening: FuseOpening) -> fuse_open_reply {
        switch opening {
        case .cached(let handle):
            fuse_open_reply(fh: handle, open_flags: FUSE_OPEN_KEEP_CACHE, backing_id: 0)
        case .passed(let handle, let id):
            fuse_open_reply(fh: handle, open_flags: FUSE_OPEN_PASSTHROUGH, backing_id: id)
        }
    }

    private func begin(_ id: UInt64, _ body: UnsafeRawBufferPointer) throws(Errno) {
        var (offer, answer) = (fuse_init_request(), fuse_init_reply())
        // Older kernels say less.
        withUnsafeMutableBytes(of: &offer) { $0.copyBytes(from: body.prefix($0.count)) }
        (answer.major, answer.minor) = (7, min(offer.minor, 40))
        // The kernel then asks again, with that version.
        guard offer.major == 7 else {
            _ = send(id, answer)
            return
        }
        guard offer.minor >= 31 else { throw .notSupported }
        let offered =
            UInt64(offer.flags)
            | (UInt64(offer.flags) & FUSE_FLAG_INIT_EXT != 0 ? UInt64(offer.flags2) << 32 : 0)
        var flags =
            FUSE_FLAG_ASYNC_READ | FUSE_FLAG_AUTO_INVAL_DATA | FUSE_FLAG_DO_READDIRPLUS
            | FUSE_FLAG_PARALLEL_DIROPS
            | FUSE_FLAG_MAX_PAGES | FUSE_FLAG_CACHE_SYMLINKS | FUSE_FLAG_INIT_EXT
        if enforcesACLs { flags |= FUSE_FLAG_POSIX_ACL }
        if Account.isRoot { flags |= FUSE_FLAG_PASSTHROUGH }
        flags &= offered
        canPass.store(flags & FUSE_FLAG_PASSTHROUGH != 0, ordering: .relaxed)
        answer.flags = UInt32(truncatingIfNeeded: flags)
        answer.flags2 = UInt32(truncatingIfNeeded: flags >> 32)
        answer.max_readahead = offer.max_readahead
        (answer.max_background, answer.congestion_threshold) = (64, 48)
        (answer.max_write, answer.time_gran) = (4096, 1)
        answer.max_pages = UInt16(FuseServer.largestRead / 4096)
        answer.max_stack_depth = canPass.load(ordering: .relaxed) ? 1 : 0
        _ = send(id, answer)
    }

    private func space(of directory: Directory) throws(Errno) -> fuse_statfs_reply {
        var raw = statvfs()
        try directory.withRawDescriptor { (descriptor) throws(Errno) in
            _ = try retrying { fstatvfs(descriptor, &raw) }
        }
        var reply = fuse_statfs_reply()
        (reply.blocks, reply.bfree, reply.bavail) = (UInt64(raw.f_blocks), UInt64(raw.f_bfree), 0)
        (reply.files, reply.ffree) = (UInt64(raw.f_files), 0)
        (reply.bsize, reply.frsize) = (UInt32(raw.f_bsize), UInt32(raw.f_frsize))
        reply.namelen = 255
        return reply
    }
}
