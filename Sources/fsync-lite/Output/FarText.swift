import FileSystem

/// Makes the output of another machine safe for a terminal. Text, line feeds, this program's colours and the
/// controls of its progress line pass unchanged. The rest is escaped like a file name.
struct FarText {
    /// The controls that this program writes.
    private static let controls =
        (["K"] + ([0] + ActionText.colours).map { "\($0)m" }).map { Array("\u{1B}[\($0)".utf8) }
    /// NUL may separate the names of a list.
    private static let passed: [UInt8] = [0, UInt8(ascii: "\n"), UInt8(ascii: "\r")]

    /// The beginning of a control or a character whose rest has not come.
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
                // Take at least the first byte: it may be an ESC that begins no known control.
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

    /// The number of bytes at the end that begin a character.
    private static func unfinished(_ text: ArraySlice<UInt8>) -> Int {
        let tail = text.suffix(3)
        guard let lead = tail.lastIndex(where: { $0 & 0xC0 != 0x80 }), tail[lead] >= 0xC2 else { return 0 }
        let length = tail[lead] < 0xE0 ? 2 : tail[lead] < 0xF0 ? 3 : tail[lead] < 0xF5 ? 4 : 1
        return tail.endIndex - lead < length ? tail.endIndex - lead : 0
    }
}
