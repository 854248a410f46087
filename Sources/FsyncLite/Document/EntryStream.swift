import FileSystem

/// Paths in order, one at a time.
package protocol PathStream {
    /// Steps to the next path in the order of `RelativePath`. Returns false at the end.
    mutating func advance() throws -> Bool

    var path: RelativePath { get }
    /// Passes the bytes of the path, without making a value.
    func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension PathStream {
    /// The order of the present paths: negative, zero or positive.
    func order(comparedTo other: some PathStream) -> Int {
        withPathBytes { left in other.withPathBytes { RelativePath.order(left, $0) } }
    }
}

/// The known part of an entry.
package enum Sight: UInt8, Sendable {
    case whole
    /// A directory whose entries could not be listed.
    case unlisted
    /// A name that could not be looked at. Its status has no meaning, and its type may be another one.
    case unseen
}

/// A tree as one ordered stream of entries: a scan, a manifest, or a list of files.
///
/// The properties are those of the present entry, and change with the next `advance`. Before the first entry and after
/// the last, they have no meaning. No value is made for an entry, except on request by `file`.
package protocol EntryStream: AnyObject, PathStream {
    /// The same for an object, which is changed without `mutating`.
    func advance() throws -> Bool

    var status: FileStatus { get }
    /// The destination of a symlink; undefined for other types.
    var destination: [UInt8] { get }
    /// The known extended attributes.
    var extended: ExtendedAttributes { get }
    /// The recorded attributes that the mirror could not store.
    var omitted: Omissions { get }
    /// The reason why the entry is excluded. If it is, no entry below it is yielded.
    var exclusion: Exclusion { get }
    /// The known part of the entry.
    var sight: Sight { get }
    /// Appends the present entry to a manifest just as it was read; false if it was not read from one.
    func append(to writer: inout ManifestWriter) -> Bool
    /// The recorded inode in the target's tree. It may differ from the inode of the entry's own tree.
    var targetInode: UInt64 { get }
    /// The change time of that object when it was last found unchanged; nil if a commit has touched it since.
    var targetChanged: FileTime? { get }
    var marks: EntryMarks { get }
    /// The digest of a file's content, if it is known.
    var digest: Digest? { get }
    /// The manifest that the entry comes from, if the entry itself was not looked at.
    var recorded: ManifestReader? { get }
    /// The number of the object in the lists of a target; 0 if it has none.
    var object: UInt64 { get }
    /// Whether the present entry is in the newest list, with the same path.
    var isPresent: Bool { get }
    /// The present entry as a value.
    var file: File { get }
}

extension EntryStream {
    package var sight: Sight { .whole }
    /// False if the entries below it are unknown.
    package var isListed: Bool { sight == .whole }
    package var exclusion: Exclusion { .none }
    package var extended: ExtendedAttributes { ExtendedAttributes() }
    package var omitted: Omissions { [] }
    package var targetInode: UInt64 { status.inode }
    package var targetChanged: FileTime? { nil }
    package var marks: EntryMarks { [] }
    package func append(to writer: inout ManifestWriter) -> Bool { false }
    package var digest: Digest? { nil }
    package var recorded: ManifestReader? { nil }
    package var object: UInt64 { 0 }
    package var isPresent: Bool { false }

    package func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        path.bytes.withUnsafeBytes(body)
    }

    package var file: File { file(at: path) }

    /// The present entry as a value.
    ///
    /// - Parameter path: its path, if another value has it already.
    func file(at path: RelativePath) -> File {
        File(
            path: path, status: status, destination: destination, extended: extended, omitted: omitted,
            digest: digest, object: object)
    }
}

/// A tree that is in memory: sorted files.
package final class FileList: EntryStream {
    private let files: [File]
    private var index = -1

    package convenience init(_ files: [File]) {
        self.init(sorted: files.sorted())
    }

    /// - Parameter files: sorted by path.
    init(sorted files: [File]) {
        self.files = files
    }

    package func advance() -> Bool {
        index += 1
        return index < files.count
    }

    package var path: RelativePath { files[index].path }
    package var status: FileStatus { files[index].status }
    package var destination: [UInt8] { files[index].destination }
    package var extended: ExtendedAttributes { files[index].extended }
    package var omitted: Omissions { files[index].omitted }
    package var digest: Digest? { files[index].digest }
    package var object: UInt64 { files[index].object }
    package var file: File { files[index] }
}
