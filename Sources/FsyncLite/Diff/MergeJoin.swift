/// The merge-join of two ordered streams, with one step for each path in either of them. It is itself such a stream, so
/// two joins merge three streams.
struct MergeJoin<Left: PathStream, Right: PathStream>: PathStream {
    private(set) var left: Left
    private var right: Right
    private var hasLeft = true
    private var hasRight = true
    /// Which of the streams have the present path.
    private(set) var side = MergeSide.both

    init(_ left: Left, _ right: Right) {
        (self.left, self.right) = (left, right)
    }

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

    func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        side == .right ? right.withPathBytes(body) : left.withPathBytes(body)
    }
}

enum MergeSide {
    case left, right, both
}
