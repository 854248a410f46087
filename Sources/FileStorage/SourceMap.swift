import FileSystem
import FoundationEssentials

/// The position of each key of a document, by key path. Foundation, which decodes the values, reports none and accepts
/// duplicate keys.
package struct SourceMap: Sendable {
    private var text: [UInt8] = []
    /// Where the keys and the items of arrays are in the text.
    private var places: [[String]: Int] = [:]
    /// The value itself; null without JSON.
    private(set) var tree = JSONTree.scalar(Array("null".utf8)[...])

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
        (self.text, places[[]]) = (cursor.text, cursor.rest.startIndex)
        tree = try readValue(&cursor, &path, deepest)
        guard cursor.next == nil else { throw cursor.error("there is text after the end") }
    }

    private mutating func readValue(
        _ cursor: inout Cursor, _ path: inout [String], _ deepest: Int
    ) throws(SyncError) -> JSONTree {
        guard path.count < deepest else { throw cursor.error("nested too deeply") }
        let isObject = cursor.take("{")
        guard isObject || cursor.take("[") else { return .scalar(try cursor.scalar()) }
        var members: [String: JSONTree] = [:]
        while !cursor.take(isObject ? "}" : "]") {
            if !members.isEmpty { try cursor.expect(",") }
            // White space comes before the place of a key.
            _ = cursor.next
            let place = cursor.rest.startIndex
            let step = isObject ? try cursor.string() : "[\(members.count)]"
            path.append(step)
            try add(path, place)
            if isObject { try cursor.expect(":") }
            members[step] = try readValue(&cursor, &path, deepest)
            path.removeLast()
        }
        return .members(members, isArray: !isObject)
    }

    private mutating func add(_ path: [String], _ place: Int) throws(SyncError) {
        guard let first = places.updateValue(place, forKey: path) else { return }
        let line = text.position(first).line
        throw SyncError(.invalidDocument, describe(path, "The key is there twice, first on line \(line)."))
    }

    // MARK: Property lists

    /// - Throws: `SyncError` for invalid XML and for duplicate keys, with the position.
    package init(propertyList text: [UInt8]) throws(SyncError) {
        var cursor = Cursor(text: text)
        self.text = cursor.text
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
                let place = cursor.rest.startIndex
                guard let name = cursor.skip(to: "</key>"), let last = path.indices.last else { break }
                path[last] = String(decoding: name, as: UTF8.self)
                try add(path, place)
            default: break
            }
            guard path.count < SourceMap.deepestSetting else { throw cursor.error("nested too deeply") }
        }
    }

    // MARK: Messages

    func contains(_ path: [String]) -> Bool { places[path] != nil }

    /// The position of a key path, or of its nearest known ancestor; nil if none is known.
    private func position(of path: [String]) -> Position? {
        (0...path.count).reversed().lazy.compactMap { places[Array(path.prefix($0))] }.first
            .map(text.position)
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

/// A line and a column, in characters; both begin with 1.
private struct Position: CustomStringConvertible {
    let line: Int
    let column: Int

    var description: String { "line \(line), column \(column)" }
}

extension [UInt8] {
    fileprivate func position(_ index: Int) -> Position {
        let end = UInt8(ascii: "\n")
        let start = self[..<index].lastIndex(of: end).map { $0 + 1 } ?? 0
        // Bytes after the first of a character in UTF-8 do not count.
        return Position(
            line: self[..<start].count { $0 == end } + 1,
            column: self[start..<index].count { $0 & 0xC0 != 0x80 } + 1)
    }
}

/// A text, and what of it is not read yet.
private struct Cursor {
    let text: [UInt8]
    private(set) var rest: ArraySlice<UInt8>

    init(text: [UInt8]) {
        // The last line also ends in a line feed, so an unexpected end is reported after it.
        self.text = text.last == UInt8(ascii: "\n") ? text : text + [UInt8(ascii: "\n")]
        rest = self.text[...]
    }

    func error(_ message: String) -> SyncError {
        SyncError(.invalidDocument, "\(text.position(rest.startIndex)): \(message)")
    }

    /// The next byte after white space, which is skipped; nil at the end.
    var next: UInt8? {
        mutating get {
            rest = rest.drop { " \t\r\n".utf8.contains($0) }
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
        defer { rest = rest[found.upperBound...] }
        return rest[..<found.lowerBound]
    }
}
