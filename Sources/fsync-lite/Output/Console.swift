import FileSystem
import FsyncLite
import Synchronization

/// Standard output, buffered, and standard error. A failed write is an ordinary error.
struct Console: ByteSink {
    private var buffer: [UInt8] = []
    /// Some output was written and cannot be discarded.
    var isBegun = false
    /// Standard output must have one JSON document, even after an error.
    var wantsDocument = false

    mutating func write(_ bytes: [UInt8]) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= 64 * 1024 { try flush() }
    }

    mutating func line(_ text: String) throws {
        try write(Array(text.utf8) + [UInt8(ascii: "\n")])
    }

    /// Prints rows of cells, in columns. The first row has the titles. All rows have the same number of cells.
    mutating func table(_ rows: [[String]]) throws {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = zip(row, widths).map { $0.padded(to: $1) }
            // The last column needs no padding.
            try line((cells.dropLast() + row.suffix(1)).joined(separator: "  "))
        }
    }

    /// Discards the output that could not be written.
    mutating func discard() {
        buffer = []
    }

    mutating func flush() throws {
        guard !buffer.isEmpty else { return }
        isBegun = true
        try StandardStream.output.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    /// Prints a line for people to standard error. A failure to do so cannot be reported.
    static func complain(_ text: String) {
        _ = Result { try StandardStream.error.write(Array("fsync-lite: \(text)\n".utf8)) }
    }

    private static let printed = Mutex<Set<String>>([])

    /// Prints a line only if this process has not printed it before.
    static func complainOnce(_ text: String) {
        guard printed.withLock({ $0.insert(text).inserted }) else { return }
        complain(text)
    }

    /// Lists the problems.
    ///
    /// - Parameter limit: the maximum that is listed, and a hint at the whole list.
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
