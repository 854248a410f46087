import FileSystem
import FoundationEssentials

/// A text of JSON with the place of each key, by key path. Foundation decodes the values, but reports no places and
/// accepts duplicate keys. For a property list, only the places are known.
package struct SourceMap: Sendable {
    private var text: [UInt8] = []
    private var places: [[String]: Place] = [:]

    /// A key with its value, or an item of an array, which begins with its value.
    private struct Place {
        let start: Int
        var value: Range<Int>
    }

    /// The greatest depth that Foundation reads.
    static let deepest = 512
    /// Far more than settings need.
    static let deepestSetting = 64

    /// A map without places.
    init() {}

    /// Checks only the structure. The decoder checks numbers.
    ///
    /// - Throws: `SyncError` for invalid JSON and for duplicate keys, with the position.
    package init(json text: [UInt8], deepest: Int = deepest) throws(SyncError) {
        var cursor = Cursor(text: text)
        self.text = cursor.text
        _ = cursor.next
        try add([], cursor.rest.startIndex)
        try readValue(&cursor, [], deepest)
        guard cursor.next == nil else { throw cursor.error("there is text after the end") }
    }

    private mutating func readValue(
        _ cursor: inout Cursor, _ path: [String], _ deepest: Int
    ) throws(SyncError) {
        guard path.count < deepest else { throw cursor.error("nested too deeply") }
        _ = cursor.next
        let start = cursor.rest.startIndex
        let isObject = cursor.take("{")
        if isObject || cursor.take("[") {
            var count = 0
            while !cursor.take(isObject ? "}" : "]") {
                if count > 0 { try cursor.expect(",") }
                _ = cursor.next
                let place = cursor.rest.startIndex
                let inner = path + [isObject ? try cursor.string() : "[\(count)]"]
                try add(inner, place)
                if isObject { try cursor.expect(":") }
                try readValue(&cursor, inner, deepest)
                count += 1
            }
        } else {
            try cursor.skipScalar()
        }
        places[path]?.value = start..<cursor.rest.startIndex
    }

    private mutating func add(_ path: [String], _ start: Int) throws(SyncError) {
        let place = Place(start: start, value: start..<start)
        guard let first = places.updateValue(place, forKey: path) else { return }
        let line = Position(first.start, in: text).line
        throw SyncError(.invalidDocument, describe(path, "The key is there twice, first on line \(line)."))
    }

    /// - Throws: `SyncError`, with the position, for text that is not XML and for duplicate keys.
    package init(propertyList text: [UInt8]) throws(SyncError) {
        var cursor = Cursor(text: text)
        self.text = cursor.text
        /// The present key of each open dictionary, and the present item of each open array.
        var path: [String] = []
        /// The number of items of each open array so far; nil for a dictionary.
        var counts: [Int?] = []
        guard cursor.next == UInt8(ascii: "<") else {
            throw SyncError(.invalidDocument, "line 1: this is not a property list in XML")
        }
        while cursor.skip(to: "<") != nil {
            let rest = cursor.rest
            let end = rest.starts(with: "!--".utf8) ? "-->" : rest.starts(with: "![CDATA[".utf8) ? "]]>" : ">"
            guard let tag = cursor.skip(to: end), let first = tag.first else { break }
            let last = path.count - 1
            switch String(decoding: tag, as: UTF8.self) {
            case "/dict", "/array":
                _ = (path.popLast(), counts.popLast())
            case "key" where last >= 0:
                path[last] = String(decoding: cursor.skip(to: "</key>") ?? [], as: UTF8.self)
                try add(path, rest.startIndex)
            case let name:
                if let count = counts.last ?? nil, !"/!?".utf8.contains(first) {
                    (path[last], counts[last]) = ("[\(count)]", count + 1)
                    try add(path, rest.startIndex)
                }
                guard name == "dict" || name == "array" else { continue }
                path.append("")
                counts.append(name == "array" ? 0 : nil)
            }
            guard path.count < SourceMap.deepestSetting else { throw cursor.error("nested too deeply") }
        }
    }

    func contains(_ path: [String]) -> Bool { places[path] != nil }

    func isItem(_ path: [String]) -> Bool { places[path].map { $0.start == $0.value.lowerBound } ?? false }

    /// The path of each value, in the order of the text. Each is before the values inside it.
    var paths: [[String]] { places.sorted { $0.value.start < $1.value.start }.map(\.key) }

    /// The text of a value; empty if there is none.
    func value(_ path: [String]) -> Data { Data(text[places[path]?.value ?? 0..<0]) }

    /// The text with another value at a path.
    func replacing(_ path: [String], by value: String) -> [UInt8] {
        var changed = text
        if let place = places[path] { changed.replaceSubrange(place.value, with: value.utf8) }
        return changed
    }

    /// This text, completed with the members of another. If both have an object at a path, the two are joined.
    ///
    /// - Parameter whole: paths of objects that are not joined.
    func joined(with other: SourceMap, whole: Set<[String]>) -> Data {
        var missing: [Int: [ArraySlice<UInt8>]] = [:]
        for (path, place) in other.places where places[path] == nil && place.start < place.value.lowerBound {
            guard let object = places[path.dropLast()]?.value, text[object.lowerBound] == UInt8(ascii: "{"),
                !whole.contains(where: { path.starts(with: $0) })
            else { continue }
            missing[object.lowerBound + 1, default: []].append(
                other.text[place.start..<place.value.upperBound])
        }
        var joined = text
        // From the end, so that earlier places remain valid.
        for (start, members) in missing.sorted(by: { $0.key > $1.key }) {
            let isEmpty = joined[start...].first { !Cursor.isSpace($0) } == UInt8(ascii: "}")
            let end = isEmpty ? [] : [UInt8(ascii: ",")]
            joined.insert(contentsOf: members.joined(separator: ",".utf8) + end, at: start)
        }
        return Data(joined)
    }

    /// The position of a key path, or of its nearest known ancestor; nil if none is known.
    func position(of path: [String]) -> Position? {
        (0...path.count).reversed().lazy.compactMap { places[Array(path.prefix($0))] }.first
            .map { Position($0.start, in: text) }
    }

    /// Position, key path and message.
    func describe(_ path: [String], _ message: String) -> String {
        var names = ""
        for key in path {
            names += (names.isEmpty || key.hasPrefix("[") ? "" : ".") + escapedText(key.utf8)
        }
        return [position(of: path)?.description, names.isEmpty ? nil : names, message]
            .compactMap(\.self).joined(separator: ": ")
    }
}

