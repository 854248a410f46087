import TestSupport
import Testing

@testable import FsyncLite

struct PackedNumbersTests {
    /// Over several chunks, with numbers of every length.
    @Test func numbersComeBack() {
        var random = SplitMix64(seed: 1)
        let values =
            [0, -1, 1, 63, 64, -64, -65, .max, .min]
            + (0..<100_000).map { _ in Int64(bitPattern: random.next()) >> Int64(random.next() % 64) }
        var numbers = PackedNumbers()
        for value in values { numbers.append(value) }
        var cursor = PackedNumbers.Cursor(numbers)
        #expect(values.allSatisfy { cursor.next() == $0 })
        #expect(cursor.next() == nil)
    }
}
