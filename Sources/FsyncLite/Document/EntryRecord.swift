import FileSystem

/// One entry of a manifest, parsed from its line.
struct EntryRecord {
    var path: [UInt8] = []
    var status: FileStatus
    var destination: [UInt8] = []
    var extended = ExtendedAttributes()
    var omitted: Omissions = []
    /// The inode in the tree of the manifest, if the entry describes another object.
    var targetInode: UInt64?
    /// The change time of that object, if known.
    var targetChanged: FileTime?
    var marks: EntryMarks = []
    var digest: Digest?
    /// The number of its object; 0 if it has none.
    var object: UInt64 = 0
    /// The last dates that were read, of modification and of other times. Most entries repeat them.
    var modifiedDate = RecentDate()
    var otherDate = RecentDate()

    init() {
        status = FileStatus(type: .file, modified: FileTime(seconds: 0, nanoseconds: 0))
    }

    /// The fields of an entry, for reading, because earlier versions wrote them in another order. `JSONText.entry`
    /// writes them without this table, with which writing a manifest took 2.5 times as long.
    static let fields: [Field<EntryRecord>] = [
        Field("path", base64: "path_base64", .bytes, \.path),
        Field("type", .entryType, \.status.type),
        Field("size", .size, get: { $0.status.size }, set: { $0.status.size = $1 })
            .exactly("a size belongs to a file, and a file has one") { $0.status.type == .file },
        Field(
            "destination", base64: "destination_base64", .bytes, get: { $0.destination },
            set: { $0.destination = $1 }
        )
        .exactly("a destination belongs to a symlink, and a symlink has one") {
            $0.status.type == .symlink && !$0.omitted.contains(.purged)
        }
        .requiring("NUL in a destination") { !$0.destination.contains(0) },
        Field("device", .device, get: { $0.status.represents }, set: { $0.status.represents = $1 })
            .exactly("a device number belongs to a device, and a device has one") {
                $0.status.type == .characterDevice || $0.status.type == .blockDevice
            },
        Field("modified", .fileTime, \.status.modified),
        Field("mode", .mode, \.status.permissions),
        Field("owner", .integer, \.status.owner),
        Field("group", .integer, \.status.group),
        Field(
            "links", .integer, get: { $0.hasOtherNames ? $0.status.links : nil },
            set: { $0.status.links = $1 }
        )
        .requiring("a number of links belongs to a file with several names") {
            $0.hasOtherNames
        },
        Field(
            "xattrs", .attributes, get: { $0.extended.isEmpty ? nil : $0.extended }, set: { $0.extended = $1 }
        )
        .requiring("an empty list of attributes") { !$0.extended.isEmpty },
        Field(
            "omitted", .words(Omissions.names), get: { $0.omitted.isEmpty ? nil : $0.omitted },
            set: { $0.omitted = $1 }),
        Field("inode", .integer, \.status.inode),
        Field("created", .fileTime, \.status.created),
        Field("changed", .fileTime, \.status.changed),
        mark("racy", .racy),
        mark("growing", .growing).requiring("only a file grows") { $0.status.type == .file },
        mark("uncovered", .uncovered),
        Field("object", .integer, get: { $0.object > 0 ? $0.object : nil }, set: { $0.object = $1 })
            .requiring("numbers begin with 1") { $0.object > 0 },
        Field("target_inode", .integer, \.targetInode),
        Field("target_changed", .fileTime, \.targetChanged)
            .requiring("a change time in the target without an inode there") { $0.targetInode != nil },
        Field("digest", .digest, \.digest)
            .requiring("a digest belongs to a file") { $0.status.type == .file },
    ]

    private static func mark(_ key: StaticString, _ mark: EntryMarks) -> Field<EntryRecord> {
        Field(
            key, .flag, get: { $0.marks.contains(mark) ? true : nil },
            set: { record, _ in record.marks.insert(mark) })
    }

    private var hasOtherNames: Bool { status.type != .directory && status.links > 1 }

    /// Resets the record for the next entry.
    fileprivate mutating func clear() {
        (status.created, status.links, status.size) = (nil, 1, 0)
        status.represents = DeviceNumber(major: 0, minor: 0)
        (targetInode, targetChanged, digest, object) = (nil, nil, nil, 0)
        (marks, omitted) = ([], [])
        destination.removeAll(keepingCapacity: true)
        if !extended.isEmpty { extended = ExtendedAttributes() }
    }
}

extension FieldFormat<FileType> {
    fileprivate static var entryType: FieldFormat {
        .word(FileType.allCases.filter { $0 != .socket }, \.documentName) { "\"\($0)\" is not a file type" }
    }
}

extension JSONText {
    /// Writes the fields of an entry in order.
    mutating func entry(
        path: RelativePath, status: FileStatus, destination: [UInt8], extended: ExtendedAttributes,
        omitted: Omissions, targetInode: UInt64?, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        digest: Digest?, object: UInt64 = 0
    ) {
        self.path(path)
        field("type", status.type.documentName)
        switch status.type {
        case .file: field("size", status.size)
        case .symlink where omitted.contains(.purged): break
        case .symlink: field("destination", "destination_base64", destination[...])
        case .characterDevice, .blockDevice: write("device", .device, status.represents)
        case .directory, .fifo, .socket: break
        }
        field("modified", Timestamp(status.modified))
        field("mode", mode: status.permissions)
        field("owner", status.owner)
        field("group", status.group)
        if status.type != .directory, status.links > 1 { field("links", status.links) }
        if !extended.isEmpty { write("xattrs", .attributes, extended) }
        write("omitted", .words(Omissions.names), omitted)
        field("inode", status.inode)
        if let created = status.created { field("created", Timestamp(created)) }
        field("changed", Timestamp(status.changed))
        if marks.contains(.racy) { flag("racy") }
        if marks.contains(.growing) { flag("growing") }
        if marks.contains(.uncovered) { flag("uncovered") }
        if object != 0 { field("object", object) }
        if let targetInode { field("target_inode", targetInode) }
        if let targetChanged { field("target_changed", Timestamp(targetChanged)) }
        if let digest { field("digest", digest) }
    }

    private mutating func write<Value>(_ key: StaticString, _ format: FieldFormat<Value>, _ value: Value) {
        format.write(&self, FieldKey(text: key, base64: nil), value)
    }

    /// Writes a file as a JSON object, in the form of a manifest's entry.
    package mutating func object(_ file: File) {
        beginObject()
        fields(of: file)
        endObject()
    }

    /// Writes the fields of an entry in order.
    package mutating func fields(of file: File) {
        entry(
            path: file.path, status: file.status, destination: file.destination, extended: file.extended,
            omitted: file.omitted, targetInode: nil, digest: file.digest)
    }
}

extension DocumentReader {
    /// Reads an entry up to the end of its object, into a record that is used again.
    mutating func entry(into record: inout EntryRecord) throws {
        try expect("{")
        try fields(of: &record)
    }

    /// Reads the fields of an entry after other fields of the object.
    mutating func fields(of record: inout EntryRecord) throws {
        record.clear()
        try fields(EntryRecord.fields, into: &record)
        // Earlier versions recorded derived attributes.
        if !record.extended.isEmpty {
            record.extended = record.extended.filter { !ExtendedAttributes.derived.contains($0.name) }
        }
        if record.status.type == .symlink { record.status.size = .init(clamping: record.destination.count) }
    }
}
