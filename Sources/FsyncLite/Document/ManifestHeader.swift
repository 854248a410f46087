import FileSystem

/// What a manifest says before its entries.
public struct ManifestHeader: Hashable, Sendable {
    /// Names this manifest and nothing else; also the name of the transaction that wrote it.
    public var id: String
    /// The tree's root as it was given, for people.
    public var root: [UInt8]
    /// When the scan behind the manifest began. A change at or after this time may not be in it.
    public var created: Timestamp
    /// How often the manifest was written anew for what only it tells, such as change times; the tree is the same.
    public var revision = 0
    /// When the last scan began, by the clock that files are stamped with and by the kernel's.
    package var scanned: Scan?
    /// When earlier commits were under way, of which there may be entries without a change time in the target.
    package var commits: [Range<Timestamp>] = []
    /// The directory that inodes and times of creation belong to: what the tree is a mirror of, or, where it was
    /// only looked at, itself.
    public var source: Source?
    /// What is mirrored.
    public var attributes = MirroredAttributes.all
    /// What takes part.
    public var filters = FilterSummary(lines: [])
    /// The root itself, as the run left it.
    package var rootEntry: File?
    /// What of the source's root the mirror's could not hold.
    package var rootOmitted: Omissions = []
    /// The change time of the source's root then, where that is so.
    package var rootChanged: Timestamp?

    /// An older commit is forgotten: what has no change time since is compared.
    static let mostCommits = 64

    package struct Scan: Hashable, Sendable {
        package var time: Timestamp
        package var clock: KernelClock

        package static func now() throws(SystemError) -> Scan {
            Scan(time: Timestamp(FileTime.now), clock: try KernelClock.now())
        }
    }

    /// Which directory the mirror's root is, where the state stands beside it.
    package var rootIdentity: FileIdentity?

    /// The rules of retention that an apply was given last.
    package var retention: RetentionPolicy?

    /// The source of a mirror.
    public struct Source: Hashable, Sendable {
        /// Its root as it was given, for people.
        public var path: [UInt8]
        /// Which directory that was.
        public var identity: FileIdentity
        /// The file system's own number, in hexadecimal. Some number themselves anew at each mount.
        public var fileSystem: String

        public init(path: [UInt8], identity: FileIdentity, fileSystem: String) {
            self.path = path
            self.identity = identity
            self.fileSystem = fileSystem
        }
    }

    public init(id: String, root: [UInt8], created: Timestamp, source: Source? = nil) {
        self.id = id
        self.root = root
        self.created = created
        self.source = source
    }

    func write(to text: inout JSONText) {
        text.field("id", id)
        text.field("root", "root_base64", root[...])
        text.field("created", created)
        if revision > 0 { text.field("revision", revision) }
        guard let source else { return }
        text.field("source", "source_base64", source.path[...])
        text.field("source_inode", source.identity.inode)
        if let created = source.identity.created { text.field("source_created", created) }
        text.field("source_file_system", source.fileSystem)
        text.words("filters", filters.lines)
        text.words("without", attributes.missingNames)
        if let rootIdentity {
            text.field("root_inode", rootIdentity.inode)
            if let created = rootIdentity.created { text.field("root_created", created) }
        }
        if let scanned {
            text.field("scanned", scanned.time)
            text.field("boot", scanned.clock.boot)
            text.field("uptime_ms", scanned.clock.uptime)
        }
        text.words("commits", commits.map { "\($0.lowerBound)/\($0.upperBound)" })
        if let retention { text.retention(retention) }
        if let rootEntry {
            text.key("root_entry")
            text.object(rootEntry)
        }
        guard let rootChanged, !rootOmitted.isEmpty else { return }
        text.words("root_omitted", Omissions.names.filter { rootOmitted.contains($0.0) }.map(\.1))
        text.field("root_changed", rootChanged)
    }

