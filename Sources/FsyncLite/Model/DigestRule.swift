/// The files of a target for which each run records a digest.
public enum DigestRule: String, Sendable, CaseIterable {
    /// All files except those with large holes.
    case usual
    case all
}
