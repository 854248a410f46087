import Glibc

/// The only owner of an open descriptor. It is not copyable, and closed exactly once.
///
/// Its calls throw only the error number. The caller adds the path.
public struct FileDescriptor: ~Copyable, Sendable {
    public let rawValue: Int32

    init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    deinit {
        // An error of `close` can be ignored: data is synced, and errors are seen, before a descriptor is closed.
        _ = Glibc.close(rawValue)
    }

    public struct Flags: OptionSet, Sendable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }
        public static let read = Flags(rawValue: O_RDONLY)
        public static let write = Flags(rawValue: O_WRONLY)
        public static let readWrite = Flags(rawValue: O_RDWR)
        public static let append = Flags(rawValue: O_APPEND)
        public static let create = Flags(rawValue: O_CREAT)
        public static let exclusive = Flags(rawValue: O_EXCL)
        public static let directory = Flags(rawValue: O_DIRECTORY)
        /// The call waits neither for a FIFO's writer nor for a device.
        public static let nonBlocking = Flags(rawValue: O_NONBLOCK)
        public static let noFollow = Flags(rawValue: O_NOFOLLOW)
        /// A reference to the object. It needs no permission on the object and cannot read its content.
        public static let pathOnly = Flags(rawValue: O_PATH)
        /// `O_NOATIME`, which glibc declares only with `_GNU_SOURCE`.
        static let ownedOnly = Flags(rawValue: 0o1000000)
    }

    /// The corresponding C function is `openat`. The caller must give the result an owner.
    static func open(
        _ directory: Int32, _ name: UnsafePointer<CChar>, _ flags: Flags, _ permissions: mode_t = 0
    ) throws(Errno) -> Int32 {
        try retrying { openat(directory, name, flags.rawValue | O_CLOEXEC, permissions) }
    }

    /// The same file, opened once more at its beginning. This works even if it has no name.
    public func reopened() throws(Errno) -> FileDescriptor {
        FileDescriptor(owning: try FileDescriptor.open(AT_FDCWD, "/proc/self/fd/\(rawValue)", .read))
    }

    /// A file in memory with this content, positioned at its beginning. The corresponding C function is `memfd_create`.
    public static func inMemory(_ content: [UInt8]) throws(Errno) -> FileDescriptor {
        let file = FileDescriptor(owning: try retrying { memfd_create("fsync-lite", UInt32(MFD_CLOEXEC)) })
        try content.withUnsafeBufferPointer { (bytes) throws(Errno) -> Void in
            try file.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
        return file
    }

    /// The corresponding C function is `statx`.
    public func status() throws(Errno) -> FileStatus {
        try FileStatus.of(rawValue, "", AT_EMPTY_PATH)
    }

    /// Reads at most the buffer's size; 0 at the end.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try retrying { Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
    }

    /// Reads at most the buffer's size from an offset; 0 at the end. The corresponding C function is `pread`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        try retrying { Glibc.pread(rawValue, buffer.baseAddress, buffer.count, Int(offset)) }
    }

    /// The bytes of a range, up to the end of the file.
    public func bytes(in range: Range<Int64>) throws(Errno) -> [UInt8] {
        try [UInt8](upTo: range.count) { (buffer) throws(Errno) in
            try read(into: buffer, at: range.lowerBound)
        }
    }

    /// Whether a text is anywhere in the file.
    public func contains(_ text: StaticString) throws(Errno) -> Bool {
        let (size, length) = (1 << 20 as Int64, text.utf8CodeUnitCount)
        var offset: Int64 = 0
        while true {
            let part = try bytes(in: offset..<offset + size)
            let isFound = part.withUnsafeBytes { bytes in
                bytes.baseAddress.map { memmem($0, bytes.count, text.utf8Start, length) != nil } ?? false
            }
            guard !isFound, part.count == size else { return isFound }
            offset += size - Int64(length)
        }
    }

    /// Whether there is a byte at an offset. The size in the status may be wrong.
    public func isReadable(at offset: Int64) throws(Errno) -> Bool {
        var byte: UInt8 = 0
        return try retrying { pread(rawValue, &byte, 1, Int(offset)) } > 0
    }

    /// Writes all bytes at an offset, in as many calls as needed. The corresponding C function is `pwrite`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            written += try retrying {
                Glibc.pwrite(rawValue, rest.baseAddress, rest.count, Int(offset) + written)
            }
        }
    }

    public func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(Errno) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(Errno) -> Void in
            try write(UnsafeRawBufferPointer(buffer), at: offset)
        }
    }

    /// Appends in a single call, so that the output of several processes does not mix. If the disk becomes full, the
    /// part that was written is cut off again.
    ///
    /// RACE: if another process appends between the failed call and the cut, its text is cut off, too.
    public func appendAtOnce(_ bytes: [UInt8]) throws(Errno) {
        try checkFits(try status().size.rawCount, adding: bytes.count)
        let written = try bytes.withUnsafeBufferPointer { (buffer) throws(Errno) -> Int in
            try retrying { Glibc.write(rawValue, buffer.baseAddress, buffer.count) }
        }
        guard written < bytes.count else { return }
        let end = try retrying { lseek(rawValue, 0, SEEK_CUR) }
        var reason = Errno.noSpace
        do throws(Errno) {
            // Only a further call reports why this one stopped.
            try write(Array(bytes[written...]))
            return
        } catch {
            reason = error
        }
        let size = try status().size.rawCount
        if size >= end, size - Int64(end) <= bytes.count - written { try truncate(to: Int64(end - written)) }
        throw reason
    }

    /// The size limit of this process (`ulimit -f`). A write beyond it would end the process by `SIGXFSZ`.
    static var sizeLimit: UInt64 {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
        return UInt64(limit.rlim_cur)
    }

    func checkFits(_ size: Int64, adding count: Int) throws(Errno) {
        let (end, overflows) = size.addingReportingOverflow(Int64(count))
        if overflows || UInt64(max(end, 0)) > FileDescriptor.sizeLimit { throw .fileTooLarge }
    }

    /// Writes all bytes, in as many calls as needed.
    public func write(_ bytes: [UInt8]) throws(Errno) { try FileDescriptor.write(bytes, to: rawValue) }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Errno) {
        var written = 0
        while written < bytes.count {
            written += try bytes.withUnsafeBufferPointer { (buffer) throws(Errno) -> Int in
                let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[written...])
                return try retrying { Glibc.write(descriptor, rest.baseAddress, rest.count) }
            }
        }
    }

    /// All bytes from the present position to the end; more than `limit` is an error.
    public func readAll(limit: Int = .max) throws(Errno) -> [UInt8] {
        var content = [UInt8]()
        let expected = Int(clamping: try status().size.rawCount)
        guard expected <= limit else { throw Errno(rawValue: EFBIG) }
        // If there is no memory for an array, Swift ends the process. So `malloc` is tried first.
        guard let memory = malloc(expected) else { throw Errno(rawValue: ENOMEM) }
        free(memory)
        // The size of a sparse file may be any number.
        content.reserveCapacity(min(expected, 16 << 20) + 1)
        while true {
            let space = max(content.capacity - content.count, 64 * 1024)
            let part = try [UInt8](upTo: space) { (buffer) throws(Errno) -> Int in
                try read(into: buffer)
            }
            if part.isEmpty { return content }
            content.append(contentsOf: part)
            if content.count > limit { throw Errno(rawValue: EFBIG) }
        }
    }

    /// The corresponding C function is `fsync`. An error is final: a second call may report success although data is
    /// lost.
    public func sync() throws(Errno) {
        _ = try retrying { fsync(rawValue) }
    }

    /// Sets owner and group. This clears setuid and setgid, so set permissions afterwards. The corresponding C function
    /// is `fchown`.
    public func setOwner(_ owner: UInt32, group: UInt32) throws(Errno) {
        _ = try retrying { fchown(rawValue, owner, group) }
    }

    /// The corresponding C function is `fchmod`.
    public func setPermissions(_ permissions: UInt16) throws(Errno) {
        _ = try retrying { fchmod(rawValue, mode_t(permissions)) }
    }

    /// Sets the modification time. The access time is left unchanged unless one is given. The corresponding C function
    /// is `futimens`.
    public func setModified(_ time: FileTime, accessed: FileTime? = nil) throws(Errno) {
        var times = [accessed?.raw ?? FileTime.omitted, time.raw]
        _ = try retrying { futimens(rawValue, &times) }
    }

    /// Drops the clean cached pages of the file, so that the next read is from the device. The corresponding C function
    /// is `posix_fadvise` with `POSIX_FADV_DONTNEED`.
    public func dropCache() throws(Errno) {
        let failure = posix_fadvise(rawValue, 0, 0, POSIX_FADV_DONTNEED)
        if failure != 0 { throw Errno(rawValue: failure) }
    }

    /// The corresponding C function is `ftruncate`.
    public func truncate(to size: Int64) throws(Errno) {
        _ = try retrying { ftruncate(rawValue, Int(size)) }
    }

    public enum Stretch: Sendable { case data, hole }

    /// The start of the next data or hole, at or after an offset; nil if there is none. The corresponding C function is
    /// `lseek` with `SEEK_DATA` or `SEEK_HOLE`.
    public func seek(_ offset: Int64, _ stretch: Stretch) throws(Errno) -> Int64? {
        do throws(Errno) {
            let whence = stretch == .data ? SEEK_DATA : SEEK_HOLE
            return Int64(try retrying { lseek(rawValue, Int(offset), whence) })
        } catch .noSuchDevice {
            return nil
        }
    }

    /// The next stretch of data at or after an offset; nil if there is none before `end`.
    public func data(after offset: Int64, upTo end: Int64) throws(Errno) -> Range<Int64>? {
        guard let start = try seek(offset, .data), start < end else { return nil }
        return start..<max(start, min(try seek(start, .hole) ?? end, end))
    }

    /// Allocates `size` bytes, so that writing them cannot fail for lack of space. The corresponding C function is
    /// `fallocate`.
    public func allocate(_ size: Int64) throws(Errno) {
        _ = try retrying { fallocate(rawValue, 0, 0, Int(size)) }
    }

    /// Makes a hole, which reads as zeros. The size is left unchanged. The corresponding C function is `fallocate` with
    /// `FALLOC_FL_PUNCH_HOLE`.
    public func makeHole(_ range: Range<Int64>) throws(Errno) {
        let flags = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
        _ = try retrying { fallocate(rawValue, flags, Int(range.lowerBound), Int(range.count)) }
    }

    /// Takes the exclusive lock on the open object. Throws `wouldBlock` if another process has it. The corresponding C
    /// function is `flock`.
    ///
    /// - Parameter pause: the longest time to wait for another process's lock.
    public func lock(waiting pause: Duration = .zero) throws(Errno) {
        let end = ContinuousClock.now + pause
        while true {
            do throws(Errno) {
                _ = try retrying { flock(rawValue, LOCK_EX | LOCK_NB) }
                return
            } catch {
                guard error == .wouldBlock, ContinuousClock.now < end else { throw error }
            }
            usleep(20_000)
        }
    }

    /// Releases the lock. The corresponding C function is `flock`.
    public func unlock() {
        // It can fail only for an invalid descriptor.
        _ = flock(rawValue, LOCK_UN)
    }
}

extension [UInt8] {
    /// An array whose memory `fill` initializes; `fill` returns the number of bytes.
    public init<Failure: Error>(
        upTo capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        var failure: Failure?
        self.init(unsafeUninitializedCapacity: capacity) { buffer, count in
            do throws(Failure) {
                count = try fill(UnsafeMutableRawBufferPointer(buffer))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
