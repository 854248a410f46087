import FileSystem

/// The journal's file. Objects and operations are numbered by their lines. A name that is not UTF-8 is stored as
/// `…_name_base64`. Only the journal of a weak commit has `features`.
///
///     {"format":"fsync-lite-journal","version":1,"transaction":…,"began":…,"inode":…,"created":…,
///     "objects":[
///     {"inode":…,"created":…,"old_parent":…,"old_name":…,"slot_parent":…,"slot_name":…,"new_parent":…,"new_name":…}
///     ],
///     "operations":[
///     {"detach":N}  {"attach":N}  {"rename":N}  {"exchange":N,"with":N}  {"link":N,"new_parent":N,"new_name":…}
///     ],
///     "attributes":[
///     {"object":N,"old_mode":…,"old_owner":…,"old_group":…,"old_modified":…,"old_xattrs":[…],"new_mode":…,…}
///     ],
///     "features":[
///     {"object":N,"type":…,"size":…,"modified":…}
///     ],
///     "checksum":"…"}
extension Journal {
    static let format: StaticString = "fsync-lite-journal"

    private static let header: [Field<Journal>] = [
        Field("transaction", .text, \.id), Field("began", .fileTime, \.began),
        Field("inode", .integer, \.root.inode), Field("created", .time, \.root.created),
        Field("weak", .flag, get: { $0.isWeak ? true : nil }, set: { journal, _ in journal.features = [:] }),
    ]

    /// Whether objects are identified by `features`, and locations by the phase of the commit.
    var isWeak: Bool { features != nil }

    /// Writes the journal durably under its name.
    func write(to state: StateDirectory) throws {
        var file = try PendingFile(StateEntry.journal.name, in: state.directory)
        try write(to: &file)
        try file.commit(.noReplace)
    }

    package func write(to file: inout some ByteSink & ~Copyable) throws {
        var document = DocumentWriter(format: Journal.format.description)
        document.text.fields(Journal.header, of: self)
        try document.array("objects", of: objects, to: &file) {
            $0.fields(OperationGraph.Object.fields, of: $1)
        }
        try document.array("operations", of: operations, to: &file) {
            $0.fields(OperationFields.all, of: OperationFields($1))
        }
        try document.array("attributes", of: attributes, to: &file) {
            let change = OperationGraph.AttributeChange(object: $1.object, old: $1.old, new: $1.new)
            $0.fields(OperationGraph.AttributeChange.fields, of: change)
        }
        if let features {
            let sorted = features.sorted { $0.key < $1.key }
            try document.array("features", of: sorted, to: &file) { text, item in
                text.fields(NumberedFeatures.fields, of: .init(object: item.key, features: item.value))
            }
        }
        document.beginTrailer()
        try document.end(withChecksum: true, to: &file)
    }

    /// Reads a journal. A damaged journal is an error, before anything is changed.
    init(reading descriptor: consuming FileDescriptor, path: [UInt8]) throws {
        var document = try DocumentReader(descriptor, path: path, format: Journal.format)
        self.init(
            id: "", root: .unknown, began: Timestamp.unknown.fileTime,
            objects: .init(), operations: [], attributes: [])
        try document.leadingFields(Journal.header, into: &self)
        guard let directory = FileName(id.utf8) else {
            throw document.error("this is not a name of a transaction")
        }
        try document.elements("objects", OperationGraph.Object.fields, blank: .init()) { objects.append($1) }
        if let (number, reason) = Journal.impossibleObject(objects, directory) {
            // Each object has one line.
            throw document.error(reason, line: document.line - (objects.count - number))
        }
        try document.elements("operations") { operations.append(try $0.operation(objects)) }
        guard operations.last == .rename(OperationGraph.transaction) else {
            throw document.error("the last operation would not store the old versions of the commit")
        }
        try document.elements("attributes") { attributes.append(try $0.attributeStep(objects.count)) }
        try readFeatures(&document)
        try document.beginTrailer()
        try document.end()
    }

    private mutating func readFeatures(_ document: inout DocumentReader) throws {
        guard isWeak else { return }
        var found: [Int: FileStatus] = [:]
        try document.elements("features", NumberedFeatures.fields, blank: .blank) { _, numbered in
            found[numbered.object] = numbered.features
        }
        guard found.keys.sorted() == Array(objects.indices.dropFirst(OperationGraph.state + 1)) else {
            throw document.error("the features of objects are missing")
        }
        guard operations.drop(while: \.leaves).allSatisfy({ !$0.leaves && !$0.exchanges }) else {
            throw document.error("an old file would leave after a new one has come")
        }
        features = found
    }

    /// The number of an object that no operation graph contains, with the reason; nil if all objects are valid.
    static func impossibleObject(
        _ objects: OperationGraph.ObjectList, _ transaction: FileName
    ) -> (number: Int, reason: String)? {
        let own = OperationGraph.ownObjects(transaction)
        guard objects.count >= own.count else { return (objects.count, "objects are missing") }
        for (number, object) in objects.enumerated() {
            let locations = [object.old, object.slot, object.new].compactMap(\.self)
            guard locations.allSatisfy({ objects.indices.contains($0.parent) }) else {
                return (number, "a location in an object that does not exist")
            }
            if number < own.count {
                guard [object.old, object.slot, object.new] == [own[number].old, nil, own[number].new] else {
                    return (number, "this is not the location of the state's own object")
                }
            } else if locations.isEmpty {
                return (number, "an object without a location")
            }
            guard (object.identity == nil) == (number <= OperationGraph.state) else {
                return (number, "every object has an identity, except the root and the state")
            }
        }
        return nil
    }
}

