import FileSystem

/// What takes part in a mirror: everything that no filter excludes. What is excluded is neither copied nor
/// deleted.
///
/// - The patterns of `--exclude`, `--include` and `--exclude-from` form one list in the order given, relative to
///   the root of the tree; the last that matches decides. `--include P` is the pattern `!P`.
/// - A directory's own file of patterns, where a name for such files is given, is asked when none of that list
///   matches, as git asks `.gitignore` after its command line; the deepest directory first.
/// - A directory that is excluded is not entered: nothing below can be included again.
/// - `excludesCaches` leaves out what is in a directory with a valid CACHEDIR.TAG, and `staysOnFileSystem` what is
///   in a directory where something is mounted; the directory itself stays, and so does the tag, as with tar.
/// - The limits of size hold for regular files, and no rule lifts them.
public struct Filters: Hashable, Sendable {
    /// The patterns of the command line.
    private(set) var list = FilterRules()
    /// What the file of patterns is called that counts in each directory; nil for none.
    package private(set) var ignoreFileName: FileName?
    public var excludesCaches = false
    public var staysOnFileSystem = false
    public var sizes = SizeLimits()
    private var argumentCount = 0

    public init() {}

    /// The rules of the list, in order.
    public var rules: [FilterRule] { list.rules }

    /// With no filter there is nothing to ask.
    public var isEmpty: Bool {
        list.rules.isEmpty && ignoreFileName == nil && !excludesCaches && !staysOnFileSystem && sizes.isEmpty
    }

    /// The same filters may take in another path tomorrow: they ask for more than paths.
    var dependOnTree: Bool {
        ignoreFileName != nil || excludesCaches || staysOnFileSystem || !sizes.isEmpty
    }

    /// Adds a pattern as it is: `#` and spaces at the end stand for themselves, as on git's command line.
    public mutating func exclude(_ pattern: some Collection<UInt8>) {
        argumentCount += 1
        list.append(FilterRule(Array(pattern), from: .argument(argumentCount)))
    }

    /// Adds a pattern whose matches are included, though an earlier rule excludes them.
    public mutating func include(_ pattern: some Collection<UInt8>) {
        exclude([UInt8(ascii: "!")] + pattern)
    }

    /// Adds the patterns of a file, written as in a `.gitignore`.
    ///
    /// - Parameter path: what the file is called in explanations.
    public mutating func exclude(from file: [UInt8], path: [UInt8]) {
        argumentCount += 1
        list.append(contentsOf: file, path: path)
    }

    /// Makes the file of this name, in each directory, a list of patterns for what is in it.
    ///
    /// - Returns: false when no file can have the name; then nothing has changed.
    public mutating func setIgnoreFile(named name: some Collection<UInt8>) -> Bool {
        guard let name = FileName(name) else { return false }
        ignoreFileName = name
        return true
    }

    /// What the filters say, whoever wrote it down where: equal for filters that always decide alike because they
    /// have the same patterns in the same order and the same limits.
    public var summary: FilterSummary {
        var lines = rules.map { rule in
            rule.isInclude
                ? "--include=\(escapedText(rule.text.dropFirst()))" : "--exclude=\(escapedText(rule.text))"
        }
        if let ignoreFileName { lines.append("--ignore-file=\(escapedText(ignoreFileName.bytes))") }
        if excludesCaches { lines.append("--exclude-caches") }
        if staysOnFileSystem { lines.append("--one-file-system") }
        if let minimum = sizes.minimum { lines.append("--min-size=\(minimum)") }
        if let maximum = sizes.maximum { lines.append("--max-size=\(maximum)") }
        return FilterSummary(lines: lines)
    }

    /// Decides about one path, whether or not there is such an entry.
    ///
    /// - Parameter reading: what the directory at a path says, asked from the root down and not below one that is
    ///   excluded.
    package func explain<Failure: Error>(
        _ path: RelativePath, type: FileType, size: Int64,
        reading: (RelativePath) throws(Failure) -> FilterDirectory
    ) throws(Failure) -> FilterDecision {
        guard !path.isRoot else { return .includedByDefault }
        var scope = FilterScope(self, root: try reading(.root))
        try scope.move(toParentOf: path, reading: reading)
        let decision = scope.decision(path, isDirectory: type == .directory)
        if !decision.isExcluded, let cause = sizes.exclusion(of: type, size: size) {
            return FilterDecision(isExcluded: true, cause: cause)
        }
        return decision
    }
}

extension Filters {
    /// The filters that a summary is of; nil where they ask for more than paths.
    init?(_ summary: FilterSummary) {
        self.init()
        for line in summary.lines {
            let parts = line.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, let pattern = unescaped(parts[1]) else { return nil }
            switch String(parts[0]) {
            case "--exclude": exclude(pattern)
            case "--include": include(pattern)
            default: return nil
            }
        }
    }

    /// Decides by the path alone.
    func excludes(_ path: RelativePath, _ type: FileType) -> Bool {
        explain(path, type: type, size: 0) { _ in FilterDirectory() }.isExcluded
    }
}
