import FileSystem

/// A pattern, and where somebody wrote it down.
public struct FilterRule: Hashable, Sendable {
    /// Where a rule comes from.
    public enum Source: Hashable, Sendable {
        /// The so-manieth option that gives patterns, from 1.
        case argument(Int)
        /// A line, from 1, of a file: as it was named, or below the root of the source for a directory's own.
        case file(path: [UInt8], line: Int)
    }

    /// The pattern as gitignore has it, with `!` in front where it includes.
    public let text: [UInt8]
    public let source: Source
    let pattern: IgnorePattern

    init(_ text: [UInt8], from source: Source) {
        self.text = text
        self.source = source
        pattern = IgnorePattern(text)
    }

    /// What matches is included, though an earlier rule excludes it.
    public var isInclude: Bool { pattern.isNegated }
    /// False for a pattern that nothing can match, such as one with an open bracket: worth a warning.
    public var canMatch: Bool { pattern.canMatch }
}

extension FilterRule: CustomStringConvertible {
    /// For people: `*.o (src/.gitignore:3)`, `!keep.o (argument 2)`.
    public var description: String {
        switch source {
        case .argument(let number): "\(escapedText(text)) (argument \(number))"
        case .file(let path, let line): "\(escapedText(text)) (\(escapedText(path)):\(line))"
        }
    }
}