extension OperationGraph.Object {
    static let fields: [Field<Self>] =
        Field.part(
            \.identity, blank: .unknown,
            [Field("inode", .integer, \.inode), Field("created", .time, \.created)])
        + location("old_parent", "old_name", "old_name_base64", \.old)
        + location("slot_parent", "slot_name", "slot_name_base64", \.slot)
        + location("new_parent", "new_name", "new_name_base64", \.new)
}

private func location<Owner>(
    _ parent: StaticString, _ name: StaticString, _ base64: StaticString,
    _ path: WritableKeyPath<Owner, OperationGraph.Location?> & Sendable
) -> [Field<Owner>] {
    Field.part(
        path, blank: OperationGraph.Location(parent: 0, name: FileName("none")),
        [Field(parent, .integer, \.parent), Field(name, base64: base64, .name, \.name)])
}

private struct NumberedFeatures {
    var object: Int
    var features: FileStatus

    static let blank = NumberedFeatures(
        object: 0, features: FileStatus(type: .file, modified: Timestamp.unknown.fileTime))

    static let fields: [Field<NumberedFeatures>] = [
        Field("object", .integer, \.object),
        Field(
            "type", .word(FileType.allCases, \.documentName) { "\"\($0)\" is not a type of object" },
            \.features.type),
        Field(
            "size", .size, isRequired: true,
            get: { $0.features.type == .directory ? 0 : $0.features.size }, set: { $0.features.size = $1 }),
        Field("modified", .fileTime, \.features.modified),
    ]
}

struct OperationFields {
    var detach, attach, rename, exchange, with, link: Int?
    var new: OperationGraph.Location?

    /// - Parameter operation: nil leaves all fields empty.
    init(_ operation: OperationGraph.Operation?) {
        switch operation {
        case .detach(let object): detach = object
        case .attach(let object): attach = object
        case .rename(let object): rename = object
        case .exchange(let object, let other): (exchange, with) = (object, other)
        case .link(let link): (self.link, new) = (link.object, link.location)
        case nil: break
        }
    }

    static let all: [Field<OperationFields>] =
        [
            Field("detach", .integer, \.detach), Field("attach", .integer, \.attach),
            Field("rename", .integer, \.rename), Field("exchange", .integer, \.exchange),
            Field("with", .integer, \.with), Field("link", .integer, \.link),
        ] + location("new_parent", "new_name", "new_name_base64", \.new)

    var objects: [Int] { [detach, attach, rename, exchange, with, link, new?.parent].compactMap(\.self) }

    /// The operation that has exactly these fields.
    func operation(fieldCount count: Int) -> OperationGraph.Operation? {
        if count == 2, let exchange, let with { return .exchange(exchange, with: with) }
        if count == 3, let link, let location = new, link > OperationGraph.transaction {
            return .link(OperationGraph.Link(object: link, location: location))
        }
        guard count == 1 else { return nil }
        return detach.map { .detach($0) } ?? attach.map { .attach($0) } ?? rename.map { .rename($0) }
    }
}

extension OperationGraph.Operation {
    /// Whether it takes an object out of the tree.
    var leaves: Bool { if case .detach = self { true } else { false } }
    fileprivate var exchanges: Bool { if case .exchange = self { true } else { false } }

    fileprivate typealias LocationPath = KeyPath<OperationGraph.Object, OperationGraph.Location?>

    /// The objects that it moves. Each moves between two of its locations.
    fileprivate var moves: [(object: Int, from: LocationPath, to: LocationPath)] {
        switch self {
        case .detach(let object): [(object, \.old, \.slot)]
        case .attach(let object): [(object, \.slot, \.new)]
        case .rename(let object): [(object, \.old, \.new)]
        case .exchange(let object, let other): [(object, \.slot, \.new), (other, \.old, \.slot)]
        case .link: []
        }
    }
}

extension OperationGraph.AttributeChange {
    static let fields: [Field<Self>] =
        [Field("object", .integer, \.object)]
        + attributes(\.old, ("old_mode", "old_owner", "old_group", "old_modified", "old_xattrs"))
        + attributes(\.new, ("new_mode", "new_owner", "new_group", "new_modified", "new_xattrs"))

    private static func attributes(
        _ path: WritableKeyPath<Self, Attributes?> & Sendable,
        _ keys: (StaticString, StaticString, StaticString, StaticString, StaticString)
    ) -> [Field<Self>] {
        Field.part(
            path,
            blank: Attributes(permissions: 0, owner: 0, group: 0, modified: Timestamp.unknown.fileTime),
            [
                Field(keys.0, .mode, \.permissions), Field(keys.1, .integer, \.owner),
                Field(keys.2, .integer, \.group), Field(keys.3, .fileTime, \.modified),
                Field(keys.4, .attributes, \.extended),
            ])
    }
}

extension DocumentReader {
    mutating func operation(
        _ objects: OperationGraph.ObjectList
    ) throws -> OperationGraph.Operation {
        var fields = OperationFields(nil)
        let count = try object(OperationFields.all, into: &fields)
        for number in fields.objects where !objects.indices.contains(number) {
            throw error("no object has the number \(number)")
        }
        guard let operation = fields.operation(fieldCount: count) else { throw error("an unknown operation") }
        for (number, from, to) in operation.moves
        where objects[number][keyPath: from] == nil || objects[number][keyPath: to] == nil {
            throw error("object \(number) lacks a location for this")
        }
        return operation
    }

    fileprivate mutating func attributeStep(_ count: Int) throws -> Journal.AttributeStep {
        var change = OperationGraph.AttributeChange(object: 0)
        try object(OperationGraph.AttributeChange.fields, into: &change)
        guard (0..<count).contains(change.object), let old = change.old, let new = change.new,
            (old.extended == nil) == (new.extended == nil)
        else { throw error("this is not a step of attributes") }
        return Journal.AttributeStep(object: change.object, old: old, new: new)
    }
}
