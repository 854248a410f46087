import FoundationEssentials

/// A setting whose type the program checks later. Dates and data of a property list are text, as in JSON.
public enum SettingValue: Hashable, Sendable, Codable {
    case bool(Bool)
    case int(Int)
    /// A whole number that is too large for `int`.
    case unsigned(UInt64)
    case double(Double)
    case string(String)
    case array([SettingValue])
    case object(SettingValues)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        func read<Value: Decodable>(_ make: (Value) -> SettingValue) -> SettingValue? {
            // If it fails, another type is tried.
            (try? container.decode(Value.self)).map(make)
        }
        let scalar =
            read(SettingValue.bool) ?? read(SettingValue.int) ?? read(SettingValue.unsigned)
            ?? read(SettingValue.double) ?? read(SettingValue.string)
            ?? read { (data: Data) in .string(data.base64EncodedString()) }
            ?? read {
                ISODate.text(of: $0).map(SettingValue.string) ?? .double($0.timeIntervalSinceReferenceDate)
            }
        if let scalar {
            self = scalar
        } else if container.decodeNil() || decoder.codingPath.count > SourceMap.deepestSetting {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "No option has such a value: it is null, or nested too deeply.")
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .array(try container.decode([SettingValue].self))
        } else {
            self = .object(try container.decode(SettingValues.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let bool): try container.encode(bool)
        case .int(let int): try container.encode(int)
        case .unsigned(let unsigned): try container.encode(unsigned)
        case .double(let double): try container.encode(double)
        case .string(let string): try container.encode(string)
        case .array(let array): try container.encode(array)
        case .object(let object): try container.encode(object)
        }
    }
}

/// Settings by key. The program checks the keys.
public typealias SettingValues = [String: SettingValue]
