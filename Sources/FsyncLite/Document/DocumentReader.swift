import FileStorage
import FileSystem
import FoundationEssentials

/// Reads a document of ours line by line, strictly: what `DocumentWriter` would not write is an error that
/// names the file and the line. Memory holds one line.
package struct DocumentReader: ~Copyable {
    /// nil for text that is in memory, whole.
    private let descriptor: FileDescriptor?
    /// nil where whoever asked knows it, and adds it to the errors.
    private let path: [UInt8]?
    /// What has been read and not yet parsed lies in `position..<filled`; the line ends at `lineEnd`.
    private(set) var buffer: [UInt8] = []
    private var filled = 0
    var position = 0
    private(set) var lineEnd = 0
    /// How many bytes before `position` `takeLine` has taken, of the present line.
    private var taken = 0
    /// Covers all bytes before `buffer[hashed]`.
    private var checksum = Checksum()
    private var hashed = 0
    private var isAtEndOfFile = false
    /// The number of the current line, from 1.
    package private(set) var line = 0

    /// No path of ours comes near, and a hostile document cannot make us hold more.
    private static let longestLine = 64 << 20
    private static let chunk = 256 * 1024

    /// Cannot fail: see `ObjectHandle`.
    private init(_ descriptor: consuming FileDescriptor?, path: [UInt8]?) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Opens the document and reads `{"format":…,"version":…,`; the header's other fields follow.
    package init(
        _ descriptor: consuming FileDescriptor, path: [UInt8], format: StaticString, newestVersion: Int = 1
    ) throws {
        self.init(descriptor, path: path)
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

    /// Reads a text that is in memory.
    package init(text: [UInt8]) throws {
        self.init(nil, path: nil)
        buffer = text
        if buffer.last != UInt8(ascii: "\n") { buffer.append(UInt8(ascii: "\n")) }
        filled = buffer.count
        isAtEndOfFile = true
        guard try nextLine() else { throw error("the JSON ends early") }
    }

    /// - Parameter line: nil for the current one.
    package func error(_ message: String, line: Int? = nil) -> SyncError {
        SyncError(.invalidDocument, path: path, "line \(line ?? self.line): \(message)")
    }

    // MARK: Lines

    /// Steps to the next line; false at the end of the file. The present line must have been parsed whole.
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

    /// Hands over what is left of the line; `body` returns how many bytes of it it has read, nil for none.
    package mutating func takeLine(_ body: (UnsafeBufferPointer<UInt8>) -> Int?) -> Bool {
        let count = buffer.withUnsafeBufferPointer { bytes in
            body(UnsafeBufferPointer(rebasing: bytes[position..<lineEnd]))
        }
        taken = count ?? 0
        position += taken
        return count != nil
    }

    /// What `takeLine` has taken of the present line; nothing where it took nothing.
    package func withTaken(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        guard taken > 0 else { return }
        buffer.withUnsafeBufferPointer { bytes in
            body(UnsafeBufferPointer(rebasing: bytes[(position - taken)..<position]))
        }
    }

    /// Reads more, in place of what has been parsed. The buffer grows with a document, up to a point, and with its
    /// longest line.
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

    /// Begins an array with one element per line, on a line of its own. What stands before it ends in a comma.
    package mutating func beginArray(_ name: StaticString) throws {
        guard try nextLine() else { throw error("the document ends early") }
        guard try key(name) else { throw error("\"\(name)\" is missing") }
        try expect("[")
    }

    /// Reads an array with one element per line, and the comma after it; `body` reads one element.
    mutating func elements(_ name: StaticString, _ body: (inout DocumentReader) throws -> Void) throws {
        try beginArray(name)
        var isFirst = true
        while try nextElement(isFirst: isFirst) {
            try body(&self)
            isFirst = false
        }
    }

    /// True with the cursor on the next element; false after the array and the comma behind it.
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

    /// Steps to the closing fields after the last array.
    package mutating func beginTrailer() throws {
        guard try nextLine() else { throw error("the document ends early") }
    }

    /// Reads the checksum and the end of the document; both must be right.
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
