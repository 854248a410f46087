import Glibc

/// Copies what an open file holds into another: by clone where the file system shares blocks, by
/// `copy_file_range`, and else by reading and writing. Holes stay holes on every rung.
package enum FileCopy {
    /// `FICLONE` of `linux/fs.h`, which the Glibc module does not show.
    private static let clone: UInt = 0x4004_9409

    /// Returns the number of bytes that the new file holds: where the source shrank or grew meanwhile, that
    /// is not what its status said. The caller looks at the source again and decides.
    package static func copy(
        _ source: borrowing FileDescriptor, to target: borrowing FileDescriptor, size: Int64, allocated: Int64
    ) throws(Errno) -> Int64 {
        if size > 0, ioctl(target.rawValue, clone, source.rawValue) == 0 {
            return try target.status().size
        }
        // Only a file with fewer blocks than bytes can have holes worth asking for.
        guard allocated < size else { return try copyData(source, to: target, from: 0, to: .max) }
        var offset: Int64 = 0
        while let data = try seek(source, offset, SEEK_DATA) {
            let hole = try seek(source, data, SEEK_HOLE) ?? size
            let end = try copyData(source, to: target, from: data, to: hole)
            offset = max(end, data + 1)
            if end < hole { break }
        }
        let end = try source.status().size
        try target.truncate(to: end)
        return end
    }

    /// The next data or hole at or after an offset; nil when there is none.
    private static func seek(
        _ source: borrowing FileDescriptor, _ offset: Int64, _ whence: Int32
    ) throws(Errno) -> Int64? {
        do throws(Errno) {
            return Int64(try retrying { lseek(source.rawValue, Int(offset), whence) })
        } catch .noSuchDevice {
            return nil
        }
    }

    /// Copies a stretch, at most up to `end`, and returns where it stopped: 0 bytes is the end of the file.
    private static func copyData(
        _ source: borrowing FileDescriptor, to target: borrowing FileDescriptor, from start: Int64, to end: Int64
    ) throws(Errno) -> Int64 {
        var (readOffset, writeOffset) = (Int(start), Int(start))
        while readOffset < end {
            let length = min(Int(end) - readOffset, 1 << 30)
            let count: Int
            do throws(Errno) {
                count = try retrying {
                    copy_file_range(source.rawValue, &readOffset, target.rawValue, &writeOffset, length, 0)
                }
            } catch where lacksCopyFileRange.contains(error) {
                count = 0
            }
            // Nothing copied is the end of the file, or a file system that cannot (proc says 0 for a file
            // that does have content): reading tells which.
            if count == 0 { return try readAndWrite(source, to: target, Int64(readOffset), end) }
        }
        return Int64(readOffset)
    }

    private static let lacksCopyFileRange: Set<Errno> = [
        .crossDevice, .invalid, .notSupported, .notImplemented, .notPermitted,
    ]

    private static func readAndWrite(
        _ source: borrowing FileDescriptor, to target: borrowing FileDescriptor, _ start: Int64, _ end: Int64
    ) throws(Errno) -> Int64 {
        var offset = start
        try target.seek(to: start)
        // Whatever `body` throws is an `Errno`; the allocation function cannot say so.
        var failure: Errno?
        withUnsafeTemporaryAllocation(byteCount: 256 * 1024, alignment: 4096) { buffer in
            do throws(Errno) {
                while offset < end {
                    let room = Int(min(Int64(buffer.count), end - offset))
                    let count = try source.read(into: .init(rebasing: buffer[..<room]), at: offset)
                    if count == 0 { return }
                    try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    offset += Int64(count)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return offset
    }
}
