import Glibc

/// The names in one directory, sorted by their bytes. They share one block of memory: a listing costs two allocations for
/// any number of entries.
package struct DirectoryListing: Sendable {
    private let names: [UInt8]
    private let spans: [(offset: Int32, length: Int32)]

    package var count: Int { spans.count }

    package func name(at index: Int) -> ArraySlice<UInt8> {
        let span = spans[index]
        return names[Int(span.offset)..<Int(span.offset) + Int(span.length)]
    }

    /// The statuses of some entries, 150 bytes each; nil for a name that has vanished since the names were read.
    package func statuses(
        _ range: Range<Int>, in directory: Directory
    ) throws(SystemError) -> [FileStatus?] {
        var statuses: [FileStatus?] = []
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
                throw SystemError("statx", directory.path + [UInt8(ascii: "/")] + name(at: entry), error)
            }
        }
        return statuses
    }

    /// The names in a directory, unsorted.
    package static func names(in directory: Directory) throws(SystemError) -> [FileName] {
        var found: [FileName] = []
        try forEachName(in: directory) { name in
            if let name = FileName(name) { found.append(name) }
        }
        return found
    }

    /// Reads the names in a directory.
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
    }

    private static func forEachName(
        in directory: Directory, isFresh: Bool = false, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) {
        guard !directory.isJoined else {
            for name in directory.parts.keys { name.bytes.withUnsafeBytes(body) }
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
