/// A failed system call: which call, on which path, and why.
package struct SystemError: Error, Sendable, CustomStringConvertible {
    /// The name of the call in its manual page.
    package let call: String
    /// The path as bytes, for messages only: it is never opened again.
    package let path: [UInt8]
    package let errno: Errno

    package init(_ call: String, _ path: [UInt8], _ errno: Errno) {
        self.call = call
        self.path = path
        self.errno = errno
    }

    package var description: String {
        "\(String(decoding: path, as: UTF8.self)): \(errno) (\(call))"
    }
}

/// Runs `body` and adds call and path to the error number that it throws; `path` is evaluated only then.
@inline(__always)
package func calling<Value: ~Copyable>(
    _ call: StaticString, _ path: @autoclosure () -> [UInt8], _ body: () throws(Errno) -> Value
) throws(SystemError) -> Value {
    do {
        return try body()
    } catch {
        throw SystemError(call.description, path(), error)
    }
}
