/// From which list an item is, and its index there, in four bytes: at most sixteen lists, of 250 million elements.
struct OriginAndIndex<Origin: RawRepresentable & Sendable>: Sendable where Origin.RawValue == UInt32 {
    private let code: UInt32
    private static var shift: UInt32 { 28 }

    init(_ origin: Origin, _ index: Int) {
        precondition(index >> Self.shift == 0)
        code = origin.rawValue << Self.shift | UInt32(index)
    }

    var origin: Origin {
        guard let origin = Origin(rawValue: code >> Self.shift) else {
            preconditionFailure("an origin that was not given")
        }
        return origin
    }

    var index: Int { Int(code & (1 << Self.shift - 1)) }
}
