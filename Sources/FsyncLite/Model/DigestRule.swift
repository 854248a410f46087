/// The files of a target that get a digest by each run.
public enum DigestRule: String, Sendable, CaseIterable {
    /// All but those with large holes.
    case usual
    case all
}
