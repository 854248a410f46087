import FileSystem
import FoundationEssentials

/// Small documents as JSON, through Codable, the same everywhere: keys sorted, indented, a line feed at the
/// end, dates as ISO 8601.
///
/// A key is its property's name with `_` and the small letter for each capital, and no other spelling of it
/// is known: `keep_last` is `keepLast`, `keepLast` is nothing. So types do not spell their `CodingKeys`
/// themselves. The keys of dictionaries stay what they are.
package enum JSONDocument {
    package static func encode(_ value: some Encodable) throws(SyncError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .custom { Key(snakeCase($0.last?.stringValue ?? "")) }
        encoder.dateEncodingStrategy = .iso8601
        do {
            return try encoder.encode(value) + [UInt8(ascii: "\n")]
        } catch {
            throw SyncError(.failed, "cannot be written as JSON: \(describe(error))")
        }
    }

    /// - Parameter lines: of the keys; those of the data unless it was made of another text.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from data: Data, _ lines: SourceMap? = nil
    ) throws(SyncError) -> Value {
        let lines = if let lines { lines } else { try SourceMap(json: Array(data)) }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { Key(propertyName($0.last?.stringValue ?? "")) }
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(type, from: data)
        } catch {
            throw SyncError(.invalidDocument, describe(error, lines))
        }
    }

    /// The same document as a property list in XML. Its keys are spelled as in JSON, its numbers are whole.
    static func propertyList(of json: Data) throws(SyncError) -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        do {
            return try encoder.encode(try decode(SettingValue.self, from: json))
        } catch {
            throw SyncError(.failed, "cannot be written as a property list: \(describe(error))")
        }
    }

    static func json(of propertyList: Data, _ lines: SourceMap) throws(SyncError) -> Data {
        do {
            return try encode(try PropertyListDecoder().decode(SettingValue.self, from: propertyList))
        } catch {
            throw SyncError(.invalidDocument, describe(error, lines))
        }
    }

    /// Throws for a key of the decoder's object that is none of its type's.
    package static func refuseUnknownKeys(
        in decoder: any Decoder, knowing known: some Sequence<any CodingKey>
    ) throws {
        let names = Set(known.map(\.stringValue))
        let keys = try decoder.container(keyedBy: Key.self).allKeys.filter { !names.contains($0.stringValue) }
        guard let key = keys.min(by: { $0.stringValue < $1.stringValue }) else { return }
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath + [key], debugDescription: "The key is unknown."))
    }

    // MARK: Keys

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Before the key of a document that is the spelling of no property.
    private static let foreign: Character = "="

    private static func snakeCase(_ name: String) -> String {
        if name.first == foreign { return String(name.dropFirst()) }
        return name.unicodeScalars.reduce(into: "") { key, character in
            key += ("A"..."Z").contains(character) ? "_\(character)".lowercased() : "\(character)"
        }
    }

    private static func propertyName(_ key: String) -> String {
        var name = String.UnicodeScalarView()
        for character in key.unicodeScalars {
            if name.last == "_", ("a"..."z").contains(character) {
                name.removeLast()
                name += "\(character)".uppercased().unicodeScalars
            } else {
                name.append(character)
            }
        }
        return snakeCase(String(name)) == key ? String(name) : "\(foreign)\(key)"
    }

    // MARK: Errors

    /// The position in the document, and what is wrong there, on one line.
    private static func describe(_ error: any Error, _ lines: SourceMap = SourceMap()) -> String {
        let (path, message): ([any CodingKey], String)
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            (path, message) = (context.codingPath + [key], "The key is missing.")
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            (path, message) = (context.codingPath, context.debugDescription)
        case EncodingError.invalidValue(_, let context):
            (path, message) = (context.codingPath, context.debugDescription)
        default:
            return singleLine("\(error)")
        }
        // The keys of dictionaries are no properties' names.
        let keys = path.reduce(into: [String]()) { keys, key in
            let name = key.intValue.map { "[\($0)]" } ?? key.stringValue
            keys.append(lines.contains(keys + [name]) ? name : snakeCase(name))
        }
        return lines.describe(keys, singleLine(message))
    }
}
