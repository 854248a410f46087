/// The Damerau-Levenshtein distance of two spellings: insertions, deletions, substitutions and swaps of
/// neighbouring bytes. No byte is edited twice.
enum EditDistance {
    static func between(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...to.count)
        for row in from.indices {
            var current = [row + 1]
            for column in to.indices {
                let substitution = previous[column] + (from[row] == to[column] ? 0 : 1)
                var best = min(substitution, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, from[row] == to[column - 1], from[row - 1] == to[column] {
                    best = min(best, beforePrevious[column - 1] + 1)
                }
                current.append(best)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[to.count]
    }

    /// The candidate nearest to the typed word. It is nil if none begins with the word or is near. Near is
    /// one edit per three bytes, and at most three edits. The first of equally near candidates wins. Leading
    /// dashes and the case of letters are ignored.
    static func closest(to typed: some Collection<UInt8>, among candidates: [String]) -> String? {
        let typed = withoutDashes(typed)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let spelling = withoutDashes(candidate.utf8)
            let limit = min(3, max(typed.count, spelling.count) / 3)
            // If the lengths differ by more than the limit, no table is needed, however long the input.
            guard abs(typed.count - spelling.count) <= limit else { continue }
            let distance = between(typed, spelling)
            if distance <= limit, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        if let best { return best.candidate }
        return typed.count < 2 ? nil : candidates.first { withoutDashes($0.utf8).starts(with: typed) }
    }

    /// A hint with the nearest candidate; nil if none is near.
    static func suggestion(for typed: some Collection<UInt8>, among candidates: [String]) -> String? {
        closest(to: typed, among: candidates).map { "did you mean '\($0)'?" }
    }

    private static func withoutDashes(_ spelling: some Collection<UInt8>) -> [UInt8] {
        let upperCase = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return spelling.drop { $0 == UInt8(ascii: "-") }.map { upperCase.contains($0) ? $0 | 0x20 : $0 }
    }
}
