import FileSystem

/// The SHA-256 of a file's content, as `sha256sum` prints it.
public struct Digest: Hashable, Sendable, CustomStringConvertible {
    let value: SHA256.Value

    package init(_ value: SHA256.Value) {
        self.value = value
    }

    /// Parses the text of a document; capital letters are invalid.
    package init?(_ text: UnsafeBufferPointer<UInt8>) {
        let prefix = Digest.prefix.utf8CodeUnitCount
        guard text.count == Digest.length, Digest.prefix.withUTF8Buffer({ text.starts(with: $0) }) else {
            return nil
        }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for index in prefix..<Digest.length {
            let digit: UInt8
            switch text[index] {
            case let byte where byte &- UInt8(ascii: "0") < 10: digit = byte &- UInt8(ascii: "0")
            case let byte where byte &- UInt8(ascii: "a") < 6: digit = byte &- UInt8(ascii: "a") + 10
            default: return nil
            }
            words.0 = words.0 << 4 | words.1 >> 60
            words.1 = words.1 << 4 | words.2 >> 60
            words.2 = words.2 << 4 | words.3 >> 60
            words.3 = words.3 << 4 | UInt64(digit)
        }
        value = SHA256.Value(words.0, words.1, words.2, words.3)
    }

    private static let prefix: StaticString = "sha256:"
    /// The length of its text in bytes.
    static let length = prefix.utf8CodeUnitCount + 64

    /// The text in documents: `sha256:` and 64 hexadecimal digits.
    public var description: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    func append(to bytes: inout [UInt8]) {
        Digest.prefix.withUTF8Buffer { bytes.append(contentsOf: $0) }
        appendDigits(to: &bytes)
    }

    /// Appends only the 64 digits.
    package func appendDigits(to bytes: inout [UInt8]) {
        for word in [value.first, value.second, value.third, value.fourth] {
            for shift in stride(from: 60 as UInt64, through: 0, by: -4) {
                let digit = UInt8(truncatingIfNeeded: word >> shift & 15)
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
            }
        }
    }
}
