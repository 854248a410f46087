import FoundationEssentials

/// Property lists, by way of JSON: a date is text there, data is base64.
enum PropertyList {
    static func isBinary(_ bytes: [UInt8]) -> Bool { bytes.starts(with: "bplist".utf8) }

    static func json(of propertyList: [UInt8], _ lines: SourceMap) throws(SyncError) -> Data {
        do {
            let value = try PropertyListDecoder().decode(PropertyListValue.self, from: Data(propertyList))
            return try JSONDocument.encode(value, keys: .asDeclared)
        } catch {
            throw SyncError(.invalidDocument, JSONDocument.describe(error, .asDeclared, lines))
        }
    }

    /// - Throws: if a property list cannot hold a value, such as null.
    static func data(of json: Data, isBinary: Bool) throws(SyncError) -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = isBinary ? .binary : .xml
        let data: Data
        do {
            let value = try JSONDocument.decoder(.asDeclared).decode(PropertyListValue.self, from: json)
            data = try encoder.encode(value)
        } catch {
            throw SyncError(
                .failed, "cannot be written as a property list: \(JSONDocument.describe(error, .asDeclared))")
        }
        let written = try SourceMap(json: Array(try PropertyList.json(of: Array(data), SourceMap()))).tree
        guard try SourceMap(json: Array(json)).tree == written else {
            throw SyncError(
                .failed,
                "cannot be written as a property list, which would not hold all its numbers and characters")
        }
        return data
    }
}

private enum PropertyListValue: Codable {
    case bool(Bool)
    case int(Int64)
    case unsigned(UInt64)
    case double(Double)
    case string(String)
    case date(Date)
    case data(Data)
    case array([PropertyListValue])
    case object([String: PropertyListValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func read<Value: Decodable>(_ make: (Value) -> PropertyListValue) -> PropertyListValue? {
            (try? container.decode(Value.self)).map(make)
        }
        let scalar =
            read(PropertyListValue.bool) ?? read(PropertyListValue.int) ?? read(PropertyListValue.unsigned)
            ?? read(PropertyListValue.double) ?? read(PropertyListValue.string)
            ?? read(PropertyListValue.date) ?? read(PropertyListValue.data)
        if let scalar {
            self = scalar
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .array(try container.decode([PropertyListValue].self))
        } else {
            self = .object(try container.decode([String: PropertyListValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
