import FileSystem

/// The space that a run needs in the file system of its target.
struct SpaceNeed {
    /// The bytes that a commit reserves in addition to those for its names.
    static let leastReserve: ByteCount = 65_536

    var bytes: ByteCount
    var inodes: Int64

    func shortage(_ info: FileSystemInfo) -> Shortage {
        Shortage(
            bytes: bytes - info.availableBytes + (bytes > 0 ? info.missingReserve : 0),
            inodes: info.availableInodes.map { inodes - $0 } ?? 0)
    }

    /// The needed and the free objects, in words; if enough are free, the bytes.
    func text(_ info: FileSystemInfo) -> String {
        if let free = info.availableInodes, inodes > free {
            return "\(inodes) inodes are needed and \(free) are free"
        }
        let (needed, free) = Amount.bytes(bytes, over: info.availableBytes)
        return "\(needed) are needed and \(free) are free"
    }
}

/// The space that a run needs beyond the free space.
struct Shortage {
    var bytes: ByteCount
    var inodes: Int64

    var isOver: Bool { bytes == 0 && inodes <= 0 }
}
