/// Where the keys of a document stand that a person wrote, by the names that lead to them. Foundation, which reads
/// the values, tells no lines and takes the same key twice without a word.
package struct SourceMap: Sendable {
    private var lines: [[String]: Int] = [:]

    /// No document of ours comes near, and a hostile one cannot use up the stack.
    private static let deepest = 64

    /// Knows no lines.
    package init() {}

    /// - Throws: `SyncError` for text that is no JSON, and for a key that is there twice, with the line.
    package init(json text: [UInt8]) throws(SyncError) {
        do {
            var reader = try DocumentReader(text: text)
            try readValue(&reader, [])
            guard try !reader.skipBlanks() else { throw reader.error("there is text after the end") }
        } catch let error as SyncError {
            throw error
        } catch {
            throw SyncError(.invalidDocument, "\(error)")
        }
    }

    private mutating func readValue(_ reader: inout DocumentReader, _ path: [String]) throws {
        guard try reader.skipBlanks() else { throw reader.error("the JSON ends early") }
        guard path.count < SourceMap.deepest else { throw reader.error("nested too deeply") }
        if reader.take("{") {
            try readElements(&reader, until: "}") { lines, reader in
                let line = reader.line
                let key = String(decoding: try reader.string(), as: UTF8.self)
                try lines.add(path + [key], line)
                _ = try reader.skipBlanks()
                try reader.expect(":")
                try lines.readValue(&reader, path + [key])
            }
        } else if reader.take("[") {
            var index = 0
            try readElements(&reader, until: "]") { lines, reader in
                try lines.readValue(&reader, path + ["[\(index)]"])
                index += 1
            }
        } else if reader.isAtString {
            _ = try reader.string()
        } else {
            try reader.skipWord()
        }
    }

    private mutating func readElements(
        _ reader: inout DocumentReader, until end: Unicode.Scalar,
        _ body: (inout SourceMap, inout DocumentReader) throws -> Void
    ) throws {
        _ = try reader.skipBlanks()
        if reader.take(end) { return }
        while true {
            guard try reader.skipBlanks() else { throw reader.error("the JSON ends early") }
            try body(&self, &reader)
            guard try reader.skipBlanks() else { throw reader.error("the JSON ends early") }
            if reader.take(end) { return }
            try reader.expect(",")
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
        var rest = text[...]
        var line = 1
        /// The key that each open dictionary has got to.
        var path: [String] = []

        /// Steps to the next place where this stands, and over it.
        func skip(to mark: String) -> ArraySlice<UInt8>? {
            guard let found = rest.firstRange(of: Array(mark.utf8)) else { return nil }
            let skipped = rest[..<found.lowerBound]
            line += rest[..<found.upperBound].count { $0 == UInt8(ascii: "\n") }
            rest = rest[found.upperBound...]
            return skipped
        }
        let isXML = text.first { $0 > 0x20 } == UInt8(ascii: "<")
        guard isXML else { throw SyncError(.invalidDocument, "line 1: this is no property list in XML") }
        while skip(to: "<") != nil {
            if rest.starts(with: "!--".utf8) {
                _ = skip(to: "-->")
                continue
            }
            guard let tag = skip(to: ">") else { break }
            switch String(decoding: tag, as: UTF8.self) {
            case "dict": path.append("")
            case "/dict": _ = path.popLast()
            case "key":
                let keyLine = line
                guard let name = skip(to: "</key>"), let last = path.indices.last else { break }
                path[last] = String(decoding: name, as: UTF8.self)
                try add(path, keyLine)
            default: break
            }
            guard path.count < SourceMap.deepest else {
                throw SyncError(.invalidDocument, "line \(line): nested too deeply")
            }
        }
    }

    // MARK: Messages

    func contains(_ path: [String]) -> Bool { lines[path] != nil }

    /// The line of what these names lead to, or of the nearest thing around it; nil where no line is known.
    func line(of path: [String]) -> Int? {
        (0...path.count).reversed().lazy.compactMap { lines[Array(path.prefix($0))] }.first
    }

    /// What is wrong at a place: the line, the names that lead there, and the message.
    package func describe(_ path: [String], _ message: String) -> String {
        var place = ""
        for key in path {
            place += (place.isEmpty || key.hasPrefix("[") ? "" : ".") + escapedText(key.utf8)
        }
        return [line(of: path).map { "line \($0)" }, place.isEmpty ? nil : place, message]
            .compactMap(\.self).joined(separator: ": ")
    }
}
