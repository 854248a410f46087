/// A type that is written to a file, or added to the end of one. `Encodable` types have all they need and
/// are JSON.
public protocol FileWritable: FileBacked {
    /// The text that stands for the value: a whole file, or what is added to one.
    ///
    /// - Throws: why there is none; writing adds the path.
    func fileText() throws -> String
}

extension FileWritable {
    /// Makes this value the content of its file in a directory, in one step and durable.
    public func write(_ name: String = Self.fileName, in directory: LocalFile) throws(SyncError) {
        try write(to: directory + name)
    }

    /// Makes this value the content of this file, in one step and durable.
    public func write(to file: LocalFile) throws(SyncError) {
        try file.replace(withText: try text(for: file), encoding: Self.encoding)
    }

    /// Adds this value to the end of its file in a directory; makes both where they are missing.
    ///
    /// - Throws: text that the encoding cannot hold is an error, and nothing is written.
    public func append(to name: String = Self.fileName, in directory: LocalFile) throws(SyncError) {
        try append(to: directory + name)
    }

    /// Adds this value to the end of this file; makes it and its directories where they
    /// are missing.
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
