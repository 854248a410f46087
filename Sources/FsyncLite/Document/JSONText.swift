import FileSystem
import FoundationEssentials

/// Writes JSON into bytes, with separating commas. Our own keys need no escapes.
package struct JSONText: Sendable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    package mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Adds bytes that are already JSON, or the line structure around it.
    package mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
        needsComma = false
    }

    package mutating func beginObject() {
        separate()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    package mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    package mutating func beginArray() {
        separate()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    package mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    package mutating func key(_ key: StaticString) {
        let text = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        // Appends the whole key at once, because a manifest has twelve keys per entry.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count + 4) { buffer in
            let start = needsComma ? 1 : 0
            if needsComma { buffer[0] = UInt8(ascii: ",") }
            buffer[start] = UInt8(ascii: "\"")
            let end = buffer[(start + 1)...].update(fromContentsOf: text)
            buffer[end] = UInt8(ascii: "\"")
            buffer[end + 1] = UInt8(ascii: ":")
            bytes.append(contentsOf: buffer[..<(end + 2)])
        }
        needsComma = false
    }

    /// The same for an element, after which a comma follows.
    package mutating func append(_ json: UnsafeBufferPointer<UInt8>) {
        bytes.append(contentsOf: json)
        needsComma = true
    }

    package mutating func value(_ text: String) {
        separate()
        var text = text
        text.withUTF8 { appendQuoted($0) }
        needsComma = true
    }

    package mutating func value(_ number: some BinaryInteger) {
        separate()
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.appendDecimal(UInt64(number.magnitude))
        needsComma = true
    }

    package mutating func field(_ key: StaticString, _ count: ByteCount) { field(key, count.rawCount) }

    package mutating func field(_ key: StaticString, _ text: String) {
        self.key(key)
        value(text)
    }

    /// A flag. It is written only if it is true.
    package mutating func flag(_ key: StaticString) {
        self.key(key)
        raw("true")
        needsComma = true
    }

    package mutating func field(_ key: StaticString, _ texts: [String]) {
        self.key(key)
        beginArray()
        for text in texts { value(text) }
        endArray()
    }

    /// An array of objects.
    package mutating func array<Values: Sequence>(
        _ key: StaticString, of values: Values, _ fields: (inout JSONText, Values.Element) -> Void
    ) {
        self.key(key)
        beginArray()
        for value in values {
            beginObject()
            fields(&self, value)
            endObject()
        }
        endArray()
    }

    package mutating func object(_ key: StaticString, _ fields: (inout JSONText) -> Void) {
        self.key(key)
        beginObject()
        fields(&self)
        endObject()
    }

    package mutating func field(_ key: StaticString, _ number: some BinaryInteger) {
        self.key(key)
        value(number)
    }

    package mutating func field(_ key: StaticString, _ time: Timestamp) {
        quotedField(key) { time.appendISO8601(to: &$0) }
    }

    package mutating func field(_ key: StaticString, _ digest: Digest) {
        quotedField(key) { digest.append(to: &$0) }
    }

    /// Permission bits as four octal digits in quotes.
    package mutating func field(_ key: StaticString, mode: UInt16) {
        quotedField(key) { bytes in
            for shift in [9, 6, 3, 0] as [UInt16] {
                bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: (mode >> shift) & 7))
            }
        }
    }

    /// - Parameter value: appends text that needs no escapes.
    @inline(__always)
    private mutating func quotedField(_ key: StaticString, _ value: (inout [UInt8]) -> Void) {
        self.key(key)
        bytes.append(UInt8(ascii: "\""))
        value(&bytes)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A byte string: text under `key` if it is UTF-8, else base 64 under `base64Key`. Distinct names remain distinct.
    package mutating func field(_ key: StaticString, _ base64Key: StaticString, _ value: ArraySlice<UInt8>) {
        value.withUnsafeBufferPointer { text in
            if isPlain(text) || String(validating: text, as: UTF8.self) != nil {
                self.key(key)
                appendQuoted(text)
            } else {
                quotedField(base64Key) { $0.append(contentsOf: Data(text).base64EncodedData()) }
            }
        }
        needsComma = true
    }

    /// A path in a tree. The root is `.`, as in `find`.
    package mutating func path(_ path: RelativePath) {
        field("path", "path_base64", path.isRoot ? [UInt8(ascii: ".")] : path.bytes[...])
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    private mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if isPlain(text) {
            bytes.append(contentsOf: text)
        } else {
            for byte in text { appendEscaped(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0A:
            bytes.append(contentsOf: "\\n".utf8)
        case 0x09:
            bytes.append(contentsOf: "\\t".utf8)
        case ..<0x20, 0x7F:
            let digits = Array("0123456789abcdef".utf8)
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        default:
            bytes.append(byte)
        }
    }
}
