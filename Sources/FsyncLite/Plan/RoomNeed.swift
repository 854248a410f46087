import FileSystem

struct RoomNeed {
    var bytes: Int64
    var inodes: Int64

    func shortage(_ facts: FileSystemInfo) -> Shortage {
        Shortage(
            bytes: bytes - facts.availableBytes + (bytes > 0 ? facts.missingReserve : 0),
            inodes: facts.availableInodes.map { inodes - $0 } ?? 0)
    }
}

/// The room that an apply needs beyond what is free.
struct Shortage {
    var bytes: Int64
    var inodes: Int64

    var isOver: Bool { bytes <= 0 && inodes <= 0 }
}
