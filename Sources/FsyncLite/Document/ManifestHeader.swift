import FileSystem

/// The header of a manifest.
public struct ManifestHeader: Hashable, Sendable {
    /// A unique name, which the transaction that wrote the manifest also has.
    public var id: String
    /// The tree's root as the user gave it, for display.
    public var root: [UInt8]
    /// The beginning of the scan for this manifest. Changes at or after this time may be missing.
    public var created: Timestamp
    /// The number of times that the manifest was rewritten for metadata such as change times. The tree is the same.
    public var revision = 0
    /// The beginning of the last scan, on the clock for time stamps of files and on the kernel's clock.
    package var scanned: Scan?
    /// The same on the clocks of the source's machine; nil if that is this machine.
    package var sourceScanned: Scan?
    /// The time spans of earlier commits. Entries of these commits may lack a change time in the target.
    package var commits: [Range<Timestamp>] = []
    /// The directories to which inodes and birth times belong: the sources of a mirror, or the tree itself if it was
    /// only scanned.
    public var sources: [Source] = []
    /// The mirrored attributes.
    public var attributes = MirroredAttributes.all
    /// The filters in force.
    public var filters = FilterSummary(lines: [])
    /// The root's entry after the run.
    package var rootEntry: File?
    /// The attributes of the source's root that the target could not store.
    package var rootOmitted: Omissions = []
    /// The change time of the source's root at that time, if attributes were omitted.
    package var rootChanged: Timestamp?

    /// If there are more commits, old ones are dropped. Entries that lack a change time since then are compared.
    static let mostCommits = 64

    package struct Scan: Hashable, Sendable {
        package var time: Timestamp
        package var clock: KernelClock

        package static func now() throws(SystemError) -> Scan {
            Scan(time: Timestamp(FileTime.now), clock: try KernelClock.now())
        }
    }

    /// The identity of the mirror's root; nil in a manifest of an earlier version whose state is inside.
    package var rootIdentity: FileIdentity?

    /// The UUID of the mirror's file system, if the kernel reports one.
    package var targetFileSystem: String?
    /// The mounts in the source, sorted by path.
    package var mounts: [SourceMount] = []
    /// Identifies the disks of the source. It changes if a disk was pulled out, or is another one. Empty without disks.
    package var disks = ""
    /// Names the state and its copies during its lifetime; nil in a manifest of an earlier version.
    package var stateID: String?
    /// Whether the last run was an exchange. Then an undo and a restoration are exchanges too.
    public var exchanged = false

    /// The first number that no object of the target has had; nil in a manifest without such numbers.
    package var nextObject: UInt64?

    /// The retention rules that were last given to a run.
    package var retention: RetentionPolicy?

    /// The digests that runs record until another rule is given; nil if they record none.
    package var digests: DigestRule?

    /// The source of a mirror with a single source.
    public var source: Source? {
        get { sources.first { $0.name == nil } }
        set { sources = newValue.map { [$0] } ?? [] }
    }

    /// A source of a mirror.
    public struct Source: Hashable, Sendable {
        /// The directory of the target that is its mirror; nil if the target itself is.
        public var name: String?
        /// The root as the user gave it, for display. On another machine it is `host:path`.
        public var path: [UInt8]
        /// The identity of the root directory.
        public var identity: FileIdentity
        /// The file system's number in hexadecimal. Some file systems get a new one at each mount.
        public var fileSystem: String

        public init(name: String? = nil, path: [UInt8], identity: FileIdentity, fileSystem: String) {
            self.name = name
            self.path = path
            self.identity = identity
            self.fileSystem = fileSystem
        }

        /// Whether it is on another machine. Then its path begins with the host.
        public var isRemote: Bool { path.first != UInt8(ascii: "/") }

        /// Whether both paths are the same, except for `.` and slashes.
        func isSpelled(like other: Source) -> Bool {
            func names(_ path: [UInt8]) -> [ArraySlice<UInt8>] {
                path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
            }
            return names(path) == names(other.path)
        }

        /// Whether both are the same directory of the same file system, at two moments.
        func isSameDirectory(as other: Source) -> Bool {
            identity == other.identity && fileSystem == other.fileSystem
        }

        var title: String { Source.title(name) }

