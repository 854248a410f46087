import Testing

@testable import fsync_lite

/// What another machine writes must not reach a terminal as a control.
struct FarTextTests {
    private func clean(_ pieces: String...) -> String {
        var text = FarText()
        return String(decoding: pieces.flatMap { text.clean(Array($0.utf8)[...]) }, as: UTF8.self)
    }

    @Test func whatThisProgramWritesStays() {
        let own = "+ a  1 B\n\u{1B}[32m+ ä\u{1B}[0m\n\r\u{1B}[Kscanning 3 %  \u{A0}\u{0}"
        #expect(clean(own) == own)
        #expect(clean("\u{1B}", "[3", "2m", "x") == "\u{1B}[32mx")
    }

    @Test(arguments: [
        "\u{1B}]0;title\u{7}", "\u{1B}[2J", "\u{1B}c", "\u{8}\u{8}", "\u{9B}31m", "\u{1B}[200~",
        "\u{1B}\u{1B}[2J",
        "\u{1B}[31\u{7}m", "\u{1B}P1$r\u{1B}\\",
    ])
    func othersAreEscaped(text: String) {
        let cleaned = clean(text)
        #expect(
            !cleaned.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) },
            "\(cleaned)")
        #expect(clean(text.map(String.init).joined()) == cleaned)
    }
}
