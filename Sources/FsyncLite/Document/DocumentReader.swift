import FileStorage
import FileSystem
import FoundationEssentials

/// Reads a document line by line, strictly. Text that `DocumentWriter` would not write is an error with file and line.
/// Only one line is in memory.
package struct DocumentReader: ~Copyable {
    /// nil if the whole text is in memory.
    private let descriptor: FileDescriptor?
    /// nil if the caller adds the path to errors.
    private let path: [UInt8]?
    /// The bytes in `position..<filled` are not parsed. The line ends at `lineEnd`.
    private(set) var buffer: [UInt8] = []
    private var filled = 0
    var position = 0
    private(set) var lineEnd = 0
    /// The number of bytes of the present line that `takeLine` has consumed, just before `position`.
    private var consumed = 0
    /// Covers all bytes before `buffer[hashed]`.
    private var checksum = Checksum()
    private var hashed = 0
    private var isAtEndOfFile = false
    /// The number of the current line, from 1.
    package private(set) var line = 0

    /// Far longer than any line with a path. It limits the memory that a hostile document can use.
    private static let longestLine = 64 << 20
    private static let chunk = 256 * 1024

    /// Cannot fail; see `ObjectHandle`.
    private init(_ descriptor: consuming FileDescriptor?, path: [UInt8]?) {
        self.descriptor = descriptor
        self.path = path
    }

    private init(holding text: [UInt8]) {
        self.init(nil, path: nil)
        (buffer, filled, isAtEndOfFile) = (text, text.count, true)
    }

    /// Opens the document and reads `{"format":…,"version":…,`; the header's other fields follow.
    package init(
        _ descriptor: consuming FileDescriptor, path: [UInt8], format: StaticString, newestVersion: Int = 1
    ) throws {
        self.init(descriptor, path: path)
        try begin(format, newestVersion)
    }

    /// The same, with a document in memory.
    init(text: [UInt8], format: StaticString, newestVersion: Int) throws {
        self.init(holding: text)
        try begin(format, newestVersion)
    }

    private mutating func begin(_ format: StaticString, _ newestVersion: Int) throws {
        guard try nextLine() else { throw error("the document is empty") }
        try expect("{")
        guard try key("format"), try string() == Array(format.description.utf8) else {
            throw error("this is no \(format) document")
        }
        try expect(",")
        guard try key("version") else { throw error("no version") }
        let version: Int = try integer()
        guard (1...newestVersion).contains(version) else {
            throw error("version \(version) is not one that this fsync-lite reads (1 to \(newestVersion))")
        }
        try expect(",")
    }

    package init(text: [UInt8]) throws {
        self.init(holding: text.last == UInt8(ascii: "\n") ? text : text + [UInt8(ascii: "\n")])
        guard try nextLine() else { throw error("the JSON ends early") }
    }

    /// - Parameter line: nil for the current one.
    package func error(_ message: String, line: Int? = nil) -> SyncError {
        SyncError(.invalidDocument, path: path, "line \(line ?? self.line): \(message)")
    }

    // MARK: Lines

    /// Advances to the next line; false at the end of the file. The present line must have been parsed completely.
    package mutating func nextLine() throws -> Bool {
        guard position == lineEnd else { throw error("unexpected text after the element") }
        if line > 0 { position += 1 }
        var searched = position
        while true {
            if let end = lineFeed(from: searched) {
                lineEnd = end
                line += 1
                return true
            }
            searched = filled - position
            guard !isAtEndOfFile else {
                line += 1
                lineEnd = filled
                if position == filled { return false }
                throw error("the last line is cut short")
            }
            guard searched <= DocumentReader.longestLine else {
                line += 1
                throw error("the line is too long")
            }
            checksum.update(buffer[hashed..<position])
            try fill()
        }
    }

    private func lineFeed(from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < filled,
                let found = firstByte(UInt8(ascii: "\n"), base + start, filled - start)
            else { return nil }
            return found - base
        }
    }

    /// Passes the rest of the line to `body`, which returns the number of bytes that it has read, or nil.
    package mutating func takeLine(_ body: (UnsafeBufferPointer<UInt8>) -> Int?) -> Bool {
        let count = buffer.withUnsafeBufferPointer { bytes in
            body(UnsafeBufferPointer(rebasing: bytes[position..<lineEnd]))
        }
        consumed = count ?? 0
        position += consumed
        return count != nil
    }

    /// Passes the bytes that `takeLine` has consumed of the present line. If there are none, `body` is not called.
    package func withConsumed(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        guard consumed > 0 else { return }
        buffer.withUnsafeBufferPointer { bytes in
            body(UnsafeBufferPointer(rebasing: bytes[(position - consumed)..<position]))
        }
    }

    /// Reads more, over the parsed bytes. The buffer grows with the document up to a limit, and with its longest line.
    private mutating func fill() throws {
        let (parsed, rest) = (position, filled - position)
        (position, hashed, filled) = (0, 0, rest)
        if buffer.count < max(DocumentReader.chunk, 2 * rest) {
            buffer.append(contentsOf: repeatElement(0, count: max(buffer.count, 4096)))
        }
        filled += try buffer.withUnsafeMutableBytes { bytes in
            if let start = bytes.baseAddress { start.copyMemory(from: start + parsed, byteCount: rest) }
            return try calling("read", path ?? []) { () throws(Errno) -> Int in
                try descriptor?.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[rest...])) ?? 0
            }
        }
        isAtEndOfFile = filled == rest
    }

    /// Reads the start of an array with one element per line. It has a line of its own, and a comma ends the one
    /// before.
    package mutating func beginArray(_ name: StaticString) throws {
        guard try nextLine() else { throw error("the document ends early") }
        guard try key(name) else { throw error("\"\(name)\" is missing") }
        try expect("[")
    }

    /// Reads an array with one element per line, and the comma after it. `body` reads one element.
    mutating func elements(_ name: StaticString, _ body: (inout DocumentReader) throws -> Void) throws {
        try beginArray(name)
        var isFirst = true
        while try nextElement(isFirst: isFirst) {
            try body(&self)
            isFirst = false
        }
    }

    /// Returns true with the cursor on the next element, or false after the array and its comma.
    package mutating func nextElement(isFirst: Bool) throws -> Bool {
        if !isFirst {
            let more = take(",")
            guard try nextLine() else { throw error("the document ends early") }
            guard more != (peek == UInt8(ascii: "]")) else { throw error("a comma too many or too few") }
        } else if position == lineEnd {
            guard try nextLine() else { throw error("the document ends early") }
            guard peek != UInt8(ascii: "]") else { throw error("an empty array is []") }
        }
        guard take("]") else { return true }
        try expect(",")
        return false
    }

    /// Advances to the closing fields after the last array.
    package mutating func beginTrailer() throws {
        guard try nextLine() else { throw error("the document ends early") }
    }

    /// Reads and checks the checksum and the end of the document.
    package mutating func end() throws {
        guard try key("checksum") else { throw error("the checksum is missing") }
        checksum.update(buffer[hashed..<position])
        hashed = position
        guard try string() == Array(checksum.text.utf8) else {
            throw error("the checksum is wrong: the file was damaged or edited")
        }
        try expect("}")
        guard try !nextLine() else { throw error("there is text after the end") }
    }
}
