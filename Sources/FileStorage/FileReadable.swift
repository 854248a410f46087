import FileSystem
import FoundationEssentials

/// A type with a file of its own. All members have defaults.
public protocol FileBacked {
    /// A single component. By default, it is the name of the type with `.txt`, or with `.json` for a Codable type.
    static var fileName: String { get }
    /// The text encoding of the file; UTF-8 by default.
    static var encoding: String.Encoding { get }
    /// By default, the program's own subdirectory of ``LocalFile/dataDirectory``, which has the name of the executable.
    static var directory: LocalFile { get throws(SyncError) }
    /// The form of the file: text that can be appended to, or JSON for an `Encodable` type. It follows from the type.
    associatedtype FileForm = TextForm
}

/// The form of a file of text.
public enum TextForm {}
/// The form of a file with one value of JSON. It could not be read with another value behind it.
public enum JSONForm {}

extension FileBacked where Self: Encodable {
    public typealias FileForm = JSONForm
}

extension FileBacked {
    public static var fileName: String {
        "\(Self.self)" + (self is any Encodable.Type || self is any Decodable.Type ? ".json" : ".txt")
    }

    public static var encoding: String.Encoding { .utf8 }

    public static var directory: LocalFile {
        get throws(SyncError) {
            try .dataDirectory + LocalFile(CommandLine.arguments.first ?? "").name
        }
    }

    /// The file of this type in its directory.
    public var file: LocalFile { get throws(SyncError) { try Self.file(in: nil) } }

    /// The file of this type in a directory.
    ///
    /// - Parameter directory: nil means the directory of the type.
    /// - Throws: `usage` unless the name is a single component.
    public static func file(
        _ name: String = fileName, in directory: LocalFile?
    ) throws(SyncError) -> LocalFile {
        guard FileName(name.utf8) != nil else { throw .noName(name) }
        let directory = if let directory { directory } else { try Self.directory }
        return directory + name
    }
}

/// A type whose file is read as text. No member must be implemented.
public protocol FileReadable: FileBacked {}

/// A type that is read from and written to a file.
public typealias FileReadWritable = FileReadable & FileWritable

extension FileReadable {
    /// Reads the whole text of the file of this type.
    ///
    /// - Throws: an error with `isNotFound` if there is no file.
    public func read() throws(SyncError) -> String { try file.text(encoding: Self.encoding) }
}

/// A type whose values are read from files. `Decodable` types need no further code, and are JSON.
public protocol FileDecodable: FileReadable {
    /// Reads the value from the whole text of a file.
    ///
    /// - Throws: the fault of the text. The caller adds the path.
    init(fileText: String) throws
}

extension FileDecodable where Self: Decodable {
    public init(fileText: String) throws {
        self = try JSONDocument.decode(from: Data(fileText.utf8), keys: .asDeclared)
    }
}

extension FileDecodable {
    /// Reads the value in the file of this type.
    ///
    /// - Parameter directory: nil means the directory of the type.
    /// - Throws: `invalidDocument` for invalid text; an error with `isNotFound` if there is no file.
    public static func read(
        _ name: String = fileName, in directory: LocalFile? = nil
    ) throws(SyncError) -> Self {
        try read(from: file(name, in: directory))
    }

    /// Reads the value in a file.
    public static func read(from file: LocalFile) throws(SyncError) -> Self {
        try file.locating(.invalidDocument) { try Self(fileText: file.text(encoding: encoding)) }
    }

    /// Reads the value in the file of this type; nil only if there is none.
    public static func readIfPresent(
        _ name: String = fileName, in directory: LocalFile? = nil
    ) throws(SyncError) -> Self? {
        try ifPresent(read(name, in: directory))
    }
}

/// The same calls for a `Decodable` type that is only ``FileReadable``. ``FileDecodable`` types use their own calls.
extension FileReadable where Self: Decodable {
    @_disfavoredOverload public static func read(
        _ name: String = fileName, in directory: LocalFile? = nil
    ) throws(SyncError) -> Self {
        try read(from: file(name, in: directory))
    }

    @_disfavoredOverload public static func read(from file: LocalFile) throws(SyncError) -> Self {
        try file.locating(.invalidDocument) {
            try JSONDocument.decode(from: Data(file.text(encoding: encoding).utf8), keys: .asDeclared)
        }
    }

    @_disfavoredOverload public static func readIfPresent(
        _ name: String = fileName, in directory: LocalFile? = nil
    ) throws(SyncError) -> Self? {
        try ifPresent(read(name, in: directory))
    }
}
