import FileSystem
import FoundationEssentials

/// A file or directory by its path.
///
/// It is a path, not an open file, and the file need not exist. The path is kept as bytes. Each call opens the parent
/// directory once and works on the name in it. Reading and appending follow a symlink; replacing, moving and deleting
/// act on the name itself.
///
/// Calls block, and throw `SyncError` with the path and the kernel's error number.
public struct LocalFile: NamedFile, Hashable, Sendable, CustomStringConvertible {
    /// The path as it was given.
    public let bytes: [UInt8]

    public init(_ path: String) {
        bytes = Array(path.utf8)
    }

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The file of a `file` URL; nil for any other URL, and for one with another host.
    public init?(_ url: URL) {
        guard url.isFileURL, ["", "localhost"].contains(url.host() ?? "") else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(url.absoluteURL.path(percentEncoded: true).utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"),
                let encoded = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(encoded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        self.bytes = bytes
    }

    /// Appends a component to a directory.
    public static func + (directory: LocalFile, component: String) -> LocalFile {
        directory + component.utf8
    }

    package static func + (directory: LocalFile, component: some Collection<UInt8>) -> LocalFile {
        let needsSlash = !directory.bytes.isEmpty && directory.bytes.last != slash
        return LocalFile(bytes: directory.bytes + (needsSlash ? [slash] : []) + component)
    }

    // MARK: The path

    private static let slash = UInt8(ascii: "/")

    /// The last component; invalid UTF-8 is replaced.
    public var name: String { String(decoding: split.name, as: UTF8.self) }

    /// The directory of the name: `.` for a single name, `/` for a name at the root.
    public var parent: LocalFile { LocalFile(bytes: Array(split.parent)) }

    /// The absolute path, independent of the working directory; `.` and `..` are kept.
    package func absolute() throws(SyncError) -> [UInt8] {
        guard bytes.first != LocalFile.slash else { return bytes }
        let directory = try reporting { () throws(SystemError) in try HostProcess.workingDirectory() }
        return (LocalFile(bytes: directory) + bytes).bytes
    }

    /// A `file` URL with the path percent-encoded; a relative path is resolved against the working directory.
    public var url: URL {
        let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        let hexadecimal = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in bytes {
            encoded +=
                unreserved.contains(byte)
                ? [byte] : [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
        }
        let path = String(decoding: encoded, as: UTF8.self)
        let isAbsolute = bytes.first == LocalFile.slash
        let url =
            isAbsolute
            ? URL(string: "file://" + path) : URL(string: "./" + path, relativeTo: .currentDirectory())
        return url?.absoluteURL ?? URL(filePath: String(decoding: bytes, as: UTF8.self))
    }

    /// The path with control characters and invalid UTF-8 escaped.
    public var description: String { escapedText(bytes) }

    private var split: (parent: ArraySlice<UInt8>, name: ArraySlice<UInt8>) {
        func withoutSlashesAtEnd(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let end = path.lastIndex { $0 != LocalFile.slash }.map { $0 + 1 } ?? path.startIndex
            return path[..<end]
        }
        let path = withoutSlashesAtEnd(bytes[...])
        guard let last = path.lastIndex(of: LocalFile.slash) else {
            return (bytes.first == LocalFile.slash ? [LocalFile.slash] : [UInt8(ascii: ".")], path)
        }
        let parent = withoutSlashesAtEnd(path[..<last])
        return (parent.isEmpty ? [LocalFile.slash] : parent, path[(last + 1)...])
    }

    /// The open parent directory, and the name in it.
    package struct Location {
        package let directory: Directory
        package let name: FileName
    }

    /// - Parameter flags: `pathOnly` needs no permission to read the parent directory, which cannot be synced then.
    package func location(_ flags: FileDescriptor.Flags = .read) throws(SyncError) -> Location {
        let (parent, last) = split
        // A NUL would end the path early for the kernel, and name another file than the message.
        guard !parent.contains(0), let name = FileName(last) else {
            throw SyncError(.usage, path: bytes, "is no path of a file", errno: Errno.invalid.rawValue)
        }
        return Location(
            directory: try reporting { () throws(SystemError) in try .open(given: Array(parent), flags) },
            name: name)
    }

    /// Opens the directory at this path.
    package func directory() throws(SyncError) -> Directory {
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw SyncError(.usage, path: bytes, "is no path of a directory", errno: Errno.invalid.rawValue)
        }
        return try reporting { () throws(SystemError) in try .open(given: bytes) }
    }

    /// - Parameter title: what the directory is to the user who named it, such as `the source`.
    /// - Throws: `inputMissing` if the path leads to something else; an error with `isNotFound` if it does not exist.
    package func directory(_ title: String) throws(SyncError) -> Directory {
        do {
            return try directory()
        } catch {
            guard error.errno == Errno.notDirectory.rawValue else { throw error }
            let type = try? status.type
            let kind = type == .file ? "is a file, not a directory" : "is not a directory"
            throw SyncError(
                .inputMissing, path: bytes,
                "\(title) \(type == nil ? "cannot exist: a part of its path is a file" : kind)")
        }
    }

    // MARK: Inspecting

    /// Whether the name exists, also as a dangling symlink. `false` is certain; every obstacle is thrown.
    public var exists: Bool {
        get throws(SyncError) {
            do {
                // `.`, `..` and `/` are not names: they exist if they open.
                guard FileName(split.name) != nil else { return try status.type == .directory }
                let location = try location(.pathOnly)
                return try reporting { () throws(SystemError) in
                    try location.directory.status(of: location.name)
                }
                    != nil
            } catch {
                if error.isNotFound { return false }
                throw error
            }
        }
    }

    /// Whether this path leads to a directory; `false` if it does not exist.
    public var isDirectory: Bool {
        get throws(SyncError) {
            do {
                return try status.type == .directory
            } catch {
                if error.isNotFound { return false }
                throw error
            }
        }
    }

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
            let names = try reporting { () throws(SystemError) in try DirectoryListing.names(in: directory) }
            return names.sorted().map { self + $0.bytes }
        }
    }

