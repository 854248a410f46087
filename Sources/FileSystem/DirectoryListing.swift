import Glibc

/// The entries of one directory, sorted by the bytes of their names, each with its status.
///
/// The names lie in one block of memory: a listing costs four allocations, however many entries it has.
package struct DirectoryListing: Sendable {
    private var names: [UInt8] = []
    private var entries: [Entry] = []

    private struct Entry: Sendable {
        var offset: Int32
        var length: Int32
        var status: FileStatus
    }

    package var count: Int { entries.count }

    package func status(at index: Int) -> FileStatus { entries[index].status }

    package func name(at index: Int) -> ArraySlice<UInt8> {
        let entry = entries[index]
        return names[Int(entry.offset)..<Int(entry.offset) + Int(entry.length)]
    }

    /// Only the names in a directory, in no order.
    package static func names(in directory: Directory) throws(SystemError) -> [FileName] {
        var found: [FileName] = []
        try DirectoryListing.forEachName(in: directory) { name in
            if let name = FileName(name) { found.append(name) }
        }
        return found
    }

    /// Reads a directory and the status of all that is in it. A name that vanishes in between is left out:
    /// it was not there.
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
        entries.reserveCapacity(spans.count)
        for span in spans {
            do {
                let status = try names.withUnsafeBufferPointer { (buffer) throws(Errno) in
                    let pointer = UnsafeRawPointer(buffer.baseAddress.unsafelyUnwrapped + Int(span.offset))
                    return try directory.status(of: pointer.assumingMemoryBound(to: CChar.self))
                }
                entries.append(Entry(offset: span.offset, length: span.length, status: status))
            } catch .noSuchFile {
                continue
            } catch {
                let name = names[Int(span.offset)..<Int(span.offset) + Int(span.length)]
                throw SystemError("statx", directory.path + [UInt8(ascii: "/")] + name, error)
            }
        }
        self.names = names
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
                let name = entry + (MemoryLayout<dirent64>.offset(of: \.d_name) ?? 0)
                let length = strlen(name.assumingMemoryBound(to: CChar.self))
                let bytes = UnsafeRawBufferPointer(start: name, count: length)
                if !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8) { body(bytes) }
                entry += Int(entry.assumingMemoryBound(to: dirent64.self).pointee.d_reclen)
            }
        }
    }
}
