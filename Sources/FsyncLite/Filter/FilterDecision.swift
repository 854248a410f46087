/// Whether an entry takes part, and why.
public struct FilterDecision: Hashable, Sendable {
    /// What decided.
    public enum Cause: Hashable, Sendable {
        case rule(FilterRule)
        /// It is in a directory with a valid CACHEDIR.TAG.
        case cacheDirectory
        /// It is in a directory where another file system is mounted.
        case otherFileSystem
        case belowMinimumSize(Int64)
        case aboveMaximumSize(Int64)
    }

    /// Neither copied nor deleted.
    public let isExcluded: Bool
    /// nil where nothing matched, and the entry is included for that.
    public let cause: Cause?
    /// The directory for which it was decided, with all that is in it; nil when it was for the entry itself.
    public let directory: RelativePath?

    init(isExcluded: Bool, cause: Cause?, directory: RelativePath? = nil) {
        self.isExcluded = isExcluded
        self.cause = cause
        self.directory = directory
    }

    static let includedByDefault = FilterDecision(isExcluded: false, cause: nil)
}

extension FilterDecision: CustomStringConvertible {
    /// For people: `excluded by *.o (src/.gitignore:3)`.
    public var description: String {
        let verdict = isExcluded ? "excluded" : "included"
        let location = directory.map(\.description) ?? "its directory"
        return switch cause {
        case .rule(let rule): "\(verdict) by \(rule)\(directory.map { " with the directory \($0)" } ?? "")"
        case .cacheDirectory: "\(verdict): \(location) is a cache directory"
        case .otherFileSystem: "\(verdict): \(location) is on another file system"
        case .belowMinimumSize(let limit): "\(verdict): smaller than \(limit) bytes"
        case .aboveMaximumSize(let limit): "\(verdict): larger than \(limit) bytes"
        case nil: "\(verdict): no rule matches"
        }
    }
}
