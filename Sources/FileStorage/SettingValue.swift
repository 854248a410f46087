/// A setting whose type is checked later, by the program.
public enum SettingValue: Hashable, Sendable, Codable {
    case flag(Bool)
    case number(Int)
    case text(String)
    case list([SettingValue])
    case object(SettingValues)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try container.several([SettingValue].self) {
            self = .list(list)
        } else if let object = try container.several(SettingValues.self) {
            self = .object(object)
        } else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription:
                    "There is no option with such a value: not with null, nor with a number that is not whole."
            )
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let object): try container.encode(object)
        }
    }
}

/// Settings by key. The program checks the keys.
public typealias SettingValues = [String: SettingValue]

extension SingleValueDecodingContainer {
    /// nil for a value of another type. What is wrong inside is thrown, with its place.
    fileprivate func several<Values: Decodable>(_ type: Values.Type) throws -> Values? {
        do {
            return try decode(type)
        } catch DecodingError.typeMismatch(_, let context) where context.codingPath.count == codingPath.count
        {
            return nil
        } catch DecodingError.valueNotFound(_, let context) where context.codingPath.count == codingPath.count
        {
            return nil
        }
    }
}
