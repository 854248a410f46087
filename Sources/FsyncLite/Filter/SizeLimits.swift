import FileSystem

/// How large a regular file may be to take part; anything else has no size that counts.
///
/// These go by the size that a file has *in the source*: when that file is excluded, the target's file of the
/// same name stays as it is, however large. What only the target has goes by its own size.
public struct SizeLimits: Hashable, Sendable {
    /// In bytes; a file of just this size takes part.
    public var minimum: Int64?
    /// In bytes; a file of just this size takes part.
    public var maximum: Int64?

    public init(minimum: Int64? = nil, maximum: Int64? = nil) {
        self.minimum = minimum
        self.maximum = maximum
    }

    public var isEmpty: Bool { minimum == nil && maximum == nil }

    /// Why a file of this size takes no part; nil when it does.
    package func exclusion(of type: FileType, size: Int64) -> FilterDecision.Cause? {
        guard type == .file else { return nil }
        if let minimum, size < minimum { return .belowMinimumSize(minimum) }
        if let maximum, size > maximum { return .aboveMaximumSize(maximum) }
        return nil
    }
}

extension Int64 {
    /// Reads a number of bytes as rsync takes it: digits and a unit in letters of either case. `K`, `M`, `G` and
    /// `T`, also `KiB` and so on, are powers of 1024, `KB` and so on powers of 1000; `B` or nothing are bytes.
    ///
    /// nil for anything else, and for more than fits.
    public init?(byteCount text: some StringProtocol) {
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
        self = bytes
    }
}
