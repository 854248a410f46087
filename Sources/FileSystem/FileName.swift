import Glibc

/// The name of one directory entry: bytes, neither empty nor `.` nor `..`, without `/` and NUL.
///
/// Kept with a NUL at its end, so that it goes to the kernel as it is.
package struct FileName: Hashable, Sendable {
    private let terminated: [UInt8]

    /// nil when the bytes cannot name an entry.
    package init?(_ bytes: some Collection<UInt8>) {
        guard FileName.isValid(bytes) else { return nil }
        var terminated = [UInt8]()
        terminated.reserveCapacity(bytes.count + 1)
        terminated.append(contentsOf: bytes)
        terminated.append(0)
        self.terminated = terminated
    }

    /// A name known to be valid when it is written down.
    package init(_ name: StaticString) {
        precondition(FileName.isValid(name.withUTF8Buffer { Array($0) }))
        terminated = name.withUTF8Buffer { Array($0) } + [0]
    }

    /// A number's decimal digits.
    package init(number: Int) {
        terminated = Array(String(number.magnitude).utf8) + [0]
    }

    package var bytes: ArraySlice<UInt8> { terminated.dropLast() }

    package static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
        if bytes.isEmpty || bytes.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) { return false }
        return !bytes.elementsEqual(".".utf8) && !bytes.elementsEqual("..".utf8)
    }

    package func withCString<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try FileSystem.withCString(terminated: terminated, body)
    }
}

extension FileName: CustomStringConvertible {
    package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension FileName: Comparable {
    package static func < (left: FileName, right: FileName) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// Lends bytes that end in NUL as a C string.
package func withCString<Result, Failure: Error>(
    terminated: [UInt8], _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try terminated.withUnsafeBufferPointer { (buffer) throws(Failure) -> Result in
        // The array holds at least the NUL, so its buffer has an address.
        guard let base = buffer.baseAddress else { preconditionFailure("a C string without its NUL") }
        return try base.withMemoryRebound(to: CChar.self, capacity: buffer.count) {
            (pointer) throws(Failure) -> Result in
            try body(pointer)
        }
    }
}
