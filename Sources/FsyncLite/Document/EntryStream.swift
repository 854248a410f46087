import FileSystem

/// A tree as an ordered stream of entries: a scan, a manifest or a list of files.
///
/// The properties describe the present entry and change with each `advance`; before the first entry and after the last
/// they are undefined. No value is created per entry; `file` creates one on demand.
package protocol EntryStream: AnyObject {
    /// Advances to the next entry in the order of `RelativePath`; false at the end.
    func advance() throws -> Bool

    var path: RelativePath { get }
    var status: FileStatus { get }
    /// The destination of a symlink; undefined for other types.
    var destination: [UInt8] { get }
    /// The extended attributes, as far as known.
    var extended: ExtendedAttributes { get }
    /// The recorded attributes that the mirror could not hold.
    var omitted: Omissions { get }
    /// Why the entry is excluded, if it is; its contents are not yielded then.
    var exclusion: Exclusion { get }
    /// False for a directory that could not be listed: its content is unknown.
    var isListed: Bool { get }
    /// Appends the present entry to a manifest exactly as it was read; false if it was not read from one.
    func append(to writer: inout ManifestWriter) -> Bool
    /// The inode in the recorded tree, if it differs from that of the entry.
    var targetInode: UInt64 { get }
    /// The change time of that object when it was last found unchanged; nil if a commit has touched it since.
    var targetChanged: FileTime? { get }
    var marks: EntryMarks { get }
    /// The digest of a file's content, if known.
    var digest: Digest? { get }
    /// The manifest that the entry comes from, if the object itself was not examined.
    var recorded: ManifestReader? { get }
}

extension EntryStream {
    package var isListed: Bool { true }
    package var exclusion: Exclusion { .none }
    package var extended: ExtendedAttributes { ExtendedAttributes() }
    package var omitted: Omissions { [] }
    package var targetInode: UInt64 { status.inode }
    package var targetChanged: FileTime? { nil }
    package var marks: EntryMarks { [] }
    package func append(to writer: inout ManifestWriter) -> Bool { false }
    package var digest: Digest? { nil }
    package var recorded: ManifestReader? { nil }

    /// The present entry as a value.
    package var file: File { file(in: nil) }

    /// The same, stored in a table.
    func file(in table: EntryTable?) -> File {
        File(
            path: path, status: status, destination: destination, extended: extended, omitted: omitted,
            digest: digest, in: table)
    }
}

/// A tree in memory: sorted files.
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
}
