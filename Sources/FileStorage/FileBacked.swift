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
