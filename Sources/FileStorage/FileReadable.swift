import FoundationEssentials

/// A type whose values live in a file of their own.
public protocol FileBacked {
    /// The name of the file where no other is given: a single component.
    static var fileName: String { get }
    /// What the file's bytes stand for: UTF-8 unless the type says otherwise.
    static var encoding: String.Encoding { get }
}

extension FileBacked {
    public static var encoding: String.Encoding { .utf8 }
}

/// A type that is read from a file. `Decodable` types have all they need and are JSON.
public protocol FileReadable: FileBacked {
    /// The value that a file's whole text stands for.
    ///
    /// - Throws: what is wrong with the text; reading adds the path.
    init(fileText: String) throws
    /// The most bytes that such a file may have.
    static var sizeLimit: Int { get }
}

extension FileReadable {
    public static var sizeLimit: Int { .max }

    /// Reads the file of this type in a directory.
    ///
    /// - Throws: `invalidDocument` for text that stands for no value; `isNotFound` where no file is.
    public static func read(_ name: String = fileName, in directory: LocalFile) throws(SyncError) -> Self {
        try read(from: directory + name)
    }

    /// Reads this file.
    public static func read(from file: LocalFile) throws(SyncError) -> Self {
        let text = try file.text(encoding: encoding, limit: sizeLimit)
        return try file.locating(.invalidDocument) { try Self(fileText: text) }
    }

    /// Reads the file of this type in a directory; nil when there is none, and only then.
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
