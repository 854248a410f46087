import FileSystem
import FoundationEssentials
import Synchronization

/// The spelling of a property's name in a document: as the type declares it, or in snake_case.
public enum JSONKeys: Sendable { case asDeclared, snakeCase }

/// JSON through Codable, always with the same layout: sorted keys, indented, a line feed at the end, dates as ISO 8601.
///
/// Every document that was written can be read. A value that could not be read again is refused. In snake_case, no
/// other spelling is accepted: `keep_last` is `keepLast`, and `keepLast` is unknown. A type whose keys are `made_at` or
/// `_id` is refused. The keys of dictionaries are left unchanged.
package enum JSONDocument {
    package static func encode(
        _ value: some Encodable, keys: JSONKeys = .snakeCase
    ) throws(SyncError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            guard let text = ISODate.text(of: date) else {
                return try container.encode(date.timeIntervalSinceReferenceDate)
            }
            try container.encode(text)
        }
        let lost = Mutex<String?>(nil)
        if keys == .snakeCase {
            encoder.keyEncodingStrategy = .custom { path in
                let name = path.last?.stringValue ?? ""
                if propertyName(snakeCase(name)) != name { lost.withLock { $0 = name } }
                return snakeCase(name).codingKey
            }
        }
        let data: Data
        do {
            data = try encoder.encode(value) + [UInt8(ascii: "\n")]
        } catch {
            throw SyncError(.failed, "cannot be written as JSON: \(describe(error, keys))")
        }
        if let name = lost.withLock({ $0 }) {
            let reason = "would not come back; name the property in camelCase, without a coding key"
            throw SyncError(
                .failed,
                "cannot be written as JSON in snake_case: the key \(escapedText(name.utf8)) \(reason)")
        }
        // Each level is indented by two. A line feed in a text is escaped.
        let tooDeep = Data(("\n" + String(repeating: " ", count: 2 * SourceMap.deepest + 1)).utf8)
        guard data.firstRange(of: tooDeep) == nil else {
            throw SyncError(.failed, "cannot be written as JSON: nested too deeply to be read again")
        }
        return data
    }

    static func map(of value: some Encodable, keys: JSONKeys = .snakeCase) throws(SyncError) -> SourceMap {
        try SourceMap(json: Array(encode(value, keys: keys)))
    }

    /// - Parameter lines: the places of the keys for messages, if they differ from the places in `data`.
    package static func decode<Value: Decodable>(
        _ type: Value.Type = Value.self, from data: Data, keys: JSONKeys = .snakeCase, lines: SourceMap? = nil
    ) throws(SyncError) -> Value {
        do {
            return try decoder(keys).decode(type, from: data)
        } catch {
            let map = try SourceMap(json: Array(data))
            throw SyncError(
                .invalidDocument, describe(placed(error, type, map, keys), keys, map, at: lines))
        }
    }

    static func decoder(_ keys: JSONKeys) -> JSONDecoder {
        let decoder = JSONDecoder()
        if keys == .snakeCase {
            decoder.keyDecodingStrategy = .custom { propertyName($0.last?.stringValue ?? "").codingKey }
        }
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            // A date that ISO 8601 cannot express is stored as a number.
            if let seconds = try? container.decode(Double.self) {
                return Date(timeIntervalSinceReferenceDate: seconds)
            }
            if let date = ISODate.date(of: try container.decode(String.self)) { return date }
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "A date is needed, such as 2026-11-27T10:00:00Z.")
        }
        return decoder
    }

    /// The error, with its place, for a number that its type cannot represent. Foundation reports no place for it.
    private static func placed<Value: Decodable>(
        _ error: any Error, _ type: Value.Type, _ map: SourceMap, _ keys: JSONKeys
    ) -> any Error {
        guard case DecodingError.dataCorrupted(let context) = error, context.codingPath.isEmpty else {
            return error
        }
        // Each number is tried, up to a count that no person writes.
        let numbers = map.paths.filter { "-0123456789".utf8.contains(map.value($0).first ?? 0) }
        for path in numbers.prefix(1000) {
            do {
                _ = try decoder(keys).decode(type, from: Data(map.replacing(path, by: "\"\"")))
            } catch DecodingError.typeMismatch(let needed as any Decodable.Type, let there)
                where there.codingPath.count == path.count
                && (try? JSONDecoder().decode(needed, from: map.value(path))) == nil
            {
                let range = (needed as? any FixedWidthInteger.Type).map {
                    "whole number from \($0.min) to \($0.max)"
                }
                let message = "A \(range ?? "number that is nearer to 0") is needed."
                return DecodingError.dataCorrupted(
                    .init(codingPath: there.codingPath, debugDescription: message))
            } catch {
                // Another number is at fault.
            }
        }
        return error
    }

    /// The prefix of a document's key that is not the spelling of any property.
    private static let foreign: Character = "="

    private static func snakeCase(_ name: String) -> String {
        if name.first == foreign { return String(name.dropFirst()) }
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let key = name.utf8.flatMap { capitals.contains($0) ? [UInt8(ascii: "_"), $0 | 0x20] : [$0] }
        return String(decoding: key, as: UTF8.self)
    }

    private static func propertyName(_ key: String) -> String {
        var bytes: [UInt8] = []
        for byte in key.utf8 {
            if bytes.last == UInt8(ascii: "_"), (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) {
                bytes[bytes.count - 1] = byte & ~0x20
            } else {
                bytes.append(byte)
            }
        }
        let name = String(decoding: bytes, as: UTF8.self)
        return snakeCase(name) == key ? name : "\(foreign)\(key)"
    }

    /// The type that is needed in place of another value, in words; nil for a type that no document has.
    private static func wanted(_ type: any Any.Type) -> String? {
        let names = [
            "Dictionary": "An object", "Array": "A list", "String": "A text", "Bool": "true or false",
            "Int": "A whole number", "UInt": "A whole number", "Double": "A number", "Float": "A number",
        ]
        return names[String("\(type)".prefix { $0.isLetter })].map { "\($0) is needed" }
    }

    /// The keys of a path in the spelling of a document. Keys of dictionaries are not property names.
    static func spelling(_ path: [any CodingKey], _ keys: JSONKeys, _ map: SourceMap) -> [String] {
        path.reduce(into: []) { spelled, key in
            let name = key.intValue.map { "[\($0)]" } ?? key.stringValue
            spelled.append(keys == .asDeclared || map.contains(spelled + [name]) ? name : snakeCase(name))
        }
    }

    /// The fault on one line, with its position and key.
    ///
    /// - Parameter map: shows which keys are those of dictionaries.
    static func describe(
        _ error: any Error, _ keys: JSONKeys, _ map: SourceMap = SourceMap(), at lines: SourceMap? = nil
    ) -> String {
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
            (path, message) = ([], "\(error)")
        }
        return (lines ?? map).describe(spelling(path, keys, map), singleLine(message))
    }
}

/// Dates as text of ISO 8601, with as many digits of the second as are needed to read the same date again.
enum ISODate {
    private static let style = Date.ISO8601FormatStyle()
    /// From the year 1 to the year 9999, in seconds since 2001.
    private static let years = -63_114_076_800.0..<252_423_993_600.0

    /// nil for a date that no text can express.
    static func text(of date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard years.contains(seconds) else { return nil }
        let whole = seconds.rounded(.down)
        let nanoseconds = Int(((seconds - whole) * 1e9).rounded())
        var text = style.format(Date(timeIntervalSinceReferenceDate: whole))
        if nanoseconds > 0, text.popLast() == "Z" {
            var digits = String(String(1_000_000_000 + nanoseconds).dropFirst())
            while digits.hasSuffix("0") { digits.removeLast() }
            text += ".\(digits)Z"
        }
        return ISODate.date(of: text) == date ? text : nil
    }

    static func date(of text: String) -> Date? {
        // The parser's error says no more than the caller's.
        try? style.parse(text.replacing(",", with: "."))
    }
}
