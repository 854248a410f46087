import FileStorage
import FileSystem

/// Removes parts of the history to make space for a run, and remembers their names.
struct SpaceMaker {
    private let need: SpaceNeed?
    private let removesWhenFull: Bool
    private let neededSteps: Int
    /// The names that may be removed; nil for any.
    private let allowed: Set<String>?
    /// The free space before the stage.
    private var info: FileSystemInfo?
    private(set) var gone: [String] = []

    /// - Parameters:
    ///   - neededSteps: the newest steps of the history that the run needs.
    ///   - removesWhenFull: parts may be removed.
    ///   - allowed: the names that may be removed, by a saved plan.
    init(_ need: SpaceNeed?, neededSteps: Int, removesWhenFull: Bool, allowed: [String]?) {
        (self.need, self.neededSteps) = (need, neededSteps)
        (self.removesWhenFull, self.allowed) = (removesWhenFull, allowed.map(Set.init))
    }

    /// Before the stage: removes parts until there is enough space.
    mutating func make(in root: TargetRoot) throws {
        info = try HistorySpace.info(root)
        guard removesWhenFull, let need, let space = HistorySpace(root) else { return }
        while true {
            let info = try HistorySpace.info(root)
            guard !need.shortage(info).isOver else { return }
            let names = try space.give(allowed)
            gone += names
            guard !names.isEmpty else {
                throw SyncError(
                    .failed, path: root.path,
                    "\(need.text(info)), and no more snapshots can be removed", errno: Errno.noSpace.rawValue)
            }
        }
    }

    /// After an error before the journal: removes one more part if the disk or a quota is full.
    ///
    /// - Returns: whether a part was removed, and the caller can try again.
    mutating func makeMore(in root: TargetRoot, after error: any Error) throws -> Bool {
        guard removesWhenFull, need != nil, let space = HistorySpace(root),
            SpaceMaker.isFull(SyncError(wrapping: error)),
            try root.state?.hasJournal() == false
        else { return false }
        let names = try space.give(allowed)
        gone += names
        return !names.isEmpty
    }

    /// The error with the needed and the free space, if the disk or a quota was full.
    func explained(_ error: SyncError, in root: TargetRoot) -> SyncError {
        guard SpaceMaker.isFull(error), let need, let info else { return error }
        // If the history cannot be looked at, the message does not mention it.
        let prunable =
            root.state.flatMap { try? PrunableHistory($0, keeping: neededSteps) } ?? PrunableHistory()
        return SyncError(
            error.code, path: error.path,
            "\(error.message); \(need.text(info)) in the target, or less if there is a quota"
                + (prunable.bytes > 0
                    ? "; \(prunable.command) frees \(Amount.bytes(prunable.bytes)) of the history" : ""),
            errno: error.errno)
    }

    private static func isFull(_ error: SyncError) -> Bool {
        error.errno == Errno.noSpace.rawValue || error.errno == Errno.quotaExceeded.rawValue
    }
}

extension PrunableHistory {
    /// - Parameter shortage: no more snapshots are removed than it needs; nil for all.
    init(_ state: StateDirectory, keeping neededSteps: Int, for shortage: Shortage? = nil) throws {
        let history = try History(state)
        // Measured together, because a file may have a name in each of two steps.
        func bytes(keeping count: Int) throws -> ByteCount {
            try history.measure(Set(history.steps.dropFirst(count).flatMap(\.directories)))
        }
        if let shortage, shortage.inodes <= 0 {
            var (count, freed) = (history.steps.count, 0 as ByteCount)
            while count > neededSteps, freed < shortage.bytes {
                count -= 1
                freed += try history.bytesStored(history.steps[count])
            }
            (self.neededSteps, self.bytes) = (count, try bytes(keeping: count))
            if self.bytes >= shortage.bytes { return }
        }
        (self.neededSteps, self.bytes) = (neededSteps, try bytes(keeping: neededSteps))
    }
}
