import FileStorage
import FileSystem
import FoundationEssentials

/// Reads a document of ours line by line, strictly: what `DocumentWriter` would not write is an error that
/// names the file and the line. Memory holds one line.
package struct DocumentReader: ~Copyable {
    /// nil for text that is in memory, whole.
    private let descriptor: FileDescriptor?
    /// nil where whoever asked knows it, and adds it to the errors.
    private let path: [UInt8]?
    /// What has been read and not yet parsed lies in `position..<filled`; the line ends at `lineEnd`.
    private var buffer: [UInt8] = []
    private var filled = 0
    private var position = 0
    private var lineEnd = 0
    /// How many bytes before `position` `takeLine` has taken, of the present line.
    private var taken = 0
    /// Covers all bytes before `buffer[hashed]`.
    private var checksum = Checksum()
    private var hashed = 0
    private var isAtEndOfFile = false
    /// The number of the current line, from 1.
    package private(set) var line = 0

    /// No path of ours comes near, and a hostile document cannot make us hold more.
    private static let longestLine = 64 << 20
    private static let chunk = 256 * 1024

    /// Cannot fail: see `ObjectHandle`.
    private init(_ descriptor: consuming FileDescriptor?, path: [UInt8]?) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens the document and reads `{"format":…,"version":…`; the header's other fields follow.
    package init(
        _ descriptor: consuming FileDescriptor, path: [UInt8], format: StaticString, newestVersion: Int = 1
    ) throws {
        self.init(descriptor, path: path)
        guard try nextLine() else { throw error("the document is empty") }
        try expect("{")
        guard try key("format"), try string() == Array(format.description.utf8) else {
            throw error("this is no \(format) document")
        }
        try expect(",")
        guard try key("version") else { throw error("no version") }
        let version: Int = try integer()
        guard (1...newestVersion).contains(version) else {
            throw error("version \(version) is not one that this fsync-lite reads (1 to \(newestVersion))")
        }
    }

    /// Reads a text that is in memory.
    package init(text: [UInt8]) throws {
        self.init(nil, path: nil)
        buffer = text
        if buffer.last != UInt8(ascii: "\n") { buffer.append(UInt8(ascii: "\n")) }
        filled = buffer.count
        isAtEndOfFile = true
        guard try nextLine() else { throw error("the JSON ends early") }
    }

    /// - Parameter line: nil for the current one.
    package func error(_ message: String, line: Int? = nil) -> SyncError {
        SyncError(.invalidDocument, path: path, "line \(line ?? self.line): \(message)")
    }

    // MARK: Lines

    /// Steps to the next line; false at the end of the file. The present line must have been parsed whole.
    package mutating func nextLine() throws -> Bool {
        guard position == lineEnd else { throw error("unexpected text after the element") }
        if line > 0 { position += 1 }
        var searched = position
        while true {
            if let end = lineFeed(from: searched) {
                lineEnd = end
                line += 1
                return true
            }
            searched = filled - position
            guard !isAtEndOfFile else {
                line += 1
                lineEnd = filled
                if position == filled { return false }
                throw error("the last line is cut short")
            }
            guard searched <= DocumentReader.longestLine else {
                line += 1
                throw error("the line is too long")
            }
            checksum.update(buffer[hashed..<position])
            try fill()
        }
    }

    private func lineFeed(from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < filled,
                let found = firstByte(UInt8(ascii: "\n"), base + start, filled - start)
            else { return nil }
            return found - base
        }
    }

    /// Hands over what is left of the line; `body` returns how many bytes of it it has read, nil for none.
    package mutating func takeLine(_ body: (UnsafeBufferPointer<UInt8>) -> Int?) -> Bool {
        let count = buffer.withUnsafeBufferPointer { bytes in
            body(UnsafeBufferPointer(rebasing: bytes[position..<lineEnd]))
        }
        taken = count ?? 0
        position += taken
        return count != nil
    }

    /// What `takeLine` has taken of the present line; nothing where it took nothing.
    package func withTaken(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        guard taken > 0 else { return }
        buffer.withUnsafeBufferPointer { bytes in
            body(UnsafeBufferPointer(rebasing: bytes[(position - taken)..<position]))
        }
    }

    /// Reads more, in place of what has been parsed. The buffer grows with a document, up to a point, and with its
    /// longest line.
    private mutating func fill() throws {
        let (parsed, rest) = (position, filled - position)
        (position, hashed, filled) = (0, 0, rest)
        if buffer.count < max(DocumentReader.chunk, 2 * rest) {
            buffer.append(contentsOf: repeatElement(0, count: max(buffer.count, 4096)))
        }
        filled += try buffer.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { start.copyMemory(from: start + parsed, byteCount: rest) }
            return try calling("read", path ?? []) { () throws(Errno) -> Int in
                try descriptor?.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[rest...])) ?? 0
            }
        }
        isAtEndOfFile = filled == rest
    }

    /// Begins an array with one element per line, on a line of its own. What stands before it ends in a comma.
    package mutating func beginArray(_ name: StaticString) throws {
        guard try nextLine() else { throw error("the document ends early") }
        guard try key(name) else { throw error("\"\(name)\" is missing") }
        try expect("[")
    }

    /// True with the cursor on the next element; false at the end of the array.
    package mutating func nextElement(isFirst: Bool) throws -> Bool {
        if !isFirst {
            let more = take(",")
            guard try nextLine() else { throw error("the document ends early") }
            guard more != (peek == UInt8(ascii: "]")) else { throw error("a comma too many or too few") }
        } else if position == lineEnd {
            guard try nextLine() else { throw error("the document ends early") }
            guard peek != UInt8(ascii: "]") else { throw error("an empty array is []") }
        }
        return !take("]")
    }

    /// Steps over the comma after an array to the closing fields.
    package mutating func beginTrailer() throws {
        try expect(",")
        guard try nextLine() else { throw error("the document ends early") }
    }

    /// Reads the checksum and the end of the document; both must be right.
    package mutating func end() throws {
        guard try key("checksum") else { throw error("the checksum is missing") }
        checksum.update(buffer[hashed..<position])
        hashed = position
        guard try string() == Array(checksum.text.utf8) else {
            throw error("the checksum is wrong: the file was damaged or edited")
        }
        try expect("}")
        guard try !nextLine() else { throw error("there is text after the end") }
    }

    // MARK: Values

    /// Reads an object's fields in whatever order; `body` reads the value of the key it is given, and returns
    /// false for one it does not know. A repeated key is for `body` to notice.
    package mutating func object(_ body: (inout DocumentReader, ArraySlice<UInt8>) throws -> Bool) throws {
        try expect("{")
        if take("}") { return }
        try fields(body)
    }

    /// The same from the next field on, to the object's end.
    package mutating func fields(_ body: (inout DocumentReader, ArraySlice<UInt8>) throws -> Bool) throws {
        repeat {
            let key = try rawKey()
            guard try body(&self, key) else {
                throw error("unknown key \"\(escapedText(key))\"")
            }
        } while take(",")
        try expect("}")
    }

    /// Reads an array within a line; `body` reads one element.
    package mutating func array(_ body: (inout DocumentReader) throws -> Void) throws {
        try expect("[")
        if take("]") { return }
        repeat { try body(&self) } while take(",")
        try expect("]")
    }

    /// Steps over the given key when it is next.
    package mutating func key(_ name: StaticString) throws -> Bool {
        let start = position
        guard peek == UInt8(ascii: "\"") else { return false }
        if try rawKey().elementsEqual(name.description.utf8) { return true }
        position = start
        return false
    }

    /// A key is ours: without escapes.
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

    /// A string of ASCII without escapes, where it lies; nil for any other, with the cursor after its quote.
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

    /// One of a few words, which need no escapes.
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
        // A surrogate: its other half must follow.
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

    /// A string in base 64, of bytes that have no other text.
    package mutating func base64() throws -> [UInt8] {
        let text = try string()
        guard let data = Data(base64Encoded: Data(text)), data.base64EncodedData().elementsEqual(text) else {
            throw error("this is no base 64")
        }
        guard String(validating: data, as: UTF8.self) == nil else { throw error("base 64 of what is UTF-8") }
        return Array(data)
    }

    /// A whole number that fits: no fraction, no exponent, no leading zero.
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
            throw error("\"\(escapedText(text))\" is no time such as 2026-11-20T10:00:00Z")
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

    private var peek: UInt8? { position < lineEnd ? buffer[position] : nil }

    package mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    package mutating func expect(_ character: Unicode.Scalar) throws {
        guard take(character) else { throw error("expected \(character)") }
    }

    /// The value of a flag, which is left out where it does not hold.
    package mutating func flag() throws {
        for character in "true".unicodeScalars { try expect(character) }
    }
}
