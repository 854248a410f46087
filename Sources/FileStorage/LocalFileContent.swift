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
    ///   - encoding: bytes that are invalid in it are an `invalidDocument`.
    ///   - limit: in bytes, see ``data(limit:)``.
    public func text(encoding: String.Encoding = .utf8, limit: Int = .max) throws(SyncError) -> String {
        guard let text = String(data: try data(limit: limit), encoding: encoding) else {
            throw SyncError(.invalidDocument, path: bytes, "is not text in the encoding \(encoding)")
        }
        return text
    }

    /// The value that the file holds as JSON; keys are the properties' names in snake_case.
    ///
    /// - Parameter limit: in bytes, see ``data(limit:)``.
    /// - Throws: `invalidDocument` with the key that does not fit, and the errors of reading.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, limit: Int = .max
    ) throws(SyncError) -> Value {
        let data = try data(limit: limit)
        return try locating { try JSONDocument.decode(type, from: data) }
    }

    /// Appends to the file in one write, so that the output of several processes does not mix. Creates the file and its
    /// directories if missing. Nothing is synced: a power cut may lose the end. What another user has put there, a symlink
    /// or a file, is refused where that user may write.
    ///
    /// - Parameter permissions: the permission bits of a new file, before the umask.
    public func append(_ data: Data, permissions: UInt16 = 0o644) throws(SyncError) {
        let place: Place
        do {
            place = try self.place()
        } catch {
            guard error.isNotFound else { throw error }
            try parent.makeDirectory(parents: true)
            place = try self.place()
        }
        let flags: FileDescriptor.Flags = [.write, .append, .create, .nonBlocking]
        let (directory, name) = (place.location.directory, place.location.name)
        let file = try reporting { () throws(SystemError) in
            try directory.open(
                name, place.isNamed ? flags.union(.noFollow) : flags, permissions: permissions)
        }
        try checkOwner(naming { () throws(Errno) in try file.status() }, in: directory)
        try naming { () throws(Errno) in try file.writeAtOnce(Array(data)) }
    }

    /// Appends text, see ``append(_:permissions:)``. Text that the encoding cannot represent is an error, and nothing
    /// is written.
    public func append(_ text: String, encoding: String.Encoding = .utf8) throws(SyncError) {
        try append(try encode(text, encoding))
    }

    /// Replaces the whole content atomically and durably: a reader sees the old file or the new one, also after a power
    /// cut. A symlink is replaced, not followed.
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
        try parent.makeDirectory(parents: true)
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
    package func pendingReplacement(
        permissions: UInt16? = nil, new: UInt16 = 0o644
    ) throws(SyncError) -> PendingFile {
        let location = try location()
        return try reporting { () throws(SystemError) in
            let file = try PendingFile(location.name, in: location.directory, permissions: new)
            if let permissions {
                try file.setPermissions(permissions)
            } else if let old = try location.directory.status(of: location.name), old.type == .file,
                !LocalFile.isForeign(old)
            {
                try file.setPermissions(old.permissions & 0o777)
            }
            return file
        }
    }

    /// The output file that a user named: a regular file, also behind a symlink, is replaced atomically or created, for
    /// this user only; anything else, such as `/dev/stdout` or a FIFO, is written to. What another user has put there is
    /// refused as in ``append(_:permissions:)``.
    package func output() throws(SyncError) -> PendingFile {
        let place = try place()
        if place.isNamed, place.status?.type ?? .file == .file {
            return try place.file.pendingReplacement(new: 0o600)
        }
        return try reporting { () throws(SystemError) in
            try PendingFile(through: place.location.name, in: place.location.directory)
        }
    }

    /// Where to write: the end of the symlinks. One of `/proc` may lead to a file without a name, and stays a symlink then:
    /// only the kernel follows it.
    private struct Place {
        let file: LocalFile
        let location: Location
        let status: FileStatus?
        var isNamed: Bool { status?.type != .symlink }
    }

    private func place() throws(SyncError) -> Place {
        var file = self
        for _ in 0..<40 {
            let location = try file.location()
            let status = try reporting { () throws(SystemError) in
                try location.directory.status(of: location.name)
            }
            if let status { try file.checkOwner(status, in: location.directory) }
            let place = Place(file: file, location: location, status: status)
            guard !place.isNamed else { return place }
            let link = try reporting { () throws(SystemError) in
                try location.directory.destination(of: location.name)
            }
            let next = link.first == UInt8(ascii: "/") ? LocalFile(bytes: link) : file.parent + link
            if let end = try file.reached(), try next.reached()?.isSameObject(as: end) != true {
                return place
            }
            file = next
        }
        throw SyncError(.failed, path: bytes, .tooManyLinks)
    }

    /// The status with symlinks followed; nil if it does not exist.
    private func reached() throws(SyncError) -> FileStatus? {
        do {
            return try status
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    /// - Throws: `refused` if another user made this, and the directory is one where that user may.
    private func checkOwner(_ status: FileStatus, in directory: Directory) throws(SyncError) {
        let holder = try reporting { () throws(SystemError) in try directory.status() }
        guard LocalFile.isPlanted(status, in: holder) else { return }
        throw SyncError(
            .refused, path: bytes,
            "it belongs to user \(status.owner), who may have put it there to read what is written, or to lead it elsewhere; name another file, or remove it"
        )
    }

    /// It belongs to neither root nor the present user.
    static func isForeign(_ status: FileStatus) -> Bool {
        ![0, Account.effectiveUser].contains(status.owner)
    }

    /// Replaces the whole content by text, see ``replace(with:permissions:)``.
    public func replace(withText text: String, encoding: String.Encoding = .utf8) throws(SyncError) {
        try replace(with: try encode(text, encoding))
    }

    /// Replaces the whole content by a value as JSON: sorted snake_case keys, indented, with a trailing line feed. See
    /// ``replace(with:permissions:)``.
    public func replace(withJSON value: some Encodable) throws(SyncError) {
        try replace(with: try locating { try JSONDocument.encode(value) })
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
