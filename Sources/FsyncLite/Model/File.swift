import FileStorage
import FileSystem
import FoundationEssentials

/// One entry of a tree, from a scan or a manifest: a value without disk access.
public struct File: Sendable, NamedFile {
    /// Most files are stored in a table; single files, and those that do not fit a table, directly.
    private enum Storage: Sendable {
        case packed(EntryTable, UInt32)
        case loose(Shared<Fields>)
    }

    private var storage: Storage

    private struct Fields: Hashable, Sendable {
        var path: RelativePath
        /// The status without payload, and the payload of a symlink. Only `kind` can set both, so a symlink without a
        /// destination, or a directory with one, cannot be created.
        var status: FileStatus
        var payload: Payload
    }

    /// Properties that most files lack.
    struct Payload: Hashable, Sendable {
        var destination: [UInt8] = []
        var extended = ExtendedAttributes()
        var omitted: Omissions = []
        var digest: Digest?
        var isGrowing = false
    }

    private var fields: Fields {
        get { Fields(path: path, status: status, payload: payload) }
        set {
            guard case .packed(let table, _) = storage,
                let number = table.add(newValue.path, newValue.status, newValue.payload)
            else {
                storage = .loose(Shared(newValue))
                return
            }
            storage = .packed(table, number)
        }
    }

    private var payload: Payload {
        get {
            switch storage {
            case .packed(let table, let number): table.payload(of: number)
            case .loose(let shared): shared.value.payload
            }
        }
        set { fields.payload = newValue }
    }

    /// The path below the root of its tree.
    public var path: RelativePath {
        switch storage {
        case .packed(let table, let number): table.path(of: number)
        case .loose(let shared): shared.value.path
        }
    }
    package var status: FileStatus {
        switch storage {
        case .packed(let table, let number): table.status(of: number)
        case .loose(let shared): shared.value.status
        }
    }
    package var destination: [UInt8] { payload.destination }
    /// The extended attributes, if they were read; a scan reads them only on request.
    package var extended: ExtendedAttributes {
        get { payload.extended }
        set { if newValue != payload.extended { payload.extended = newValue } }
    }
    /// Attributes of the source's entry that the mirror could not hold.
    package var omitted: Omissions {
        get { payload.omitted }
        set { if newValue != payload.omitted { payload.omitted = newValue } }
    }
    /// The digest of a file's content, if known.
    public package(set) var digest: Digest? {
        get { payload.digest }
        set { if newValue != payload.digest { payload.digest = newValue } }
    }
    /// It grew while it was copied: the mirror has only its first part, which must not be trusted.
    package var isGrowing: Bool {
        get { payload.isGrowing }
        set { if newValue != payload.isGrowing { payload.isGrowing = newValue } }
    }

    /// - Parameters:
    ///   - size: bytes of content; for a symlink the length of its destination.
    ///   - mode: the twelve permission bits.
    public init(
        path: RelativePath, kind: FileKind, size: Int64 = 0, modified: Timestamp, created: Timestamp? = nil,
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
            status.size = Int64(bytes.count)
        case .characterDevice(let major, let minor), .blockDevice(let major, let minor):
            status.represents = DeviceNumber(major: major, minor: minor)
        case .file, .directory, .fifo, .socket:
            break
        }
        storage = .loose(
            Shared(Fields(path: path, status: status, payload: Payload(destination: destination))))
    }

    /// - Parameters:
    ///   - destination: of a symlink; ignored for other types.
    ///   - table: stores the file.
    package init(
        path: RelativePath, status: FileStatus, destination: [UInt8],
        extended: ExtendedAttributes = ExtendedAttributes(), omitted: Omissions = [], digest: Digest? = nil,
        in table: EntryTable? = nil
    ) {
        let payload = Payload(
            destination: status.type == .symlink ? destination : [], extended: extended, omitted: omitted,
            digest: digest)
        if let table, let number = table.add(path, status, payload) {
            storage = .packed(table, number)
        } else {
            storage = .loose(Shared(Fields(path: path, status: status, payload: payload)))
        }
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

    public var isFile: Bool { status.type == .file }
    public var isDirectory: Bool { status.type == .directory }

    /// Bytes of content.
    public var size: Int64 { status.size }
    /// When the content was last modified, in nanoseconds.
    public var modified: Timestamp { Timestamp(status.modified) }
    /// `modified` as a `Date`, off by a fraction of a microsecond.
    public var modificationDate: Date { modified.date }
    /// When the object was created, in nanoseconds, if the file system records it.
    public var created: Timestamp? { status.created.map(Timestamp.init) }
    /// `created` as a `Date`.
    public var creationDate: Date? { created?.date }
    /// Permission bits with setuid, setgid and sticky.
    public var mode: UInt16 { status.permissions }
    /// The numeric user ID.
    public var owner: UInt32 { status.owner }
    /// The numeric group ID.
    public var group: UInt32 { status.group }
    /// The number of names (hard links) of the object.
    public var linkCount: UInt32 { status.links }
    /// The identity of the object, independent of its name.
    public var identity: FileIdentity { status.identity }

    /// The last component, for display: invalid UTF-8 is replaced. `path` has the exact bytes.
    public var name: String { String(decoding: path.lastComponent, as: UTF8.self) }
    /// The path of the parent directory; nil at the root.
    public var parent: RelativePath? { path.parent }

    /// The path of an entry in this directory; nil unless the name is a single valid component.
    public static func + (directory: File, name: String) -> RelativePath? {
        directory.path + name
    }

    /// The same file at another path.
    package func moved(to path: RelativePath) -> File {
        var file = self
        file.fields.path = path
        return file
    }

    /// The same file with another status.
    package func with(_ status: FileStatus) -> File {
        var file = self
        file.fields.status = status
        return file
    }

    /// The same entry with another identity.
    func with(_ identity: FileIdentity) -> File {
        var status = status
        (status.inode, status.created) = (identity.inode, identity.created?.fileTime)
        return with(status)
    }

    /// With the recorded properties, except the status, of another name of the same file.
    func recorded(as name: File) -> File {
        var file = self
        let isGrowing = isGrowing
        file.payload = name.payload
        (file.payload.destination, file.payload.isGrowing) = (destination, isGrowing)
        return file
    }

    /// With the attributes of the mirror's object.
    func holding(_ target: FileStatus) -> File {
        var status = status
        (status.modified, status.permissions) = (target.modified, target.permissions)
        (status.owner, status.group) = (target.owner, target.group)
        return with(status)
    }
}

extension File: Hashable {
    public static func == (left: File, right: File) -> Bool { left.fields == right.fields }

    public func hash(into hasher: inout Hasher) { fields.hash(into: &hasher) }
}

extension File: Comparable {
    /// Scan order.
    public static func < (left: File, right: File) -> Bool {
        if case .packed(let table, let first) = left.storage,
            case .packed(let other, let second) = right.storage, table === other
        {
            return table.isInOrder(first, second)
        }
        return left.path < right.path
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
