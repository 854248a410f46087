import FileSystem
import FoundationEssentials

/// A file or directory by its path.
///
/// It is a path, not an open file: a value that can be made for what is not there. The path is kept as
/// bytes. Each call opens the parent directory once and works on the name in it. Reading and appending follow
/// a symlink, for a person gave the path; what replaces, moves or deletes acts on the name itself.
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

    /// The file that a `file` URL leads to; nil for any other URL, and for one that names another host.
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

    /// Joins a component to a directory.
    public static func + (directory: LocalFile, component: String) -> LocalFile {
        directory + component.utf8
    }

    package static func + (directory: LocalFile, component: some Collection<UInt8>) -> LocalFile {
        let needsSlash = !directory.bytes.isEmpty && directory.bytes.last != slash
        return LocalFile(bytes: directory.bytes + (needsSlash ? [slash] : []) + component)
    }

    // MARK: The path

    private static let slash = UInt8(ascii: "/")

    /// The last component; what is no UTF-8 in it shows as a replacement character.
    public var name: String { String(decoding: split.name, as: UTF8.self) }

    /// What holds the name: `.` for a single name, `/` for what stands at the root.
    public var parent: LocalFile { LocalFile(bytes: Array(split.parent)) }

    /// The path from the top, which means the same from any working directory; `.` and `..` stay as they are.
    package func absolute() throws(SyncError) -> [UInt8] {
        guard bytes.first != LocalFile.slash else { return bytes }
        let directory = try reporting { () throws(SystemError) in try HostProcess.workingDirectory() }
        return (LocalFile(bytes: directory) + bytes).bytes
    }

    /// A `file` URL with the path's bytes percent-encoded; a relative path counts from the working directory.
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

    /// The parent, open, and the name in it.
    package struct Place {
        package let directory: Directory
        package let name: FileName
    }

    package func place() throws(SyncError) -> Place {
        let (parent, last) = split
        // A NUL would end the path early for the kernel: another file than the one in the messages.
        guard !parent.contains(0), let name = FileName(last) else {
            throw SyncError(.usage, path: bytes, "is no path of a file", errno: Errno.invalid.rawValue)
        }
        return Place(
            directory: try reporting { () throws(SystemError) in try .open(path: Array(parent)) }, name: name)
    }

    /// Opens the directory that this path leads to.
    package func directory() throws(SyncError) -> Directory {
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw SyncError(.usage, path: bytes, "is no path of a directory", errno: Errno.invalid.rawValue)
        }
        return try reporting { () throws(SystemError) in try .open(path: bytes) }
    }

    // MARK: Looking

    /// Whether something has this name, be it a symlink that leads nowhere. `false` says that nothing has;
    /// every other obstacle is thrown.
    public var exists: Bool {
        get throws(SyncError) {
            do {
                // `.`, `..` and `/` are no names: they are there when they open.
                guard FileName(split.name) != nil else { return try status.type == .directory }
                let place = try place()
                return try reporting { () throws(SystemError) in try place.directory.status(of: place.name) }
                    != nil
            } catch {
                if error.isNotFound { return false }
                throw error
            }
        }
    }

    /// Whether this path leads to a directory; `false` also where nothing is.
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
    public var size: Int64 { get throws(SyncError) { try status.size } }

    /// When the content was last modified.
    public var modificationDate: Date { get throws(SyncError) { try status.modified.date } }

    /// When the file was made; nil where the file system does not tell.
    public var creationDate: Date? { get throws(SyncError) { try status.created?.date } }

    /// What is in this directory, sorted by the bytes of the names.
    public var children: [LocalFile] {
        get throws(SyncError) {
            let directory = try directory()
            let names = try reporting { () throws(SystemError) in try DirectoryListing.names(in: directory) }
            return names.sorted().map { self + $0.bytes }
        }
    }

    /// Of what the path leads to.
    var status: FileStatus {
        get throws(SyncError) {
            guard FileName(split.name) != nil else {
                let directory = try directory()
                return try reporting { () throws(SystemError) in try directory.status() }
            }
            let place = try place()
            let handle = try reporting { () throws(SystemError) in
                try place.directory.open(place.name, [.pathOnly])
            }
            return try naming { () throws(Errno) in try handle.status() }
        }
    }

    /// Runs `body` and gives the error number that it throws this path.
    func naming<Value: ~Copyable>(_ body: () throws(Errno) -> Value) throws(SyncError) -> Value {
        do {
            return try body()
        } catch {
            throw SyncError(.failed, path: bytes, error)
        }
    }

    // MARK: Directories and deleting

    /// Makes the directory.
    ///
    /// - Parameters:
    ///   - parents: makes the directories above too, and is content with a directory that is there. Without
    ///     it, a name that is taken is `refused`.
    ///   - permissions: the permission bits, less the umask's.
    public func makeDirectory(parents: Bool = false, permissions: UInt16 = 0o755) throws(SyncError) {
        guard parents else {
            let place = try place()
            return try reporting { () throws(SystemError) in
                try place.directory.makeDirectory(place.name, permissions: permissions)
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
                // Another process made it just now, which serves as well.
                guard error.errno == Errno.exists.rawValue, try directory.isDirectory else { throw error }
            }
        }
    }

    /// Deletes what has this name, a symlink itself and never what it leads to.
    ///
    /// - Parameter recursive: a directory goes with all that is in it, but nothing that is mounted there.
    ///   Without it, a directory that is not empty is `refused`.
    public func delete(recursive: Bool = false) throws(SyncError) {
        let place = try place()
        try reporting { () throws(SystemError) in
            switch try place.directory.status(of: place.name)?.type {
            case .directory where recursive: try TreeRemoval.remove(place.name, in: place.directory)
            case .directory: try place.directory.removeDirectory(place.name)
            default: try place.directory.unlink(place.name)
            }
        }
    }
}

extension FileTime {
    /// The nearest `Date`, which is a fraction of a microsecond off.
    package var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9) }
}
