import FileSystem

struct RoomNeed {
    /// The bytes that a commit reserves besides those for its names.
    static let leastReserve: ByteCount = 65_536

    var bytes: ByteCount
    var inodes: Int64

    func shortage(_ info: FileSystemInfo) -> Shortage {
        Shortage(
            bytes: bytes - info.availableBytes + (bytes > 0 ? info.missingReserve : 0),
            inodes: info.availableInodes.map { inodes - $0 } ?? 0)
    }
}

/// The room that an apply needs beyond what is free.
struct Shortage {
    var bytes: ByteCount
    var inodes: Int64

    var isOver: Bool { bytes == 0 && inodes <= 0 }
}
