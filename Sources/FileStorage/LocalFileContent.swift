import FileSystem
import FoundationEssentials

extension LocalFile {
    /// The whole content.
    ///
    /// - Parameter limit: in bytes; a larger file is an error (`EFBIG`) and is not read to its end.
    /// - Throws: also if it is not a regular file; an error with `isNotFound` if it does not exist.
    public func data(limit: Int = .max) throws(SyncError) -> Data {
        let location = try location()
        let file = try reporting { () throws(SystemError) in
            try location.directory.open(location.name, [.read, .nonBlocking])
        }
        switch try naming({ () throws(Errno) in try file.status() }).type {
        case .file: break
        case .directory: throw SyncError(.failed, path: bytes, .isDirectory)
        default: throw SyncError(.failed, path: bytes, "is no regular file", errno: Errno.invalid.rawValue)
        }
        return Data(try naming { () throws(Errno) in try file.readAll(limit: limit) })
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
        try append(permissions, isText: false) { _ in data }
    }

    /// - Parameter data: gets the beginning of the file.
    private func append(
        _ permissions: UInt16, isText: Bool, _ data: ([UInt8]) throws(SyncError) -> Data
    ) throws(SyncError) {
        let place = try makingParent { () throws(SyncError) in try self.place() }
        let access: FileDescriptor.Flags = isText ? .readWrite : .write
        let flags = access.union([.append, .create, .nonBlocking])
        let (directory, name) = (place.location.directory, place.location.name)
        let file = try reporting { () throws(SystemError) in
            try directory.open(
                name, place.isNamed ? flags.union(.noFollow) : flags, permissions: permissions)
        }
        try checkOwner(naming { () throws(Errno) in try file.status() }, in: directory)
        let start = isText ? try naming { () throws(Errno) in try file.bytes(in: 0..<4) } : []
        let bytes = Array(try data(start))
        try naming { () throws(Errno) in try file.appendAtOnce(bytes) }
    }

    /// Appends text, see ``append(_:permissions:)``. Text that the encoding cannot represent is an error, and nothing
    /// is written. In UTF-16 and UTF-32, only the beginning of a file has a byte order mark.
    public func append(_ text: String, encoding: String.Encoding = .utf8) throws(SyncError) {
        let marked: [String.Encoding: (little: String.Encoding, big: String.Encoding)] = [
            .utf16: (.utf16LittleEndian, .utf16BigEndian), .utf32: (.utf32LittleEndian, .utf32BigEndian),
        ]
        guard let orders = marked[encoding] else { return try append(try encode(text, encoding)) }
        try append(0o644, isText: true) { (start) throws(SyncError) in
            let isBig = start.starts(with: [0xFE, 0xFF]) || start.starts(with: [0, 0, 0xFE, 0xFF])
            return try encode(text, start.isEmpty ? encoding : isBig ? orders.big : orders.little)
        }
    }

    /// Replaces the whole content atomically and durably: a reader sees the old file or the new one, also after a power
    /// cut. A symlink is replaced, not followed. Missing directories are made.
    ///
    /// - Parameter permissions: nil keeps those of the old file, or uses 0644 before the umask.
    public func replace(with data: Data, permissions: UInt16? = nil) throws(SyncError) {
        var file = try pendingReplacement(permissions: permissions)
        do {
            try file.write(Array(data))
            try file.commit(.replace)
        } catch {
            throw SyncError(error)
        }
    }

    /// Creates the file with `data` as its content, atomically and durably, and its directories if missing.
    ///
    /// - Throws: `refused` if the name exists.
    public func create(with data: Data) throws(SyncError) {
        var file = try pendingReplacement()
        do {
            try file.write(Array(data))
            try file.commit(.noReplace)
        } catch {
            guard error.errno == .exists else { throw SyncError(error) }
            throw SyncError(.refused, path: bytes, "is there already, and stays as it is")
        }
    }

    /// A temporary file that replaces this one on commit, or is removed.
    ///
    /// - Parameter new: the permission bits of a new file, before the umask.
    func pendingReplacement(
        permissions: UInt16? = nil, new: UInt16 = 0o644
    ) throws(SyncError) -> PendingFile {
        let location = try makingParent { () throws(SyncError) in try self.location() }
        return try reporting { () throws(SystemError) in
            var wanted = permissions
            if wanted == nil {
                wanted = try LocalFile.keptPermissions(location.name, in: location.directory)
            }
            // No other user may open it before it has its permissions.
            let file = try PendingFile(
                location.name, in: location.directory, permissions: wanted == nil ? new : 0o600)
            if let wanted { try file.setPermissions(wanted) }
            return file
        }
    }

    /// The permission bits that a file leaves to what replaces it; nil for none, and for one of another user.
    static func keptPermissions(
        _ name: FileName, in directory: Directory
    ) throws(SystemError) -> UInt16? {
        guard let old = try directory.status(of: name), old.type == .file, !LocalFile.isForeign(old) else {
            return nil
        }
        return old.permissions & 0o777
    }

    /// Runs `body`, once more with the directory made if that is missing.
    private func makingParent<Value>(_ body: () throws(SyncError) -> Value) throws(SyncError) -> Value {
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
        } catch let error as SyncError {
            throw SyncError(error.code, path: error.path ?? bytes, error.message, errno: error.errno)
        } catch {
            throw SyncError(code, path: bytes, "\(error)")
        }
    }
}

/// Input documents that a user names.
extension LocalFile {
    /// Opens a file, or what a shell passes instead: a pipe, `/dev/stdin`, a terminal. A pipe blocks until its writer
    /// comes, and can be read once.
    ///
    /// - Parameter isNamed: a user named the file. Otherwise it must be regular, and opening never blocks.
    /// - Throws: `inputMissing` if it does not exist, `invalidDocument` for a directory or another type without
    ///   content.
    package func openInput(isNamed: Bool = true) throws(SyncError) -> FileDescriptor {
        do throws(SyncError) {
            let location = try location()
            let file = try reporting { () throws(SystemError) in
                try location.directory.open(location.name, isNamed ? [.read] : [.read, .nonBlocking])
            }
            switch try naming({ () throws(Errno) in try file.status() }).type {
            case .file: return file
            case .fifo, .characterDevice:
                if isNamed { return file }
                throw SyncError(.invalidDocument, path: bytes, "is no regular file")
            case .directory: throw SyncError(.invalidDocument, path: bytes, .isDirectory)
            default: throw SyncError(.invalidDocument, path: bytes, "is neither a file nor a pipe")
            }
        } catch {
            guard error.isNotFound else { throw error }
            throw SyncError(.inputMissing, path: bytes, "there is no such file", errno: error.errno)
        }
    }

    /// The whole content of such a document.
    ///
    /// - Parameter limit: in bytes; a larger one is an `invalidDocument` and is not read to its end.
    package func input(limit: Int, isNamed: Bool = true) throws(SyncError) -> [UInt8] {
        let file = try openInput(isNamed: isNamed)
        do throws(SyncError) {
            return try naming { () throws(Errno) in try file.readAll(limit: limit) }
        } catch {
            guard error.errno == Errno.fileTooLarge.rawValue else { throw error }
            throw SyncError(.invalidDocument, path: bytes, .fileTooLarge)
        }
    }
}
