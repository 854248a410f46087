/// Unique names.
public enum RandomID {
    /// Random bytes of the system's generator as lower-case hexadecimal digits.
    public static func hexadecimal(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        var text = ""
        for _ in 0..<count {
            let byte = UInt8.random(in: .min ... .max, using: &generator)
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return text
    }
}
