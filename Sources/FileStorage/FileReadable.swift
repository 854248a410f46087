import FoundationEssentials

/// A type whose values are stored in files.
public protocol FileBacked {
    /// The default file name: a single component.
    static var fileName: String { get }
    /// The text encoding of the file; UTF-8 by default.
    static var encoding: String.Encoding { get }
}

extension FileBacked {
    public static var encoding: String.Encoding { .utf8 }
}

/// A type that is read from a file. `Decodable` types need nothing else and are JSON.
public protocol FileReadable: FileBacked {
    /// Reads the value from the whole text of a file.
    ///
    /// - Throws: what is wrong with the text; the caller adds the path.
    init(fileText: String) throws
    /// The maximum size of such a file, in bytes.
    static var sizeLimit: Int { get }
}

extension FileReadable {
    public static var sizeLimit: Int { .max }

    /// Reads the file of this type in a directory.
    ///
    /// - Throws: `invalidDocument` for invalid text; an error with `isNotFound` if there is no file.
    public static func read(_ name: String = fileName, in directory: LocalFile) throws(SyncError) -> Self {
        try read(from: directory + name)
    }

    /// Reads this file.
    public static func read(from file: LocalFile) throws(SyncError) -> Self {
        let text = try file.text(encoding: encoding, limit: sizeLimit)
        return try file.locating(.invalidDocument) { try Self(fileText: text) }
    }

    /// Reads the file of this type in a directory; nil only if there is none.
    public static func readIfPresent(
        _ name: String = fileName, in directory: LocalFile
    ) throws(SyncError) -> Self? {
        do {
            return try read(name, in: directory)
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }
}

extension FileReadable where Self: Decodable {
    public init(fileText: String) throws {
        self = try JSONDocument.decode(Self.self, from: Data(fileText.utf8))
    }
}
