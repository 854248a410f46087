import Glibc

/// The name of one directory entry: bytes without `/` and NUL, not empty, not `.` and not `..`.
///
/// It is stored with a NUL at its end, ready for the kernel.
public struct FileName: Hashable, Sendable {
    private let terminated: [UInt8]

    /// nil if the bytes are not a valid name.
    public init?(_ bytes: some Collection<UInt8>) {
        self.init(bytes.withContiguousStorageIfAvailable(FileName.terminated) ?? Array(bytes) + [0])
    }

    /// The same for a part of a path. It is fast, because a scan calls it for each directory.
    public init?(_ bytes: ArraySlice<UInt8>) {
        self.init(bytes.withUnsafeBufferPointer(FileName.terminated))
    }

    private init?(_ terminated: [UInt8]) {
        guard FileName.isValid(terminated.span.extracting(droppingLast: 1)) else { return nil }
        self.terminated = terminated
    }

    private static func terminated(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var terminated: [UInt8] = []
        terminated.reserveCapacity(bytes.count + 1)
        terminated.append(contentsOf: bytes)
        terminated.append(0)
        return terminated
    }

    /// A literal, which must be valid.
    public init(_ name: StaticString) {
        terminated = name.withUTF8Buffer(FileName.terminated)
        precondition(FileName.isValid(terminated.span.extracting(droppingLast: 1)))
    }

    /// A number's decimal digits.
    public init(number: Int) {
        terminated = Array(String(number.magnitude).utf8) + [0]
    }

    public var bytes: ArraySlice<UInt8> { terminated.dropLast() }

    private static func isValid(_ bytes: Span<UInt8>) -> Bool {
        let (dot, slash) = (UInt8(ascii: "."), UInt8(ascii: "/"))
        for index in bytes.indices where bytes[index] == 0 || bytes[index] == slash { return false }
        return switch bytes.count {
        case 0: false
        case 1: bytes[0] != dot
        case 2: bytes[0] != dot || bytes[1] != dot
        default: true
        }
    }

    public func withCString<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try FileSystem.withCString(terminated: terminated, body)
    }
}

extension FileName: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension FileName: Comparable {
    public static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// Passes bytes that end in NUL as a C string.
public func withCString<Result, Failure: Error>(
    terminated: [UInt8], _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try terminated.withUnsafeBufferPointer { (buffer) throws(Failure) -> Result in
        // The array has at least the NUL, so its buffer has an address.
        guard let base = buffer.baseAddress else { preconditionFailure("a C string without its NUL") }
        return try base.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
            (pointer) throws(Failure) -> Result in
            try body(pointer)
        }
    }
}
