import Glibc

/// The entries of one directory, sorted by the bytes of their names, and the statuses of some thousand of them: a
/// directory may hold millions.
///
/// The names lie in one block of memory: a listing costs four allocations, however many entries it has.
package struct DirectoryListing: Sendable {
    private var names: [UInt8] = []
    private var spans: [(offset: Int32, length: Int32)] = []
    /// Those from the entry `first` on; nil for a name that has vanished.
    private var statuses: [FileStatus?] = []
    private var first = 0

    /// Statuses that are held at a time, 150 bytes each.
    private static let window = 4096

    package var count: Int { spans.count }

    package func name(at index: Int) -> ArraySlice<UInt8> {
        let span = spans[index]
        return names[Int(span.offset)..<Int(span.offset) + Int(span.length)]
    }

    /// Whether `load` has reached an entry and not yet left it behind.
    package func holds(_ index: Int) -> Bool { index >= first && index - first < statuses.count }

    /// The status of an entry that is held; nil where its name has vanished since the names were read: it was not
    /// there.
    package func status(at index: Int) -> FileStatus? { statuses[index - first] }

    /// Takes in the statuses from an entry on, in place of those before.
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

    /// Only the names in a directory, in no order.
    package static func names(in directory: Directory) throws(SystemError) -> [FileName] {
        var found: [FileName] = []
        try forEachName(in: directory) { name in
            if let name = FileName(name) { found.append(name) }
        }
        return found
    }

    /// Reads the names in a directory, and the first statuses.
    ///
    /// - Parameter isFresh: it was opened just now for this, so its own position serves.
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
                // The NUL at the end of each name makes the shorter of two equal beginnings come first.
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
                // A descriptor of its own: the position in a directory belongs to the open description.
                let own = FileDescriptor(
                    owning: try FileDescriptor.open(descriptor, ".", [.read, .directory]))
                try read(own.rawValue, body)
            }
        }
    }

    /// Where the name begins in what the kernel gives of an entry, `struct linux_dirent64`: after inode and offset of
    /// eight bytes each, a length of two, and a type of one.
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
                // The C array's declared size is not the name's: go by the NUL.
                let name = entry + nameOffset
                let length = strlen(name.assumingMemoryBound(to: CChar.self))
                let bytes = UnsafeRawBufferPointer(start: name, count: length)
                if !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8) { body(bytes) }
                entry += Int(entry.assumingMemoryBound(to: dirent64.self).pointee.d_reclen)
            }
        }
    }
}
