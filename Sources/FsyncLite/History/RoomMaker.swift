import FileStorage
import FileSystem

/// Removes parts of the history to make room for an apply, and remembers their names.
struct RoomMaker {
    /// nil if nothing may be removed.
    private let need: RoomNeed?
    /// What may be removed; nil for anything.
    private let allowed: Set<String>?
    private(set) var gone: [String] = []

    /// - Parameter allowed: what may be removed, by a saved plan.
    init(_ need: RoomNeed?, allowed: [String]?) {
        (self.need, self.allowed) = (need, allowed.map(Set.init))
    }

    /// Before anything is staged: removes parts until there is enough room.
    mutating func make(in root: TargetRoot) throws {
        guard let need, let room = Room(root) else { return }
        while true {
            let info = try Room.info(root)
            guard !need.shortage(info).isOver else { return }
            let names = try room.give(allowed)
            gone += names
            guard !names.isEmpty else {
                let (needed, free) = Amount.bytes(need.bytes, over: info.availableBytes)
                throw SyncError(
                    .failed, path: root.path,
                    "\(needed) are needed and \(free) are free, "
                        + "and nothing more of the history gives way", errno: Errno.noSpace.rawValue)
            }
        }
    }

    /// After an error before the journal: removes one more part if the disk or a quota is full.
    ///
    /// - Returns: whether something was removed, and the caller can try again.
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
