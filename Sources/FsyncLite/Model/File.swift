import FileStorage
import FileSystem
import FoundationEssentials

/// One entry of a tree, from a scan or a manifest. It is a pure value and touches no disk.
public struct File: Hashable, Sendable, NamedFile {
    /// Shared, because the difference, its plan, the layout and the record of history contain the same files.
    private var shared: Shared<Fields>

    private struct Fields: Hashable, Sendable {
        var path: RelativePath
        /// The status without the payload of a symlink. `kind` joins the two, and only `kind` can set them. So a
        /// symlink without a destination, or a directory with one, cannot be made.
        var status: FileStatus
        var omitted: Omissions = []
        var isGrowing = false
        var isSettled = false
        var object: UInt64 = 0
        /// nil if all its parts are empty.
        var rest: Shared<Rest>?
    }

    /// The parts that few entries have.
    private struct Rest: Hashable, Sendable {
        var destination: [UInt8] = []
        var extended = ExtendedAttributes()
        var digest: Digest?
    }

    private func with(_ change: (inout Fields) -> Void) -> File {
        var file = self
        var fields = shared.value
        change(&fields)
        file.shared = Shared(fields)
        return file
    }

    private mutating func setRest(_ change: (inout Rest) -> Void) {
        var rest = shared.value.rest?.value ?? Rest()
        change(&rest)
        self = with { $0.rest = rest == Rest() ? nil : Shared(rest) }
    }

    /// Its path below the root of its tree.
    public var path: RelativePath { shared.value.path }
    package var status: FileStatus { shared.value.status }
    package var destination: [UInt8] { shared.value.rest?.value.destination ?? [] }
    /// The extended attributes, if they were read. A scan reads them only on request.
    package var extended: ExtendedAttributes {
        get { shared.value.rest?.value.extended ?? ExtendedAttributes() }
        set { if newValue != extended { setRest { $0.extended = newValue } } }
    }
    /// The attributes of the source's entry that the mirror could not store.
    package var omitted: Omissions {
        get { shared.value.omitted }
        set { if newValue != omitted { self = with { $0.omitted = newValue } } }
    }
    /// The digest of a file's content, if it is known.
    public package(set) var digest: Digest? {
        get { shared.value.rest?.value.digest }
        set { if newValue != digest { setRest { $0.digest = newValue } } }
    }
    /// Another program wrote to it while it was copied. The mirror has its first part, which may be wrong.
    package var isGrowing: Bool {
        get { shared.value.isGrowing }
        set { if newValue != isGrowing { self = with { $0.isGrowing = newValue } } }
    }
    /// Any change of its content after it was read must move a time: see `SettlingProbe`.
    package var isSettled: Bool {
        get { shared.value.isSettled }
        set { if newValue != isSettled { self = with { $0.isSettled = newValue } } }
    }
    /// The number of its object in the lists of a target; 0 if it has none.
    package var object: UInt64 {
        get { shared.value.object }
        set { if newValue != object { self = with { $0.object = newValue } } }
    }

    /// - Parameters:
    ///   - size: the bytes of content; for a symlink, the length of its destination.
    ///   - mode: the twelve permission bits.
    public init(
        path: RelativePath, kind: FileKind, size: ByteCount = 0, modified: Timestamp,
        created: Timestamp? = nil,
        mode: UInt16, owner: UInt32 = 0, group: UInt32 = 0, linkCount: UInt32 = 1, inode: UInt64 = 0
    ) {
        var status = FileStatus(type: kind.type, modified: modified.fileTime)
        status.size = size
        status.created = created?.fileTime
        status.permissions = mode & 0o7777
        status.owner = owner
        status.group = group
        status.links = linkCount
        status.inode = inode
        var destination: [UInt8] = []
        switch kind {
        case .symlink(let bytes):
            destination = bytes
            status.size = ByteCount(clamping: bytes.count)
        case .characterDevice(let major, let minor), .blockDevice(let major, let minor):
            status.represents = DeviceNumber(major: major, minor: minor)
        case .file, .directory, .fifo, .socket:
            break
        }
        self.init(path: path, status: status, destination: destination)
    }

