import TestSupport
import Testing

@testable import FsyncLite

/// Code that looks at eight bytes at a time agrees with code that looks at each byte.
struct EightBytesTests {
    private var random = SplitMix64(seed: 3)

    private mutating func bytes(_ count: Int, of alphabet: [UInt8]) -> [UInt8] {
        (0..<count).map { _ in alphabet[Int.random(in: alphabet.indices, using: &random)] }
    }

    @Test mutating func findsAndCounts() {
        let alphabet: [UInt8] = [0, 1, 0x2E, 0x2F, 0x30, 0x61, 0x7F, 0x80, 0xAF, 0xFF]
        for _ in 0..<3000 {
            let text = bytes(Int.random(in: 0...40, using: &random), of: alphabet)
            let start = Int.random(in: 0...text.count, using: &random)
            text.withUnsafeBytes { text in
                let first = text[start...].firstIndex { $0 == 0x2F || $0 == 0 } ?? text.count
                #expect(firstByte(0x2F, or: 0, in: text, from: start) == first)
                #expect(count(0x2F, in: text, from: start) == text[start...].count { $0 == 0x2F })
            }
        }
    }

    @Test mutating func readsDigits() {
        let alphabet = Array("0123456789".utf8)
        let others: [UInt8] = [0, 0x2F, 0x3A, 0x2D, 0x54, 0x7F, 0x80, 0xB0, 0xB9, 0xFF]
        for _ in 0..<3000 {
            var text = bytes(8, of: alphabet)
            let digits = Int.random(in: 0...8, using: &random)
            if digits < 8 {
                text.replaceSubrange(
                    digits..., with: bytes(1, of: others) + bytes(7 - digits, of: alphabet + others))
            }
            let word = text.withUnsafeBufferPointer { DecimalWord($0.baseAddress.unsafelyUnwrapped) }
            #expect(word.isDecimal == (digits == 8))
            #expect(word.leadingDigits == digits)
            #expect(word.leadingNumber == Int64(String(decoding: text[..<digits], as: UTF8.self)) ?? 0)
        }
    }

    @Test mutating func readsDigitsBetweenSeparators() {
        for _ in 0..<3000 {
            var text = Array("20-11-22T".utf8.prefix(8))
            let index = Int.random(in: 0..<8, using: &random)
            text[index] = UInt8.random(in: .min ... .max, using: &random)
            let isRight =
                index == 2 || index == 5
                ? text[index] == UInt8(ascii: "-")
                : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index])
            let word = text.withUnsafeBufferPointer {
                DecimalWord($0.baseAddress.unsafelyUnwrapped, between: "00-00-00")
            }
            #expect(word.isDecimal == isRight)
            if isRight { #expect(word.pair(at: 3) == Int64(String(decoding: text[3..<5], as: UTF8.self))) }
        }
    }
}
