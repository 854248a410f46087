import TestSupport
import Testing

@testable import FsyncLite

struct ChecksumTests {
    /// From the algorithm's specification and from `xxhsum -H64`.
    @Test(arguments: [
        ("", "ef46db3751d8e999"), ("a", "d24ec4f1a98c6e5b"), ("abc", "44bc2cf5ad770999"),
        ("Nobody inspects the spammish repetition", "fbcea83c8a378bf1"),
    ])
    func isXXH64(_ text: String, _ digits: String) {
        var checksum = Checksum()
        checksum.update(Array(text.utf8)[...])
        #expect(checksum.text == "xxh64:" + digits)
    }

    /// From the self-test of the xxHash project.
    @Test func aSeedMakesAnother() {
        #expect(Checksum(seed: 2_654_435_761).text == "xxh64:ac75fda2929b17ef")
        var checksums: Set<UInt64> = []
        for seed: UInt64 in 0..<4 {
            var checksum = Checksum(seed: seed)
            checksum.update([UInt8](repeating: 7, count: 64)[...])
            checksums.insert(checksum.value)
        }
        #expect(checksums.count == 4)
    }

    @Test func isTheSameForWhateverPieces() {
        var random = SplitMix64(seed: 2)
        let bytes = (0..<1000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        for length in [0, 1, 3, 4, 7, 8, 31, 32, 33, 63, 64, 65, 1000] {
            var whole = Checksum()
            whole.update(bytes[..<length])
            for _ in 0..<100 {
                var pieces = Checksum()
                var rest = bytes[..<length]
                while !rest.isEmpty {
                    let piece = rest.prefix(
                        Int.random(in: 0...random.next().nonzeroBitCount * 2, using: &random))
                    pieces.update(piece)
                    // Asking for the value in between changes nothing.
                    if random.oneIn(4) { _ = pieces.value }
                    rest = rest.dropFirst(piece.count)
                }
                #expect(pieces.value == whole.value, "length \(length)")
            }
        }
    }

    @Test func leadingZerosStay() {
        for number in 0..<3000 {
            var checksum = Checksum()
            checksum.update(Array(String(number).utf8)[...])
            guard checksum.text.utf8.count != 22 else { continue }
            Issue.record("\(number): \(checksum.text)")
        }
    }
}
