import FileSystem
import FoundationEssentials

/// An error with its path and the system's reason.
public struct SyncError: LocalizedError, Sendable, CustomStringConvertible {
    /// The kind of error, for programs to branch on. More may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A failure; `errno` has the system's reason, if any.
        public static let failed = Code(rawValue: "failed")
        /// A precondition is not met, and nothing was written. Examples: a name exists, a guard refuses.
        public static let refused = Code(rawValue: "refused")
        /// The object has changed since it was inspected.
        public static let stale = Code(rawValue: "stale")
        /// Invalid arguments.
        public static let usage = Code(rawValue: "usage")
        /// A document is damaged or of the wrong type.
        public static let invalidDocument = Code(rawValue: "invalid_document")
        /// A named input does not exist.
        public static let inputMissing = Code(rawValue: "input_missing")
    }

    public let code: Code
    /// The path as bytes, for messages.
    public internal(set) var path: [UInt8]?
    /// The cause, in words.
    public let message: String
    /// The kernel's error number, if a system call failed.
    public let errno: Int32?
    /// Values that a program adds for its own use.
    package var details: (any Sendable)?

    public init(_ code: Code, path: [UInt8]? = nil, _ message: String, errno: Int32? = nil) {
        (self.code, self.path, self.message, self.errno) = (code, path, message, errno)
    }

    /// Converts the error of a system call. Only the caller can choose the code: a missing file is a missing input only
    /// if it was an input.
    package init(_ error: SystemError, code: Code = .failed) {
        self.init(code, path: error.path, "\(error.errno) (\(error.call))", errno: error.errno.rawValue)
    }

    package init(_ code: Code, path: [UInt8], _ errno: Errno) {
        self.init(code, path: path, errno.description, errno: errno.rawValue)
    }

    static func noName(_ name: String) -> SyncError {
        SyncError(.usage, path: Array(name.utf8), "is not a name", errno: Errno.invalid.rawValue)
    }

    /// The name does not exist (`ENOENT`).
    public var isNotFound: Bool { errno == Errno.noSuchFile.rawValue }

    public var errorDescription: String? { description }

    /// The path and the cause, with control characters escaped.
    public var description: String {
        if let path { "\(escapedText(path)): \(singleLine(message))" } else { singleLine(message) }
    }
}

/// Makes a call and converts its error.
package func reporting<Value: ~Copyable>(
    _ call: @autoclosure () throws(SystemError) -> Value
) throws(SyncError) -> Value {
    try reporting { () throws(SystemError) in try call() }
}

/// Runs `body` and converts its error.
package func reporting<Value: ~Copyable>(
    _ body: () throws(SystemError) -> Value
) throws(SyncError) -> Value {
    do {
        return try body()
    } catch {
        throw SyncError(error, code: error.errno == .exists || error.errno == .notEmpty ? .refused : .failed)
    }
}

/// nil if there is no file.
package func ifPresent<Value>(_ read: @autoclosure () throws(SyncError) -> Value) throws(SyncError) -> Value?
{
    do {
        return try read()
    } catch {
        guard error.isNotFound else { throw error }
        return nil
    }
}