        static func title(_ name: String?) -> String {
            name.map { "the source \"\(escapedText($0.utf8))\"" } ?? "the source"
        }
    }

    public init(id: String, root: [UInt8], created: Timestamp, source: Source? = nil) {
        self.id = id
        self.root = root
        self.created = created
        sources = source.map { [$0] } ?? []
    }
}

extension ManifestHeader {
    static let fields: [Field<ManifestHeader>] =
        [
            Field("id", .text, \.id), Field("root", base64: "root_base64", .bytes, \.root),
            Field("created", .time, \.created),
            Field(
                "revision", .integer, get: { $0.revision > 0 ? $0.revision : nil }, set: { $0.revision = $1 }
            )
            .requiring("a revision is 1 or more") { $0.revision > 0 },
        ] + sourceFields + [
            Field("sources", .sources, get: { $0.sources.filter { $0.name != nil }.nonEmpty }) {
                $0.sources += $1
            }
            .requiring("one source, or several with names") { $0.sources.allSatisfy { $0.name != nil } }
        ] + mirrorFields

    /// Whether there is one source without a name, or several sorted by their names.
    static func isValid(_ sources: [Source]) -> Bool {
        if sources.count == 1, sources[0].name == nil { return true }
        let names = sources.map { Array(($0.name ?? "").utf8) }
        return !names.isEmpty && names.allSatisfy { FileName($0) != nil }
            && zip(names, names.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) }
    }

    /// Whether a mirror has a source, and only a mirror has the fields that follow it.
    var isWhole: Bool {
        var bare = ManifestHeader(id: id, root: root, created: created)
        bare.revision = revision
        return !sources.isEmpty || self == bare
    }

    private static let sourceFields: [Field<ManifestHeader>] = Field.part(
        \.source, blank: Source(path: [], identity: .unknown, fileSystem: ""),
        [
            Field("source", base64: "source_base64", .bytes, \.path),
            Field("source_inode", .integer, \.identity.inode),
            Field("source_created", .time, \.identity.created),
            Field("source_file_system", .text, \.fileSystem),
        ])

    /// The header fields that only a mirror has.
    private static let mirrorFields: [Field<ManifestHeader>] =
        [
            Field(
                "filters", .texts, get: { $0.filters.lines.nonEmpty },
                set: { $0.filters = FilterSummary(lines: $1) }
            )
            .requiring("an empty list of filters") { !$0.filters.lines.isEmpty },
            Field(
                "without", .words(MirroredAttributes.names),
                get: { $0.attributes == .all ? nil : .all.subtracting($0.attributes) },
                set: { $0.attributes.subtract($1) }),
        ]
        + Field.part(
            \.rootIdentity, blank: .unknown,
            [Field("root_inode", .integer, \.inode), Field("root_created", .time, \.created)])
        + [Field("target_file_system", .text, \.targetFileSystem), Field("state_id", .text, \.stateID)]
        // A field of version 1, which is ignored.
        + [Field("target_seen", .time, get: { _ in nil }, set: { _, _ in })]
        + Field.part(
            \.scanned, blank: Scan(time: .unknown, clock: KernelClock(boot: "", uptime: 0)),
            [
                Field("scanned", .time, \.time), Field("boot", .text, \.clock.boot),
                Field("uptime_ms", .integer, \.clock.rawUptime),
            ])
        + Field.part(
            \.sourceScanned, blank: Scan(time: .unknown, clock: KernelClock(boot: "", uptime: 0)),
            [
                Field("source_scanned", .time, \.time), Field("source_boot", .text, \.clock.boot),
                Field("source_uptime_ms", .integer, \.clock.rawUptime),
            ])
        + [
            Field("commits", .spans, get: { $0.commits.nonEmpty }, set: { $0.commits = $1 })
                .requiring("an empty list of commits") { !$0.commits.isEmpty },
            Field("exchanged", .flag, get: { $0.exchanged ? true : nil }, set: { $0.exchanged = $1 }),
            Field("retention", .object(RetentionPolicy.fields, blank: RetentionPolicy()), \.retention)
                .requiring("no rule of retention") { $0.retention?.isEmpty == false },
            Field(
                "digests", .word(DigestRule.allCases, \.rawValue) { "\"\($0)\" is not a rule of digests" },
                \.digests),
            Field("root_entry", .root, \.rootEntry),
        ]
        + Field.group([
            Field(
                "root_omitted", .words(Omissions.names),
                get: { $0.rootChanged == nil || $0.rootOmitted.isEmpty ? nil : $0.rootOmitted },
                set: { $0.rootOmitted = $1 }),
            Field(
                "root_changed", .time, isRequired: true, get: { $0.rootChanged }, set: { $0.rootChanged = $1 }
            ),
        ])
        + [
            Field(
                "mounts", .objects(SourceMount.fields, blank: SourceMount(path: .root, fileSystem: "")),
                get: { $0.mounts.nonEmpty }, set: { $0.mounts = $1 }
            )
            .requiring("an empty list of mounts") { !$0.mounts.isEmpty },
            Field("disks", .text, get: { $0.disks.isEmpty ? nil : $0.disks }, set: { $0.disks = $1 }),
            Field("next_object", .integer, \.nextObject)
                .requiring("numbers of objects begin with 1") { $0.nextObject.map { $0 > 0 } ?? true },
        ]
}

