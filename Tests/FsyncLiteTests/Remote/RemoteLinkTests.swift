import FileStorage
import FileSystem
import Synchronization
import Testing

@testable import FsyncLite

struct RemoteLinkTests {
    /// A connection that can be read once it is released.
    private final class FakeConnection: Connection {
        private let input: Mutex<[[UInt8]]>
        /// The first piece can be read forever after something was written. Otherwise nothing can be written.
        private let isEndless: Bool
        private let isReadable = Semaphore()
        /// All bytes were read, and then the end.
        let isAtEnd = Semaphore()

        init(giving input: [[UInt8]], isEndless: Bool) {
            self.input = Mutex(input)
            self.isEndless = isEndless
        }

        /// From now on there are bytes to read.
        func release() { isReadable.signal() }

        func waitForInput(milliseconds: Int32) throws(Errno) -> Bool {
            guard isReadable.wait(atMost: .milliseconds(Int64(milliseconds))) else { return false }
            isReadable.signal()
            return true
        }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
            let next = input.withLock { isEndless ? $0.first : $0.isEmpty ? nil : $0.removeFirst() }
            guard let next else {
                isAtEnd.signal()
                return 0
            }
            buffer.copyBytes(from: next)
            return next.count
        }

        func write(_ bytes: [UInt8]) throws(Errno) {
            guard isEndless else { throw .inputOutput }
            release()
        }

        func close() {}
        var hint: String { "" }

        func reasonOfEnd(unread: ArraySlice<UInt8>, isGreeted: Bool, _ activity: String) -> String {
            "the end"
        }
    }

    /// The writing thread notices the lost connection first, and an answer is read after that. Once this
    /// ended the process by a trap, and left the target's lock and activity.
    @Test func anAnswerAfterTheLineWasLostIsDropped() throws {
        var frame = FrameWriter(.answer, for: 1)
        frame.flag(true)
        // Its input is closed, but its earlier bytes can still be read.
        let connection = FakeConnection(giving: [frame.frame()], isEndless: false)
        let link = try link(to: connection)
        let answer = try link.ask(.open)
        #expect(throws: SyncError.self) { try answer.next(SilentMonitor()) }
        connection.release()
        #expect(connection.isAtEnd.wait(atMost: .seconds(60)))
        #expect(throws: SyncError.self) { try link.ask(.scan) }
    }

    private func message(of body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing"
        } catch {
            return "\(error)"
        }
    }

    /// A link to an end that sends the same bytes forever after it was asked.
    private func link(repeating bytes: [UInt8], timeout: Duration? = nil) throws -> RemoteLink {
        try link(to: FakeConnection(giving: [bytes], isEndless: true), timeout: timeout)
    }

    private func link(to connection: any Connection, timeout: Duration? = nil) throws -> RemoteLink {
        let endpoint = try #require(try Endpoint(Array("far:/".utf8)))
        return try RemoteLink(endpoint, connection, greeted: FrameParser(), timeout: timeout)
    }

    @Test func anEndThatOnlySaysThatItIsThereIsGivenUp() throws {
        let link = try link(repeating: FrameWriter(.ping).frame(), timeout: Duration.zero)
        // Before the first question, nothing is due.
        #expect(!link.isLost)
        let found = message { _ = try link.ask(.open).next(SilentMonitor()) }
        #expect(
            found.contains("no data for 0.0 seconds, only signs of life, while it was opened"), "\(found)")
    }

    @Test(arguments: [
        (WireFormat.FrameType.answer, [1, 0] as [UInt8], "an empty piece of an answer"),
        (.entries, [1], "a frame without files"),
    ])
    func anEmptyFrameEndsTheRun(type: WireFormat.FrameType, payload: [UInt8], reason: String) throws {
        var frame = FrameWriter(type)
        frame.raw(payload)
        let link = try link(repeating: frame.frame())
        let answer = try link.ask(.scan)
        let found = message { while true { _ = try answer.next(SilentMonitor()) } }
        #expect(found.contains(reason), "\(found)")
    }

    /// Their heads are larger than their content.
    @Test func smallFramesThatNobodyTakesAreBounded() throws {
        var frame = FrameWriter(.data)
        frame.raw([1, 0, 7] as [UInt8])
        let link = try link(repeating: Array([[UInt8]](repeating: frame.frame(), count: 8000).joined()))
        let answer = try link.ask(.content)
        while !link.isLost { _ = Semaphore().wait(atMost: .milliseconds(5)) }
        #expect(message { try link.check() }.contains("too many frames at a time"))
        answer.abandon()
    }

    /// Once each taken part moved all others: 200,000 took ten seconds.
    @Test func takingAPartCostsTheSameHoweverManyThereAre() {
        var queue = Queue<Int>()
        for number in 0..<1_000_000 { queue.add(number) }
        for number in 0..<1000 { #expect(queue.take() == number) }
        queue.add(-1)
        #expect(queue.count == 999_001)
        var last: Int?
        while let next = queue.take() { last = next }
        #expect(last == -1 && queue.count == 0)
    }
}

/// Sizes that the other end announces.
struct AnnouncedSizeTests {
    private static let huge = Int64(1) << 62

    private func begun(_ size: Int64, isPlain: Bool, mostHoles: Int64? = 1 << 30) throws -> ReceivedContent {
        var content = ReceivedContent(mostHoles: mostHoles)
        try content.begin(Payload.file(size, isPlain: isPlain))
        return content
    }

    /// Hashing its zeros would have taken a century.
    @Test func aHoleThatIsTooLargeToHashIsRefused() throws {
        var content = try begun(Self.huge, isPlain: true)
        let file = try HostileStream.file("f")
        #expect(throws: ReceivedContent.TooManyZeros.self) {
            _ = try content.end(Payload.end(Self.huge), file, HostileStream.selection) { false }
        }
        var other = try begun(Self.huge, isPlain: true)
        #expect(throws: ReceivedContent.TooManyZeros.self) {
            _ = try other.take(Payload.data([7], at: Self.huge - 1)) { false }
        }
    }

    /// Each hole is small, but their sum is not.
    @Test func holesAreBoundedTogether() throws {
        var content = try begun(Self.huge, isPlain: true)
        var number: Int64 = 0
        #expect(throws: ReceivedContent.TooManyZeros.self) {
            while number < 10 {
                number += 1
                _ = try content.take(Payload.data([7], at: number * (300 << 20))) { true }
            }
        }
        #expect(number == 4)
    }

    /// Without a digest holes cost nothing, so the size does not matter.
    @Test func holesAreFreeWithoutADigest() throws {
        #expect(throws: WireError.self) { _ = try begun(1, isPlain: true, mostHoles: nil) }
        var content = try begun(Self.huge, isPlain: false, mostHoles: nil)
        let file = try HostileStream.file("f")
        let nothing = ContentHash(.sparse).value(upTo: Self.huge) { false }
        let copied = try content.end(Payload.end(Self.huge, nothing), file, HostileStream.selection) { false }
        #expect(copied.size.rawCount == Self.huge && copied.digest == nil)
    }
}
