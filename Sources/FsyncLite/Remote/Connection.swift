import FileSystem

/// Bytes to and from another process. One thread reads, and another one writes.
protocol Connection: Sendable {
    /// Waits until there is something to read, or the end; false on timeout.
    func waitForInput(milliseconds: Int32) throws(Errno) -> Bool
    /// 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int
    func write(_ bytes: [UInt8]) throws(Errno)
    /// Nothing more will be written or read.
    func close()
    /// Why it ended, for people.
    ///
    /// - Parameters:
    ///   - unread: what came and was not understood.
    ///   - isGreeted: the other end has said that it is fsync-lite.
    ///   - activity: what the other end was doing, such as `, while it was scanned`.
    func reasonOfEnd(unread: ArraySlice<UInt8>, isGreeted: Bool, _ activity: String) -> String
    /// What else the other end's name may mean; empty for nothing else.
    var hint: String { get }
}

extension Connection {
    var hint: String { "" }
}

/// The process that started this one, over its standard streams.
final class StandardConnection: Connection {
    private let input: FileDescriptor
    private let output: FileDescriptor

    init(input: consuming FileDescriptor, output: consuming FileDescriptor) {
        self.input = input
        self.output = output
    }

    func waitForInput(milliseconds: Int32) throws(Errno) -> Bool {
        try input.waitForInput(milliseconds: milliseconds)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try input.read(into: buffer)
    }

    func write(_ bytes: [UInt8]) throws(Errno) { try output.write(bytes) }
    func close() {}

    func reasonOfEnd(unread: ArraySlice<UInt8>, isGreeted: Bool, _ activity: String) -> String {
        "the connection was lost\(activity)"
    }
}
