import FoundationEssentials

/// A type whose file is written as text. No member must be implemented.
public protocol FileWritable: FileBacked {}

/// A type that is read from and written to a file.
public typealias FileReadWritable = FileReadable & FileWritable

extension FileWritable where FileForm == TextForm {
    /// Appends a text to the file of this type; creates it and its directories if missing.
    ///
    /// - Throws: an error if the encoding cannot represent the text. Then nothing is written.
    public func write(_ text: String) throws(SyncError) {
        try file.append(text, encoding: Self.encoding)
    }
}

/// A type whose values are written to files. `Encodable` types need no further code, and are JSON.
public protocol FileEncodable: FileWritable {
    /// The text of the value. It is the content of a file, or is appended to a file.
    ///
    /// - Throws: the reason why there is no text. The caller adds the path.
    func fileText() throws -> String
}

extension FileEncodable where Self: Encodable {
    public func fileText() throws -> String {
        String(decoding: try JSONDocument.encode(self, keys: .asDeclared), as: UTF8.self)
    }
}

extension FileEncodable {
    /// Replaces the file of this type by this value, atomically and durably. Missing directories are made.
    public func write() throws(SyncError) { try write(to: file) }

    /// Replaces the file of this type in a directory by this value.
    public func write(_ name: String = Self.fileName, in directory: LocalFile) throws(SyncError) {
        try write(to: Self.file(name, in: directory))
    }

    /// Replaces a file by this value.
    public func write(to file: LocalFile) throws(SyncError) {
        try file.replace(withText: try file.locating { try fileText() }, encoding: Self.encoding)
    }
}

extension FileEncodable where FileForm == TextForm {
    /// Appends this value to the file of this type in a directory; creates both if missing.
    ///
    /// - Throws: an error if the encoding cannot represent the text. Then nothing is written.
    public func append(to name: String = Self.fileName, in directory: LocalFile) throws(SyncError) {
        try append(to: Self.file(name, in: directory))
    }

    /// Appends this value to a file; creates it and its directories if missing.
    public func append(to file: LocalFile) throws(SyncError) {
        try file.append(try file.locating { try fileText() }, encoding: Self.encoding)
    }
}

/// The same calls for an `Encodable` type that is only ``FileWritable``. ``FileEncodable`` types use their own calls.
extension FileWritable where Self: Encodable {
    @_disfavoredOverload public func write() throws(SyncError) { try write(to: file) }

    @_disfavoredOverload public func write(
        _ name: String = Self.fileName, in directory: LocalFile
    ) throws(SyncError) {
        try write(to: Self.file(name, in: directory))
    }

    @_disfavoredOverload public func write(to file: LocalFile) throws(SyncError) {
        let json = try file.locating { try JSONDocument.encode(self, keys: .asDeclared) }
        try file.replace(withText: String(decoding: json, as: UTF8.self), encoding: Self.encoding)
    }
}
