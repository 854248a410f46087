import FileSystem

// Files and statuses in a packed store. They need 20 to 40 bytes, or a few bytes if they are like another one.

/// The parts of a status that are the same in most entries.
struct PackedKind: Hashable, Sendable {
    private let type: FileType
    private let permissions: UInt16
    private let owner: UInt32
    private let group: UInt32
    private let links: UInt32
    private let device: DeviceNumber
    private let flags: UInt8

    init(_ status: FileStatus) {
        (type, permissions) = (status.type, status.permissions)
        (owner, group, links, device) = (status.owner, status.group, status.links, status.device)
        flags =
            (status.isMountRoot ? 1 : 0) | (status.isImmutable ? 2 : 0) | (status.isAppendOnly ? 4 : 0)
            | (status.isEncrypted ? 8 : 0)
    }

    func give(_ status: inout FileStatus) {
        (status.type, status.permissions) = (type, permissions)
        (status.owner, status.group, status.links, status.device) = (owner, group, links, device)
        (status.isMountRoot, status.isImmutable) = (flags & 1 != 0, flags & 2 != 0)
        (status.isAppendOnly, status.isEncrypted) = (flags & 4 != 0, flags & 8 != 0)
    }
}

extension FileTime {
    /// Seconds since 1970 in 34 bits, signed, and nanoseconds in 30 bits; nil outside the years 1697 to 2242.
    var packed: UInt64? {
        guard (-1 << 33..<1 << 33).contains(rawSeconds), (0..<1 << 30).contains(nanoseconds) else {
            return nil
        }
        return UInt64(bitPattern: rawSeconds) << 30 | UInt64(nanoseconds)
    }

    init(packed time: UInt64) {
        self.init(seconds: Int64(bitPattern: time) >> 30, nanoseconds: Int32(time & ((1 << 30) - 1)))
    }
}

/// The times of a status as numbers. 0 means that there is no `created`.
struct PackedTimes: Sendable {
    var modified: UInt64 = 0
    var changed: UInt64 = 0
    var created: UInt64 = 0

    /// The time that is usually near the birth time.
    var latest: UInt64 { changed == 0 ? modified : changed }

    init() {}

    /// nil if one of the times has no packed form.
    init?(_ status: FileStatus) {
        guard let modified = status.modified.packed,
            let changed = status.changed.packed
        else { return nil }
        (self.modified, self.changed) = (modified, changed)
        guard let time = status.created else { return }
        guard let created = time.packed, created != 0 else { return nil }
        self.created = created
    }
}

/// The parts in which a status differs from the status that it is compared with.
private struct StatusParts: OptionSet {
    let rawValue: UInt8

    static let kind = StatusParts(rawValue: 1)
    static let size = StatusParts(rawValue: 2)
    static let allocated = StatusParts(rawValue: 4)
    static let inode = StatusParts(rawValue: 8)
    static let modified = StatusParts(rawValue: 16)
    static let changed = StatusParts(rawValue: 32)
    static let created = StatusParts(rawValue: 64)
    /// `changed` is stored relative to the modification time. If this is the only part, the status has no packed form.
    static let near = StatusParts(rawValue: 128)
    static let whole = StatusParts.near
}

/// The parts of a file besides its status.
private struct FileParts: OptionSet {
    let rawValue: UInt8

    static let omitted = FileParts(rawValue: 1)
    static let growing = FileParts(rawValue: 2)
    static let destination = FileParts(rawValue: 4)
    static let extended = FileParts(rawValue: 8)
    static let digest = FileParts(rawValue: 16)
    static let settled = FileParts(rawValue: 32)
    static let object = FileParts(rawValue: 64)
}

extension PackedStore {
    private static let noStatus = FileStatus(
        type: .file, modified: FileTime(seconds: 0, nanoseconds: 0))

    /// - Parameter other: a similar status. The same one must be given again to unpack.
    mutating func put(_ status: FileStatus, like other: FileStatus? = nil) {
        guard let times = PackedTimes(status), status.represents == PackedStore.noStatus.represents else {
            put(byte: StatusParts.whole.rawValue)
            return put(whole: status)
        }
        if self.times == nil { self.times = times }
        if alikeTimes == nil, other != nil { alikeTimes = times }
        let (known, same) = reference(other)
        let near = other == nil ? same : alikeTimes ?? same
        let kind = PackedKind(status)
        var parts: StatusParts = []
        if kind != PackedKind(known) { parts.insert(.kind) }
        if status.size != known.size { parts.insert(.size) }
        if status.allocated != known.allocated { parts.insert(.allocated) }
        if status.inode != known.inode { parts.insert(.inode) }
        if times.modified != same.modified { parts.insert(.modified) }
        if times.changed != same.changed {
            parts.insert(.changed)
            // The times of one entry are usually near each other, and so are those of one list.
            func distance(to other: UInt64) -> UInt64 {
                Int64(bitPattern: times.changed &- other).magnitude
            }
            if distance(to: times.modified) < distance(to: near.changed) { parts.insert(.near) }
        }
        let created = other == nil ? times.latest : same.created
        if times.created != created { parts.insert(.created) }
        put(byte: parts.rawValue)
        if parts.contains(.kind) { put(kind) }
        if parts.contains(.size) { put(UInt64(bitPattern: status.size.rawCount)) }
        if parts.contains(.allocated) { put(UInt64(bitPattern: status.allocated.rawCount)) }
        if parts.contains(.inode) { put(status.inode) }
        if parts.contains(.modified) { put(times.modified, after: near.modified) }
        if parts.contains(.changed) {
            put(times.changed, after: parts.contains(.near) ? times.modified : near.changed)
        }
        if parts.contains(.created) { put(times.created, after: other == nil ? created : near.created) }
    }

