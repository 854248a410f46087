import FileSystem

/// Paths in their order, one at a time.
package protocol PathStream {
    /// Steps to the next path in the order of `RelativePath`; false when there is none.
    mutating func advance() throws -> Bool

    var path: RelativePath { get }
    /// Passes the bytes of the path, for which no value needs to be made.
    func withPathBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result
}

extension PathStream {
    /// Orders the present paths: negative, zero or positive.
    func order(comparedTo other: some PathStream) -> Int {
        withPathBytes { left in other.withPathBytes { RelativePath.order(left, $0) } }
    }
}

/// How much is known of an entry.
package enum Sight: UInt8, Sendable {
    case whole
    /// A directory whose entries could not be listed.
    case unlisted
    /// A name that could not be looked at: the status tells nothing, and the type may be another.
    case unseen
}

/// A tree as one ordered stream of entries: what a scan, a manifest and a list of files all are.
///
/// The properties tell of the present entry and change with the next `advance`; before the first and after
/// the last they mean nothing. No value is made per entry: `file` makes one where it is wanted.
package protocol EntryStream: AnyObject, PathStream {
    /// An object steps without being changed as a value.
    func advance() throws -> Bool

    var status: FileStatus { get }
    /// Where a symlink points; meaningless for everything else.
    var destination: [UInt8] { get }
    /// The extended attributes, as far as they are known.
    var extended: ExtendedAttributes { get }
    /// What the mirror could not hold, by the record.
    var omitted: Omissions { get }
    /// Why the entry is excluded, if it is. Nothing below it is yielded then.
    var exclusion: Exclusion { get }
    /// How much is known of it.
    var sight: Sight { get }
    /// Appends the present entry to a manifest just as it was read; false where it was not read from one.
    func append(to writer: inout ManifestWriter) -> Bool
    /// The inode in the tree that was recorded, where that is another than the one the entry came from.
    var targetInode: UInt64 { get }
    /// The change time of that object when it was last found to be as recorded; nil where a commit has touched it since.
    var targetChanged: FileTime? { get }
    var marks: EntryMarks { get }
    /// Of a file's content, where it is known.
    var digest: Digest? { get }
    /// The manifest that the entry comes from, if the entry itself was not looked at.
    var recorded: ManifestReader? { get }
    /// The number of the object in the lists of a target; 0 where it has none.
    var object: UInt64 { get }
    /// The present entry is one of the newest list, at its path there.
    var isPresent: Bool { get }
    /// The present entry as a value.
    var file: File { get }
}

extension EntryStream {
    package var sight: Sight { .whole }
    /// False where nothing is known of what lies below it.
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
    /// - Parameter path: its path, shared with another value.
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

    /// - Parameter files: in the order of their paths.
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
