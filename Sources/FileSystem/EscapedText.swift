/// Writes bytes as reversible text on one line that has no effect on a terminal.
///
/// Printable UTF-8 is unchanged. A backslash is doubled, a line feed becomes `\n`, a tab `\t`. Each byte of other
/// control characters, line and paragraph separators, marks that change the direction of text, and invalid UTF-8
/// becomes `\xHH`.
///
/// - Parameter doublingBackslash: false for our own text, in which file names are already escaped.
public func escapedText(_ bytes: some Collection<UInt8>, doublingBackslash: Bool = true) -> String {
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

/// The inverse of `escapedText`; nil if `escapedText` cannot have made this text.
public func unescaped(_ text: some Sequence<UInt8>) -> [UInt8]? {
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

/// The bytes that a user means. If the text can be `escapedText` of bytes that need `\xHH`, it is decoded: names can be
/// copied from a list. Else it is used as it is.
public func readAsShown(_ typed: [UInt8]) -> [UInt8] {
    guard
        zip(typed, typed.dropFirst()).contains(where: { $0 == UInt8(ascii: "\\") && $1 == UInt8(ascii: "x") }
        ),
        let bytes = unescaped(typed), escapedText(bytes).utf8.elementsEqual(typed)
    else { return typed }
    return bytes
}

/// Puts our own text on one line. Backslashes are left unchanged, because file names in it are already escaped.
public func singleLine(_ text: String) -> String {
    escapedText(text.utf8, doublingBackslash: false)
}

/// Replaces by `%HH` each byte for which `isPlain` is false.
public func percentEncoded(
    _ bytes: some Sequence<UInt8>, keeping isPlain: (UInt8) -> Bool
) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let encoded = bytes.flatMap { byte in
        isPlain(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: encoded, as: UTF8.self)
}

/// The inverse of `percentEncoded`. Other text than `%HH` is left unchanged.
public func percentDecoded(_ text: some Sequence<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        let encoded = byte == UInt8(ascii: "%") ? UInt8(digits, radix: 16) : nil
        bytes.append(encoded ?? byte)
        if encoded != nil { rest = rest.dropFirst(2) }
    }
    return bytes
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
