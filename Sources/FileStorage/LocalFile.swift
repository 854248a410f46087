import FileSystem
import FoundationEssentials

/// A file or directory by its path.
///
/// It is a path, not an open file, and the file need not exist. The path is stored as bytes. Each call opens the parent
/// directory once and works on the name in it. Reading and appending follow a symlink. Replacing, moving and deleting
/// act on the name itself.
///
/// Calls block, and throw `SyncError` with the path and the kernel's error number. `async` code runs them by `perform`.
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
        bytes = percentDecoded(url.absoluteURL.path(percentEncoded: true).utf8)
    }

    /// Appends a relative path to a directory.
    public static func + (directory: LocalFile, component: String) -> LocalFile {
        directory + component.utf8
    }

    package static func + (directory: LocalFile, component: some Collection<UInt8>) -> LocalFile {
        let needsSlash = !directory.bytes.isEmpty && directory.bytes.last != slash
        return LocalFile(bytes: directory.bytes + (needsSlash ? [slash] : []) + component)
    }

    private static let slash = UInt8(ascii: "/")

    var isAbsolute: Bool { bytes.first == LocalFile.slash }

    /// The path as text, for other programs; invalid UTF-8 is replaced.
    public var path: String { String(decoding: bytes, as: UTF8.self) }

    /// The last component; invalid UTF-8 is replaced.
    public var name: String { String(decoding: split.name, as: UTF8.self) }

    /// The directory of the name: `.` for a single name, `/` for a name at the root.
    public var parent: LocalFile { LocalFile(bytes: split.parent) }

    /// The absolute path, independent of the working directory. It can contain `.` and `..`.
    package func absolute() throws(SyncError) -> [UInt8] {
        isAbsolute ? bytes : try (LocalFile.currentDirectory + bytes).bytes
    }

    /// A `file` URL with the path percent-encoded. A relative path is resolved against the working directory.
    public var url: URL {
        let unreserved = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        // Without a working directory, only the path is known.
        let absolute = (try? absolute()) ?? bytes
        return URL(string: "file://" + percentEncoded(absolute, keeping: unreserved.contains))
            ?? URL(filePath: path)
    }

    /// The path with control characters and invalid UTF-8 escaped.
    public var description: String { escapedText(bytes) }

    /// The components, without the slashes at the end and side by side.
    private var components: [ArraySlice<UInt8>] { bytes.split(separator: LocalFile.slash) }

    private func joining(_ components: ArraySlice<ArraySlice<UInt8>>) -> [UInt8] {
        (isAbsolute ? [LocalFile.slash] : []) + components.joined(separator: [LocalFile.slash])
    }

    var split: (parent: [UInt8], name: ArraySlice<UInt8>) {
        let parent = joining(components.dropLast())
        return (parent.isEmpty ? [UInt8(ascii: ".")] : parent, components.last ?? [])
    }

    /// The open parent directory, and the name in it.
    package struct Location {
        package let directory: Directory
        package let name: FileName

        var path: [UInt8] { directory.path(of: name) }

        /// The status of the name itself; nil if it does not exist.
        package func status() throws(SyncError) -> FileStatus? { try reporting(directory.status(of: name)) }

        /// The directory of this name; a symlink is an error.
        var opened: Directory { get throws(SyncError) { try reporting(directory.directory(name)) } }

        package func open(
            _ flags: FileDescriptor.Flags, permissions: UInt16 = 0
        ) throws(SyncError) -> FileDescriptor {
            try reporting(directory.open(name, flags, permissions: permissions))
        }

        /// The content of a regular file.
        ///
        /// - Parameter check: throws if the file must not be read.
        func content(
            _ flags: FileDescriptor.Flags, limit: Int,
            check: (FileStatus, FileName) throws -> Void = { _, _ in }
        ) throws(SyncError) -> [UInt8] {
            let place = LocalFile(bytes: path)
            let file = try open(flags)
            let status = try place.naming(file.status())
            try place.checkIsRegular(status)
            guard status.size.rawCount <= limit else {
                throw SyncError(.invalidDocument, path: path, .fileTooLarge)
            }
            try place.locating { try check(status, name) }
            return try place.naming(file.readAll(limit: limit))
        }
    }

    /// The parent directory is opened path-only, which needs no permission to list it.
    package func location() throws(SyncError) -> Location {
        let (parent, last) = split
        // The kernel would end the path at a NUL, and open another file than the message names.
        guard !parent.contains(0), let name = FileName(last) else {
            throw SyncError(.usage, path: bytes, "is not a file path", errno: Errno.invalid.rawValue)
        }
        return Location(directory: try reporting(.open(given: parent, .pathOnly)), name: name)
    }

    /// Opens the directory at this path.
    package func directory() throws(SyncError) -> Directory {
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw SyncError(
                .usage, path: bytes, "is not a directory path", errno: Errno.invalid.rawValue)
        }
        return try reporting(.open(given: bytes))
    }

    func checkIsRegular(_ status: FileStatus) throws(SyncError) {
        guard status.type != .file else { return }
        guard status.type != .directory else {
            throw SyncError(.invalidDocument, path: bytes, .isDirectory)
        }
        throw SyncError(.invalidDocument, path: bytes, "is not a regular file", errno: Errno.invalid.rawValue)
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

    /// Runs `body` and adds this path to errors that have none.
    ///
    /// - Parameter code: for errors that are not a `SyncError`.
    func locating<Value>(
        _ code: SyncError.Code = .failed, _ body: () throws -> Value
    ) throws(SyncError) -> Value {
        do {
            return try body()
        } catch var error as SyncError {
            error.path = error.path ?? bytes
            throw error
        } catch {
            throw SyncError(code, path: bytes, "\(error)")
        }
    }

    /// Runs blocking calls for an `async` caller outside Swift's pool. The calls of a cancelled task are completed.
    public static func perform<Value: Sendable, Failure: Error>(
        _ calls: @Sendable @escaping () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await WorkerThread().run(calls)
    }
}

/// Paths are equal by their components, as in `FilePath`: slashes at the end or side by side are ignored. They are
/// ordered by bytes.
extension LocalFile: Hashable, Comparable {
    private var normalized: [UInt8] { joining(components[...]) }

    public static func == (left: LocalFile, right: LocalFile) -> Bool {
        left.bytes == right.bytes || left.normalized == right.normalized
    }

    public static func < (left: LocalFile, right: LocalFile) -> Bool {
        left.normalized.lexicographicallyPrecedes(right.normalized)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(normalized) }
}
