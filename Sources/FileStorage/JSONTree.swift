import FoundationEssentials

/// A JSON value whose scalars are as they were written, so that no number loses digits.
enum JSONTree: Sendable {
    case scalar(ArraySlice<UInt8>)
    case array([JSONTree])
    case object([String: JSONTree])

    var bytes: [UInt8] {
        var text: [UInt8] = []
        write(to: &text)
        return text
    }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .scalar(let scalar): text += scalar
        case .array(let items):
            for (index, item) in items.enumerated() {
                text.append(UInt8(ascii: index == 0 ? "[" : ","))
                item.write(to: &text)
            }
            text += (items.isEmpty ? "[]" : "]").utf8
        case .object(let members):
            for (index, member) in members.enumerated() {
                text.append(UInt8(ascii: index == 0 ? "{" : ","))
                text += JSONTree.quoted(member.key).utf8
                member.value.write(to: &text)
            }
            text += (members.isEmpty ? "{}" : "}").utf8
        }
    }

    private static func quoted(_ key: String) -> String {
        key.unicodeScalars.reduce(into: "\"") { text, scalar in
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case ..."\u{1F}":
                text += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        } + "\":"
    }

    /// The kind of value, by its first character: all numbers are one kind.
    private var kind: UInt8 {
        switch self {
        case .scalar(let text): text.first.map { "-0123456789".utf8.contains($0) ? 0 : $0 } ?? 0
        case .array: UInt8(ascii: "[")
        case .object: UInt8(ascii: "{")
        }
    }

    var isNull: Bool { kind == UInt8(ascii: "n") }

    /// One value of each other kind.
    var othersInPlace: [JSONTree] {
        [.scalar(Array("true".utf8)[...]), .scalar(Array("\"\"".utf8)[...]), .array([]), .object([:])]
            .filter { $0.kind != kind }
    }

    /// The members of this over those of another: what both have as objects is joined.
    ///
    /// - Parameter whole: paths of objects that are not joined.
    func over(_ other: JSONTree?, whole: Set<[String]>, at path: [String] = []) -> JSONTree {
        guard case .object(let own) = self, case .object(let others)? = other, !whole.contains(path) else {
            return self
        }
        return .object(
            others.merging(
                own.map { ($0, $1.over(others[$0], whole: whole, at: path + [$0])) }, uniquingKeysWith: { $1 }
            ))
    }

    func replacing(_ path: ArraySlice<String>, by value: JSONTree) -> JSONTree {
        guard let step = path.first else { return value }
        switch self {
        case .scalar: return self
        case .array(let items):
            return .array(
                items.enumerated().map {
                    "[\($0)]" == step ? $1.replacing(path.dropFirst(), by: value) : $1
                })
        case .object(var members):
            members[step] = members[step]?.replacing(path.dropFirst(), by: value)
            return .object(members)
        }
    }

    /// The first key that another value lacks and of which `isUnread` is true.
    func key(
        missingIn other: JSONTree?, at path: [String] = [], where isUnread: ([String], JSONTree) -> Bool
    ) -> [String]? {
        switch self {
        case .scalar: return nil
        case .array(let items):
            for (index, item) in items.enumerated() {
                var there: JSONTree?
                if case .array(let others)? = other, index < others.count { there = others[index] }
                if let key = item.key(missingIn: there, at: path + ["[\(index)]"], where: isUnread) {
                    return key
                }
            }
        case .object(let members):
            for (key, member) in members.sorted(by: { $0.key < $1.key }) {
                var there: JSONTree?
                if case .object(let others)? = other { there = others[key] }
                let path = path + [key]
                if there == nil, isUnread(path, member) { return path }
                if let key = member.key(missingIn: there, at: path, where: isUnread) { return key }
            }
        }
        return nil
    }
}

extension JSONTree: Equatable {
    /// Numbers are equal by value.
    static func == (left: JSONTree, right: JSONTree) -> Bool {
        switch (left, right) {
        case (.array(let left), .array(let right)): return left == right
        case (.object(let left), .object(let right)): return left == right
        case (.scalar(let left), .scalar(let right)):
            let texts = [left, right].map { String(decoding: $0, as: UTF8.self) }
            if texts[0] == texts[1] { return true }
            let exact = texts.compactMap { Decimal(string: $0) }
            if exact.count == 2, !exact[0].isNaN { return exact[0] == exact[1] }
            return Double(texts[0]).map { $0 == Double(texts[1]) } ?? false
        default: return false
        }
    }
}
