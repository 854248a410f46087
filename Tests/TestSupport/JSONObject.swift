import Foundation

/// A JSON object, read with Foundation instead of the tool's own reader.
package struct JSONObject: CustomStringConvertible {
    private let fields: [String: Any]

    private struct NotAnObject: Error, CustomStringConvertible {
        let description: String
    }

    package init(text: String) throws {
        guard let fields = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            throw NotAnObject(description: "no JSON object: \(text)")
        }
        self.fields = fields
    }

    private init(_ fields: [String: Any]) {
        self.fields = fields
    }

    package var keys: [String] { fields.keys.sorted() }
    package func text(_ key: String) -> String? { fields[key] as? String }
    package func number(_ key: String) -> Int? { (fields[key] as? NSNumber)?.intValue }
    package func texts(_ key: String) -> [String] { fields[key] as? [String] ?? [] }
    package func object(_ key: String) -> JSONObject? {
        (fields[key] as? [String: Any]).map { JSONObject($0) }
    }
    package func objects(_ key: String) -> [JSONObject] {
        (fields[key] as? [[String: Any]] ?? []).map { JSONObject($0) }
    }

    /// Sorted by key, so that equal objects have equal descriptions.
    package var description: String {
        guard let data = try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys]) else {
            return "?"
        }
        return String(decoding: data, as: UTF8.self)
    }
}
