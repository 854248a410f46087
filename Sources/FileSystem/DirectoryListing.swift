import Glibc

/// The names in one directory, sorted by their bytes, in one block of memory. A listing of any size needs two
/// allocations.
public struct DirectoryListing: Sendable {
    private let names: [UInt8]
    private let spans: [NameSpan]

    /// A name in `names`.
    private struct NameSpan {
        let offset: Int32
        let length: UInt16
        /// `d_type`, which some file systems leave unknown.
        let kind: UInt8
        /// The first eight bytes as a number, with NULs after the end. It decides the order of most names.
        let beginning: UInt64
    }

    public var count: Int { spans.count }

    public func name(at index: Int) -> ArraySlice<UInt8> {
        let span = spans[index]
        return names[Int(span.offset)..<Int(span.offset) + Int(span.length)]
    }

    /// The names that begin with a dot.
    public var dotted: Range<Int> {
        func first(from byte: UInt64) -> Int {
            var (low, high) = (0, spans.count)
            while low < high {
                let middle = (low + high) / 2
                if spans[middle].beginning >> 56 < byte { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let dot = UInt64(UInt8(ascii: "."))
        return first(from: dot)..<first(from: dot + 1)
    }

    public func index(of name: FileName) -> Int? { spans.indices.first { self.name(at: $0) == name.bytes } }

    /// Appends a name to a path.
    public func append(_ index: Int, to path: inout [UInt8]) {
        let span = spans[index]
        names.withUnsafeBufferPointer {
            path.append(
                contentsOf: UnsafeBufferPointer(rebasing: $0[Int(span.offset)...].prefix(Int(span.length))))
        }
    }

    /// The type of an entry if the directory shows it; else nil.
    public func type(at index: Int) -> FileType? {
        switch Int(spans[index].kind) {
        case DT_REG: .file
        case DT_DIR: .directory
        case DT_LNK: .symlink
        case DT_FIFO: .fifo
        case DT_CHR: .characterDevice
        case DT_BLK: .blockDevice
        case DT_SOCK: .socket
        default: nil
        }
    }

    /// Reads the statuses of some entries: 150 bytes each.
    ///
    /// - Returns: the statuses, and the errors of the names that cannot be looked at. The status of such a name has
    ///   only a type and a file system, if these are known. It is nil for a name that has vanished.
    /// - Throws: an error that concerns every name, because the directory itself cannot be looked at.
    public func statuses(
        _ range: Range<Int>, in directory: Directory
    ) throws(SystemError) -> (statuses: [FileStatus?], unseen: [Int: SystemError]) {
        var statuses: [FileStatus?] = []
        var unseen: [Int: SystemError] = [:]
        statuses.reserveCapacity(range.count)
        for entry in range {
            do {
                let status = try names.withUnsafeBufferPointer { (buffer) throws(Errno) in
                    let pointer = UnsafeRawPointer(
                        buffer.baseAddress.unsafelyUnwrapped + Int(spans[entry].offset))
                    return try directory.status(of: pointer.assumingMemoryBound(to: CChar.self))
                }
                statuses.append(status)
            } catch .noSuchFile {
                statuses.append(nil)
            } catch {
                let error = SystemError(
                    "statx", directory.path + [UInt8(ascii: "/")] + name(at: entry), error)
                guard let name = FileName(name(at: entry)),
                    let status = directory.unseenStatus(of: name, error.errno, type: type(at: entry))
                else { throw error }
                statuses.append(status)
                unseen[entry] = error
            }
        }
        return (statuses, unseen)
    }

    /// The names in a directory, unsorted.
    public static func names(in directory: Directory) throws(SystemError) -> [FileName] {
        var found: [FileName] = []
        try forEachName(in: directory) { name, _ in
            if let name = FileName(name) { found.append(name) }
        }
        return found
    }

    /// Reads the names in a directory.
    ///
    /// - Parameter isFresh: the directory was just opened for this listing, so its own read position can be used.
    public init(of directory: Directory, isFresh: Bool = false) throws(SystemError) {
        var names: [UInt8] = []
        var spans: [NameSpan] = []
        try DirectoryListing.forEachName(in: directory, isFresh: isFresh) { name, kind in
            guard let start = name.baseAddress else { return }
            // The buffer has space for eight bytes after the last entry.
            var beginning = UInt64(bigEndian: start.loadUnaligned(as: UInt64.self))
            if name.count < 8 { beginning &= ~0 << (64 - 8 * UInt64(name.count)) }
            spans.append(
                NameSpan(
                    offset: Int32(truncatingIfNeeded: names.count),
                    length: UInt16(truncatingIfNeeded: name.count), kind: kind, beginning: beginning))
            names.append(contentsOf: UnsafeRawBufferPointer(start: start, count: name.count + 1))
        }
        guard names.count <= Int32.max else {
            throw SystemError("readdir", directory.path, Errno(rawValue: EOVERFLOW))
        }
        names.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            spans.sort { left, right in
                if left.beginning != right.beginning { return left.beginning < right.beginning }
                // The NUL at the end of each name makes a prefix sort before the longer name.
                let rest = Int(min(left.length, right.length)) + 1 - 8
                return rest > 0
                    && memcmp(base + Int(left.offset) + 8, base + Int(right.offset) + 8, rest) < 0
            }
        }
        (self.names, self.spans) = (names, spans)
    }

    private static func forEachName(
        in directory: Directory, isFresh: Bool = false, _ body: (UnsafeRawBufferPointer, UInt8) -> Void
    ) throws(SystemError) {
        guard !directory.isJoined else {
            for name in directory.parts.keys { name.bytes.withUnsafeBytes { body($0, UInt8(DT_DIR)) } }
            return
        }
        try calling("getdents64", directory.path) { () throws(Errno) in
            try directory.withRawDescriptor { (descriptor) throws(Errno) in
                guard !isFresh else { return try read(descriptor, body) }
                // A separate open description, because the read position belongs to it.
                let own = FileDescriptor(
                    owning: try FileDescriptor.open(descriptor, ".", [.read, .directory]))
                try read(own.rawValue, body)
            }
        }
    }

    /// The offset of the name in `struct linux_dirent64`: inode and offset of eight bytes each, a length of two, a type
    /// of one.
    private static let nameOffset = 19

    /// Whether this is `.` or `..`.
    private static func isDot(_ name: UnsafeRawPointer, _ length: Int) -> Bool {
        let dot = UInt8(ascii: ".")
        guard length <= 2, name.load(as: UInt8.self) == dot else { return false }
        return length == 1 || name.load(fromByteOffset: 1, as: UInt8.self) == dot
    }

    private static func read(
        _ descriptor: Int32, _ body: (UnsafeRawBufferPointer, UInt8) -> Void
    ) throws(Errno) {
        let size = 32 * 1024
        let start = UnsafeMutableRawPointer.allocate(byteCount: size + 8, alignment: 8)
        defer { start.deallocate() }
        while true {
            let count = try retrying { getdents64(descriptor, start, size) }
            guard count > 0 else { return }
            var entry = UnsafeRawPointer(start)
            while entry < start + count {
                // The name ends at its NUL; the declared size of the C array is not the name's.
                let name = entry + nameOffset
                let length = strlen(name.assumingMemoryBound(to: CChar.self))
                let raw = entry.assumingMemoryBound(to: dirent64.self)
                if !isDot(name, length) {
                    body(UnsafeRawBufferPointer(start: name, count: length), raw.pointee.d_type)
                }
                entry += Int(raw.pointee.d_reclen)
            }
        }
    }
}