    init(from reader: inout DocumentReader) throws {
        guard reader.take(","), try reader.key("id") else { throw reader.error("\"id\" is missing") }
        id = String(decoding: try reader.string(), as: UTF8.self)
        try reader.expect(",")
        if try reader.key("root") {
            root = try reader.string()
        } else if try reader.key("root_base64") {
            root = try reader.base64()
        } else {
            throw reader.error("\"root\" is missing")
        }
        try reader.expect(",")
        guard try reader.key("created") else { throw reader.error("\"created\" is missing") }
        created = try reader.timestamp()
        try reader.expect(",")
        if try reader.key("revision") {
            revision = try reader.integer()
            guard revision > 0 else { throw reader.error("a revision is 1 or more") }
            try reader.expect(",")
        }
        source = try Source(from: &reader)
        if source != nil, try reader.key("filters") {
            var lines: [String] = []
            try reader.array { reader in lines.append(String(decoding: try reader.string(), as: UTF8.self)) }
            guard !lines.isEmpty else { throw reader.error("an empty list of filters") }
            filters = FilterSummary(lines: lines)
            try reader.expect(",")
        }
        if source != nil, try reader.key("without") {
            try reader.words(MirroredAttributes.names.map(\.1)) {
                attributes.remove(MirroredAttributes.names[$0].0)
            }
            try reader.expect(",")
        }
        if source != nil, try reader.key("root_inode") {
            rootIdentity = FileIdentity(inode: try reader.integer(), created: nil)
            try reader.expect(",")
            if try reader.key("root_created") {
                rootIdentity?.created = try reader.timestamp()
                try reader.expect(",")
            }
        }
        // Of version 1.
        if source != nil, try reader.key("target_seen") {
            _ = try reader.timestamp()
            try reader.expect(",")
        }
        if source != nil, try reader.key("scanned") {
            let time = try reader.timestamp()
            try reader.expect(",")
            guard try reader.key("boot") else { throw reader.error("\"boot\" is missing") }
            let boot = String(decoding: try reader.string(), as: UTF8.self)
            try reader.expect(",")
            guard try reader.key("uptime_ms") else { throw reader.error("\"uptime_ms\" is missing") }
            scanned = Scan(time: time, clock: KernelClock(boot: boot, uptime: try reader.integer()))
            try reader.expect(",")
        }
        if source != nil, try reader.key("commits") {
            try reader.array { reader in commits.append(try reader.span()) }
            guard !commits.isEmpty else { throw reader.error("an empty list of commits") }
            try reader.expect(",")
        }
        if source != nil, try reader.key("retention") {
            retention = try reader.retention()
            try reader.expect(",")
        }
        if source != nil, try reader.key("root_entry") {
            var record = EntryRecord()
            try reader.entry(into: &record)
            guard record.path.elementsEqual(".".utf8), record.status.type == .directory else {
                throw reader.error("this is no root")
            }
            rootEntry = File(path: .root, status: record.status, destination: [], extended: record.extended)
            try reader.expect(",")
        }
        if source != nil, try reader.key("root_omitted") {
            rootOmitted = try reader.omissions()
            try reader.expect(",")
            guard try reader.key("root_changed") else { throw reader.error("\"root_changed\" is missing") }
            rootChanged = try reader.timestamp()
            try reader.expect(",")
        }
    }
}

extension DocumentReader {
    /// Two times with a slash between them, as ISO 8601 writes an interval.
    fileprivate mutating func span() throws -> Range<Timestamp> {
        let times = String(decoding: try string(), as: UTF8.self).split(
            separator: "/", omittingEmptySubsequences: false
        ).compactMap { Timestamp(iso8601: String($0)) }
        guard times.count == 2, times[0] <= times[1] else { throw error("this is no interval of two times") }
        return times[0]..<times[1]
    }
}

extension ManifestHeader.Source {
    /// nil where the header ends.
    fileprivate init?(from reader: inout DocumentReader) throws {
        self.init(path: [], identity: FileIdentity(inode: 0, created: nil), fileSystem: "")
        if try reader.key("source") {
            path = try reader.string()
        } else if try reader.key("source_base64") {
            path = try reader.base64()
        } else {
            return nil
        }
        try reader.expect(",")
        guard try reader.key("source_inode") else { throw reader.error("\"source_inode\" is missing") }
        identity.inode = try reader.integer()
        try reader.expect(",")
        if try reader.key("source_created") {
            identity.created = try reader.timestamp()
            try reader.expect(",")
        }
        guard try reader.key("source_file_system") else {
            throw reader.error("\"source_file_system\" is missing")
        }
        fileSystem = String(decoding: try reader.string(), as: UTF8.self)
        try reader.expect(",")
    }
}
