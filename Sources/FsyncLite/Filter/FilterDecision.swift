import FileSystem

/// Whether an entry is excluded, and why.
public struct FilterDecision: Hashable, Sendable {
    /// The cause of a decision.
    public enum Cause: Hashable, Sendable {
        case rule(FilterRule)
        /// It has the name of the state in a root, or is inside such an entry.
        case reservedName
        /// It is in a directory with a valid CACHEDIR.TAG.
        case cacheDirectory
        /// It is below the mount point of another file system.
        case otherFileSystem
        case belowMinimumSize(ByteCount)
        case aboveMaximumSize(ByteCount)
    }

    /// An excluded entry is neither copied nor deleted.
    public let isExcluded: Bool
    /// nil if nothing matched. Then the entry is included.
    public let cause: Cause?
    /// The excluded directory that contains the entry; nil if the decision is about the entry itself.
    public let directory: RelativePath?

    init(isExcluded: Bool, cause: Cause?, directory: RelativePath? = nil) {
        self.isExcluded = isExcluded
        self.cause = cause
        self.directory = directory
    }

    static let includedByDefault = FilterDecision(isExcluded: false, cause: nil)

    /// The decision about an entry with the name of the state in a root, and about its content; nil for any other path.
    ///
    /// - Parameter isJoined: the source consists of several directories, and each of them is a root, too.
    static func reserved(_ path: RelativePath, isJoined: Bool) -> FilterDecision? {
        let roots = path.components.prefix(isJoined ? 2 : 1)
        guard roots.contains(where: { $0.elementsEqual(FileName.state.bytes) }) else { return nil }
        return FilterDecision(isExcluded: true, cause: .reservedName)
    }
}

extension FilterDecision: CustomStringConvertible {
    /// For display: `src/.gitignore:3 excludes it: *.o`.
    public var description: String {
        let location = directory.map(\.description) ?? "its directory"
        switch cause {
        case .rule(let rule):
            let what =
                "\(isExcluded ? "excludes" : "includes") \(directory.map { "the directory \($0)" } ?? "it")"
            return switch rule.source {
            case .argument: "the pattern \(rule.shown) \(what)"
            case .file(let path, let line): "\(escapedText(path)):\(line) \(what): \(rule.shown)"
            }
        case .reservedName: return "the name \(FileName.state) is reserved, and is always left out"
        case .cacheDirectory: return "\(location) is a cache directory, and --exclude-caches is on"
        case .otherFileSystem: return "\(location) is on another file system, and --one-file-system is on"
        case .belowMinimumSize(let limit): return "it is smaller than \(Amount.bytes(limit)), the --min-size"
        case .aboveMaximumSize(let limit): return "it is larger than \(Amount.bytes(limit)), the --max-size"
        case nil: return "no pattern excludes it"
        }
    }
}
