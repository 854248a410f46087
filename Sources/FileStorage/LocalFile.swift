import FileSystem
import FoundationEssentials

/// A file or directory by its path.
///
/// It is a path, not an open file, and the file need not exist. The path is kept as bytes. Each call opens the parent
/// directory once and works on the name in it. Reading and appending follow a symlink; replacing, moving and deleting
/// act on the name itself.
///
/// Calls block, and throw `SyncError` with the path and the kernel's error number. `perform` runs them for `async` code.
public struct LocalFile: NamedFile, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The path as it was given.
    public let bytes: [UInt8]

    public init(_ path: String) {
        bytes = Array(path.utf8)
    }

    public init(stringLiteral path: String) {
        self.init(path)
    }

    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The file of a `file` URL; nil for any other URL, and for one with another host.
    public init?(_ url: URL) {
        guard url.isFileURL, ["", "localhost"].contains(url.host() ?? "") else { return nil }
        bytes = LocalFile.percentDecoded(url.absoluteURL.path(percentEncoded: true).utf8)
    }

    /// Each byte that is not kept becomes `%HH`.
    static func percentEncoded(
        _ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool
    ) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let encoded = bytes.flatMap { byte in
            isKept(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    static func percentDecoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text)[...]
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
        return bytes
    }

    /// Appends a relative path to a directory.
    public static func + (directory: LocalFile, component: String) -> LocalFile {
        directory + component.utf8
    }

    package static func + (directory: LocalFile, component: some Collection<UInt8>) -> LocalFile {
        let needsSlash = !directory.bytes.isEmpty && directory.bytes.last != slash
        return LocalFile(bytes: directory.bytes + (needsSlash ? [slash] : []) + component)
    }

    // MARK: The path

    private static let slash = UInt8(ascii: "/")

    var isAbsolute: Bool { bytes.first == LocalFile.slash }

    /// The path as text, for other programs; invalid UTF-8 is replaced.
    public var path: String { String(decoding: bytes, as: UTF8.self) }

    /// The last component; invalid UTF-8 is replaced.
    public var name: String { String(decoding: split.name, as: UTF8.self) }

    /// The directory of the name: `.` for a single name, `/` for a name at the root.
    public var parent: LocalFile { LocalFile(bytes: Array(split.parent)) }

    /// The absolute path, independent of the working directory; `.` and `..` are kept.
    package func absolute() throws(SyncError) -> [UInt8] {
        isAbsolute ? bytes : try (LocalFile.currentDirectory + bytes).bytes
    }

    /// A `file` URL with the path percent-encoded; a relative path is resolved against the working directory.
    public var url: URL {
        let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        // Without a working directory, the path is all that is known.
        let absolute = (try? absolute()) ?? bytes
        return URL(string: "file://" + LocalFile.percentEncoded(absolute, keeping: unreserved.contains))
            ?? URL(filePath: path)
    }

    /// The path with control characters and invalid UTF-8 escaped.
    public var description: String { escapedText(bytes) }

    var split: (parent: ArraySlice<UInt8>, name: ArraySlice<UInt8>) {
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

        var path: [UInt8] { directory.path(of: name) }

        /// The status of the name itself; nil if it does not exist.
        func status() throws(SyncError) -> FileStatus? { try reporting(directory.status(of: name)) }

        func open(
            _ flags: FileDescriptor.Flags, permissions: UInt16 = 0
        ) throws(SyncError) -> FileDescriptor {
            try reporting(directory.open(name, flags, permissions: permissions))
        }

        /// The content of a regular file.
        ///
        /// - Parameter check: refuses to read it.
        func content(
            _ flags: FileDescriptor.Flags, limit: Int,
            check: (FileStatus, FileName) throws -> Void = { _, _ in }
        ) throws(SyncError) -> [UInt8] {
            let place = LocalFile(bytes: path)
            let file = try open(flags)
            let status = try place.naming(file.status())
            try place.checkIsRegular(status)
            try place.locating { try check(status, name) }
            return try place.naming(file.readAll(limit: limit))
        }
    }

    /// The directory is open path-only, which needs no permission to list it.
    package func location() throws(SyncError) -> Location {
        let (parent, last) = split
        // A NUL would end the path early for the kernel, and name another file than the message.
        guard !parent.contains(0), let name = FileName(last) else {
            throw SyncError(.usage, path: bytes, "is no path of a file", errno: Errno.invalid.rawValue)
        }
        return Location(directory: try reporting(.open(given: Array(parent), .pathOnly)), name: name)
    }

    /// Opens the directory at this path.
    package func directory() throws(SyncError) -> Directory {
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw SyncError(.usage, path: bytes, "is no path of a directory", errno: Errno.invalid.rawValue)
        }
        return try reporting(.open(given: bytes))
    }

    func checkIsRegular(_ status: FileStatus) throws(SyncError) {
        switch status.type {
        case .file: break
        case .directory: throw SyncError(.failed, path: bytes, .isDirectory)
        default: throw SyncError(.failed, path: bytes, "is no regular file", errno: Errno.invalid.rawValue)
        }
    }

    /// Makes a call and adds this path to its error number.
    package func naming<Value: ~Copyable>(
        _ call: @autoclosure () throws(Errno) -> Value
    ) throws(SyncError) -> Value {
        do {
            return try call()
        } catch {
            throw SyncError(.failed, path: bytes, error)
        }
    }
}

/// Paths are equal by their components, as in `FilePath`: slashes at the end or side by side do not count. The order is that
/// of the bytes.
extension LocalFile: Hashable, Comparable {
    private var normalized: [UInt8] {
        (isAbsolute ? [LocalFile.slash] : [])
            + bytes.split(separator: LocalFile.slash).joined(separator: [LocalFile.slash])
    }

    public static func == (left: LocalFile, right: LocalFile) -> Bool {
        left.bytes == right.bytes || left.normalized == right.normalized
    }

    public static func < (left: LocalFile, right: LocalFile) -> Bool {
        left.normalized.lexicographicallyPrecedes(right.normalized)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(normalized) }
}

extension LocalFile {
    /// Runs blocking calls for an `async` caller, on a thread outside Swift's pool. Those of a cancelled task are carried out.
    public static func perform<Value: Sendable, Failure: Error>(
        _ calls: @Sendable @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await WorkerThread().run(calls)
    }
}