    private mutating func put(_ time: UInt64, after other: UInt64) {
        put(signed: Int64(bitPattern: time &- other))
    }

    func status(_ cursor: inout Cursor, like other: FileStatus? = nil) -> FileStatus {
        let parts = StatusParts(rawValue: cursor.byte())
        guard parts != .whole else { return wholeStatus(&cursor) }
        let (known, same) = reference(other)
        let near = other == nil ? same : alikeTimes ?? same
        var (status, times) = (known, same)
        if parts.contains(.kind) { kind(&cursor).give(&status) }
        if parts.contains(.size) { status.size = ByteCount(clamping: cursor.number()) }
        if parts.contains(.allocated) { status.allocated = ByteCount(clamping: cursor.number()) }
        if parts.contains(.inode) { status.inode = cursor.number() }
        func time(after other: UInt64) -> UInt64 { other &+ UInt64(bitPattern: cursor.signed()) }
        if parts.contains(.modified) { times.modified = time(after: near.modified) }
        if parts.contains(.changed) {
            times.changed = time(after: parts.contains(.near) ? times.modified : near.changed)
        }
        times.created = other == nil ? times.latest : same.created
        if parts.contains(.created) {
            times.created = time(after: other == nil ? times.created : near.created)
        }
        status.modified = FileTime(packed: times.modified)
        status.changed = FileTime(packed: times.changed)
        status.created = times.created == 0 ? nil : FileTime(packed: times.created)
        return status
    }

    /// The status and the times whose equal parts are left out. If there is no other status, they are a fixed status
    /// and the first times of the list.
    private func reference(_ other: FileStatus?) -> (FileStatus, PackedTimes) {
        guard let other, let packed = PackedTimes(other) else {
            return (PackedStore.noStatus, times ?? PackedTimes())
        }
        var known = other
        known.represents = PackedStore.noStatus.represents
        return (known, packed)
    }

    /// A file without its path.
    mutating func put(_ file: File, like other: FileStatus? = nil) {
        var parts: FileParts = []
        let (omitted, destination, extended, digest) = (
            file.omitted, file.destination, file.extended, file.digest
        )
        if !omitted.isEmpty { parts.insert(.omitted) }
        if file.isGrowing { parts.insert(.growing) }
        if file.isSettled { parts.insert(.settled) }
        if !destination.isEmpty { parts.insert(.destination) }
        if !extended.isEmpty { parts.insert(.extended) }
        if digest != nil { parts.insert(.digest) }
        if file.object != 0 { parts.insert(.object) }
        put(byte: parts.rawValue)
        put(file.status, like: other)
        if parts.contains(.object) { put(file.object) }
        if parts.contains(.omitted) { put(byte: omitted.rawValue) }
        if parts.contains(.destination) { put(destination) }
        if parts.contains(.extended) { put(extended) }
        if let digest { put(digest) }
    }

    func file(_ cursor: inout Cursor, at path: RelativePath, like other: FileStatus? = nil) -> File {
        let parts = FileParts(rawValue: cursor.byte())
        let status = status(&cursor, like: other)
        guard !parts.isEmpty else { return File(path: path, status: status, destination: []) }
        let object = parts.contains(.object) ? cursor.number() : 0
        let omitted = parts.contains(.omitted) ? Omissions(rawValue: cursor.byte()) : []
        let destination = parts.contains(.destination) ? Array(cursor.bytes(cursor.integer())) : []
        let extended = parts.contains(.extended) ? extended(&cursor) : ExtendedAttributes()
        let digest = parts.contains(.digest) ? digest(&cursor) : nil
        var file = File(
            path: path, status: status, destination: destination, extended: extended, omitted: omitted,
            digest: digest, object: object)
        if parts.contains(.growing) { file.isGrowing = true }
        if parts.contains(.settled) { file.isSettled = true }
        return file
    }

    mutating func put(_ digest: Digest) {
        let value = digest.value
        put(word: value.first)
        put(word: value.second)
        put(word: value.third)
        put(word: value.fourth)
    }

    func digest(_ cursor: inout Cursor) -> Digest {
        Digest(SHA256.Value(cursor.word(), cursor.word(), cursor.word(), cursor.word()))
    }
}
