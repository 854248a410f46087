import TestSupport

/// One document to try. It is made from its number alone, so it can be made again.
struct Input {
    let bytes: [UInt8]
    /// Whether the document must be accepted, must be refused, or either.
    let expectation: Expectation

    enum Expectation {
        case taken, refused, either
    }

    init(_ kind: DocumentKind, seed: UInt64, number: Int) {
        var random = Input.generator(kind, seed, number)
        switch number % 32 {
        case 0:
            bytes = kind.make(&random)
            expectation = .taken
        case 16:
            // One document, cut at every 64 bytes in turn.
            var fixed = Input.generator(kind, seed, -1 - number / 6400)
            let document = kind.make(&fixed)
            let length = 64 * (number / 32 % (document.count / 64 + 1))
            let isSealed = random.oneIn(2)
            bytes = Mutation.cut(document, to: length, kind, sealing: isSealed)
            expectation = kind.isSealed && bytes != document ? .refused : .either
        default:
            let document = kind.make(&random)
            bytes = Mutation.of(document, kind, &random)
            expectation = .either
        }
    }

    private static func generator(_ kind: DocumentKind, _ seed: UInt64, _ number: Int) -> SplitMix64 {
        var mixed = seed
        for byte in kind.name.utf8 { mixed = (mixed ^ UInt64(byte)) &* 0x100_0000_01B3 }
        var mixer = SplitMix64(seed: mixed ^ UInt64(bitPattern: Int64(number)) &* 0x9E37_79B9)
        return SplitMix64(seed: mixer.next())
    }
}
