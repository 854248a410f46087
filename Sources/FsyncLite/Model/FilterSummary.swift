/// The filters of a run as lines of text for a manifest, in order. The lines are the equivalent options, escaped if
/// they are not printable.
public struct FilterSummary: Sendable {
    public let lines: [String]

    public init(lines: [String]) {
        self.lines = lines
    }
}

extension FilterSummary: Hashable {
    /// Compares bytes. In `String`, composed and decomposed letters are equal, so two patterns would become one.
    public static func == (left: FilterSummary, right: FilterSummary) -> Bool {
        left.lines.elementsEqual(right.lines) { $0.utf8.elementsEqual($1.utf8) }
    }

    public func hash(into hasher: inout Hasher) {
        for line in lines { hasher.combine(Array(line.utf8)) }
    }
}
