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

    package static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data
    ) throws(SyncError) -> Value {
        try decode(data, try SourceMap(json: Array(data)))
    }

    /// - Parameter lines: of the keys, for messages.
    static func decode<Value: Decodable>(_ data: Data, _ lines: SourceMap) throws(SyncError) -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { Key(propertyName($0.last?.stringValue ?? "")) }
        decoder.dateDecodingStrategy = .iso8601
        do {
            return try decoder.decode(Value.self, from: data)
        } catch {
            throw SyncError(.invalidDocument, describe(error, lines))
        }
    }

    // MARK: Property lists

    /// Keys are the properties' names as they are.
    static func encodePropertyList(_ value: some Encodable) throws(SyncError) -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        do {
            return try encoder.encode(value)
        } catch {
            throw SyncError(.failed, "cannot be written as a property list: \(describe(error))")
        }
    }

    /// Keys are spelled as in JSON.
    static func decode<Value: Decodable>(
        fromPropertyList data: Data, _ lines: SourceMap
    ) throws(SyncError) -> Value {
        let values: SettingValue
        do {
            values = try PropertyListDecoder().decode(SettingValue.self, from: data)
        } catch {
            throw SyncError(.invalidDocument, describe(error, lines))
        }
        return try decode(try encode(values), lines)
    }

    /// Reads a document of a target's state.
    ///
    /// - Parameter limit: in bytes; more than that no such document has, and nobody makes us hold it.
    /// - Throws: `invalidDocument`, also where no file is.
    package static func read<Value: Decodable>(
        _ name: FileName, in directory: Directory, limit: Int
    ) throws(SyncError) -> Value {
        do throws(StorageError) {
            return try CodableStorage(DiskStorage(directory, sizeLimit: limit)).value(for: name.description)
        } catch {
            throw SyncError(.invalidDocument, path: directory.path(of: name), "\(error)")
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
        var key = ""
        for character in name.unicodeScalars {
            if ("A"..."Z").contains(character) {
                key += "_" + String(character).lowercased()
            } else {
                key.unicodeScalars.append(character)
            }
        }
        return key
    }

    private static func propertyName(_ key: String) -> String {
        var name = ""
        var afterUnderscore = false
        for character in key.unicodeScalars {
            if afterUnderscore, ("a"..."z").contains(character) {
                name.unicodeScalars.removeLast()
                name += String(character).uppercased()
            } else {
                name.unicodeScalars.append(character)
            }
            afterUnderscore = character == "_"
        }
        return snakeCase(name) == key ? name : String(foreign) + key
    }

    // MARK: Errors

    /// The place in the document, and what is wrong there, on one line.
    private static func describe(_ error: any Error, _ lines: SourceMap = SourceMap()) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, let context):
            return place(context.codingPath + [key], "The key is missing.", lines)
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
            DecodingError.dataCorrupted(let context):
            return place(context.codingPath, context.debugDescription, lines)
        case EncodingError.invalidValue(_, let context):
            return place(context.codingPath, context.debugDescription, lines)
        default:
            return singleLine("\(error)")
        }
    }

    private static func place(_ path: [any CodingKey], _ message: String, _ lines: SourceMap) -> String {
        // The keys of dictionaries are no properties' names.
        let keys = path.reduce(into: [String]()) { keys, key in
            let name = key.intValue.map { "[\($0)]" } ?? key.stringValue
            keys.append(lines.contains(keys + [name]) ? name : snakeCase(name))
        }
        return lines.describe(keys, singleLine(message))
    }
}
