/// A number of bytes, for example of a file's content. It is never below zero, and a sum stops at `Int64.max`.
///
/// Sizes come from file systems, documents and other machines, and a file without any block may have 8 EiB. So no
/// arithmetic on them wraps or traps.
@frozen public struct ByteCount: Hashable, Sendable {
    /// The number for codecs, system calls and printing. For arithmetic, use the operators of this type.
    public let rawCount: Int64

    /// The nearest number of bytes.
    @inlinable public init(clamping count: some BinaryInteger) {
        rawCount = Swift.max(0, Int64(clamping: count))
    }

    /// nil below zero.
    public init?(exactly count: Int64) {
        if count < 0 { return nil }
        rawCount = count
    }

    /// A sum in a document. A version whose sums wrapped wrote the negative ones.
    public init(sum count: Int64) { rawCount = count < 0 ? .max : count }

    public static var max: ByteCount { ByteCount(clamping: Int64.max) }

    /// The rate: this number of bytes divided by a number of seconds above zero.
    public func per(_ seconds: Double) -> ByteCount {
        ByteCount(clamping: Int64(Swift.min(Double(rawCount) / seconds, 0x1p62)))
    }

    @inlinable public static func + (left: ByteCount, right: ByteCount) -> ByteCount {
        ByteCount(clamping: left.rawCount.saturatingAdd(right.rawCount))
    }
    @inlinable public static func += (left: inout ByteCount, right: ByteCount) { left = left + right }
    /// The difference, or zero if it is negative.
    @inlinable public static func - (left: ByteCount, right: ByteCount) -> ByteCount {
        ByteCount(clamping: left.rawCount &- right.rawCount)
    }
    @inlinable public static func * (left: ByteCount, right: some BinaryInteger) -> ByteCount {
        ByteCount(clamping: left.rawCount.saturatingMultiply(Int64(clamping: right)))
    }
}

extension ByteCount: Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible, Codable {
    @inlinable public static func < (left: Self, right: Self) -> Bool { left.rawCount < right.rawCount }
    @inlinable public init(integerLiteral count: Int64) { self.init(clamping: count) }
    public var description: String { "\(rawCount)" }

    /// Documents contain sums only.
    public init(from decoder: any Decoder) throws { self.init(sum: try Int64(from: decoder)) }
    public func encode(to encoder: any Encoder) throws { try rawCount.encode(to: encoder) }
}

extension Sequence<ByteCount> {
    public func sum() -> ByteCount { reduce(0, +) }
}

/// Arithmetic on numbers from outside. A result that the type lacks becomes the nearest number that it has.
extension FixedWidthInteger {
    @inlinable public func saturatingAdd(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    @inlinable public func saturatingSubtract(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    @inlinable public func saturatingMultiply(_ other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
