import FileSystem
import FoundationEssentials

extension LocalFile {
    /// The whole content.
    ///
    /// - Parameter limit: in bytes; a larger file is an error (`EFBIG`) and is not read to its end.
    /// - Throws: also if it is not a regular file; an error with `isNotFound` if it does not exist.
    public func data(limit: Int = .max) throws(SyncError) -> Data {
        Data(try location().content([.read, .nonBlocking], limit: limit))
    }

    /// The whole content as text.
    ///
    /// - Parameters:
    ///   - encoding: bytes that are invalid in it are an `invalidDocument`. Encodings beyond Unicode, ASCII and Latin 1 need a
    ///     program that imports Foundation; without it the error blames the text.
    ///   - limit: in bytes, see ``data(limit:)``.
    public func text(encoding: String.Encoding = .utf8, limit: Int = .max) throws(SyncError) -> String {
        guard let text = String(data: try data(limit: limit), encoding: encoding) else {
            throw SyncError(.invalidDocument, path: bytes, "is not text in the encoding \(encoding)")
        }
        return text
    }

    /// The value that the file holds as JSON.
    ///
    /// - Parameters:
    ///   - keys: how it spells the names of properties.
    ///   - limit: in bytes, see ``data(limit:)``.
    /// - Throws: `invalidDocument` with the key that does not fit, and the errors of reading.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, keys: JSONKeys = .asDeclared, limit: Int = .max
    ) throws(SyncError) -> Value {
        let data = try data(limit: limit)
        return try locating { try JSONDocument.decode(type, from: data, keys: keys) }
    }

    /// Appends to the file in one write, so that the output of several processes does not mix. Creates the file and its
    /// directories if missing. Nothing is synced: a power cut may lose the end. If the disk is full, nothing is appended. What
    /// another user has put there, a symlink or a file, is refused where that user may write.
    ///
    /// - Parameter permissions: the permission bits of a new file, before the umask.
    public func append(_ data: Data, permissions: UInt16 = 0o644) throws(SyncError) {
        let place = try makingParent(place())
        let flags: FileDescriptor.Flags = [.write, .append, .create, .nonBlocking]
        let file = try place.location.open(
            place.isNamed ? flags.union(.noFollow) : flags, permissions: permissions)
        try checkOwner(naming(file.status()), in: place.location.directory)
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

    /// Replaces the whole content atomically and durably: a reader sees the old file or the new one, also after a power
    /// cut. A symlink is replaced, not followed. Missing directories are made.
    ///
    /// - Parameter permissions: nil keeps those of the old file, or uses 0644 before the umask.
    public func replace(with data: Data, permissions: UInt16? = nil) throws(SyncError) {
        try write(data, .replace, permissions: permissions)
    }

    /// Creates the file with `data` as its content, atomically and durably, and its directories if missing.
    ///
    /// - Throws: `refused` if the name exists.
    public func create(with data: Data) throws(SyncError) {
        try write(data, .noReplace, permissions: nil)
    }

    private func write(
        _ data: Data, _ mode: Directory.RenameMode, permissions: UInt16?
    ) throws(SyncError) {
        var file = try pendingReplacement(permissions: permissions)
        do {
            try file.write(Array(data))
            try file.commit(mode)
        } catch {
            guard mode == .noReplace, error.errno == .exists else { throw SyncError(error) }
            throw SyncError(.refused, path: bytes, "is there already, and stays as it is")
        }
    }

    /// A temporary file that replaces this one on commit, or is removed.
    ///
    /// - Parameter new: the permission bits of a new file, before the umask.
    package func pendingReplacement(
        permissions: UInt16? = nil, new: UInt16 = 0o644
    ) throws(SyncError) -> PendingFile {
        let location = try makingParent(location())
        return try reporting(
            LocalFile.pending(location.name, in: location.directory, permissions: permissions, new: new))
    }

    /// A new file has the permission bits of the old one, unless that is another user's.
    static func pending(
        _ name: FileName, in directory: Directory, permissions: UInt16? = nil, new: UInt16
    ) throws(SystemError) -> PendingFile {
        var wanted = permissions
        if wanted == nil, let old = try directory.status(of: name), old.type == .file, !isForeign(old) {
            wanted = old.permissions & 0o777
        }
        // No other user may open it before it has its permissions.
        let file = try PendingFile(name, in: directory, permissions: wanted == nil ? new : 0o600)
        if let wanted { try file.setPermissions(wanted) }
        return file
    }

    /// Runs `body`, once more with the directory made if that is missing.
    private func makingParent<Value>(
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

extension LocalFile {
    /// Runs `body` and adds this path to errors that have none.
    ///
    /// - Parameter code: for errors that are not a `SyncError`.
    func locating<Value>(
        _ code: SyncError.Code = .failed, _ body: () throws -> Value
    ) throws(SyncError) -> Value {
        do {
            return try body()
        } catch var error as SyncError {
            error.path = error.path ?? bytes
            throw error
        } catch {
            throw SyncError(code, path: bytes, "\(error)")
        }
    }
}
