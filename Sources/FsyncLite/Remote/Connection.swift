import FileSystem

/// Bytes to and from another process. One thread reads, and another one writes.
protocol Connection: Sendable {
    /// Waits until there are bytes to read, or the end; false after the timeout.
    func waitForInput(milliseconds: Int32) throws(Errno) -> Bool
    /// - Returns: the number of bytes; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    func write(_ bytes: [UInt8]) throws(Errno)
    /// Ends all reading and writing.
    func close()
    /// Why the connection ended, for people.
    ///
    /// - Parameters:
    ///   - unread: bytes that came and were not understood.
    ///   - isGreeted: the other end has greeted as fsync-lite.
    ///   - activity: what was done meanwhile, such as `, while it was scanned`.
    func reasonOfEnd(unread: ArraySlice<UInt8>, isGreeted: Bool, _ activity: String) -> String
    /// Another meaning of the other end's name; empty if there is none.
    var hint: String { get }
}

/// A connection to the process that started this one, over the standard streams.
final class StandardConnection: Connection {
    private let input: FileDescriptor
    private let output: FileDescriptor

    init() throws(Errno) {
        input = try .standardInput()
        output = try .standardOutput()
    }

    func waitForInput(milliseconds: Int32) throws(Errno) -> Bool {
        try input.waitForInput(milliseconds: milliseconds)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try input.read(into: buffer)
    }

    func write(_ bytes: [UInt8]) throws(Errno) { try output.write(bytes) }
    func close() {}
    var hint: String { "" }

    func reasonOfEnd(unread: ArraySlice<UInt8>, isGreeted: Bool, _ activity: String) -> String {
        "the connection was lost\(activity)"
    }
}
