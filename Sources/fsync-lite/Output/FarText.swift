import FileSystem

/// What another machine writes, made harmless for a terminal: line feeds, colours and the controls of a line of progress
/// stay, and other control characters are escaped.
struct FarText {
    private enum State {
        case plain
        /// After ESC, and what has come since.
        case escape([UInt8])
        /// After the first byte of two that may be a control character (U+0080 to U+009F).
        case lead
    }

    private var state = State.plain

    mutating func clean(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var clean: [UInt8] = []
        clean.reserveCapacity(bytes.count)
        for byte in bytes {
            switch state {
            case .plain: take(byte, &clean)
            case .lead:
                state = .plain
                if (0x80...0x9F).contains(byte) {
                    clean += escapedText([0xC2, byte]).utf8
                } else {
                    clean.append(0xC2)
                    take(byte, &clean)
                }
            case .escape(let begun): takeEscape(byte, after: begun, &clean)
            }
        }
        return clean
    }

    private mutating func take(_ byte: UInt8, _ clean: inout [UInt8]) {
        switch byte {
        case 0x1B: state = .escape([])
        case 0xC2: state = .lead
        // A list may be separated by NUL.
        case 0, UInt8(ascii: "\n"), UInt8(ascii: "\r"), 0x20...0x7E, 0x80...: clean.append(byte)
        default: clean += escapedText([byte]).utf8
        }
    }

    /// `ESC [ digits m` and `ESC [ K` are what this program writes.
    private mutating func takeEscape(_ byte: UInt8, after begun: [UInt8], _ clean: inout [UInt8]) {
        let digits = UInt8(ascii: "0")...UInt8(ascii: ";")
        let isInside = begun.isEmpty ? byte == UInt8(ascii: "[") : digits.contains(byte) && begun.count < 16
        if isInside {
            state = .escape(begun + [byte])
            return
        }
        state = .plain
        let isColour = begun.first == UInt8(ascii: "[") && byte == UInt8(ascii: "m")
        if isColour || begun == [UInt8(ascii: "[")] && byte == UInt8(ascii: "K") {
            clean += [0x1B] + begun + [byte]
        } else {
            clean += escapedText([0x1B] + begun).utf8
            take(byte, &clean)
        }
    }
}
