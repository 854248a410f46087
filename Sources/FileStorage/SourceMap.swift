import FileSystem
import FoundationEssentials

/// The position of each key of a document, by key path. Foundation, which decodes the values, reports none and accepts
/// duplicate keys.
package struct SourceMap: Sendable {
    private var positions: [[String]: Position] = [:]
    /// The value itself; null without JSON.
    private(set) var tree = JSONTree.scalar(Array("null".utf8)[...])

    /// A line and a column, in characters; both begin with 1.
    fileprivate struct Position: CustomStringConvertible {
        let line: Int
        let column: Int

        var description: String { "line \(line), column \(column)" }
    }

    /// The depth that Foundation reads at most.
    static let deepest = 512
    /// Far more than settings need.
    static let deepestSetting = 64

    /// Without positions.
    package init() {}

    /// Checks the structure only; the decoder checks numbers.
    ///
    /// - Throws: `SyncError` for invalid JSON and for duplicate keys, with the position.
    package init(json text: [UInt8], deepest: Int = deepest) throws(SyncError) {
        var (cursor, path) = (Cursor(text: text), [String]())
        _ = cursor.next
        positions[[]] = cursor.position
        tree = try readValue(&cursor, &path, deepest)
        guard cursor.next == nil else { throw cursor.error("there is text after the end") }
    }

    private mutating func readValue(
        _ cursor: inout Cursor, _ path: inout [String], _ deepest: Int
    ) throws(SyncError) -> JSONTree {
        guard path.count < deepest else { throw cursor.error("nested too deeply") }
        let isObject = cursor.take("{")
        guard isObject || cursor.take("[") else { return .scalar(try cursor.scalar()) }
        var (index, items, members) = (0, [JSONTree](), [String: JSONTree]())
        while !cursor.take(isObject ? "}" : "]") {
            if index > 0 { try cursor.expect(",") }
            // White space comes before the position of a key.
            _ = cursor.next
            let position = cursor.position
            let step = isObject ? try cursor.string() : "[\(index)]"
            path.append(step)
            if isObject {
                try add(path, position)
                try cursor.expect(":")
            }
            let value = try readValue(&cursor, &path, deepest)
            if isObject { members[step] = value } else { items.append(value) }
            path.removeLast()
            index += 1
        }
        return isObject ? .object(members) : .array(items)
    }

    private mutating func add(_ path: [String], _ position: Position) throws(SyncError) {
        guard let first = positions.updateValue(position, forKey: path) else { return }
        throw SyncError(
            .invalidDocument, describe(path, "The key is there twice, first on line \(first.line)."))
    }

    // MARK: Property lists

    /// - Throws: `SyncError` for invalid XML and for duplicate keys, with the position.
    package init(propertyList text: [UInt8]) throws(SyncError) {
        var cursor = Cursor(text: text)
        /// The present key of each open dictionary.
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
                let position = cursor.position
                guard let name = cursor.skip(to: "</key>"), let last = path.indices.last else { break }
                path[last] = String(decoding: name, as: UTF8.self)
                try add(path, position)
            default: break
            }
            guard path.count < SourceMap.deepestSetting else { throw cursor.error("nested too deeply") }
        }
    }

    // MARK: Messages

    func contains(_ path: [String]) -> Bool { positions[path] != nil }

    /// The position of a key path, or of its nearest known ancestor; nil if none is known.
    private func position(of path: [String]) -> Position? {
        (0...path.count).reversed().lazy.compactMap { positions[Array(path.prefix($0))] }.first
    }

    /// The line of a key path, or of its nearest known ancestor; nil if none is known.
    func line(of path: [String]) -> Int? { position(of: path)?.line }

    /// Position, key path and message.
    package func describe(_ path: [String], _ message: String) -> String {
        var names = ""
        for key in path {
            names += (names.isEmpty || key.hasPrefix("[") ? "" : ".") + escapedText(key.utf8)
        }
        return [position(of: path)?.description, names.isEmpty ? nil : names, message]
            .compactMap(\.self).joined(separator: ": ")
    }
}

/// The rest of a text, and its position.
private struct Cursor {
    private let text: [UInt8]
    private(set) var rest: ArraySlice<UInt8>
    private var line = 1
    /// The column of an index of the present line at or before the rest.
    private var column = 1
    private var mark: Int

    init(text: [UInt8]) {
        // The last line also ends in a line feed, so an unexpected end is reported after it.
        self.text = text.last == UInt8(ascii: "\n") ? text : text + [UInt8(ascii: "\n")]
        rest = self.text[...]
        mark = rest.startIndex
    }

    var position: SourceMap.Position {
        mutating get {
            // Bytes after the first of a character in UTF-8 do not count.
            column += text[mark..<rest.startIndex].count { $0 & 0xC0 != 0x80 }
            mark = rest.startIndex
            return SourceMap.Position(line: line, column: column)
        }
    }

    private mutating func beginLine(at index: Int, after count: Int = 1) {
        (line, column, mark) = (line + count, 1, index)
    }

    mutating func error(_ message: String) -> SyncError {
        SyncError(.invalidDocument, "\(position): \(message)")
    }

    /// The next byte after white space, which is skipped; nil at the end.
    var next: UInt8? {
        mutating get {
            while let byte = rest.first, " \t\r\n".utf8.contains(byte) {
                rest.removeFirst()
                if byte == UInt8(ascii: "\n") { beginLine(at: rest.startIndex) }
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

    /// A string, a number, `true`, `false` or `null`.
    mutating func scalar() throws(SyncError) -> ArraySlice<UInt8> {
        guard let first = next else { throw error("the JSON ends early") }
        let start = rest.startIndex
        if first == UInt8(ascii: "\"") {
            _ = try string()
            return text[start..<rest.startIndex]
        }
        let word = rest.prefix { !" \t\r\n,]}".utf8.contains($0) }
        guard
            "-0123456789".utf8.contains(first)
                || ["true", "false", "null"].contains(where: { word.elementsEqual($0.utf8) })
        else { throw error("this is no JSON value") }
        rest = rest[word.endIndex...]
        return word
    }

    /// Skips past the next mark; nil if there is none.
    mutating func skip(to mark: String) -> ArraySlice<UInt8>? {
        guard let found = rest.firstRange(of: Array(mark.utf8)) else { return nil }
        let skipped = rest[..<found.lowerBound]
        let (passed, end) = (rest[..<found.upperBound], UInt8(ascii: "\n"))
        if let last = passed.lastIndex(of: end) { beginLine(at: last + 1, after: passed.count { $0 == end }) }
        rest = rest[found.upperBound...]
        return skipped
    }
}