    /// The status, with symlinks followed.
    var status: FileStatus {
        get throws(SyncError) {
            guard FileName(split.name) != nil else {
                let directory = try directory()
                return try reporting { () throws(SystemError) in try directory.status() }
            }
            let location = try location(.pathOnly)
            let handle = try reporting { () throws(SystemError) in
                try location.directory.open(location.name, [.pathOnly])
            }
            return try naming { () throws(Errno) in try handle.status() }
        }
    }

    /// Runs `body` and adds this path to the error number that it throws.
    func naming<Value: ~Copyable>(_ body: () throws(Errno) -> Value) throws(SyncError) -> Value {
        do {
            return try body()
        } catch {
            throw SyncError(.failed, path: bytes, error)
        }
    }

    // MARK: Directories and deleting

    /// Creates the directory.
    ///
    /// - Parameters:
    ///   - parents: creates missing parents too, and accepts an existing directory. Otherwise an existing name is
    ///     `refused`.
    ///   - permissions: the permission bits before the umask.
    public func makeDirectory(parents: Bool = false, permissions: UInt16 = 0o755) throws(SyncError) {
        guard parents else {
            let location = try location(.pathOnly)
            return try reporting { () throws(SystemError) in
                try location.directory.makeDirectory(location.name, permissions: permissions)
            }
        }
        var missing: [LocalFile] = []
        var ancestor = self
        while !(try ancestor.exists) {
            missing.append(ancestor)
            ancestor = ancestor.parent
        }
        guard try ancestor.isDirectory else { throw SyncError(.failed, path: ancestor.bytes, .notDirectory) }
        for directory in missing.reversed() {
            do {
                try directory.makeDirectory(permissions: permissions)
            } catch {
                // Another process has just created it.
                guard error.errno == Errno.exists.rawValue, try directory.isDirectory else { throw error }
            }
        }
    }

    /// Deletes this name; a symlink itself, never its destination.
    ///
    /// - Parameter recursive: deletes a directory with its content; a mount point inside is an error. Otherwise a
    ///   directory that is not empty is `refused`.
    public func delete(recursive: Bool = false) throws(SyncError) {
        let location = try location()
        try reporting { () throws(SystemError) in
            switch try location.directory.status(of: location.name)?.type {
            case .directory where recursive: try TreeRemoval.remove(location.name, in: location.directory)
            case .directory: try location.directory.removeDirectory(location.name)
            default: try location.directory.unlink(location.name)
            }
        }
    }
}

extension FileTime {
    /// The nearest `Date`, off by a fraction of a microsecond.
    package var date: Date { Date(timeIntervalSince1970: Double(rawSeconds) + Double(nanoseconds) / 1e9) }
}
