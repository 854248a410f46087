import Glibc

/// The entries of one directory, sorted by the bytes of their names. A directory may hold millions, so the statuses of
/// only some thousands are kept at a time.
///
/// The names share one block of memory: a listing costs four allocations for any number of entries.
package struct DirectoryListing: Sendable {
    private var names: [UInt8] = []
    private var spans: [(offset: Int32, length: Int32)] = []
    /// The statuses from the entry `first` on; nil for a name that has vanished.
    private var statuses: [FileStatus?] = []
    private var first = 0

    /// The number of statuses held at a time, 150 bytes each.
    private static let window = 4096

    package var count: Int { spans.count }

    package func name(at index: Int) -> ArraySlice<UInt8> {
        let span = spans[index]
        return names[Int(span.offset)..<Int(span.offset) + Int(span.length)]
    }

    /// Whether the status of an entry is loaded.
    package func holds(_ index: Int) -> Bool { index >= first && index - first < statuses.count }

    /// The status of a loaded entry; nil if its name has vanished since the names were read.
    package func status(at index: Int) -> FileStatus? { statuses[index - first] }

    /// Loads the statuses from an entry on and drops the earlier ones.
    package mutating func load(from index: Int, in directory: Directory) throws(SystemError) {
        first = index
        statuses.removeAll(keepingCapacity: true)
        let end = min(index + DirectoryListing.window, count)
        statuses.reserveCapacity(end - index)
        for entry in index..<end {
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
                throw SystemError("statx", directory.path + [UInt8(ascii: "/")] + name(at: entry), error)
            }
        }
    }

    /// The names in a directory, unsorted.
    package static func names(in directory: Directory) throws(SystemError) -> [FileName] {
        var found: [FileName] = []
        try forEachName(in: directory) { name in
            if let name = FileName(name) { found.append(name) }
        }
        return found
    }

    /// Reads the names in a directory, and the first statuses.
    ///
    /// - Parameter isFresh: the directory was just opened for this, so its own read position can be used.
    package init(of directory: Directory, isFresh: Bool = false) throws(SystemError) {
        var names: [UInt8] = []
        var spans: [(offset: Int32, length: Int32)] = []
        try DirectoryListing.forEachName(in: directory, isFresh: isFresh) { name in
            spans.append((Int32(truncatingIfNeeded: names.count), Int32(truncatingIfNeeded: name.count)))
            names.append(contentsOf: name)
            names.append(0)
        }
        guard names.count <= Int32.max else {
            throw SystemError("readdir", directory.path, Errno(rawValue: EOVERFLOW))
        }
        names.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            spans.sort { left, right in
                // The NUL at the end of each name makes a prefix sort before the longer name.
                memcmp(
                    base + Int(left.offset), base + Int(right.offset),
                    Int(min(left.length, right.length)) + 1) < 0
            }
        }
        (self.names, self.spans) = (names, spans)
        try load(from: 0, in: directory)
    }

    private static func forEachName(
        in directory: Directory, isFresh: Bool = false, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) {
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

    private static func read(
        _ descriptor: Int32, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(Errno) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 * 1024, alignment: 8)
        defer { buffer.deallocate() }
        guard let start = buffer.baseAddress else { return }
        while true {
            let count = try retrying { getdents64(descriptor, start, buffer.count) }
            guard count > 0 else { return }
            var entry = UnsafeRawPointer(start)
            while entry < start + count {
                // The name ends at its NUL; the declared size of the C array is not the name's.
                let name = entry + nameOffset
                let length = strlen(name.assumingMemoryBound(to: CChar.self))
                let bytes = UnsafeRawBufferPointer(start: name, count: length)
                if !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8) { body(bytes) }
                entry += Int(entry.assumingMemoryBound(to: dirent64.self).pointee.d_reclen)
            }
        }
    }
}
