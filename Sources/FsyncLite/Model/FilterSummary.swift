/// The filters of a run as lines of text, in order, for a manifest: the equivalent options, escaped if they are not
/// printable.
public struct FilterSummary: Sendable {
    public let lines: [String]

    public init(lines: [String]) {
        self.lines = lines
    }
}

extension FilterSummary: Hashable {
    /// By bytes: in `String`, composed and decomposed letters are equal, and two patterns would be one.
    public static func == (left: FilterSummary, right: FilterSummary) -> Bool {
        left.lines.elementsEqual(right.lines) { $0.utf8.elementsEqual($1.utf8) }
    }

    public func hash(into hasher: inout Hasher) {
        for line in lines { hasher.combine(Array(line.utf8)) }
    }
}
