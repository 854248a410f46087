import FileSystem

/// A pattern and its origin.
public struct FilterRule: Hashable, Sendable {
    /// The origin of a rule.
    public enum Source: Hashable, Sendable {
        /// The number of the option that gives patterns, from 1.
        case argument(Int)
        /// A line of a file, from 1. The path is as given; that of an ignore file is below the source's root.
        case file(path: [UInt8], line: Int)
    }

    /// The pattern in gitignore syntax, with a leading `!` if it includes.
    public let text: [UInt8]
    public let source: Source
    let pattern: IgnorePattern

    init(_ text: [UInt8], from source: Source) {
        self.text = text
        self.source = source
        pattern = IgnorePattern(text)
    }

    /// Whether matches are included even if an earlier rule excludes them.
    public var isInclude: Bool { pattern.isNegated }
    /// The pattern without a leading `!`.
    public var path: ArraySlice<UInt8> { isInclude ? text.dropFirst() : text[...] }
    /// False for a pattern that cannot match, such as one with an open bracket, or `./name`. The user should be warned.
    public var canMatch: Bool { pattern.canMatch }
}

extension FilterRule: CustomStringConvertible {
    /// The pattern for display.
    var shown: String { text.isEmpty ? "''" : escapedText(text) }

    /// For display: `*.o (src/.gitignore:3)`, `!keep.o (argument 2)`.
    public var description: String {
        switch source {
        case .argument(let number): "\(shown) (argument \(number))"
        case .file(let path, let line): "\(shown) (\(escapedText(path)):\(line))"
        }
    }
}
