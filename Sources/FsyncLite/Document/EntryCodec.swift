import FileSystem

/// One entry of a manifest, between its line and its values.
struct EntryRecord {
    var path: [UInt8] = []
    var status: FileStatus
    var destination: [UInt8] = []
    var extended = ExtendedAttributes()
    var omitted: Omissions = []
    /// The inode in the tree that the manifest lies in, where the entry came from another.
    var targetInode: UInt64?
    /// The change time of that object, where it is known.
    var targetChanged: FileTime?
    var marks: EntryMarks = []
    var digest: Digest?

    init() {
        status = FileStatus(type: .file, modified: FileTime(seconds: 0, nanoseconds: 0))
    }
}

extension JSONText {
    /// Writes the fields of an entry in their one order.
    mutating func entry(
        path: RelativePath, status: FileStatus, destination: [UInt8], extended: ExtendedAttributes,
        omitted: Omissions, targetInode: UInt64?, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        digest: Digest?
    ) {
        self.path(path)
        field("type", status.type.documentName)
        switch status.type {
        case .file: field("size", status.size)
        case .symlink: field("destination", "destination_base64", destination[...])
        case .characterDevice, .blockDevice:
            field("device", "\(status.represents.major):\(status.represents.minor)")
        case .directory, .fifo, .socket: break
        }
        field("modified", Timestamp(status.modified))
        field("mode", mode: status.permissions)
        field("owner", status.owner)
        field("group", status.group)
        if status.type != .directory, status.links > 1 { field("links", status.links) }
        if !extended.isEmpty { self.extended("xattrs", extended) }
        if !omitted.isEmpty { words("omitted", Omissions.names.filter { omitted.contains($0.0) }.map(\.1)) }
        field("inode", status.inode)
        if let created = status.created { field("created", Timestamp(created)) }
        field("changed", Timestamp(status.changed))
        if marks.contains(.racy) { flag("racy") }
        if marks.contains(.growing) { flag("growing") }
        if marks.contains(.uncovered) { flag("uncovered") }
        if let targetInode { field("target_inode", targetInode) }
        if let targetChanged { field("target_changed", Timestamp(targetChanged)) }
        if let digest { field("digest", digest) }
    }
}

extension JSONText {
    /// A list of words; nothing where there are none.
    mutating func words(_ name: StaticString, _ words: [String]) {
        guard !words.isEmpty else { return }
        key(name)
        beginArray()
        for word in words { value(word) }
        endArray()
    }

    /// Extended attributes as an array of objects, each with `name` and `value`; in base 64 where it is no UTF-8.
    mutating func extended(_ name: StaticString, _ extended: ExtendedAttributes) {
        key(name)
        beginArray()
        for attribute in extended.attributes {
            beginObject()
            field("name", "name_base64", attribute.name[...])
            field("value", "value_base64", attribute.value[...])
            endObject()
        }
        endArray()
    }

    /// A file as an object, as it stands in a manifest.
    package mutating func object(_ file: File) {
        beginObject()
        fields(of: file)
        endObject()
    }

    /// Writes the fields of an entry in their one order.
    package mutating func fields(of file: File) {
        entry(
            path: file.path, status: file.status, destination: file.destination, extended: file.extended,
            omitted: file.omitted, targetInode: nil, digest: file.digest)
    }
}

extension DocumentReader {
    /// Reads an entry's fields up to the end of its object, into a record that is used again.
    mutating func entry(into record: inout EntryRecord) throws {
        try expect("{")
        try fields(of: &record)
    }

    /// Reads them from where the object's other fields end.
    mutating func fields(of record: inout EntryRecord) throws {
        var type: FileType?
        var seen: UInt32 = 0
        record.status.created = nil
        record.status.links = 1
        record.status.size = 0
        record.status.represents = DeviceNumber(major: 0, minor: 0)
        record.targetInode = nil
        record.targetChanged = nil
        record.marks = []
        record.digest = nil
        record.destination.removeAll(keepingCapacity: true)
        if !record.extended.isEmpty { record.extended = ExtendedAttributes() }
        record.omitted = []
        try fields { reader, name in
            guard let key = EntryKey(name) else { return false }
            guard seen & key.bit == 0 else { throw reader.error("the key \"\(key)\" twice") }
            seen |= key.bit
            switch key {
            case .path: record.path = try reader.string()
            case .path_base64: record.path = try reader.base64()
            case .type:
                let word = try reader.word()
                guard let known = FileType(documentName: word), known != .socket else {
                    throw reader.error("\"\(escapedText(word))\" is no type of entry")
                }
                type = known
            case .size:
                record.status.size = try reader.integer()
                guard record.status.size >= 0 else { throw reader.error("a size below zero") }
            case .destination: record.destination = try reader.string()
            case .destination_base64: record.destination = try reader.base64()
            case .device: record.status.represents = try reader.deviceNumber()
            case .modified: record.status.modified = try reader.timestamp().fileTime
            case .mode: record.status.permissions = try reader.mode()
            case .owner: record.status.owner = try reader.integer()
            case .group: record.status.group = try reader.integer()
            case .links: record.status.links = try reader.integer()
            case .inode: record.status.inode = try reader.integer()
            case .created: record.status.created = try reader.timestamp().fileTime
            case .changed: record.status.changed = try reader.timestamp().fileTime
            case .racy, .growing, .uncovered:
                try reader.flag()
                record.marks.insert(key == .racy ? .racy : key == .growing ? .growing : .uncovered)
            case .target_inode: record.targetInode = try reader.integer()
            case .target_changed: record.targetChanged = try reader.timestamp().fileTime
            case .xattrs:
                record.extended = try reader.extended()
                guard !record.extended.isEmpty else { throw reader.error("an empty list of attributes") }
                // Earlier versions recorded them.
                record.extended = record.extended.filter { !ExtendedAttributes.derived.contains($0.name) }
            case .omitted: record.omitted = try reader.omissions()
            case .digest: record.digest = try reader.digest()
            }
            return true
        }
        guard let type else { throw error("\"type\" is missing") }
        record.status.type = type
        try check(seen, type)
        guard seen & EntryKey.links.bit == 0 || (record.status.links > 1 && type != .directory) else {
            throw error("a number of links belongs to what has several names, and is no directory")
        }
        guard record.digest == nil || type == .file else { throw error("a digest belongs to a file") }
        guard !record.marks.contains(.growing) || type == .file else { throw error("only a file grows") }
        guard record.targetChanged == nil || record.targetInode != nil else {
            throw error("a change time in the target without an inode there")
        }
        guard !record.destination.contains(0) else { throw error("NUL in a destination") }
        if type == .symlink { record.status.size = Int64(record.destination.count) }
    }

