/// A file that is being written under a temporary name: it becomes durable and takes its name in one step,
/// or vanishes. No other code makes, syncs, renames and cleans up temporary files.
package struct PendingFile: ~Copyable {
    private let directory: Directory
    private let temporaryName: FileName
    private let name: FileName
    private let file: ObjectHandle
    private var buffer: [UInt8] = []
    private var isPending = true

    private static let bufferSize = 256 * 1024
    private static let prefix = ".fsync-lite-pending-"

    /// Tells whether a name is one that only files in the making have.
    package static func isTemporary(_ name: FileName) -> Bool { name.bytes.starts(with: prefix.utf8) }

    /// Begins a file that will be called `name`.
    package init(_ name: FileName, in directory: Directory, permissions: UInt16 = 0o600) throws(SystemError) {
        // A name that is itself near the limit still gets a temporary one: the name's own bytes are not in it.
        let temporaryName =
            FileName(PendingFile.prefix.utf8 + Array(RandomID.hexadecimal(bytes: 8).utf8)) ?? name
        let file = try ObjectHandle(
            opening: temporaryName, in: directory, [.write, .create, .exclusive, .noFollow],
            permissions: permissions)
        self.init(file, temporaryName, for: name, in: directory)
    }

    /// Cannot fail: see `ObjectHandle`.
    private init(
        _ file: consuming ObjectHandle, _ temporaryName: FileName, for name: FileName,
        in directory: Directory
    ) {
        (self.directory, self.name, self.temporaryName) = (directory, name, temporaryName)
        self.file = file
    }

    /// Writes to a FIFO, a device or what else of its name is no file to replace: nothing is pending.
    package init(through name: FileName, in directory: Directory) throws(SystemError) {
        let opened = try ObjectHandle(opening: name, in: directory, [.write])
        self.directory = directory
        self.name = name
        temporaryName = name
        file = opened
        isPending = false
    }

    deinit {
        // The file never got its name. Should even this fail, a hidden file stays behind and nothing is lost.
        if isPending { try? directory.unlink(temporaryName) }
    }

    package mutating func write(_ bytes: [UInt8]) throws(SystemError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= PendingFile.bufferSize { try flush() }
    }

    /// Copies what an open file holds into this file, to which nothing was written before. Returns the number
    /// of bytes.
    package func copy(_ source: borrowing FileDescriptor) throws(SystemError) -> Int64 {
        try calling("copy_file_range", file.path) { () throws(Errno) in
            let status = try source.status()
            var copier = FileCopier()
            return try copier.copy(
                source, to: file.descriptor, size: status.size, allocated: status.allocated)
        }
    }

    /// The permission bits, whatever the umask says.
    package func setPermissions(_ permissions: UInt16) throws(SystemError) {
        try file.setPermissions(permissions)
    }

    /// Owner, extended attributes, permission bits and modification time of another file.
    package func setAttributes(
        like status: FileStatus, extended: ExtendedAttributes = ExtendedAttributes()
    ) throws(SystemError) {
        let wanted = Attributes(status, extended: extended.isEmpty ? nil : extended)
        let refused = try file.set(wanted, over: file.status(), setsOwner: true, nil)
        if let error = refused.owner { throw error }
    }

    private mutating func flush() throws(SystemError) {
        try calling("write", file.path) { () throws(Errno) in
            try file.descriptor.write(buffer)
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Syncs the content, gives the file its name, and with `durably` syncs the directory too.
    ///
    /// - Parameter mode: `.noReplace` refuses a name that is taken.
    package consuming func commit(
        _ mode: Directory.RenameMode = .replace, durably: Bool = true
    ) throws(SystemError) {
        try flush()
        guard isPending else { return }
        if durably {
            try calling("fsync", file.path) { () throws(Errno) in
                try file.descriptor.sync()
            }
        }
        try directory.rename(temporaryName, to: directory, name, mode)
        isPending = false
        if durably { try directory.sync() }
    }
}
