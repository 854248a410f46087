import FileSystem

/// One field of a document or element, with its key, its writer and its reader.
///
/// A list of fields in writing order is the grammar of an object. `JSONText.fields` writes it.
/// `DocumentReader.leadingFields` reads a header, and `DocumentReader.object` reads an element.
package struct Field<Owner>: Sendable {
    typealias Rule = @Sendable (Owner) -> Bool

    let key: FieldKey
    fileprivate private(set) var isRequired: Bool
    /// A field requires the nearest earlier field of smaller depth.
    fileprivate private(set) var depth = 0
    /// The field is present if this holds, and only then.
    fileprivate private(set) var condition: (rule: Rule, fault: StaticString)?
    /// A condition that the owner must meet if the field is present.
    fileprivate private(set) var rule: (rule: Rule, fault: StaticString)?
    /// Returns false and writes nothing if the owner has no value for the field.
    fileprivate let write: @Sendable (Owner, inout JSONText) -> Bool
    fileprivate let read: @Sendable (inout DocumentReader, inout Owner, _ isBase64: Bool) throws -> Void

    /// - Parameters:
    ///   - base64: the key for bytes that are not UTF-8.
    ///   - get: returns nil if the owner lacks the field.
    @inline(__always)
    init<Value>(
        _ key: StaticString, base64: StaticString? = nil, _ format: FieldFormat<Value>,
        isRequired: Bool = false,
        get: @escaping @Sendable (Owner) -> Value?, set: @escaping @Sendable (inout Owner, Value) -> Void
    ) {
        let keys = FieldKey(text: key, base64: base64)
        self.key = keys
        self.isRequired = isRequired
        write = { owner, text in
            guard let value = get(owner) else { return false }
            format.write(&text, keys, value)
            return true
        }
        read = { reader, owner, isBase64 in set(&owner, try format.read(&reader, isBase64)) }
    }

    /// A required field.
    @inline(__always)
    init<Value>(
        _ key: StaticString, base64: StaticString? = nil, _ format: FieldFormat<Value>,
        _ path: WritableKeyPath<Owner, Value> & Sendable
    ) {
        self.init(
            key, base64: base64, format, isRequired: true, get: { $0[keyPath: path] },
            set: { $0[keyPath: path] = $1 })
    }

    /// An optional field.
    @inline(__always)
    init<Value>(
        _ key: StaticString, base64: StaticString? = nil, _ format: FieldFormat<Value>,
        _ path: WritableKeyPath<Owner, Value?> & Sendable
    ) {
        self.init(key, base64: base64, format, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
    }

    private init(
        key: FieldKey, isRequired: Bool, write: @escaping @Sendable (Owner, inout JSONText) -> Bool,
        read: @escaping @Sendable (inout DocumentReader, inout Owner, Bool) throws -> Void
    ) {
        (self.key, self.isRequired, self.write, self.read) = (key, isRequired, write, read)
    }

    /// The same field for a type that contains its owner.
    init<Part>(_ field: Field<Part>, of path: WritableKeyPath<Owner, Part> & Sendable) {
        self.init(
            key: field.key, isRequired: field.isRequired, write: { field.write($0[keyPath: path], &$1) },
            read: { try field.read(&$0, &$1[keyPath: path], $2) })
    }

    /// The fields of an optional part. The part is present if its first field is.
    ///
    /// - Parameter blank: the value that the fields are read into.
    static func part<Part: Sendable>(
        _ path: WritableKeyPath<Owner, Part?> & Sendable, blank: Part, _ fields: [Field<Part>]
    ) -> [Field] {
        let fields = fields.map { field in
            Field(
                key: field.key, isRequired: field.isRequired,
                write: { owner, text in owner[keyPath: path].map { field.write($0, &text) } ?? false },
                read: { reader, owner, isBase64 in
                    var part = owner[keyPath: path] ?? blank
                    try field.read(&reader, &part, isBase64)
                    owner[keyPath: path] = part
                })
        }
        return group(fields)
    }

    /// Makes the field present if a condition holds, and only then.
    func exactly(_ fault: StaticString, when rule: @escaping Rule) -> Field {
        var field = self
        field.condition = (rule, fault)
        return field
    }

    /// Adds a condition that the owner must meet if the field is present.
    func requiring(_ fault: StaticString, _ rule: @escaping Rule) -> Field {
        var field = self
        field.rule = (rule, fault)
        return field
    }

    /// An optional group. The other fields are present only if the first one is.
    static func group(_ fields: [Field]) -> [Field] {
        var fields = fields
        for index in fields.indices.dropFirst() { fields[index].depth += 1 }
        fields[0].isRequired = false
        return fields
    }

    /// The fault of an owner that was read; nil if it is valid.
    fileprivate func fault(_ owner: Owner, isThere: Bool) -> String? {
        if isRequired, !isThere { return "\"\(key.text)\" is missing" }
        if let condition, condition.rule(owner) != isThere { return condition.fault.description }
        if isThere, let rule, !rule.rule(owner) { return rule.fault.description }
        return nil
    }
}

/// The keys of a field. Exactly one of them is used.
struct FieldKey: Sendable {
    let text: StaticString
    let base64: StaticString?
}

extension JSONText {
    /// Writes the fields that the owner has, in order.
    package mutating func fields<Owner>(_ fields: [Field<Owner>], of owner: Owner) {
        var depth = Int.max
        for index in fields.indices where fields[index].depth <= depth {
            let isThere = fields[index].condition?.rule(owner) ?? true && fields[index].write(owner, &self)
            depth = isThere ? .max : fields[index].depth
        }
    }
}

extension DocumentReader {
    /// Reads fields in order, each with its comma. Another field or an array must follow.
    mutating func leadingFields<Owner>(_ fields: [Field<Owner>], into owner: inout Owner) throws {
        var depth = Int.max
        for field in fields where field.depth <= depth {
            let isBase64 = try field.key.base64.map { try key($0) } ?? false
            let isThere = try isBase64 || key(field.key.text)
            if isThere { try field.read(&self, &owner, isBase64) }
            if let fault = field.fault(owner, isThere: isThere) { throw error(fault) }
            if isThere { try expect(",") }
            depth = isThere ? .max : field.depth
        }
    }

    /// Reads an object of these fields, each at most once, in any order.
    ///
    /// - Returns: the number of fields read.
    @discardableResult
    mutating func object<Owner>(_ fields: [Field<Owner>], into owner: inout Owner) throws -> Int {
        try expect("{")
        return try self.fields(fields, into: &owner)
    }

    /// Reads an array of objects of these fields, one per line.
    ///
    /// - Parameter blank: the value that the fields of each object are read into.
    mutating func elements<Owner>(
        _ name: StaticString, _ fields: [Field<Owner>], blank: Owner,
        _ take: (inout DocumentReader, Owner) throws -> Void
    ) throws {
        try elements(name) { reader in
            var value = blank
            try reader.object(fields, into: &value)
            try take(&reader, value)
        }
    }

    /// Reads the remaining fields of an object, and its end.
    @discardableResult
    mutating func fields<Owner>(_ fields: [Field<Owner>], into owner: inout Owner) throws -> Int {
        var seen: UInt64 = 0
        var next = 0
        if !take("}") {
            repeat {
                let (index, isBase64) = try takeKey(of: fields, from: next)
                guard seen & 1 << index == 0 else {
                    let key = fields[index].key
                    throw error("the key \"\(isBase64 ? key.base64 ?? key.text : key.text)\" twice")
                }
                seen |= 1 << index
                try fields[index].read(&self, &owner, isBase64)
                next = index + 1
            } while take(",")
            try expect("}")
        }
        var depth = Int.max
        for index in fields.indices {
            let isThere = seen & 1 << index != 0
            if fields[index].depth <= depth {
                if let fault = fields[index].fault(owner, isThere: isThere) { throw error(fault) }
                depth = isThere ? .max : fields[index].depth
            } else if isThere {
                throw error("\"\(fields[index].key.text)\" is here without the field that it belongs to")
            }
        }
        return seen.nonzeroBitCount
    }

    /// Reads a key.
    ///
    /// - Parameter next: the field to try first, which is the one after the previous key's.
    private mutating func takeKey<Owner>(
        of fields: [Field<Owner>], from next: Int
    ) throws -> (index: Int, isBase64: Bool) {
        let key = try rawKey()
        for offset in fields.indices {
            let index = (next + offset) % fields.count
            if isEqual(key, fields[index].key.text) { return (index, false) }
            if let base64 = fields[index].key.base64, isEqual(key, base64) { return (index, true) }
        }
        throw error("unknown key \"\(escapedText(key))\"")
    }
}
