/// A failed system call: which call, on which path, and why.
public struct SystemError: Error, Sendable, CustomStringConvertible {
    /// The name of the call in its manual page.
    public let call: String
    /// The path as bytes, for messages only: it is never opened again.
    public let path: [UInt8]
    public let errno: Errno

    public init(_ call: String, _ path: [UInt8], _ errno: Errno) {
        self.call = call
        self.path = path
        self.errno = errno
    }

    public var description: String {
        "\(escapedText(path)): \(errno) (\(call))"
    }
}

/// Runs `body` and adds call and path to the error number that it throws; `path` is evaluated only then.
@inline(__always)
public func calling<Value: ~Copyable>(
    _ call: StaticString, _ path: @autoclosure () -> [UInt8], _ body: () throws(Errno) -> Value
) throws(SystemError) -> Value {
    do {
        return try body()
    } catch {
        throw SystemError(call.description, path(), error)
    }
}
