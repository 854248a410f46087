import FileSystem
import FoundationEssentials

/// The line of each key of a document that a person wrote, by the names that lead to it. Foundation, which reads
/// the values, tells no lines and accepts the same key twice.
package struct SourceMap: Sendable {
    private var lines: [[String]: Int] = [:]

    /// No document of ours comes near, and a hostile one cannot use up the stack.
    private static let deepest = 64

    /// Knows no lines.
    package init() {}

    /// Judges the structure; what a number is, the decoder knows.
    ///
    /// - Throws: `SyncError` for text that is no JSON, and for a key that is there twice, with the line.
    package init(json text: [UInt8]) throws(SyncError) {
        var (cursor, path) = (Cursor(text: text), [String]())
        try readValue(&cursor, &path)
        guard cursor.next == nil else { throw cursor.error("there is text after the end") }
    }

    private mutating func readValue(_ cursor: inout Cursor, _ path: inout [String]) throws(SyncError) {
        guard path.count < SourceMap.deepest else { throw cursor.error("nested too deeply") }
        let isObject = cursor.take("{")
        guard isObject || cursor.take("[") else { return try cursor.skipScalar() }
        var index = 0
        while !cursor.take(isObject ? "}" : "]") {
            if index > 0 { try cursor.expect(",") }
            path.append(isObject ? try cursor.string() : "[\(index)]")
            if isObject {
                try add(path, cursor.line)
                try cursor.expect(":")
            }
            try readValue(&cursor, &path)
            path.removeLast()
            index += 1
        }
    }

    private mutating func add(_ path: [String], _ line: Int) throws(SyncError) {
        guard let first = lines.updateValue(line, forKey: path) else { return }
        throw SyncError(
            .invalidDocument, describe(path, "The key is there twice, first on line \(first)."))
    }

    // MARK: Property lists

    /// - Throws: `SyncError` for what is no XML, and for a key that is there twice, with the line.
    package init(propertyList text: [UInt8]) throws(SyncError) {
        var cursor = Cursor(text: text)
        /// The key that each open dictionary has got to.
        var path: [String] = []
        guard cursor.next == UInt8(ascii: "<") else {
            throw SyncError(.invalidDocument, "line 1: this is no property list in XML")
        }
        while cursor.skip(to: "<") != nil {
            if cursor.rest.starts(with: "!--".utf8) {
                _ = cursor.skip(to: "-->")
                continue
            }
            guard let tag = cursor.skip(to: ">") else { break }
            switch String(decoding: tag, as: UTF8.self) {
            case "dict": path.append("")
            case "/dict": _ = path.popLast()
            case "key":
                let line = cursor.line
                guard let name = cursor.skip(to: "</key>"), let last = path.indices.last else { break }
                path[last] = String(decoding: name, as: UTF8.self)
                try add(path, line)
            default: break
            }
            guard path.count < SourceMap.deepest else { throw cursor.error("nested too deeply") }
        }
    }

    // MARK: Messages

    func contains(_ path: [String]) -> Bool { lines[path] != nil }

    /// The line of what these names lead to, or of the nearest thing around it; nil where no line is known.
    func line(of path: [String]) -> Int? {
        (0...path.count).reversed().lazy.compactMap { lines[Array(path.prefix($0))] }.first
    }

    /// What is wrong at a position: the line, the names that lead there, and the message.
    package func describe(_ path: [String], _ message: String) -> String {
        var names = ""
        for key in path {
            names += (names.isEmpty || key.hasPrefix("[") ? "" : ".") + escapedText(key.utf8)
        }
        return [line(of: path).map { "line \($0)" }, names.isEmpty ? nil : names, message]
            .compactMap(\.self).joined(separator: ": ")
    }
}

/// What is left of a text, and the number of its line.
private struct Cursor {
    private(set) var rest: ArraySlice<UInt8>
    private(set) var line = 1

    init(text: [UInt8]) {
        // The last line ends like the others: what is missing is missing after it.
        rest = (text.last == UInt8(ascii: "\n") ? text : text + [UInt8(ascii: "\n")])[...]
    }

    func error(_ message: String) -> SyncError { SyncError(.invalidDocument, "line \(line): \(message)") }

    /// The byte after blanks and line ends, which are skipped; nil at the end.
    var next: UInt8? {
        mutating get {
            while let byte = rest.first, " \t\r\n".utf8.contains(byte) {
                if byte == UInt8(ascii: "\n") { line += 1 }
                rest.removeFirst()
            }
            return rest.first
        }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func expect(_ character: Unicode.Scalar) throws(SyncError) {
        guard !take(character) else { return }
        throw error(rest.isEmpty ? "the JSON ends early" : "expected \(character)")
    }

    mutating func string() throws(SyncError) -> String {
        try expect("\"")
        var end = rest.startIndex
        while end < rest.endIndex, rest[end] >= 0x20, rest[end] != UInt8(ascii: "\"") {
            end += rest[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < rest.endIndex, rest[end] != UInt8(ascii: "\n") else {
            throw error("a string without end")
        }
        guard rest[end] == UInt8(ascii: "\"") else { throw error("a control character in a string") }
        defer { rest = rest[(end + 1)...] }
        guard let text = String(validating: rest[..<end], as: UTF8.self) else {
            throw error("a string that is not UTF-8")
        }
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
        do {
            return try JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))
        } catch {
            throw self.error("an unknown escape in a string")
        }
    }

    /// Steps over a string, a number, `true`, `false` or `null`.
    mutating func skipScalar() throws(SyncError) {
        guard let first = next else { throw error("the JSON ends early") }
        if first == UInt8(ascii: "\"") {
            _ = try string()
            return
        }
        let word = rest.prefix { !" \t\r\n,]}".utf8.contains($0) }
        guard
            "-0123456789".utf8.contains(first)
                || ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) })
        else { throw error("this is no JSON value") }
        rest = rest[word.endIndex...]
    }

    /// Steps to the next mark, and over it; nil where there is none.
    mutating func skip(to mark: String) -> ArraySlice<UInt8>? {
        guard let found = rest.firstRange(of: Array(mark.utf8)) else { return nil }
        let skipped = rest[..<found.lowerBound]
        line += rest[..<found.upperBound].count { $0 == UInt8(ascii: "\n") }
        rest = rest[found.upperBound...]
        return skipped
    }
}