extension FileIdentity {
    static let unknown = FileIdentity(inode: 0, created: nil)
}

extension Timestamp {
    static let unknown = Timestamp(FileTime(seconds: 0, nanoseconds: 0))
}

extension Array {
    /// nil if empty, because a document omits it.
    package var nonEmpty: [Element]? { isEmpty ? nil : self }
}

extension FieldFormat<[Range<Timestamp>]> {
    /// Two times separated by a slash, as in ISO 8601 intervals.
    fileprivate static var spans: FieldFormat {
        FieldFormat(
            write: { $0.field($1, $2.map { "\($0.lowerBound)/\($0.upperBound)" }) },
            read: { reader in
                try FieldFormat<[String]>.texts.read(&reader, false).map { text in
                    let times = text.split(separator: "/", omittingEmptySubsequences: false)
                        .compactMap { Timestamp(iso8601: String($0)) }
                    guard times.count == 2, times[0] <= times[1] else {
                        throw reader.error("this is not an interval of two times")
                    }
                    return times[0]..<times[1]
                }
            })
    }
}

extension FieldFormat<[ManifestHeader.Source]> {
    /// An array of objects, sorted by name.
    fileprivate static var sources: FieldFormat {
        let list = FieldFormat.objects(
            ManifestHeader.Source.fields,
            blank: ManifestHeader.Source(name: "", path: [], identity: .unknown, fileSystem: "")
        ) { source, last in
            let name = Array((source.name ?? "").utf8)
            let isInOrder = last.map { ($0.name ?? "").utf8.lexicographicallyPrecedes(name) } ?? true
            return FileName(name) != nil && isInOrder
                ? nil : "names of sources out of order, or an invalid one"
        }
        return FieldFormat(
            write: { list.write(&$0, FieldKey(text: $1, base64: nil), $2) },
            read: { reader in
                let sources = try list.read(&reader, false)
                guard !sources.isEmpty else { throw reader.error("an empty list of sources") }
                return sources
            })
    }
}

extension SourceMount {
    fileprivate static let fields: [Field<Self>] = [
        Field("path", base64: "path_base64", .path, \.path), Field("file_system", .text, \.fileSystem),
    ]
}

extension ManifestHeader.Source {
    fileprivate static let fields: [Field<Self>] = [
        Field("name", .text, isRequired: true, get: \.name, set: { $0.name = $1 }),
        Field("path", base64: "path_base64", .bytes, \.path),
        Field("inode", .integer, \.identity.inode), Field("created", .time, \.identity.created),
        Field("file_system", .text, \.fileSystem),
    ]
}

extension FieldFormat<File> {
    fileprivate static var root: FieldFormat {
        FieldFormat(
            write: { text, key, file in
                text.key(key)
                text.object(file)
            },
            read: { reader in
                var record = EntryRecord()
                try reader.entry(into: &record)
                guard record.path.elementsEqual(".".utf8), record.status.type == .directory else {
                    throw reader.error("this is not a root")
                }
                return File(path: .root, status: record.status, destination: [], extended: record.extended)
            })
    }
}