/// A line and a column, in characters; both begin with 1.
struct Position: CustomStringConvertible {
    let line: Int
    let column: Int

    init(_ index: Int, in text: [UInt8]) {
        let end = UInt8(ascii: "\n")
        let start = text[..<index].lastIndex(of: end).map { $0 + 1 } ?? 0
        line = text[..<start].count { $0 == end } + 1
        // Continuation bytes of UTF-8 are not counted.
        column = text[start..<index].count { $0 & 0xC0 != 0x80 } + 1
    }

    var description: String { "line \(line), column \(column)" }
}

/// A text and its unread rest.
private struct Cursor {
    let text: [UInt8]
    private(set) var rest: ArraySlice<UInt8>

    init(text: [UInt8]) {
        // The last line also ends in a line feed, so that an unexpected end is reported after it.
        self.text = text.last == UInt8(ascii: "\n") ? text : text + [UInt8(ascii: "\n")]
        rest = self.text[...]
    }

    func error(_ message: String) -> SyncError {
        SyncError(.invalidDocument, "\(Position(rest.startIndex, in: text)): \(message)")
    }

    static func isSpace(_ byte: UInt8) -> Bool { " \t\r\n".utf8.contains(byte) }

    /// The next byte after white space; nil at the end. The white space is skipped.
    var next: UInt8? {
        mutating get {
            rest = rest.drop(while: Cursor.isSpace)
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
        while end < rest.endIndex, !"\"\n".utf8.contains(rest[end]) {
            end += rest[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < rest.endIndex, rest[end] == UInt8(ascii: "\"") else {
            throw error("a string without end")
        }
        let quoted = text[(rest.startIndex - 1)...end]
        do {
            let string = try JSONDecoder().decode(String.self, from: Data(quoted))
            rest = rest[(end + 1)...]
            return string
        } catch {
            throw self.error("a string with a control character, an unknown escape or invalid UTF-8")
        }
    }

    /// Skips a string, a number, `true`, `false` or `null`.
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

    /// Skips past the next mark; nil if there is none.
    mutating func skip(to mark: String) -> ArraySlice<UInt8>? {
        guard let found = rest.firstRange(of: Array(mark.utf8)) else { return nil }
        defer { rest = rest[found.upperBound...] }
        return rest[..<found.lowerBound]
    }
}
