import Glibc

extension FileDescriptor {
    /// `FS_IOC_FIEMAP` of `linux/fs.h`, which the Glibc module does not export. `struct fiemap` of `linux/fiemap.h` has
    /// 32 bytes, each `struct fiemap_extent` after it 56.
    private static let fileMap: UInt = 0xC020_660B

    private struct ExtentFlags: OptionSet {
        let rawValue: UInt32
        static let last = ExtentFlags(rawValue: 0x1)
        /// The position or length on disk is unknown: `UNKNOWN`, `DELALLOC`, `ENCODED`, `DATA_ENCRYPTED`,
        /// `NOT_ALIGNED`, `DATA_INLINE`, `DATA_TAIL`.
        static let vague = ExtentFlags(rawValue: 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400)
        static let shared = ExtentFlags(rawValue: 0x2000)
    }

    /// The bytes on disk that deleting this file certainly frees; 0 if another file shares any of them.
    ///
    /// - Throws: `notSupported` if the file system does not report extents.
    public func exclusiveBytes() throws(Errno) -> ByteCount {
        let capacity = 128
        let size = 32 + capacity * 56
        let map = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        defer { map.deallocate() }
        var (bytes, start): (ByteCount, UInt64) = (0, 0)
        while true {
            map.initializeMemory(as: UInt8.self, repeating: 0, count: size)
            map.storeBytes(of: start, toByteOffset: 0, as: UInt64.self)
            map.storeBytes(of: UInt64.max - start, toByteOffset: 8, as: UInt64.self)
            // FIEMAP_FLAG_SYNC
            map.storeBytes(of: 1, toByteOffset: 16, as: UInt32.self)
            map.storeBytes(of: UInt32(capacity), toByteOffset: 24, as: UInt32.self)
            _ = try retrying { ioctl(rawValue, FileDescriptor.fileMap, map) }
            let count = min(Int(map.load(fromByteOffset: 20, as: UInt32.self)), capacity)
            if count == 0 { return bytes }
            for offset in (0..<count).map({ 32 + $0 * 56 }) {
                let length = map.load(fromByteOffset: offset + 16, as: UInt64.self)
                let flags = ExtentFlags(rawValue: map.load(fromByteOffset: offset + 40, as: UInt32.self))
                if flags.contains(.shared) { return 0 }
                if flags.isDisjoint(with: .vague) { bytes += ByteCount(clamping: length) }
                start = map.load(fromByteOffset: offset, as: UInt64.self) &+ length
                if flags.contains(.last) { return bytes }
            }
        }
    }
}
