/// Bytes as text that does nothing to a terminal and stays on one line, and from which they can be read back.
///
/// Printable UTF-8 stays as it is. A backslash is doubled, a line feed is `\n`, a tab `\t`; every byte of
/// another control character, of a line or paragraph separator, of a mark that changes the direction of
/// text, and of what is no UTF-8 becomes `\xHH`.
package func escapedText(_ bytes: some Collection<UInt8>) -> String {
    escapedText(bytes, doublingBackslash: true)
}

/// The bytes that `escapedText` was given; nil for text that it cannot have made.
package func unescaped(_ text: some Sequence<UInt8>) -> [UInt8]? {
    func digit(_ byte: UInt8) -> Int? { Character(Unicode.Scalar(byte)).hexDigitValue }
    var bytes: [UInt8] = []
    var input = text.makeIterator()
    while let byte = input.next() {
        guard byte == UInt8(ascii: "\\") else {
            bytes.append(byte)
            continue
        }
        switch input.next() {
        case UInt8(ascii: "\\"): bytes.append(byte)
        case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "t"): bytes.append(UInt8(ascii: "\t"))
        case UInt8(ascii: "x"):
            guard let high = input.next().flatMap(digit), let low = input.next().flatMap(digit) else {
                return nil
            }
            bytes.append(UInt8(high << 4 | low))
        default: return nil
        }
    }
    return bytes
}

/// Text of our own on one line: backslashes stay, for whatever needed an escape in it already has one.
package func singleLine(_ text: String) -> String {
    escapedText(text.utf8, doublingBackslash: false)
}

private func escapedText(_ bytes: some Collection<UInt8>, doublingBackslash: Bool) -> String {
    let backslash = UInt8(ascii: "\\")
    if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && ($0 != backslash || !doublingBackslash) }) {
        return String(decoding: bytes, as: UTF8.self)
    }
    var text = ""
    var position = bytes.startIndex
    var input = bytes.makeIterator()
    var parser = Unicode.UTF8.ForwardParser()
    while true {
        switch parser.parseScalar(from: &input) {
        case .emptyInput:
            return text
        case .valid(let encoded):
            let scalar = Unicode.UTF8.decode(encoded)
            switch scalar {
            case "\\": text += doublingBackslash ? "\\\\" : "\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case let scalar where isPrintable(scalar): text.unicodeScalars.append(scalar)
            default: for byte in encoded { text += hexadecimalEscape(byte) }
            }
            bytes.formIndex(&position, offsetBy: encoded.count)
        case .error(let length):
            for _ in 0..<length {
                text += hexadecimalEscape(bytes[position])
                bytes.formIndex(after: &position)
            }
        }
    }
}

private func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isBidiControl { return false }
    return switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: true
    }
}

private func hexadecimalEscape(_ byte: UInt8) -> String {
    (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16, uppercase: true)
}
