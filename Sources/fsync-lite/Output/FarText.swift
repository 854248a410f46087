import FileSystem

/// What another machine writes, made harmless for a terminal: text, line feeds, the colours that this program has, and
/// the controls of its line of progress stay. The rest is escaped as in a name of this machine.
struct FarText {
    /// Controls that this program writes.
    private static let controls =
        (["K"] + ([0] + ActionText.colours).map { "\($0)m" }).map { Array("\u{1B}[\($0)".utf8) }
    /// A list may be separated by NUL.
    private static let passed: [UInt8] = [0, UInt8(ascii: "\n"), UInt8(ascii: "\r")]

    /// The beginning of a control, or of a character, of which the rest has not come.
    private var pending: [UInt8] = []

    mutating func clean(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var rest = (pending + bytes)[...]
        pending = []
        var clean: [UInt8] = []
        clean.reserveCapacity(rest.count)
        while let first = rest.first {
            if FarText.passed.contains(first) {
                clean.append(rest.removeFirst())
            } else if let control = FarText.controls.first(where: { rest.starts(with: $0) }) {
                clean += control
                rest = rest.dropFirst(control.count)
            } else if FarText.controls.contains(where: { $0.starts(with: rest) }) {
                break
            } else {
                // At least the first byte, which may be an ESC that begins nothing known.
                let text =
                    rest.prefix(1) + rest.dropFirst().prefix { !FarText.passed.contains($0) && $0 != 0x1B }
                let whole = text.dropLast(text.endIndex == rest.endIndex ? FarText.unfinished(text) : 0)
                if whole.isEmpty { break }
                clean += escapedText(whole, doublingBackslash: false).utf8
                rest = rest[whole.endIndex...]
            }
        }
        pending = Array(rest)
        return clean
    }

    /// So many bytes at the end are the beginning of a character.
    private static func unfinished(_ text: ArraySlice<UInt8>) -> Int {
        let tail = text.suffix(3)
        guard let lead = tail.lastIndex(where: { $0 & 0xC0 != 0x80 }), tail[lead] >= 0xC2 else { return 0 }
        let length = tail[lead] < 0xE0 ? 2 : tail[lead] < 0xF0 ? 3 : tail[lead] < 0xF5 ? 4 : 1
        return tail.endIndex - lead < length ? tail.endIndex - lead : 0
    }
}
