import FileSystem

/// The entries that are mirrored: all that no filter excludes. Excluded entries are neither copied nor deleted.
///
/// - The patterns of `--exclude`, `--include` and `--exclude-from` form one list in the order given. They are relative
///   to the root of the tree, and the last match decides. `--include P` is the pattern `!P`.
/// - If no pattern of the list matches, the directories' own ignore files are used, if their name is set. The deepest
///   directory is first, like git's `.gitignore` after its command line.
/// - An excluded directory is not entered, so no entry below it can be included again.
/// - `excludesCaches` excludes the content of directories with a valid CACHEDIR.TAG, except the tag, as in tar.
/// - `excludesOtherFileSystems` excludes the content of mount points. In both cases, the directory itself is mirrored.
/// - Size limits apply to regular files, and no rule overrides them.
public struct Filters: Hashable, Sendable {
    /// The patterns of the command line.
    private(set) var list = FilterRules()
    /// The name of the ignore files; nil if there are none.
    package private(set) var ignoreFileName: FileName?
    public var excludesCaches = false
    public var excludesOtherFileSystems = false
    public var sizes = SizeLimits()
    private var argumentCount = 0

    public init() {}

    /// The rules of the command line, in order.
    public var rules: [FilterRule] { list.rules }

    /// Whether nothing is excluded.
    public var isEmpty: Bool {
        list.rules.isEmpty && ignoreFileName == nil && !excludesCaches && !excludesOtherFileSystems
            && sizes.isEmpty
    }

    /// Whether the decisions depend on the content of directories.
    var readDirectories: Bool { ignoreFileName != nil || excludesCaches || excludesOtherFileSystems }

    /// Whether the filters depend on more than paths. Then they may decide differently about the same path later.
    var dependOnTree: Bool {
        readDirectories || !sizes.isEmpty
    }

    /// Adds a pattern literally. As on git's command line, `#` and trailing spaces have no special meaning.
    public mutating func exclude(_ pattern: some Collection<UInt8>) {
        argumentCount += 1
        list.append(FilterRule(Array(pattern), from: .argument(argumentCount)))
    }

    /// Adds a pattern whose matches are included even if an earlier rule excludes them.
    public mutating func include(_ pattern: some Collection<UInt8>) {
        exclude([UInt8(ascii: "!")] + pattern)
    }

    /// Adds the patterns of a file in the syntax of `.gitignore`.
    ///
    /// - Parameter path: the name of the file in explanations.
    public mutating func exclude(from file: [UInt8], path: [UInt8]) {
        argumentCount += 1
        list.append(contentsOf: file, path: path)
    }

    /// Sets the name of the ignore files.
    ///
    /// - Returns: false for an invalid file name. Then nothing is changed.
    public mutating func setIgnoreFile(named name: some Collection<UInt8>) -> Bool {
        guard let name = FileName(name) else { return false }
        ignoreFileName = name
        return true
    }

    /// Whether other filters exclude at least as much as these. The other ones must have these patterns in this order.
    /// Between them, they may have only patterns that exclude more.
    func admit(_ other: Filters) -> Bool {
        let (own, all) = (rules.map(\.text), other.rules.map(\.text))
        let more = all.count - own.count
        guard more >= 0, ignoreFileName == nil || ignoreFileName == other.ignoreFileName,
            other.excludesCaches || !excludesCaches,
            other.excludesOtherFileSystems || !excludesOtherFileSystems,
            sizes.minimum.map({ $0 <= other.sizes.minimum ?? -1 }) ?? true,
            sizes.maximum.map({ $0 >= other.sizes.maximum ?? .max }) ?? true
        else { return false }
        let first = zip(own, all).prefix { $0 == $1 }.count
        let last = zip(own.reversed(), all.reversed()).prefix { $0 == $1 }.count
        guard first + last >= own.count else { return false }
        return (own.count - last...first).contains { start in
            !other.rules[start..<start + more].contains(where: \.isInclude)
        }
    }

    /// The filters without their origins. Two summaries are equal if the filters have the same patterns in the same
    /// order and the same limits. Such filters decide alike.
    public var summary: FilterSummary {
        var lines = rules.map { rule in
            rule.isInclude
                ? "--include=\(escapedText(rule.text.dropFirst()))" : "--exclude=\(escapedText(rule.text))"
        }
        if let ignoreFileName { lines.append("--ignore-file=\(escapedText(ignoreFileName.bytes))") }
        if excludesCaches { lines.append("--exclude-caches") }
        if excludesOtherFileSystems { lines.append("--one-file-system") }
        if let minimum = sizes.minimum { lines.append("--min-size=\(minimum)") }
        if let maximum = sizes.maximum { lines.append("--max-size=\(maximum)") }
        return FilterSummary(lines: lines)
    }

    /// The decision for one path, which need not exist.
    ///
    /// - Parameter reading: reads the filter data of a directory. It is called from the root down, and not below an
    ///   excluded directory.
    package func explain<Failure: Error>(
        _ path: RelativePath, type: FileType, size: ByteCount,
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
    /// The filters of a summary; nil if they depend on more than paths.
    init?(_ summary: FilterSummary) {
        self.init(reading: summary)
        guard !dependOnTree else { return nil }
    }

    /// The filters of a summary; nil if it has an unknown line.
    package init?(reading summary: FilterSummary) {
        self.init()
        for line in summary.lines {
            let parts = line.utf8.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? unescaped(parts[1]) : nil
            let size = value.flatMap { ByteCount(String(decoding: $0, as: UTF8.self)) }
            switch (String(parts[0]), value) {
            case ("--exclude", let pattern?): exclude(pattern)
            case ("--include", let pattern?): include(pattern)
            case ("--ignore-file", let name?): guard setIgnoreFile(named: name) else { return nil }
            case ("--exclude-caches", nil): excludesCaches = true
            case ("--one-file-system", nil): excludesOtherFileSystems = true
            case ("--min-size", _?) where size != nil: sizes.minimum = size
            case ("--max-size", _?) where size != nil: sizes.maximum = size
            default: return nil
            }
        }
    }

    /// Decides only by the path.
    func excludes(_ path: RelativePath, _ type: FileType) -> Bool {
        explain(path, type: type, size: 0) { _ in FilterDirectory() }.isExcluded
    }
}
