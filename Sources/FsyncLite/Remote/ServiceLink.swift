import FileSystem
import Synchronization

/// The serving end of a connection: a thread that reads requests, and one that says that this end is there.
final class ServiceLink: Sendable {
    struct Request: Sendable {
        let id: UInt32
        let kind: WireFormat.RequestKind
        let payload: FrameReader
    }

    /// The client is gone, or sent what is not understood.
    struct Ended: Error {
        let reason: String?
    }

    private struct State {
        var requests: [Request] = []
        var credit = WireFormat.window
        var end: Ended?
    }

    private let input: FileDescriptor
    private let output: FileDescriptor
    private let state = Mutex(State())
    private let filled = Semaphore()
    private let granted = Semaphore()
    /// Frames are written whole; holds whether anything was written since the last look.
    private let writing = Mutex(false)
    /// Called where the client has said nothing for too long, so that a write may wait for it forever.
    private let onSilence: @Sendable () -> Void

    init(
        input: consuming FileDescriptor, output: consuming FileDescriptor,
        onSilence: @escaping @Sendable () -> Void
    ) throws {
        self.input = input
        self.output = output
        self.onSilence = onSilence
        var hello = FrameWriter(.hello)
        hello.raw(WireFormat.magic)
        hello.number(WireFormat.versions.lowerBound)
        hello.number(WireFormat.versions.upperBound)
        try write(hello.frame())
        try WorkerThread().start { [self] in read() }
        try WorkerThread().start { [weak self] in
            let pause = Semaphore()
            while true {
                _ = pause.wait(atMost: .seconds(WireFormat.pause))
                guard let link = self, link.sign() else { return }
            }
        }
    }

    /// Waits for a request, and takes all that are there, at most as many as are opened ahead.
    func requests() throws -> [Request] {
        while true {
            let found = state.withLock { state -> Result<[Request], Ended> in
                if !state.requests.isEmpty {
                    let first = Array(state.requests.prefix(32))
                    state.requests.removeFirst(first.count)
                    return .success(first)
                }
                return state.end.map { .failure($0) } ?? .success([])
            }
            let requests = try found.get()
            if !requests.isEmpty { return requests }
            filled.wait()
        }
    }

    /// Sends a frame that the client must have granted, once it has.
    func send(_ frame: consuming FrameWriter) throws {
        let cost = frame.count
        while true {
            let isGranted = try state.withLock { state in
                if let end = state.end { throw end }
                guard state.credit > 0 else { return false }
                state.credit -= cost
                return true
            }
            if isGranted { break }
            granted.wait()
        }
        try write(frame.frame())
    }

    var hasEnded: Bool { state.withLock { $0.end != nil } }

    private func write(_ bytes: [UInt8]) throws {
        do {
            try writing.withLock { hasWritten in
                hasWritten = true
                try bytes.withUnsafeBytes { buffer in
                    Result { () throws(Errno) in try output.write(buffer) }
                }.get()
            }
        } catch {
            throw Ended(reason: nil)
        }
    }

    /// - Returns: false once the connection has ended.
    private func sign() -> Bool {
        if hasEnded { return false }
        let isDue = writing.withLock { hasWritten in
            defer { hasWritten = false }
            return !hasWritten
        }
        if isDue { try? write(FrameWriter(.ping).frame()) }
        return true
    }

    private func end(_ reason: String?) {
        state.withLock { $0.end = Ended(reason: reason) }
        filled.signal()
        granted.signal()
    }

    private func read() {
        var parser = FrameParser()
        var isGreeted = false
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 4096)
        defer { buffer.deallocate() }
        do {
            while true {
                guard try input.waitForInput(milliseconds: Int32(WireFormat.patience * 1000)) else {
                    onSilence()
                    return end("there was no sign of the client for \(WireFormat.patience) seconds")
                }
                let count = try input.read(into: buffer)
                guard count > 0 else { return end(nil) }
                parser.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                while let frame = try parser.next() {
                    if isGreeted {
                        try take(frame)
                    } else {
                        guard frame.type == .hello, frame.payload.starts(with: WireFormat.magic) else {
                            throw WireError("this is no greeting of fsync-lite")
                        }
                        isGreeted = true
                    }
                }
            }
        } catch let error as WireError {
            end(error.reason)
        } catch {
            end("\(error)")
        }
    }

    private func take(_ frame: Frame) throws(WireError) {
        var reader = FrameReader(frame.payload)
        switch frame.type {
        case .ping: try reader.end()
        case .credit:
            let more = try reader.number(UInt32.self)
            try reader.end()
            let isTooMuch = state.withLock { state in
                state.credit += Int(more)
                return state.credit > 2 * WireFormat.window
            }
            guard !isTooMuch else { throw WireError("more is granted than was sent") }
            granted.signal()
        case .request:
            let id = try reader.number(UInt32.self)
            guard let kind = WireFormat.RequestKind(rawValue: try reader.byte()) else {
                throw WireError("a request of an unknown kind")
            }
            let isTooMuch = state.withLock { state in
                state.requests.append(Request(id: id, kind: kind, payload: reader))
                return state.requests.count > WireFormat.openRequests
            }
            guard !isTooMuch else { throw WireError("too many requests at a time") }
            filled.signal()
        default: throw WireError("a frame that only the other end sends")
        }
    }
}
