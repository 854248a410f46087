import FileSystem

/// What of the history can go to make room.
struct PrunableHistory {
    var bytes: ByteCount = 0
    /// The newest steps, which must stay.
    var keptSteps = 0

    var command: String { "snapshot prune --keep-last \(keptSteps)" }
}
