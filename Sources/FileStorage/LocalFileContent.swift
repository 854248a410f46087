import FileSystem
import FoundationEssentials

/// What is in a file: reading, appending, replacing.
extension LocalFile {
    /// The whole content.
    ///
    /// - Parameter limit: a file of more bytes is an error (`EFBIG`), and is not read to its end.
    /// - Throws: also for what is no regular file. What is not there has `isNotFound`.
    public func data(limit: Int = .max) throws(SyncError) -> Data {
        let place = try place()
        let file = try reporting { () throws(SystemError) in
            try place.directory.open(place.name, [.read, .nonBlocking])
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
    ///   - encoding: what the bytes stand for; bytes that are no such text are an `invalidDocument`.
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
    /// - Throws: `invalidDocument` with the key that does not fit, beside the errors of reading.
    public func json<Value: Decodable>(
        _ type: Value.Type = Value.self, limit: Int = .max
    ) throws(SyncError) -> Value {
        let data = try data(limit: limit)
        return try locating { try JSONDocument.decode(type, from: data) }
    }

    /// Adds to the end of the file in one write, so that what several processes append never mixes. Makes
    /// the file and its directories where they are missing. Nothing is synced: a power cut may take the end.
    ///
    /// - Parameter permissions: the bits of a file that has to be made, less the umask's.
    public func append(_ data: Data, permissions: UInt16 = 0o644) throws(SyncError) {
        let place: Place
        do {
            place = try self.place()
        } catch {
            guard error.isNotFound else { throw error }
            try parent.makeDirectory(parents: true)
            place = try self.place()
        }
        let file = try reporting { () throws(SystemError) in
            try place.directory.open(
                place.name, [.write, .append, .create, .nonBlocking], permissions: permissions)
        }
        try naming { () throws(Errno) in try file.writeAtOnce(Array(data)) }
    }

    /// Adds text, see ``append(_:permissions:)``; text that the encoding cannot hold is an error, and
    /// nothing is written.
    public func append(_ text: String, encoding: String.Encoding = .utf8) throws(SyncError) {
        try append(try encode(text, encoding))
    }

    /// Makes `data` the whole content, in one step and durable: a reader sees the old file or the new one,
    /// also after a power cut. A symlink is replaced, not followed.
    ///
    /// - Parameter permissions: nil for those of the file that is replaced, or 0644 less the umask's.
    public func replace(with data: Data, permissions: UInt16? = nil) throws(SyncError) {
        var file = try pendingReplacement(permissions: permissions)
        do {
            try file.write(Array(data))
            try file.commit(.replace)
        } catch {
            throw SyncError(error)
        }
    }

    /// Makes the file with `data` as its whole content, in one step and durable, and the directories above it
    /// where they are missing.
    ///
    /// - Throws: `refused` when the name is taken.
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

    /// A temporary file that replaces this one when it is committed, or vanishes.
    package func pendingReplacement(permissions: UInt16? = nil) throws(SyncError) -> PendingFile {
        let place = try place()
        return try reporting { () throws(SystemError) in
            let file = try PendingFile(place.name, in: place.directory, permissions: 0o644)
            if let permissions {
                try file.setPermissions(permissions)
            } else if let old = try place.directory.status(of: place.name), old.type == .file {
                try file.setPermissions(old.permissions & 0o777)
            }
            return file
        }
    }

    /// Where a document goes that a person asks for: a regular file, also one behind a symlink, is replaced in one step
    /// or made; what is no regular file, such as `/dev/stdout` or a FIFO, is written to.
    package func output() throws(SyncError) -> PendingFile {
        guard let reached = try reached() else { return try destination().pendingReplacement() }
        if reached.type == .file {
            let destination = try destination()
            // A link of `/proc` may lead to a file that has no name any more.
            if try destination.reached()?.isSameObject(as: reached) ?? false {
                return try destination.pendingReplacement()
            }
        }
        let place = try place()
        return try reporting { () throws(SystemError) in
            try PendingFile(through: place.name, in: place.directory)
        }
    }

    /// What the path leads to; nil for nothing.
    private func reached() throws(SyncError) -> FileStatus? {
        do {
            return try status
        } catch {
            if error.isNotFound { return nil }
            throw error
        }
    }

    /// Where the name leads, through symlinks: to a name that is none.
    private func destination() throws(SyncError) -> LocalFile {
        var file = self
        for _ in 0..<40 {
            let place = try file.place()
            let link = try reporting { () throws(SystemError) -> [UInt8]? in
                guard try place.directory.status(of: place.name)?.type == .symlink else { return nil }
                return try place.directory.destination(of: place.name)
            }
            guard let link else { return file }
            file = link.first == UInt8(ascii: "/") ? LocalFile(bytes: link) : file.parent + link
        }
        throw SyncError(.failed, path: bytes, .tooManyLinks)
    }

    /// Makes the text the whole content, see ``replace(with:permissions:)``.
    public func replace(withText text: String, encoding: String.Encoding = .utf8) throws(SyncError) {
        try replace(with: try encode(text, encoding))
    }

    /// Makes the value the whole content as JSON: snake_case keys in order, indented, a line feed at the end.
    /// See ``replace(with:permissions:)``.
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
    /// Runs `body`, whose errors get this path where they have none.
    ///
    /// - Parameter code: of errors that are not ours.
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

/// Documents that a person names as input.
extension LocalFile {
    /// Opens a file, or what a shell has in its place: a pipe, `/dev/stdin`, a terminal. A pipe is waited for, and can
    /// be read once.
    ///
    /// - Parameter isNamed: a person named it. A file that is only looked for is never waited for, and is regular.
    /// - Throws: `inputMissing` where nothing is, `invalidDocument` for a directory and what else holds no document.
    package func openInput(isNamed: Bool = true) throws(SyncError) -> FileDescriptor {
        do throws(SyncError) {
            let place = try place()
            let file = try reporting { () throws(SystemError) in
                try place.directory.open(place.name, isNamed ? [.read] : [.read, .nonBlocking])
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
    /// - Parameter limit: in bytes; a larger one is an `invalidDocument`, and is not read to its end.
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
