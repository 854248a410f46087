import FileStorage
import FileSystem

/// What of the history can go to make room.
struct PrunableHistory {
    var bytes: ByteCount = 0
    /// The newest steps, which must stay.
    var keptSteps = 0

    init() {}

    init(_ state: StateDirectory, keeping keptSteps: Int) throws {
        let history = try History(state)
        self.keptSteps = keptSteps
        bytes = try history.steps.dropFirst(keptSteps).map { try history.bytesHeld($0) }.sum()
    }

    var command: String { "snapshot prune --keep-last \(keptSteps)" }
}
