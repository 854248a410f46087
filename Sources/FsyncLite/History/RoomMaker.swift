import FileStorage
import FileSystem

/// Has the history give way to an apply, and remembers what went.
struct RoomMaker {
    /// nil where nothing may go.
    private let need: RoomNeed?
    /// What may go; nil for anything.
    private let allowed: Set<String>?
    private(set) var gone: [String] = []

    /// - Parameter allowed: all that may go, where a saved plan says so.
    init(_ need: RoomNeed?, allowed: [String]?) {
        (self.need, self.allowed) = (need, allowed.map(Set.init))
    }

    /// Before anything is staged: until there is enough.
    mutating func make(in root: TargetRoot) throws {
        guard let need, let room = Room(root) else { return }
        while true {
            let info = try Room.info(root)
            guard !need.shortage(info).isOver else { return }
            let names = try room.give(allowed)
            gone += names
            guard !names.isEmpty else {
                throw SyncError(
                    .failed, path: root.path,
                    "\(need.bytes) bytes are needed and \(info.availableBytes) are free, "
                        + "and nothing more of the history gives way", errno: Errno.noSpace.rawValue)
            }
        }
    }

    /// After an error before the journal: one part more, where the disk or a quota is full.
    ///
    /// - Returns: whether something went, and it may be tried again.
    mutating func makeMore(in root: TargetRoot, after error: any Error) throws -> Bool {
        guard need != nil, let room = Room(root), RoomMaker.isFull(error),
            try root.state?.hasJournal() == false
        else { return false }
        let names = try room.give(allowed)
        gone += names
        return !names.isEmpty
    }

    private static func isFull(_ error: any Error) -> Bool {
        let number: Int32? =
            switch error {
            case let error as SystemError: error.errno.rawValue
            case let error as SyncError: error.errno
            default: nil
            }
        return number == Errno.noSpace.rawValue || number == Errno.quotaExceeded.rawValue
    }
}
