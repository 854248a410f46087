/// Entries of the source that need a new object, in order: those created, and those that replace another object. Four
/// bytes stand for each.
struct ArrivingList: RandomAccessCollection, Sendable {
    private let created: EntryList
    private let matches: MatchList
    /// Indices of `created`, or with the highest bit of `matches`.
    private var codes: [UInt32] = []
    private static let ofMatch: UInt32 = 1 << 31

    init() {
        (created, matches) = ([], [])
    }

    init(_ difference: Difference) {
        (created, matches) = (difference.created, difference.matches)
        // A constant, which the closures need not copy.
        let list = self
        let replacing = list.matches.indices.lazy.filter { list.matches.head(at: $0).replacesContent }
        var codes: [UInt32] = []
        codes.reserveCapacity(created.count + replacing.count)
        codes += created.indices.lazy.map { UInt32($0) }
        codes += replacing.map { UInt32($0) | ArrivingList.ofMatch }
        let isSorted = codes.indices.dropFirst().allSatisfy { list.order(codes[$0 - 1], codes[$0]) < 0 }
        if !isSorted { codes.sort { list.order($0, $1) < 0 } }
        self.codes = codes
    }

    private static func parts(_ code: UInt32) -> (isOfMatch: Bool, index: Int) {
        (code & ofMatch != 0, Int(code & ~ofMatch))
    }

    private func order(_ left: UInt32, _ right: UInt32) -> Int {
        let ((isLeftOfMatch, index), (isRightOfMatch, other)) = (
            ArrivingList.parts(left), ArrivingList.parts(right)
        )
        return switch (isLeftOfMatch, isRightOfMatch) {
        case (true, true): matches.order(index, comparedTo: other)
        case (false, false): created.order(index, comparedTo: other)
        case (true, false): matches.order(index, comparedTo: created.path(at: other))
        case (false, true): created.order(index, comparedTo: matches.path(at: other))
        }
    }

    var startIndex: Int { 0 }
    var endIndex: Int { codes.count }

    subscript(position: Int) -> File {
        let (isOfMatch, index) = ArrivingList.parts(codes[position])
        return isOfMatch ? matches[index].source : created[index].file
    }

    func path(at position: Int) -> RelativePath {
        let (isOfMatch, index) = ArrivingList.parts(codes[position])
        return isOfMatch ? matches.path(at: index) : created.path(at: index)
    }

    func isDirectory(at position: Int) -> Bool {
        let (isOfMatch, index) = ArrivingList.parts(codes[position])
        return isOfMatch ? matches.head(at: index).isDirectory : created.isDirectory(at: index)
    }

    /// The target's file that an entry replaces; nil for one that is created, or replaces another kind of object.
    func replaced(at position: Int) -> File? {
        let (isOfMatch, index) = ArrivingList.parts(codes[position])
        guard isOfMatch else { return nil }
        let target = matches[index].target
        return target.isFile ? target : nil
    }

    /// Keeps the entries of these positions.
    mutating func keep(_ isKept: (Int) -> Bool) {
        let kept = codes.indices.filter(isKept)
        if kept.count < codes.count { codes = kept.map { codes[$0] } }
    }
}
