import FileSystem
import FoundationEssentials

/// Small JSON documents through Codable, always with the same layout: sorted keys, indented, with a trailing line feed,
/// dates as ISO 8601.
///
/// A key is the property's name in snake_case, and no other spelling is accepted: `keep_last` is `keepLast`, `keepLast`
/// is unknown. So types do not declare `CodingKeys` strings. The keys of dictionaries stay unchanged.
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

    /// - Parameter lines: the lines of the keys; by default those of `data`, unless it was converted from another text.
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

    /// The document as an XML property list. The keys are the same as in JSON, numbers are integers.
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

    /// Throws for a key of the decoder's object that its type does not have.
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

    /// Prefix of a document's key that is not the spelling of any property.
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

    /// What a value of another type should have been; nil for a type that no document has.
    private static func wanted(_ type: any Any.Type) -> String? {
        switch "\(type)" {
        case let name where name.hasPrefix("Dictionary<"): "An object is needed"
        case let name where name.hasPrefix("Array<"): "A list is needed"
        case "String": "A text is needed"
        case "Bool": "true or false is needed"
        case "Int": "A whole number is needed"
        default: nil
        }
    }

    /// The position in the document and the fault, on one line.
    private static func describe(_ error: any Error, _ lines: SourceMap = SourceMap()) -> String {
        let (path, message): ([any CodingKey], String)
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            (path, message) = (context.codingPath + [key], "The key is missing.")
        case DecodingError.typeMismatch(let type, let context):
            (path, message) = (context.codingPath, wanted(type).map { "\($0)." } ?? context.debugDescription)
        case DecodingError.valueNotFound(let type, let context):
            path = context.codingPath
            message = wanted(type).map { "\($0), not null." } ?? context.debugDescription
        case DecodingError.dataCorrupted(let context):
            (path, message) = (context.codingPath, context.debugDescription)
        case EncodingError.invalidValue(_, let context):
            (path, message) = (context.codingPath, context.debugDescription)
        default:
            return singleLine("\(error)")
        }
        // The keys of dictionaries are not property names.
        let keys = path.reduce(into: [String]()) { keys, key in
            let name = key.intValue.map { "[\($0)]" } ?? key.stringValue
            keys.append(lines.contains(keys + [name]) ? name : snakeCase(name))
        }
        return lines.describe(keys, singleLine(message))
    }
}
