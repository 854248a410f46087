/// The bytes between two machines.
///
///     stream   = frame*
///     frame    = length type payload        length: 4 bytes, least significant first, of the payload, at most 1 MiB
///     number   = 7 bits a byte, the lowest first; the highest bit says that more follow
///     bytes    = number of bytes, bytes
///     time     = number of seconds with its sign as the lowest bit, number of nanoseconds
///
/// Both ends begin with `hello`, without waiting for the other. Then the client sends `request`s, with ids
/// that count from 1. They are answered one after the other, in this order. An answer is any number of
/// `entries`, `file`, `blocks` and `data` frames, as the kind of request allows. Then an `answer` follows, in
/// pieces. The client answers each `blocks` frame with one of its own, or says that it no longer wants that
/// content. The server sends only the bytes that the client has granted with `credit`: 4 MiB at first, and at
/// most 64 MiB at a time. Anything else ends the connection.
///
/// If the server has the target, the client sends `run` with a command instead, in pieces. From then on the
/// server asks and the client answers. The server may send `output` at any time. Before a commit it sends
/// `ready` and waits for the client's `go`. Last it sends an `outcome`. The client may `cancel`.
enum WireFormat {
    /// The versions of the protocol that this program speaks.
    static let versions: ClosedRange<UInt64> = 5...5
    static let magic = Array("fsync-lite\n".utf8)
    static let longestFrame = 1 << 20
    static let headSize = 5
    /// Bytes that may be sent and not yet taken: at first, and at most. ssh itself grants 2 MiB.
    static let window = 4 << 20
    static let widestWindow = 64 << 20
    /// Requests that may be unanswered: enough for 60,000 small files a second and a round trip of 100 ms.
    static let openRequests = 8192
    /// Bytes of requests that may be unanswered: as many files with long names, and a batch of each thread.
    static let openRequestBytes = 16 << 20
    /// Small frames of answers are collected up to this size before they are written.
    static let writeSize = 32 * 1024
    /// The longest answer, over all its pieces.
    static let longestAnswer = 64 << 20
    static let longestText = 4096
    static let longestPath = 1 << 20
    /// The most entries in a request.
    static let batch = 256
    static let saltSize = 16
    /// The most directories of a source.
    static let sources = 4096
    /// Seconds between two signs of life, and the silence after which the other end is treated as gone.
    static let pause = 15
    static let patience = 60
    /// How long an end may send only signs of life when something is due from it.
    static let answerTime = Duration.seconds(3600)
    /// The limit if it may have to read a whole tree, or a file of any size.
    static let readingTime = Duration.seconds(86_400)
    /// The most answer frames that no thread has taken: several times those of all open requests.
    static let waitingFrames = 1 << 17

    enum FrameType: UInt8 {
        case hello = 1
        case request, answer, entries, file, data, credit, ping, failure
        /// A command, and what the server sends while it runs it.
        case run, output, ready, outcome
        /// From the client, while the command runs.
        case cancel, go
        /// Hashes of a file's blocks, or the client's answer to them.
        case blocks
    }

    enum RequestKind: UInt8, CaseIterable {
        /// Opens a tree. Earlier entries become invalid.
        case open = 1
        case rules, scan, attributes, digest, obstacles, content
        /// The digest of the root, computed from those of all directories. Earlier entries become invalid.
        case digests
        /// The entries of directories, and the digests of their subdirectories.
        case list
        /// Opens an earlier tree, and sends its list. Earlier entries become invalid.
        case snapshot

        /// How long the answer may have no progress.
        var patience: Duration {
            switch self {
            case .open, .attributes, .obstacles, .list: WireFormat.answerTime
            case .rules, .scan, .digests, .digest, .content, .snapshot: WireFormat.readingTime
            }
        }

        /// The purpose of the answer, for messages.
        var activity: String {
            switch self {
            case .open, .snapshot: ", while it was opened"
            case .rules, .scan, .digests, .list: ", while it was scanned"
            case .attributes, .digest, .obstacles: ", while it was compared"
            case .content: ", while files were copied"
            }
        }
    }
}

/// The other end sent something that the protocol does not allow.
struct WireError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
