import FileSystem
import Foundation
import Testing

@Suite("Numbers from outside stop at the ends of their ranges")
struct ByteCountTests {
    @Test func sumsAndProductsStopAtTheHighest() {
        let half = ByteCount(clamping: Int64.max / 2 + 1)
        #expect(half + half == .max && [half, half, half].sum() == .max)
        #expect(ByteCount.max + 1 == .max && ByteCount.max * 2 == .max)
        #expect(half * 3 == .max && half * UInt64.max == .max)
        var sum: ByteCount = 7
        sum += .max
        #expect(sum == .max)
        #expect((3 as ByteCount) + 4 == 7 && (3 as ByteCount) * 4 == 12)
    }

    @Test func nothingIsBelowZero() {
        #expect((3 as ByteCount) - 4 == 0 && (0 as ByteCount) - .max == 0 && ByteCount.max - 1 < .max)
        #expect(ByteCount(clamping: -1) == 0 && ByteCount(clamping: UInt64.max) == .max)
        #expect(ByteCount(exactly: -1) == nil && ByteCount(exactly: 0) == 0)
        #expect((5 as ByteCount) * -1 == 0)
    }

    @Test func aSumBelowZeroInADocumentHadWrapped() throws {
        let counts = try JSONDecoder().decode(
            [ByteCount].self, from: Data("[-2, 0, 9223372036854775807]".utf8))
        #expect(counts == [.max, 0, .max])
        #expect(
            String(decoding: try JSONEncoder().encode(counts), as: UTF8.self).contains("9223372036854775807"))
    }

    @Test func rateOfAnythingIsANumber() {
        #expect(ByteCount.max.per(0.6) > 1_000_000_000_000 && (10 as ByteCount).per(2) == 5)
    }

    @Test func timesStopAtTheirEnds() {
        let (first, last) = (
            FileTime(seconds: .min, nanoseconds: 0), FileTime(seconds: .max, nanoseconds: 999_999_999)
        )
        #expect(last.advanced(bySeconds: 1) == last && first.advanced(bySeconds: -1) == first)
        #expect(last.seconds(since: first) == .max && first.seconds(since: last) == .min)
        #expect(last.milliseconds(since: first) == .max && first.milliseconds(since: last) == .min)
        let time = FileTime(seconds: 10, nanoseconds: 500_000_000)
        #expect(time.milliseconds(since: FileTime(seconds: 8, nanoseconds: 750_000_000)) == 1750)
        #expect(time.advanced(bySeconds: -3) == FileTime(seconds: 7, nanoseconds: 500_000_000))
    }

    @Test func uptimesStopAtTheirEnds() {
        func clock(_ uptime: Int64, _ boot: String = "a") -> KernelClock {
            KernelClock(boot: boot, uptime: uptime)
        }
        #expect(clock(.max).milliseconds(since: clock(.min)) == .max)
        #expect(clock(.min).milliseconds(since: clock(.max)) == .min)
        #expect(
            clock(5).milliseconds(since: clock(3)) == 2 && clock(5).milliseconds(since: clock(3, "b")) == nil)
    }
}
