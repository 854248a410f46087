import FileSystem
import FsyncLite
import Synchronization

/// Standard output, buffered, and standard error. A failed write is an error like any other.
struct Console: ByteSink {
    private var buffer: [UInt8] = []
    /// Something was written out and cannot be taken back.
    private(set) var isBegun = false
    /// Standard output must have one JSON document, also after an error.
    var wantsDocument = false

    mutating func write(_ bytes: [UInt8]) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 64 * 1024 { try flush() }
    }

    mutating func line(_ text: String) throws {
        try write(Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Drops output that could not be written.
    mutating func discard() {
        buffer = []
    }

    /// Something was written out by other means.
    mutating func begin() { isBegun = true }

    mutating func flush() throws {
        guard !buffer.isEmpty else { return }
        isBegun = true
        try StandardStream.output.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Prints to standard error, for people. Its own failure cannot be reported.
    static func complain(_ text: String) {
        _ = Result { try StandardStream.error.write(Array("fsync-lite: \(text)\n".utf8)) }
    }

    private static let told = Mutex<Set<String>>([])

    /// The same, unless this process has printed it.
    static func complainOnce(_ text: String) {
        guard told.withLock({ $0.insert(text).inserted }) else { return }
        complain(text)
    }

    /// Lists what could not be read or mirrored.
    ///
    /// - Parameter limit: the most that are listed one by one, and where all are.
    static func complain(
        of problems: [Problem], limit: (count: Int, rest: String)? = nil,
        _ complain: (String) -> Void = Console.complain
    ) {
        let listed = problems.prefix(limit?.count ?? problems.count)
        for problem in listed { complain("\(problem.path): \(problem.message) (\(problem.code.rawValue))") }
        guard let limit, listed.count < problems.count else { return }
        complain("and \(problems.count - listed.count) more like these: \(limit.rest)")
    }
}
