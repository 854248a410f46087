import FileSystem

/// Filters as lines of text, in order, for a manifest: the options that would make them, escaped where they are no
/// printable text.
public struct FilterSummary: Sendable {
    public let lines: [String]

    public init(lines: [String]) {
        self.lines = lines
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

extension FilterSummary: Hashable {
    /// By bytes: to `String`, composed and decomposed letters are equal, and two patterns one.
    public static func == (left: FilterSummary, right: FilterSummary) -> Bool {
        left.lines.elementsEqual(right.lines) { $0.utf8.elementsEqual($1.utf8) }
    }

    public func hash(into hasher: inout Hasher) {
        for line in lines { hasher.combine(Array(line.utf8)) }
    }
}
