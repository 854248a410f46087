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
        let hexadecimal = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in bytes {
            encoded +=
                unreserved.contains(byte)
                ? [byte] : [UInt8(ascii: "%"), hexadecimal[Int(byte >> 4)], hexadecimal[Int(byte & 15)]]
        }
        let path = String(decoding: encoded, as: UTF8.self)
        let url =
            isAbsolute
            ? URL(string: "file://" + path) : URL(string: "./" + path, relativeTo: .currentDirectory())
        return url?.absoluteURL ?? URL(filePath: String(decoding: bytes, as: UTF8.self))
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
    }

    /// The directory is open path-only, which needs no permission to list it.
    package func location() throws(SyncError) -> Location {
        let (parent, last) = split
        // A NUL would end the path early for the kernel, and name another file than the message.
        guard !parent.contains(0), let name = FileName(last) else {
            throw SyncError(.usage, path: bytes, "is no path of a file", errno: Errno.invalid.rawValue)
        }
        return Location(
            directory: try reporting { () throws(SystemError) in try .open(given: Array(parent), .pathOnly) },
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

    /// Runs `body` and adds this path to the error number that it throws.
    func naming<Value: ~Copyable>(_ body: () throws(Errno) -> Value) throws(SyncError) -> Value {
        do {
            return try body()
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
