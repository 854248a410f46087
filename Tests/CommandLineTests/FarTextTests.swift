import FileSystem
import Testing

@testable import fsync_lite

/// The output of another machine must not reach a terminal as a control.
struct FarTextTests {
    private func clean(_ pieces: String...) -> String {
        var text = FarText()
        return String(decoding: pieces.flatMap { text.clean(Array($0.utf8)[...]) }, as: UTF8.self)
    }

    @Test func whatThisProgramWritesStays() {
        let own = "+ a  1 B\n\u{1B}[32m+ ä\u{1B}[0m\n\r\u{1B}[Kscanning 3 %  \u{A0}\u{0}"
        #expect(clean(own) == own)
        #expect(clean("\u{1B}", "[3", "2m", "x") == "\u{1B}[32mx")
        // A character in two pieces, and the beginning of a control that is none.
        var text = FarText()
        let pieces: [[UInt8]] = [[0x61, 0xE2, 0x82], [0xAC, 0x1B], [0x5B], [0x35, 0x6D]]
        let bytes = pieces.flatMap { text.clean($0[...]) }
        #expect(String(decoding: bytes, as: UTF8.self) == "a\u{20AC}\\x1B[5m")
    }

    @Test(arguments: [
        "\u{1B}]0;title\u{7}", "\u{1B}[2J", "\u{1B}c", "\u{8}\u{8}", "\u{9B}31m", "\u{1B}[200~",
        "\u{1B}\u{1B}[2J",
        "\u{1B}[31\u{7}m", "\u{1B}P1$r\u{1B}\\", "\u{1B}[8m", "\u{1B}[7;31m", "\u{9C}", "\u{202E}txt.exe",
    ])
    func othersAreEscaped(text: String) {
        let cleaned = clean(text)
        #expect(
            !cleaned.unicodeScalars.contains {
                $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.properties.isBidiControl
            }, "\(cleaned)")
        #expect(clean(text.map(String.init).joined()) == cleaned)
    }

    /// Some terminals treat the bytes 0x80 to 0x9F as controls.
    @Test func bytesThatAreNoTextAreEscaped() {
        var text = FarText()
        let bytes = (UInt8(0x80)...0x9F).flatMap { text.clean([0x61, $0, 0x62]) }
        #expect(bytes.allSatisfy { $0 < 0x80 })
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("a\\x80ba\\x81b"))
    }

    @Test func aNameThatIsShownHereIsShownTheSameFromThere() {
        var text = FarText()
        for scalar in (1...0x2FFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init) {
            let name = Array("a\(Character(scalar))b".utf8)
            // These may be in a line of output.
            guard ![0xA, 0xD, 0x5C].contains(scalar.value) else { continue }
            #expect(
                String(decoding: text.clean(name[...]), as: UTF8.self) == escapedText(name), "\(scalar.value)"
            )
        }
    }
}
