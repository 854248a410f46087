/// Unique names.
public enum RandomID {
    /// Random bytes of the system's generator as lower-case hexadecimal digits.
    public static func hexadecimal(bytes count: Int) -> String {
        bytes(count).reduce(into: "") { text, byte in
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }

    public static func bytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
