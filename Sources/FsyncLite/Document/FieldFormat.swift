import FileSystem

/// The format of a value in a document: its writer and the matching strict reader.
struct FieldFormat<Value>: Sendable {
    let write: @Sendable (inout JSONText, FieldKey, Value) -> Void
    let read: @Sendable (inout DocumentReader, _ isBase64: Bool) throws -> Value

    @inline(__always)
    init(
        write: @escaping @Sendable (inout JSONText, StaticString, Value) -> Void,
        read: @escaping @Sendable (inout DocumentReader) throws -> Value
    ) {
        self.write = { text, key, value in write(&text, key.text, value) }
        self.read = { reader, _ in try read(&reader) }
    }

    /// Bytes, with a second key for bytes that are not UTF-8.
    @inline(__always)
    init(
        bytes: @escaping @Sendable (Value) -> ArraySlice<UInt8>,
        value: @escaping @Sendable (borrowing DocumentReader, [UInt8]) throws -> Value
    ) {
        write = { text, key, value in text.field(key.text, key.base64 ?? key.text, bytes(value)) }
        read = { reader, isBase64 in
            let bytes = isBase64 ? try reader.base64() : try reader.string()
            return try value(reader, bytes)
        }
    }
}

extension FieldFormat where Value: FixedWidthInteger & Sendable {
    static var integer: FieldFormat { FieldFormat(write: { $0.field($1, $2) }, read: { try $0.integer() }) }
}

extension FieldFormat<ByteCount> {
    static var size: FieldFormat {
        FieldFormat(
            write: { $0.field($1, $2) },
            read: { reader in
                guard let size = ByteCount(exactly: try reader.integer()) else {
                    throw reader.error("a size below zero")
                }
                return size
            })
    }
}

extension FieldFormat<UInt16> {
    /// Permission bits.
    static var mode: FieldFormat { FieldFormat(write: { $0.field($1, mode: $2) }, read: { try $0.mode() }) }
}

extension FieldFormat<Bool> {
    /// A flag. It is written only if it is true.
    static var flag: FieldFormat {
        FieldFormat(
            write: { text, key, _ in text.flag(key) },
            read: { reader in
                try reader.flag()
                return true
            })
    }
}

extension FieldFormat<String> {
    static var text: FieldFormat {
        FieldFormat(write: { $0.field($1, $2) }, read: { String(decoding: try $0.string(), as: UTF8.self) })
    }
}

extension FieldFormat<[String]> {
    static var texts: FieldFormat {
        FieldFormat(
            write: { $0.field($1, $2) },
            read: { reader in
                var texts: [String] = []
                try reader.array { texts.append(String(decoding: try $0.string(), as: UTF8.self)) }
                return texts
            })
    }
}

extension FieldFormat<Timestamp> {
    static var time: FieldFormat { FieldFormat(write: { $0.field($1, $2) }, read: { try $0.timestamp() }) }
}

extension FieldFormat<FileTime> {
    static var fileTime: FieldFormat {
        FieldFormat(write: { $0.field($1, Timestamp($2)) }, read: { try $0.timestamp().fileTime })
    }
}

extension FieldFormat<[UInt8]> {
    static var bytes: FieldFormat { FieldFormat(bytes: { $0[...] }, value: { $1 }) }
}

extension FieldFormat<FileName> {
    static var name: FieldFormat {
        FieldFormat(
            bytes: { $0.bytes },
            value: { reader, bytes in
                guard let name = FileName(bytes) else { throw reader.error("an invalid name") }
                return name
            })
    }
}

extension FieldFormat<RelativePath> {
    /// A path in a tree. The root is `.`, as in `find`.
    static var path: FieldFormat {
        FieldFormat(
            bytes: { $0.isRoot ? [UInt8(ascii: ".")] : $0.bytes[...] },
            value: { reader, bytes in
                if bytes == [UInt8(ascii: ".")] { return .root }
                guard let path = RelativePath(bytes), !path.isRoot else {
                    throw reader.error("this is not a path in a tree")
                }
                return path
            })
    }

    static var pathBelowRoot: FieldFormat {
        FieldFormat(
            bytes: { $0.bytes[...] },
            value: { reader, bytes in
                guard let path = RelativePath(bytes), !path.isRoot else {
                    throw reader.error("\"\(escapedText(bytes))\" is not a path below the root")
                }
                return path
            })
    }
}

extension FieldFormat<Digest> {
    static var digest: FieldFormat {
        FieldFormat(
            write: { $0.field($1, $2) },
            read: { reader in
                guard let digest = try reader.word().withUnsafeBufferPointer({ Digest($0) }) else {
                    throw reader.error("a digest is sha256: and 64 hexadecimal digits")
                }
                return digest
            })
    }
}

