/// Bytes from the command line, quoted for a message.
///
/// Printable UTF-8 is shown as it is. Everything else - control and format characters, separators
/// other than the space, bytes that are not UTF-8 - is shown as `\xNN`, and a backslash is doubled,
/// so that the exact bytes can be read back from the text.
struct QuotedBytes: CustomStringConvertible {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    var description: String {
        var text = "'"
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var position = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if scalar == "\\" {
                    text += "\\\\"
                } else if Self.isPrintable(scalar) {
                    text.unicodeScalars.append(scalar)
                } else {
                    text += Self.escaped(encoded)
                }
                position += encoded.count
            case .error(let length):
                text += Self.escaped(bytes[position..<position + length])
                position += length
            case .emptyInput:
                return text + "'"
            }
        }
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
            false
        case .spaceSeparator:
            scalar == " "
        default:
            true
        }
    }

    private static func escaped(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "\\x0" : "\\x") + String($0, radix: 16) }.joined()
    }
}
