import FoundationEssentials

/// A type whose file is read as text. No member must be implemented.
public protocol FileReadable: FileBacked {}

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
