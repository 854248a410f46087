import FileSystem
import TestSupport
import Testing

struct EscapedTextTests {
    @Test(arguments: [
        ("plain é 日本 👩‍👧", "plain é 日本 👩‍👧"), ("a\nb\tc", "a\\nb\\tc"), ("\u{1B}[31m\r", "\\x1B[31m\\x0D"),
        ("C:\\n", "C:\\\\n"), ("\u{7F}\u{85}", "\\x7F\\xC2\\x85"), ("a\u{202E}b", "a\\xE2\\x80\\xAEb"),
    ])
    func controlCharactersAreEscaped(_ text: String, _ escaped: String) {
        #expect(escapedText(text.utf8) == escaped)
    }

    @Test(
        arguments: [
            ([0x61, 0xFF, 0x62], "a\\xFFb"), ([0xE2, 0x82], "\\xE2\\x82"),
            ([0xC0, 0xAF, 0x61], "\\xC0\\xAFa"),
            ([0xED, 0xA0, 0x80], "\\xED\\xA0\\x80"), ([0xE2, 0x82, 0xAC, 0x0A, 0x80], "€\\n\\x80"),
        ] as [([UInt8], String)])
    func invalidUTF8IsEscapedByteByByte(_ bytes: [UInt8], _ escaped: String) {
        #expect(escapedText(bytes) == escaped)
        #expect(escapedText(([0x2F] + bytes)[1...]) == escaped)
    }

    @Test func itIsReadBack() {
        var random = SplitMix64(seed: 7)
        let odd = Array("\\\n\t\u{1B}é€x".utf8) + [0xFF, 0xC0, 0x80]
        for _ in 0..<1_000 {
            let bytes = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                odd.randomElement(using: &random)!
            }
            #expect(unescaped(escapedText(bytes).utf8) == bytes)
        }
        for text in ["a\\", "\\q", "\\x1", "\\xZZ", "\\x+1"] {
            #expect(unescaped(text.utf8) == nil, "\(text)")
        }
    }
}