    /// Every key that the type needs is there, and none that belongs to another.
    private func check(_ seen: UInt32, _ type: FileType) throws {
        func has(_ key: EntryKey) -> Bool { seen & key.bit != 0 }
        guard has(.path) != has(.path_base64) else { throw error("an entry has one path") }
        for key in [EntryKey.modified, .mode, .owner, .group, .inode, .changed] where !has(key) {
            throw error("\"\(key)\" is missing")
        }
        guard has(.size) == (type == .file) else {
            throw error("a size belongs to a file, and a file has one")
        }
        guard (has(.destination) != has(.destination_base64)) == (type == .symlink),
            !(has(.destination) && has(.destination_base64))
        else { throw error("a destination belongs to a symlink, and a symlink has one") }
        guard has(.device) == (type == .characterDevice || type == .blockDevice) else {
            throw error("a device number belongs to a device, and a device has one")
        }
    }

    mutating func extended() throws -> ExtendedAttributes {
        var attributes: [ExtendedAttributes.Attribute] = []
        try array { reader in
            var attribute = ExtendedAttributes.Attribute(name: [], value: [])
            var keys: [String] = []
            try reader.object { reader, key in
                let key = String(decoding: key, as: UTF8.self)
                switch key {
                case "name": attribute.name = try reader.string()
                case "name_base64": attribute.name = try reader.base64()
                case "value": attribute.value = try reader.string()
                case "value_base64": attribute.value = try reader.base64()
                default: return false
                }
                keys.append(String(key.prefix(4)))
                return true
            }
            guard keys.sorted() == ["name", "valu"], !attribute.name.isEmpty, !attribute.name.contains(0)
            else {
                throw reader.error("an extended attribute has one name and one value")
            }
            if let last = attributes.last, !last.name.lexicographicallyPrecedes(attribute.name) {
                throw reader.error("extended attributes out of order, or one twice")
            }
            attributes.append(attribute)
        }
        return ExtendedAttributes(attributes)
    }

    mutating func digest() throws -> Digest {
        guard let digest = try word().withUnsafeBufferPointer({ Digest($0) }) else {
            throw error("a digest is sha256: and 64 hexadecimal digits")
        }
        return digest
    }

    mutating func omissions() throws -> Omissions {
        var omissions: Omissions = []
        try words(Omissions.names.map(\.1)) { omissions.insert(Omissions.names[$0].0) }
        return omissions
    }

    /// Reads a list of words, each once and in the order of `known`, and hands over their places in it.
    mutating func words(_ known: [String], _ body: (Int) -> Void) throws {
        var next = 0
        try array { reader in
            let word = try reader.word()
            guard let index = known[next...].firstIndex(where: { word.elementsEqual($0.utf8) }) else {
                throw reader.error("\"\(escapedText(word))\" does not belong here, or is out of order")
            }
            body(index)
            next = index + 1
        }
        guard next > 0 else { throw error("an empty list") }
    }

    /// `major:minor`.
    private mutating func deviceNumber() throws -> DeviceNumber {
        let text = String(decoding: try string(), as: UTF8.self)
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let major = UInt32(parts[0]), let minor = UInt32(parts[1]),
            text == "\(major):\(minor)"
        else {
            throw error("a device number is major:minor")
        }
        return DeviceNumber(major: major, minor: minor)
    }
}

/// The keys of an entry, in the order in which they are written.
private enum EntryKey: UInt32, CaseIterable {
    case path, path_base64, type, size, destination, destination_base64, device, modified, mode, owner, group
    case links, inode, created, changed, racy, growing, uncovered, target_inode
    case target_changed, xattrs, omitted, digest

    var bit: UInt32 { 1 << rawValue }

    private static let names: [(StaticString, EntryKey)] = [
        ("path", .path), ("type", .type), ("size", .size), ("modified", .modified), ("mode", .mode),
        ("owner", .owner), ("group", .group), ("inode", .inode), ("created", .created), ("changed", .changed),
        ("target_inode", .target_inode), ("target_changed", .target_changed), ("racy", .racy),
        ("growing", .growing), ("uncovered", .uncovered), ("links", .links), ("destination", .destination),
        ("path_base64", .path_base64), ("destination_base64", .destination_base64), ("device", .device),
        ("xattrs", .xattrs), ("omitted", .omitted), ("digest", .digest),
    ]

    init?(_ bytes: ArraySlice<UInt8>) {
        for (name, key) in EntryKey.names where name.utf8CodeUnitCount == bytes.count {
            let isEqual = name.withUTF8Buffer { $0.elementsEqual(bytes) }
            if isEqual {
                self = key
                return
            }
        }
        return nil
    }
}
