/// A setting whose type is checked later, by the program.
public enum SettingValue: Hashable, Sendable, Codable {
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([SettingValue])
    case object(SettingValues)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let int = try? container.decode(Int.self) {
            self = .int(int)
        } else if let double = try? container.decode(Double.self) {
            self = .double(double)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .array(try container.decode([SettingValue].self))
        } else if !container.decodeNil() {
            self = .object(try container.decode(SettingValues.self))
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "There is no option with such a value: not with null.")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let bool): try container.encode(bool)
        case .int(let int): try container.encode(int)
        case .double(let double): try container.encode(double)
        case .string(let string): try container.encode(string)
        case .array(let array): try container.encode(array)
        case .object(let object): try container.encode(object)
        }
    }
}

/// Settings by key. The program checks the keys.
public typealias SettingValues = [String: SettingValue]
