import Glibc

/// Copies one open file into another. It clones if the file system shares blocks, else uses `copy_file_range`, else
/// reads and writes. Each method preserves holes.
///
/// It remembers the methods that the file systems lack. So use one copier for one pair of trees.
public struct FileCopier: ~Copyable {
    /// False once a clone has failed.
    public private(set) var canClone = true
    private var hasEverCloned = false
    private var canCopyRange = true
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 4096)

    /// `FICLONE` of `linux/fs.h`, which the Glibc module does not export.
    private static let fileClone: UInt = 0x4004_9409

    /// Makes an empty file share all the blocks of another.
    public static func clone(
        _ source: borrowing FileDescriptor, to target: borrowing FileDescriptor
    ) throws(Errno) {
        _ = try retrying { ioctl(target.rawValue, fileClone, source.rawValue) }
    }

    /// Whether the last copy was a clone, which has the content of the source at one instant.
    public private(set) var hasCloned = false

    /// Bytes between two checks of `isCancelled`.
    private let stretch: Int
    private let limit: RateLimit?

    /// Called with the number of bytes of each piece that was copied.
    public var advanced: (Int) -> Void = { _ in }

    /// - Parameter limit: the data rate. Clones are not limited.
    public init(limit: RateLimit? = nil) {
        self.limit = limit
        stretch = limit?.stretch ?? 64 << 20
    }

    deinit {
        buffer.deallocate()
    }

    /// Copies `size` bytes, or fewer if the source ends before. The caller checks by the source's status whether it
    /// changed meanwhile.
    ///
    /// - Parameters:
    ///   - target: empty, and positioned at its start.
    ///   - allocated: the bytes on disk. If they are fewer than `size`, the file has holes.
    ///   - keepsHoles: if false, holes are written as zeros.
    ///   - isCancelled: asked between pieces; true ends the copy with `cancelled`.
    /// - Returns: the size of the copy; for a clone the size of the source at that instant.
    public mutating func copy(
        _ source: borrowing FileDescriptor, to target: borrowing FileDescriptor, size: ByteCount,
        allocated: ByteCount, keepsHoles: Bool = true,
        isCancelled: () -> Bool = { false }
    ) throws(Errno) -> Int64 {
        let (copiesHoles, end) = (keepsHoles && allocated < size, size.rawCount)
        hasCloned = false
        if size > 0, canClone, keepsHoles || allocated >= size {
            do throws(Errno) {
                try FileCopier.clone(source, to: target)
                (hasCloned, hasEverCloned) = (true, true)
                return try target.status().size.rawCount
            } catch {
                // If a clone has worked before, only this file cannot be cloned. So it is with an active swap file.
                canClone = hasEverCloned || error == .textBusy
            }
        }
        guard copiesHoles else {
            return try copyData(source, to: target, from: 0, to: end, isCancelled)
        }
        var offset: Int64 = 0
        while let data = try source.data(after: offset, upTo: end) {
            offset = try copyData(source, to: target, from: data.lowerBound, to: data.upperBound, isCancelled)
            if offset < data.upperBound { return offset }
        }
        try target.truncate(to: end)
        return end
    }

    /// Copies a range and returns where it stopped: at `end` or at the end of the file.
    private mutating func copyData(
        _ source: borrowing FileDescriptor, to target: borrowing FileDescriptor, from start: Int64,
        to end: Int64,
        _ isCancelled: () -> Bool
    ) throws(Errno) -> Int64 {
        var (readOffset, writeOffset) = (Int(start), Int(start))
        // A piece that fits the buffer needs one read and one write, which is as few calls as any method.
        while canCopyRange, Int(end) - readOffset > buffer.count {
            if isCancelled() { throw .cancelled }
            let length = min(Int(end) - readOffset, stretch)
            do throws(Errno) {
                let count = try retrying {
                    copy_file_range(source.rawValue, &readOffset, target.rawValue, &writeOffset, length, 0)
                }
                // The end of the file, or a file system that returns 0 for a file with content (proc).
                if count == 0 { break }
                advanced(count)
                limit?.wait(for: count, isCancelled: isCancelled)
            } catch  where !FileCopier.writeErrors.contains(error) {
                // An attempt to read and write will show whether the file has the error, such as an active swap file.
                canCopyRange = !FileCopier.lacksCopyFileRange.contains(error)
                break
            }
        }
        while readOffset < end {
            if isCancelled() { throw .cancelled }
            let space = min(buffer.count, Int(end) - readOffset, stretch)
            let count = try source.read(into: .init(rebasing: buffer[..<space]), at: Int64(readOffset))
            if count == 0 { break }
            try target.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: Int64(readOffset))
            readOffset += count
            advanced(count)
            limit?.wait(for: count, isCancelled: isCancelled)
        }
        return Int64(readOffset)
    }

    /// Reading and writing would fail with the same error.
    private static let writeErrors: Set<Errno> = [
        .noSpace, .quotaExceeded, .fileTooLarge, .readOnlyFileSystem, .inputOutput,
    ]
    private static let lacksCopyFileRange: Set<Errno> = [
        .crossDevice, .invalid, .notSupported, .notImplemented, .notPermitted,
    ]
}
