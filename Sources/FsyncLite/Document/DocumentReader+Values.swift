import FileSystem
import FoundationEssentials

/// Reads JSON tokens. No token spans lines.
extension DocumentReader {
    /// Reads an array within a line. `body` reads one element.
    package mutating func array(_ body: (inout DocumentReader) throws -> Void) throws {
        try expect("[")
        if take("]") { return }
        repeat { try body(&self) } while take(",")
        try expect("]")
    }

    /// Skips the given key if it is next.
    package mutating func key(_ name: StaticString) throws -> Bool {
        let start = position
        guard peek == UInt8(ascii: "\"") else { return false }
        if isEqual(try rawKey(), name) { return true }
        position = start
        return false
    }

    func isEqual(_ key: ArraySlice<UInt8>, _ name: StaticString) -> Bool {
        key.count == name.utf8CodeUnitCount && name.withUTF8Buffer { $0.elementsEqual(key) }
    }

    /// Reads a key without unescaping, because our own keys have no escapes.
    package mutating func rawKey() throws -> ArraySlice<UInt8> {
        try expect("\"")
        guard let end = buffer[position..<lineEnd].firstIndex(of: UInt8(ascii: "\"")) else {
            throw error("a key without end")
        }
        let key = buffer[position..<end]
        position = end
        try expect("\"")
        try expect(":")
        return key
    }

    /// A string with its escapes resolved.
    package mutating func string() throws -> [UInt8] {
        if let text = try plainString() { return Array(text) }
        return try stringWithEscapes()
    }

    /// An ASCII string without escapes, not copied. For any other string, nil, with the cursor after its opening quote.
    private mutating func plainString() throws -> ArraySlice<UInt8>? {
        try expect("\"")
        var end = position
        while end < lineEnd, isPlain(buffer[end]) { end += 1 }
        guard end < lineEnd else { throw error("a string without end") }
        guard buffer[end] == UInt8(ascii: "\"") else { return nil }
        defer { position = end + 1 }
        return buffer[position..<end]
    }

    private func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// A word of a fixed set, which needs no escapes.
    package mutating func word() throws -> ArraySlice<UInt8> {
        guard let text = try plainString() else { throw error("an unknown word") }
        return text
    }

    private mutating func stringWithEscapes() throws -> [UInt8] {
        var text: [UInt8] = []
        var index = position
        while index < lineEnd, buffer[index] != UInt8(ascii: "\"") {
            let byte = buffer[index]
            index += 1
            guard byte >= 0x20 else { throw error("a control character in a string") }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard index < lineEnd else { break }
            let escape = buffer[index]
            index += 1
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "u"):
                let scalar = try unicodeEscape(&index)
                text.append(contentsOf: String(scalar).utf8)
            default: throw error("an unknown escape in a string")
            }
        }
        guard index < lineEnd else { throw error("a string without end") }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw error("a string that is not UTF-8")
        }
        position = index + 1
        return text
    }

    private func unicodeEscape(_ index: inout Int) throws -> Unicode.Scalar {
        let first = try hexadecimal(&index)
        if let scalar = Unicode.Scalar(first) { return scalar }
        // After a high surrogate, the low one must follow.
        guard first < 0xDC00, index + 1 < lineEnd, buffer[index] == UInt8(ascii: "\\"),
            buffer[index + 1] == UInt8(ascii: "u")
        else { throw error("half a surrogate pair in a string") }
        index += 2
        let second = try hexadecimal(&index)
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
        else { throw error("half a surrogate pair in a string") }
        return scalar
    }

    private func hexadecimal(_ index: inout Int) throws -> UInt32 {
        guard index + 4 <= lineEnd,
            let digits = String(validating: buffer[index..<index + 4], as: UTF8.self),
            let value = UInt32(digits, radix: 16), !digits.hasPrefix("+"), !digits.hasPrefix("-")
        else { throw error("\\u without four digits") }
        index += 4
        return value
    }

    /// A base64 string, for bytes that are not UTF-8.
    package mutating func base64() throws -> [UInt8] {
        let text = try string()
        guard let data = Data(base64Encoded: Data(text)), data.base64EncodedData().elementsEqual(text) else {
            throw error("invalid base 64")
        }
        guard String(validating: data, as: UTF8.self) == nil else { throw error("base 64 of UTF-8 text") }
        return Array(data)
    }

    /// An integer that fits the type, without a fraction, exponent or leading zero.
    package mutating func integer<Number: FixedWidthInteger>() throws -> Number {
        var index = position
        let isNegative = index < lineEnd && buffer[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let digits = index
        var number: Number = 0
        while index < lineEnd, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(buffer[index]) {
            let digit = Number(buffer[index] - UInt8(ascii: "0"))
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowAgain) =
                isNegative
                ? scaled.subtractingReportingOverflow(digit) : scaled.addingReportingOverflow(digit)
            guard !overflow, !overflowAgain else { throw error("a number is out of range") }
            number = sum
            index += 1
        }
        guard index > digits else { throw error("a whole number was expected") }
        guard buffer[digits] != UInt8(ascii: "0") || (index == digits + 1 && !isNegative) else {
            throw error("a number with a leading zero")
        }
        guard index == lineEnd || !".eE".utf8.contains(buffer[index]) else {
            throw error("a whole number was expected")
        }
        position = index
        return number
    }

    package mutating func timestamp() throws -> Timestamp {
        let text = try word()
        guard let time = Timestamp(iso8601: text) else {
            throw error("\"\(escapedText(text))\" is not a time such as 2026-11-20T10:00:00Z")
        }
        return time
    }

    /// Four octal digits in quotes.
    package mutating func mode() throws -> UInt16 {
        let text = try word()
        guard text.count == 4, text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) })
        else {
            throw error("a mode is four octal digits")
        }
        return text.reduce(0) { $0 << 3 | UInt16($1 & 7) }
    }

    // MARK: Characters

    var peek: UInt8? { position < lineEnd ? buffer[position] : nil }

    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    package mutating func expect(_ character: Unicode.Scalar) throws {
        guard take(character) else { throw error("expected \(character)") }
    }

    /// The value of a flag. It is written only if it is true.
    package mutating func flag() throws {
        for character in "true".unicodeScalars { try expect(character) }
    }
}
