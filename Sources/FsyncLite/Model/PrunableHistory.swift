import FileSystem

/// The part of the history that can be removed to make space.
struct PrunableHistory {
    var bytes: ByteCount = 0
    /// The number of newest snapshots that must not be removed.
    var neededSteps = 0

    var command: String { "snapshot prune --keep-last \(neededSteps)" }
}
