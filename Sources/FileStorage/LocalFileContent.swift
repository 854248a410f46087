import FileSystem
import FoundationEssentials

extension LocalFile {
    /// The whole content.
    ///
    /// - Parameter limit: in bytes. A larger file is an error (`EFBIG`) and is not read to its end.
    /// - Throws: an error with `isNotFound` if the file does not exist; another one if it is not a regular file.
    public func data(limit: Int = .max) throws(SyncError) -> Data {
        Data(try location().content([.read, .nonBlocking], limit: limit))
    }

    /// The whole content as text.
    ///
    /// - Parameters:
    ///   - encoding: invalid bytes in it are an `invalidDocument`. Encodings beyond Unicode, ASCII and Latin 1 need a
    ///     program that imports Foundation. Without it, the error blames the text.
    ///   - limit: in bytes, see ``data(limit:)``.
    public func text(encoding: String.Encoding = .utf8, limit: Int = .max) throws(SyncError) -> String {
        guard let text = String(data: try data(limit: limit), encoding: encoding) else {
            throw SyncError(.invalidDocument, path: bytes, "is not text in the encoding \(encoding)")
        }
        return text
    }

    /// The value that the file has as JSON.
    ///
    /// - Parameters:
    ///   - keys: the spelling of the names of properties.
    ///   - limit: in bytes, see ``data(limit:)``.
    /// - Throws: `invalidDocument` with the key that does not fit, and the errors of reading.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, keys: JSONKeys = .asDeclared, limit: Int = .max
    ) throws(SyncError) -> Value {
        let data = try data(limit: limit)
        return try locating { try JSONDocument.decode(type, from: data, keys: keys) }
    }

    /// Appends to the file in one write, so that the output of several processes does not mix. Creates the file and its
    /// directories if missing. Nothing is synced, so a power cut may lose the end. A full disk appends nothing.
    ///
    /// - Parameter permissions: the permission bits of a new file, before the umask.
    public func append(_ data: Data, permissions: UInt16 = 0o644) throws(SyncError) {
        let location = try makingParent(location())
        let file = try location.open([.write, .append, .create, .nonBlocking], permissions: permissions)
        try naming(file.appendAtOnce(Array(data)))
    }

    /// Appends text, see ``append(_:permissions:)``. Text that the encoding cannot represent is an error, and nothing
    /// is written. In UTF-16 and UTF-32, only the beginning of a file has a byte order mark.
    public func append(_ text: String, encoding: String.Encoding = .utf8) throws(SyncError) {
        let marked: [String.Encoding: (little: String.Encoding, big: String.Encoding)] = [
            .utf16: (.utf16LittleEndian, .utf16BigEndian), .utf32: (.utf32LittleEndian, .utf32BigEndian),
        ]
        guard let orders = marked[encoding], let start = try ifPresent(beginning), !start.isEmpty else {
            return try append(try encode(text, encoding))
        }
        let isBig = start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0, 0, 0xFE, 0xFF])
        try append(try encode(text, isBig ? orders.big : orders.little))
    }

    private var beginning: [UInt8] {
        get throws(SyncError) {
            let file = try location().open([.read, .nonBlocking])
            return try naming(file.bytes(in: 0..<4))
        }
    }

    /// Replaces the whole content atomically and durably. A reader sees the old file or the new one, also after a power
    /// cut. A symlink is replaced, not followed. Missing directories are made.
    ///
    /// - Parameter permissions: nil means those of the old file, or 0644 before the umask.
    public func replace(with data: Data, permissions: UInt16? = nil) throws(SyncError) {
        try write(data, .replace, permissions: permissions)
    }

    /// Creates the file with `data` as its content, atomically and durably, and its directories if missing.
    ///
    /// - Throws: `refused` if the name exists.
    public func create(with data: Data) throws(SyncError) {
        try write(data, .noReplace)
    }

    private func write(
        _ data: Data, _ mode: Directory.RenameMode, permissions: UInt16? = nil
    ) throws(SyncError) {
        try LocalFile.taking(makingParent(location())) { (name, directory) throws(SystemError) in
            var file = try PendingFile.replacing(name, in: directory, permissions, new: 0o644)
            try file.write(Array(data))
            try file.commit(mode)
        }
    }

    /// Runs `body`. If the directory is missing, makes it and runs `body` once more.
    package func makingParent<Value>(
        _ body: @autoclosure () throws(SyncError) -> Value
    ) throws(SyncError) -> Value {
        do {
            return try body()
        } catch {
            guard error.isNotFound else { throw error }
            try parent.makeDirectory(parents: true)
            return try body()
        }
    }

    /// Replaces the whole content by text, see ``replace(with:permissions:)``.
    public func replace(withText text: String, encoding: String.Encoding = .utf8) throws(SyncError) {
        try replace(with: try encode(text, encoding))
    }

    /// Replaces the whole content by a value as JSON: sorted keys, indented, with a trailing line feed. See
    /// ``replace(with:permissions:)``.
    public func replace(
        withJSON value: some Encodable, keys: JSONKeys = .asDeclared
    ) throws(SyncError) {
        try replace(with: try locating { try JSONDocument.encode(value, keys: keys) })
    }

    private func encode(_ text: String, _ encoding: String.Encoding) throws(SyncError) -> Data {
        guard let data = text.data(using: encoding) else {
            throw SyncError(.failed, path: bytes, "the encoding \(encoding) cannot hold the text")
        }
        return data
    }
}
