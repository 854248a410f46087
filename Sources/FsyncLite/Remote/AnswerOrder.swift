import FileStorage
import FileSystem

/// Matches frames of the other end with the requests, in their order. It uses no thread and no connection.
struct AnswerOrder {
    /// A part of an answer.
    enum Part: Sendable {
        case entries(FrameReader)
        /// A file begins, or its next attempt begins.
        case file(FrameReader)
        case data(FrameReader)
        /// Hashes. The other end waits for an answer to them.
        case blocks(FrameReader)
        /// A piece of the last part of the answer.
        case end(ArraySlice<UInt8>, isLast: Bool)
        case failure(SyncError)

        /// No further part follows.
        var isLast: Bool {
            switch self {
            case .end(_, let isLast): isLast
            case .failure: true
            case .entries, .file, .data, .blocks: false
            }
        }
    }

    private struct Request {
        let id: UInt32
        let kind: WireFormat.RequestKind
        /// Bytes of the last part so far.
        var length = 0
    }

    private let endpoint: Endpoint
    private var requests: ArraySlice<Request> = []
    private var lastID: UInt32 = 0

    init(_ endpoint: Endpoint) {
        self.endpoint = endpoint
    }

    /// The number of requests without a complete answer.
    var count: Int { requests.count }
    var kind: WireFormat.RequestKind? { requests.first?.kind }

    /// - Returns: the id of a new request.
    mutating func add(_ kind: WireFormat.RequestKind) -> UInt32 {
        lastID &+= 1
        requests.append(Request(id: lastID, kind: kind))
        return lastID
    }

    /// Takes a frame as a part of the answer to the first request.
    ///
    /// - Throws: `WireError`; `SyncError` for a failure that ends the connection.
    mutating func take(_ frame: Frame) throws -> Part {
        var reader = FrameReader(frame.payload)
        let id = try reader.number(UInt32.self)
        if frame.type == .failure, id == 0 { throw try failure(&reader) }
        guard let kind, requests.first?.id == id else { throw WireError("an answer that was not asked for") }
        switch frame.type {
        case .entries where kind == .scan || kind == .list || kind == .snapshot:
            guard !reader.isAtEnd else { throw WireError("a frame without files") }
            return .entries(reader)
        case .file where kind == .content: return .file(reader)
        case .data where kind == .content: return .data(reader)
        case .blocks where kind == .content: return .blocks(reader)
        case .failure:
            let failure = try failure(&reader)
            requests.removeFirst()
            return .failure(failure)
        case .answer:
            let isLast = try reader.flag()
            let piece = reader.rest()
            // Otherwise empty pieces could come forever.
            guard isLast || !piece.isEmpty else { throw WireError("an empty piece of an answer") }
            requests[requests.startIndex].length += piece.count
            guard requests[requests.startIndex].length <= WireFormat.longestAnswer else {
                throw WireError("an answer of more than \(WireFormat.longestAnswer) bytes")
            }
            if isLast { requests.removeFirst() }
            return .end(piece, isLast: isLast)
        default: throw WireError("an answer of the wrong kind")
        }
    }

    private func failure(_ reader: inout FrameReader) throws(WireError) -> SyncError {
        let code = SyncError.Code(received: try reader.text())
        let kind = Guard(rawValue: try reader.text())
        // Another snapshot that has the path.
        let snapshot = try reader.bytes(upTo: 255)
        let path = try reader.bytes(upTo: WireFormat.longestPath)
        let message = singleLine(try reader.text())
        try reader.end()
        // Here the message names the path in the tree.
        let isOfTree = path.isEmpty && (kind == .notInSnapshot || code == .noMatch)
        var error = SyncError(
            code, path: isOfTree ? nil : path.isEmpty ? endpoint.bytes : endpoint.location(of: path), message)
        error.details = kind.map {
            Refusal($0, message, snapshot.isEmpty ? .none : .argument(Refusal.id, snapshot))
        }
        return error
    }
}
