import FileStorage
import FileSystem

/// The file of a snapshot. It has the header of the list before the run, the two layers, and the places of old objects.
///
///     {"format":"fsync-lite-list","version":1,"id":…,…,
///     "step":[
///     {"below":"b","path":"a","type":"directory",…,"object":17},
///     {"absent":"x"}
///     ],
///     "hand":[
///     ],
///     "stored":[
///     {"object":17,"slot":"0/12"},
///     {"object":18,"in":17,"name":"x"}
///     ],
///     "checksum":"…"}
package struct ListDocument: Sendable {
    static let format: StaticString = "fsync-lite-list"
    static let version = 1
    static let name = FileName("list.json")

    package var header: ManifestHeader
    /// From the list after the run to the list before it.
    package var step: ListLayer
    /// From the list before the run to the list after the run before. These are the changes by hand in the target.
    package var hand: ListLayer
    package var stored: StoredObjects

    package init(
        _ header: ManifestHeader, step: ListLayer, hand: ListLayer, stored: some Sequence<StoredObject>
    ) {
        (self.header, self.step, self.hand, self.stored) = (header, step, hand, StoredObjects(stored))
    }

    package func write(to sink: inout some ByteSink & ~Copyable) throws {
        try Self.write(header, step: step.lines.sorted, hand: hand.lines.sorted, stored: stored, to: &sink)
    }

    /// Writes a document whose lines are made as they are written.
    ///
    /// - Parameters:
    ///   - step: sorted by path. So is `hand`.
    ///   - stored: at most one line for each object.
    static func write(
        _ header: ManifestHeader, step: some Sequence<ListLine>, hand: some Sequence<ListLine>,
        stored: some Sequence<StoredObject>, to sink: inout some ByteSink & ~Copyable
    ) throws {
        var document = DocumentWriter(format: format.description, version: version)
        document.text.fields(ManifestHeader.fields, of: header)
        try document.array("step", of: step, to: &sink) { $0.line($1) }
        try document.array("hand", of: hand, to: &sink) { $0.line($1) }
        try document.array("stored", of: stored, to: &sink) { $0.fields(StoredObject.fields, of: $1) }
        document.beginTrailer()
        try document.end(withChecksum: true, to: &sink)
    }

    /// Reads the document, strictly. An error names file and line.
    package init(_ descriptor: consuming FileDescriptor, path: [UInt8]) throws {
        var document = try DocumentReader(
            descriptor, path: path, format: Self.format, newestVersion: Self.version)
        var header = ManifestHeader(id: "", root: [], created: .unknown)
        try document.leadingFields(ManifestHeader.fields, into: &header)
        step = try ListLayer(in: "step", of: &document)
        hand = try ListLayer(in: "hand", of: &document)
        var (stored, objects) = (StoredObjects(), [UInt64]())
        try document.elements("stored", StoredObject.fields, blank: .blank) { reader, object in
            guard object.place != StoredObject.blank.place else {
                throw reader.error("no place of an object")
            }
            objects.append(object.object)
            stored.append(object)
        }
        objects.sort()
        if let (object, _) = zip(objects, objects.dropFirst()).first(where: ==) {
            throw document.error("two places of the object \(object)")
        }
        try document.beginTrailer()
        try document.end()
        (self.header, self.stored) = (header, stored)
    }
}

extension ListLayer {
    fileprivate init(in array: StaticString, of document: inout DocumentReader) throws {
        self.init()
        var (record, last) = (EntryRecord(), RelativePath.root)
        try document.elements(array) { reader in
            let line = try reader.listLine(&record)
            guard last < line.path else { throw reader.error("\"\(line.path)\" twice, or out of order") }
            last = line.path
            add(line)
        }
    }
}

/// The fields of a line before those of its entry.
private struct LineHead {
    var absent: RelativePath?
    var below: RelativePath?

    static let absent = Field<LineHead>("absent", base64: "absent_base64", .pathBelowRoot, \.absent)
    static let fields: [Field<LineHead>] = [
        Field("below", base64: "below_base64", .pathBelowRoot, \.below)
    ]
}

extension JSONText {
    fileprivate mutating func line(_ line: ListLine) {
        guard let entry = line.entry else {
            return fields([LineHead.absent], of: LineHead(absent: line.path))
        }
        fields(LineHead.fields, of: LineHead(below: line.below))
        let file = entry.file
        self.entry(
            path: file.path, status: file.status, destination: file.destination, extended: file.extended,
            omitted: file.omitted, targetInode: nil, marks: entry.isUncovered ? .uncovered : [],
            digest: file.digest, object: file.object)
    }
}

extension DocumentReader {
    private mutating func absentPath() throws -> RelativePath? {
        if try key("absent") { return try FieldFormat.pathBelowRoot.read(&self, false) }
        return try key("absent_base64") ? FieldFormat.pathBelowRoot.read(&self, true) : nil
    }

    /// - Parameter record: a record that is used again.
    fileprivate mutating func listLine(_ record: inout EntryRecord) throws -> ListLine {
        var head = LineHead()
        if !takeLine({ PlainEntry.read($0, into: &record) }) {
            try expect("{")
            if let path = try absentPath() {
                try expect("}")
                return ListLine(absent: path)
            }
            try leadingFields(LineHead.fields, into: &head)
            try fields(of: &record)
        }
        guard let path = RelativePath(record.path), !path.isRoot else {
            throw error("\"\(escapedText(record.path))\" is not a path below the root")
        }
        // The source was not compared with this entry since, and a line does not say whether it was racy.
        record.status.changed = .unexamined
        guard record.object > 0 else { throw error("the number of an object is missing") }
        guard head.below == nil || record.status.type == .directory else {
            throw error("only a directory has something below it")
        }
        let file = File(
            path: path, status: record.status, destination: record.destination, extended: record.extended,
            omitted: record.omitted, digest: record.digest, object: record.object)
        return ListLine(
            ListEntry(file, isUncovered: record.marks.contains(.uncovered)), below: head.below)
    }
}

extension StoredObject {
    private static let blankName = FileName("-")
    /// It is in no object. A document never says this.
    fileprivate static let blank = StoredObject(0, .inside(0, blankName))

    fileprivate static let fields: [Field<StoredObject>] =
        [
            Field("object", .integer, \.object).requiring("numbers begin with 1") { $0.object > 0 },
            Field("transaction", .name, \.transaction),
            Field(
                "slot", base64: "slot_base64", .pathBelowRoot, get: { $0.slot },
                set: { $0.place = $0.place == blank.place ? .slot($1) : .inside(0, blankName) }),
        ]
        + Field.group([
            Field(
                "in", .integer, get: { $0.inside?.object },
                set: { $0.place = .inside($0.slot == nil ? $1 : 0, $0.inside?.name ?? blankName) }
            ).requiring("an object is in a slot or in another one") { ($0.inside?.object ?? 0) > 0 },
            Field(
                "name", base64: "name_base64", .name, isRequired: true, get: { $0.inside?.name },
                set: { $0.place = .inside($0.inside?.object ?? 0, $1) }),
        ])

    private var slot: RelativePath? {
        if case .slot(let slot) = place { slot } else { nil }
    }
}
