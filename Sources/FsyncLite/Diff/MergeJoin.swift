/// The merge-join of two ordered streams: a step for each path that either of them has.
struct MergeJoin<Left: EntryStream, Right: EntryStream> {
    private let left: Left
    private let right: Right
    private var hasLeft = true
    private var hasRight = true
    /// Which of the streams have the present path.
    private(set) var side = MergeSide.both

    init(_ left: Left, _ right: Right) {
        (self.left, self.right) = (left, right)
    }

    /// Steps to the next path; false after the last.
    mutating func advance() throws -> Bool {
        if hasLeft, side != .right { hasLeft = try left.advance() }
        if hasRight, side != .left { hasRight = try right.advance() }
        guard hasLeft, hasRight else {
            side = hasLeft ? .left : .right
            return hasLeft || hasRight
        }
        let order = left.order(comparedTo: right)
        side = order < 0 ? .left : order > 0 ? .right : .both
        return true
    }

    var path: RelativePath { side == .right ? right.path : left.path }
}

enum MergeSide {
    case left, right, both
}
