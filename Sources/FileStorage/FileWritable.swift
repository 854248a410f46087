/// A type that is written or appended to a file. `Encodable` types need nothing else and are JSON.
public protocol FileWritable: FileBacked {
    /// The text of the value: the content of a file, or what is appended to one.
    ///
    /// - Throws: why there is none; the caller adds the path.
    func fileText() throws -> String
}

extension FileWritable {
    /// Writes this value to its file in a directory, atomically and durably.
    public func write(_ name: String = Self.fileName, in directory: LocalFile) throws(SyncError) {
        try write(to: directory + name)
    }

    /// Writes this value to a file, atomically and durably.
    public func write(to file: LocalFile) throws(SyncError) {
        try file.replace(withText: try text(for: file), encoding: Self.encoding)
    }

    /// Appends this value to its file in a directory; creates both if missing.
    ///
    /// - Throws: if the encoding cannot represent the text; then nothing is written.
    public func append(to name: String = Self.fileName, in directory: LocalFile) throws(SyncError) {
        try append(to: directory + name)
    }

    /// Appends this value to a file; creates it and its directories if missing.
    public func append(to file: LocalFile) throws(SyncError) {
        try file.append(try text(for: file), encoding: Self.encoding)
    }

    private func text(for file: LocalFile) throws(SyncError) -> String {
        try file.locating { try fileText() }
    }
}

extension FileWritable where Self: Encodable {
    public func fileText() throws -> String {
        String(decoding: try JSONDocument.encode(self), as: UTF8.self)
    }
}
