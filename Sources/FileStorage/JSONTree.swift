import FoundationEssentials

/// A JSON value whose scalars are as they were written, so that no number loses digits.
enum JSONTree: Sendable {
    case scalar(ArraySlice<UInt8>)
    /// The members of an object by name, or the items of an array by `[index]`.
    case members([String: JSONTree], isArray: Bool)

    /// A value below this one.
    struct Inner {
        let path: [String]
        let value: JSONTree
        /// It is in an array.
        let isItem: Bool
    }

    var text: [UInt8] {
        get throws {
            guard case .members(let members, let isArray) = self else { return scalar }
            // By length first: `[9]` comes before `[10]`.
            let sorted = members.sorted { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }
            let parts = try sorted.map { key, value in
                try (isArray ? [] : JSONEncoder().encode(key) + [UInt8(ascii: ":")]) + value.text
            }
            return Array((isArray ? "[" : "{").utf8) + parts.joined(separator: ",".utf8)
                + Array((isArray ? "]" : "}").utf8)
        }
    }

    /// Empty for an array and an object.
    private var scalar: [UInt8] { if case .scalar(let text) = self { Array(text) } else { [] } }

    /// The kind of value, by its first character: all numbers are one kind.
    private var kind: UInt8 {
        switch self {
        case .scalar(let text): text.first.map { "-0123456789".utf8.contains($0) ? 0 : $0 } ?? 0
        case .members(_, let isArray): UInt8(ascii: isArray ? "[" : "{")
        }
    }

    var isNull: Bool { kind == UInt8(ascii: "n") }
    var isNumber: Bool { kind == 0 }

    static let emptyText = JSONTree.scalar(Array("\"\"".utf8)[...])

    /// One value of each other kind.
    var othersInPlace: [JSONTree] {
        [
            .scalar(Array("true".utf8)[...]), .emptyText, .members([:], isArray: true),
            .members([:], isArray: false),
        ].filter { $0.kind != kind }
    }

    /// The members of this over those of another: what both have as objects is joined.
    ///
    /// - Parameter whole: paths of objects that are not joined.
    func over(_ other: JSONTree?, whole: Set<[String]>, at path: [String] = []) -> JSONTree {
        guard case .members(let own, false) = self, case .members(let others, false)? = other,
            !whole.contains(path)
        else { return self }
        let joined = own.map { ($0, $1.over(others[$0], whole: whole, at: path + [$0])) }
        return .members(others.merging(joined, uniquingKeysWith: { $1 }), isArray: false)
    }

    func replacing(_ path: ArraySlice<String>, by value: JSONTree) -> JSONTree {
        guard let step = path.first else { return value }
        guard case .members(var members, let isArray) = self else { return self }
        members[step] = members[step]?.replacing(path.dropFirst(), by: value)
        return .members(members, isArray: isArray)
    }

    subscript(path: [String]) -> JSONTree? {
        path.reduce(self) { value, step in
            if case .members(let members, _)? = value { members[step] } else { nil }
        }
    }

    /// The values below this one, in the order of their keys; each before those below it.
    func inner(_ path: [String] = []) -> [Inner] {
        guard case .members(let members, let isArray) = self else { return [] }
        return members.sorted { $0.key < $1.key }.flatMap { key, value in
            [Inner(path: path + [key], value: value, isItem: isArray)] + value.inner(path + [key])
        }
    }

    /// Whether a number is one of a type.
    func fits<Value: Decodable>(_ type: Value.Type) -> Bool {
        // That it cannot be decoded is the answer.
        (try? JSONDecoder().decode(type, from: Data(scalar))) != nil
    }
}
