import FileSystem

/// Size limits of regular files. Other types have none.
///
/// The size *in the source* decides. If that file is excluded, the target's file of the same name is left unchanged,
/// regardless of its size. For a file that only the target has, its own size decides.
public struct SizeLimits: Hashable, Sendable {
    /// In bytes, inclusive.
    public var minimum: ByteCount?
    /// In bytes, inclusive.
    public var maximum: ByteCount?

    public init(minimum: ByteCount? = nil, maximum: ByteCount? = nil) {
        self.minimum = minimum
        self.maximum = maximum
    }

    public var isEmpty: Bool { minimum == nil && maximum == nil }

    /// The reason why a file of this size is excluded; nil if it is included.
    package func exclusion(of type: FileType, size: ByteCount) -> FilterDecision.Cause? {
        guard type == .file else { return nil }
        if let minimum, size < minimum { return .belowMinimumSize(minimum) }
        if let maximum, size > maximum { return .aboveMaximumSize(maximum) }
        return nil
    }
}

extension ByteCount {
    /// Parses a number of bytes as in rsync: digits and a case-insensitive unit. `K`, `M`, `G` and `T`, also `KiB` and
    /// so on, are powers of 1024. `KB` and so on are powers of 1000. `B` or no unit means bytes.
    ///
    /// nil for any other text, and on overflow.
    public init?(_ text: some StringProtocol) {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        var unit = text.utf8.dropFirst(digits.count).map { $0 | 0x20 }
        var scale: Int64 = 1
        if let power = unit.first.flatMap({ Array("kmgt".utf8).firstIndex(of: $0) }) {
            unit.removeFirst()
            let factor: Int64 = unit.elementsEqual("b".utf8) ? 1000 : 1024
            for _ in 0...power { scale *= factor }
            guard unit.isEmpty || unit.elementsEqual("b".utf8) || unit.elementsEqual("ib".utf8) else {
                return nil
            }
        } else if !unit.isEmpty, !unit.elementsEqual("b".utf8) {
            return nil
        }
        guard let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: scale)
        guard !overflows else { return nil }
        self.init(exactly: bytes)
    }
}
