import TestSupport
import Testing

@testable import FileSystem

struct SHA256Tests {
    static func digits(_ value: SHA256.Value) -> String {
        [value.first, value.second, value.third, value.fourth].map {
            let digits = String($0, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    private static func digits(_ bytes: [UInt8], accelerated: Bool) -> String {
        var hash = SHA256(accelerated: accelerated)
        hash.update(bytes)
        return digits(hash.finish())
    }

    /// From NIST's examples for FIPS 180-4.
    @Test(
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
                "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
            ),
        ], [true, false])
    func isTheStandards(_ example: (text: String, digits: String), accelerated: Bool) {
        #expect(Self.digits(Array(example.text.utf8), accelerated: accelerated) == example.digits)
    }

    @Test func isTheSameForWhateverPieces() {
        var random = SplitMix64(seed: 3)
        let bytes = (0..<1000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        for length in [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1000] {
            let whole = Self.digits(Array(bytes[..<length]), accelerated: false)
            for _ in 0..<30 {
                var pieces = SHA256()
                var rest = bytes[..<length]
                while !rest.isEmpty {
                    let piece = rest.prefix(Int.random(in: 0...150, using: &random))
                    pieces.update(Array(piece))
                    rest = rest.dropFirst(piece.count)
                }
                #expect(Self.digits(pieces.finish()) == whole, "length \(length)")
            }
        }
    }
}