extension FieldFormat<DeviceNumber> {
    /// `major:minor`.
    static var device: FieldFormat {
        FieldFormat(
            write: { $0.field($1, "\($2.major):\($2.minor)") },
            read: { reader in
                let text = String(decoding: try reader.string(), as: UTF8.self)
                let parts = text.split(separator: ":", omittingEmptySubsequences: false)
                guard parts.count == 2, let major = UInt32(parts[0]), let minor = UInt32(parts[1]),
                    text == "\(major):\(minor)"
                else { throw reader.error("a device number is major:minor") }
                return DeviceNumber(major: major, minor: minor)
            })
    }
}

extension FieldFormat<ExtendedAttributes> {
    /// An array of objects, each with `name` and `value`, sorted by name.
    static var attributes: FieldFormat {
        let list = ExtendedAttributes.Attribute.list
        return FieldFormat(
            write: { list.write(&$0, FieldKey(text: $1, base64: nil), $2.attributes) },
            read: { ExtendedAttributes(try list.read(&$0, false)) })
    }
}

extension ExtendedAttributes.Attribute {
    private static let fields: [Field<Self>] = [
        Field("name", base64: "name_base64", .bytes, \.name),
        Field("value", base64: "value_base64", .bytes, \.value),
    ]

    fileprivate static let list: FieldFormat<[Self]> = .objects(
        fields, blank: Self(name: [], value: [])
    ) { attribute, last in
        if attribute.name.isEmpty || attribute.name.contains(0) { return "not a name of an attribute" }
        let isInOrder = last.map { $0.name.lexicographicallyPrecedes(attribute.name) } ?? true
        return isInOrder ? nil : "extended attributes out of order, or one twice"
    }
}

extension FieldFormat where Value: OptionSet & Sendable, Value.Element == Value {
    /// A list of words, without duplicates, in the order of `names`. Empty lists and unnamed values are omitted.
    static func words(_ names: [(Value, String)]) -> FieldFormat {
        FieldFormat(
            write: { text, key, set in
                let words = names.filter { set.contains($0.0) }.map(\.1)
                if !words.isEmpty { text.field(key, words) }
            },
            read: { reader in
                var set: Value = []
                var next = 0
                try reader.array { reader in
                    let word = try reader.word()
                    guard let index = names[next...].firstIndex(where: { word.elementsEqual($0.1.utf8) })
                    else {
                        throw reader.error(
                            "\"\(escapedText(word))\" does not belong here, or is out of order")
                    }
                    set.insert(names[index].0)
                    next = index + 1
                }
                guard next > 0 else { throw reader.error("an empty list") }
                return set
            })
    }
}

extension FieldFormat where Value: Sendable {
    /// One of a fixed set of words.
    ///
    /// - Parameter fault: the message for any other word.
    static func word(
        _ values: [Value], _ name: @escaping @Sendable (Value) -> String,
        fault: @escaping @Sendable (String) -> String
    ) -> FieldFormat {
        FieldFormat(
            write: { $0.field($1, name($2)) },
            read: { reader in
                let word = try reader.word()
                guard let value = values.first(where: { word.elementsEqual(name($0).utf8) }) else {
                    throw reader.error(fault(escapedText(word)))
                }
                return value
            })
    }

    /// An array of objects.
    ///
    /// - Parameters:
    ///   - blank: the value that the fields of each object are read into.
    ///   - fault: the fault of an object, given the one before it; nil if it is valid.
    static func objects<Element: Sendable>(
        _ fields: [Field<Element>], blank: Element,
        fault: @escaping @Sendable (Element, _ last: Element?) -> StaticString? = { _, _ in nil }
    ) -> FieldFormat where Value == [Element] {
        FieldFormat(
            write: { text, key, values in text.array(key, of: values) { $0.fields(fields, of: $1) } },
            read: { reader in
                var values: [Element] = []
                try reader.array { reader in
                    var value = blank
                    try reader.object(fields, into: &value)
                    if let fault = fault(value, values.last) { throw reader.error(fault.description) }
                    values.append(value)
                }
                return values
            })
    }

    /// An object with fields of its own.
    ///
    /// - Parameter blank: the value that the fields are read into.
    static func object(_ fields: [Field<Value>], blank: Value) -> FieldFormat {
        FieldFormat(
            write: { text, key, value in text.object(key) { $0.fields(fields, of: value) } },
            read: { reader in
                var value = blank
                try reader.object(fields, into: &value)
                return value
            })
    }
}
