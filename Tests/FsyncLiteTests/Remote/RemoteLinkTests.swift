import FileStorage
import FileSystem
import Synchronization
import Testing

@testable import FsyncLite

struct RemoteLinkTests {
    /// A client whose input is closed, while what it said before is still to be read.
    private final class HalfClosedConnection: Connection {
        private let input: Mutex<[[UInt8]]>
        private let isReadable = Semaphore()
        /// All was read, and the end of it was asked for.
        let isAtEnd = Semaphore()

        init(giving input: [[UInt8]]) { self.input = Mutex(input) }

        /// From now on there is something to read.
        func release() { isReadable.signal() }

        func waitForInput(milliseconds: Int32) throws(Errno) -> Bool {
            guard isReadable.wait(atMost: .milliseconds(Int64(milliseconds))) else { return false }
            isReadable.signal()
            return true
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
            let next = input.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else {
                isAtEnd.signal()
                return 0
            }
            buffer.copyBytes(from: next)
            return next.count
        }

        func write(_ bytes: [UInt8]) throws(Errno) { throw .inputOutput }
        func close() {}

        func reasonOfEnd(unread: ArraySlice<UInt8>, isGreeted: Bool, _ activity: String) -> String {
            "the end"
        }
    }

    /// The thread that writes finds the line lost first, and an answer is read after that: once this
    /// ended the process by a trap, with the target's lock and its activity in place.
    @Test func anAnswerAfterTheLineWasLostIsDropped() throws {
        let endpoint = try #require(try Endpoint(Array("client:/".utf8)))
        var frame = FrameWriter(.answer)
        frame.number(1 as UInt32)
        frame.flag(true)
        let connection = HalfClosedConnection(giving: [frame.frame()])
        let link = try RemoteLink(endpoint, connection, greeted: FrameParser())
        let answer = try link.ask(.open)
        #expect(throws: SyncError.self) { try answer.next(SilentMonitor()) }
        connection.release()
        #expect(connection.isAtEnd.wait(atMost: .seconds(60)))
        #expect(throws: SyncError.self) { try link.ask(.scan) }
    }
}