    /// - Parameter destination: the destination of a symlink; ignored for other types.
    package init(
        path: RelativePath, status: FileStatus, destination: [UInt8],
        extended: ExtendedAttributes = ExtendedAttributes(), omitted: Omissions = [], digest: Digest? = nil,
        object: UInt64 = 0
    ) {
        var fields = Fields(path: path, status: status, omitted: omitted, object: object)
        let own = status.type == .symlink ? destination : []
        if !own.isEmpty || digest != nil || !extended.isEmpty {
            fields.rest = Shared(Rest(destination: own, extended: extended, digest: digest))
        }
        shared = Shared(fields)
    }

    public var kind: FileKind {
        switch status.type {
        case .file: .file
        case .directory: .directory
        case .symlink: .symlink(destination: destination)
        case .fifo: .fifo
        case .characterDevice:
            .characterDevice(major: status.represents.major, minor: status.represents.minor)
        case .blockDevice: .blockDevice(major: status.represents.major, minor: status.represents.minor)
        case .socket: .socket
        }
    }

    public var isFile: Bool { shared.value.status.type == .file }
    public var isDirectory: Bool { shared.value.status.type == .directory }

    /// Bytes of content.
    public var size: ByteCount { shared.value.status.size }
    /// The last modification of the content, to the nanosecond.
    public var modified: Timestamp { Timestamp(status.modified) }
    /// `modified` as a `Date`, off by a fraction of a microsecond.
    public var modificationDate: Date { modified.date }
    /// The creation of the object, to the nanosecond, if the file system reports it.
    public var created: Timestamp? { status.created.map(Timestamp.init) }
    /// `created` as a `Date`.
    public var creationDate: Date? { created?.date }
    /// Permission bits with setuid, setgid and sticky.
    public var mode: UInt16 { status.permissions }
    /// The number of the user.
    public var owner: UInt32 { status.owner }
    /// The number of the group.
    public var group: UInt32 { status.group }
    /// The number of names of the object.
    public var linkCount: UInt32 { shared.value.status.links }
    /// The identity of the object, the same under all of its names.
    public var identity: FileIdentity { status.identity }

    /// The last component, for people. Bytes that are not UTF-8 are replaced; `path` has the original bytes.
    public var name: String { String(decoding: path.lastComponent, as: UTF8.self) }
    /// The path of its directory; nil at the root.
    public var parent: RelativePath? { path.parent }

    /// The path of an entry in this directory; nil if the name is not a single valid component.
    public static func + (directory: File, name: String) -> RelativePath? {
        directory.path + name
    }

    /// The same file at another path.
    package func moved(to path: RelativePath) -> File {
        path == self.path ? self : with { $0.path = path }
    }

    /// The same file with another status.
    package func with(_ status: FileStatus) -> File {
        status == self.status ? self : with { $0.status = status }
    }

    /// The same file without the extended attributes of the source, which could not be read. The next run tries again.
    func withoutAttributes() -> File {
        var file = with(status.unexamined)
        file.omitted.insert(.unread)
        return file
    }

    /// The same entry as another object.
    func with(_ identity: FileIdentity) -> File { with(status.with(identity)) }

    func marked(isSettled: Bool) -> File {
        var file = self
        file.isSettled = isSettled
        return file
    }

    /// This file with the extended attributes, digest and omissions of another name of the same file.
    func recorded(as name: File) -> File {
        var file = self
        (file.extended, file.omitted, file.digest) = (name.extended, name.omitted, name.digest)
        return file
    }

    /// This file with the attributes of the mirror's object.
    func holding(_ target: FileStatus) -> File {
        var status = status
        (status.modified, status.permissions) = (target.modified, target.permissions)
        (status.owner, status.group) = (target.owner, target.group)
        return with(status)
    }
}

extension File: Comparable {
    /// The order of a scan.
    public static func < (left: File, right: File) -> Bool {
        left.path < right.path
    }
}

extension File: CustomStringConvertible {
    /// For logs: `<File a.txt>`, `<Dir b>`.
    public var description: String {
        let word =
            switch status.type {
            case .file: "File"
            case .directory: "Dir"
            case .symlink: "Link"
            case .fifo: "FIFO"
            case .characterDevice, .blockDevice: "Device"
            case .socket: "Socket"
            }
        return "<\(word) \(path.isRoot ? "." : escapedText(path.lastComponent))>"
    }
}
