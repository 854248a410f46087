import FileSystem
import FoundationEssentials

/// The properties of a file. Symlinks are followed, except by `exists` and `isSymlink`.
extension LocalFile {
    /// Whether the name exists, even as a dangling symlink. `false` is certain: every obstacle is thrown.
    public var exists: Bool { get throws(SyncError) { try nameStatus() != nil } }

    /// Whether this path leads to a directory; `false` if it does not exist.
    public var isDirectory: Bool { get throws(SyncError) { try ifPresent(status)?.type == .directory } }

    /// Whether this path leads to a regular file; `false` if it does not exist.
    public var isFile: Bool { get throws(SyncError) { try ifPresent(status)?.type == .file } }

    /// Whether the name itself is a symlink; `false` if it does not exist.
    public var isSymlink: Bool { get throws(SyncError) { try nameStatus()?.type == .symlink } }

    /// The twelve permission bits.
    public var permissions: UInt16 { get throws(SyncError) { try status.permissions } }

    /// Bytes of content.
    public var size: Int64 { get throws(SyncError) { try status.size.rawCount } }

    /// When the content was last modified.
    public var modificationDate: Date { get throws(SyncError) { try status.modified.date } }

    /// When the file was created; nil if the file system does not record it.
    public var creationDate: Date? { get throws(SyncError) { try status.created?.date } }

    /// The entries of this directory, sorted by the bytes of their names.
    public var children: [LocalFile] {
        get throws(SyncError) {
            let directory = try directory()
            return try reporting(DirectoryListing.names(in: directory)).sorted().map { self + $0.bytes }
        }
    }

    /// The status, with symlinks followed.
    package var status: FileStatus {
        get throws(SyncError) {
            // `.`, `..` and `/` are not names.
            guard FileName(split.name) != nil else {
                let directory = try directory()
                return try reporting(directory.status())
            }
            let file = try location().open(.pathOnly)
            return try naming(file.status())
        }
    }

    /// The status of the name itself; nil if it does not exist.
    private func nameStatus() throws(SyncError) -> FileStatus? {
        guard FileName(split.name) != nil else { return try ifPresent(status) }
        return try ifPresent(location().status()) ?? nil
    }
}

extension FileTime {
    /// The nearest `Date`, off by a fraction of a microsecond.
    package var date: Date { Date(timeIntervalSince1970: Double(rawSeconds) + Double(nanoseconds) / 1e9) }
}
