import FileSystem

/// Whether an entry is excluded, and why.
public struct FilterDecision: Hashable, Sendable {
    /// The cause of a decision.
    public enum Cause: Hashable, Sendable {
        case rule(FilterRule)
        /// It is, or is in, what has the name of the state in a root.
        case reservedName
        /// It is in a directory with a valid CACHEDIR.TAG.
        case cacheDirectory
        /// It is in a directory where another file system is mounted.
        case otherFileSystem
        case belowMinimumSize(ByteCount)
        case aboveMaximumSize(ByteCount)
    }

    /// Neither copied nor deleted.
    public let isExcluded: Bool
    /// nil if nothing matched; the entry is then included.
    public let cause: Cause?
    /// The excluded directory that contains the entry; nil if the decision is about the entry itself.
    public let directory: RelativePath?

    init(isExcluded: Bool, cause: Cause?, directory: RelativePath? = nil) {
        self.isExcluded = isExcluded
        self.cause = cause
        self.directory = directory
    }

    static let includedByDefault = FilterDecision(isExcluded: false, cause: nil)

    /// The decision about the name of the state in a root, and what is in it; nil for any other path.
    ///
    /// - Parameter isJoined: the source is several directories, and each is a root, too.
    static func reserved(_ path: RelativePath, isJoined: Bool) -> FilterDecision? {
        let roots = path.components.prefix(isJoined ? 2 : 1)
        guard roots.contains(where: { $0.elementsEqual(FileName.state.bytes) }) else { return nil }
        return FilterDecision(isExcluded: true, cause: .reservedName)
    }
}

extension FilterDecision: CustomStringConvertible {
    /// For display: `excluded by *.o (src/.gitignore:3)`.
    public var description: String {
        let verdict = isExcluded ? "excluded" : "included"
        let location = directory.map(\.description) ?? "its directory"
        return switch cause {
        case .rule(let rule): "\(verdict) by \(rule)\(directory.map { " with the directory \($0)" } ?? "")"
        case .reservedName: "\(verdict): the name \(FileName.state) is reserved, and takes no part"
        case .cacheDirectory: "\(verdict): \(location) is a cache directory"
        case .otherFileSystem: "\(verdict): \(location) is on another file system"
        case .belowMinimumSize(let limit): "\(verdict): smaller than \(Amount.bytes(limit))"
        case .aboveMaximumSize(let limit): "\(verdict): larger than \(Amount.bytes(limit))"
        case nil: "\(verdict): no rule matches"
        }
    }
}
