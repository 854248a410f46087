import FileSystem

/// The file `log` of a stage, for a later run: a header, and a line for each file that is staged *and* durable.
///
/// Lines are appended every few seconds on a separate thread, and on request. An unreadable line, such as one torn by a
/// power cut, ends the log. The files of all later lines are copied again.
package final class StageLog: Sendable {
    private let lines: LineLog<Noted>
    private let monitor: any Monitor

    /// A file that waits for its line.
    private enum Noted {
        /// The number of a staged entry with the source that the scan saw, and the inode of its file in the stage.
        case entry(Int, stagedInode: UInt64)
        indirect case other(StagedFile)
    }

    /// - Parameters:
    ///   - entries: the staged entries.
    ///   - directory: the stage, `stage/TX`.
    ///   - root: the root of the target, opened before anything was staged.
    init(
        _ transaction: FileName, _ attributes: MirroredAttributes, of entries: OperationGraph.StagedList,
        in directory: Directory, root: Directory, monitor: any Monitor
    ) {
        self.monitor = monitor
        let header = StageLogHeader(transaction: transaction.description, attributes: attributes)
        lines = LineLog(onFailure: { monitor.warn(StageLog.warning($0)) }) { files in
            // A file is logged only after a sync that includes it. Otherwise, after a power cut, a file with the right
            // size and time could contain only zeros.
            try root.syncFileSystem()
            let staged = files.lazy.map { noted in
                switch noted {
                case .entry(let index, let inode):
                    StagedFile(
                        path: entries.path(at: index), location: entries.location(at: index),
                        source: entries.file(at: index).status, stagedInode: inode)
                case .other(let file): file
                }
            }
            try StageLog.append(staged, below: header, in: directory)
        }
    }

    private static func append(
        _ files: some Sequence<StagedFile>, below header: StageLogHeader, in directory: Directory
    ) throws {
        let log = try directory.open(
            TransactionEntry.log, [.write, .append, .create, .noFollow], permissions: 0o600)
        try calling("write", directory.path(of: TransactionEntry.log)) { () throws(Errno) in
            let isNew = try log.status().size == 0
            var text = isNew ? Array("\(header.line)\n".utf8) : []
            for file in files {
                text += Array("\(file.line)\n".utf8)
                guard text.count >= 64 * 1024 else { continue }
                try log.write(text)
                text.removeAll(keepingCapacity: true)
            }
            try log.write(text)
            try log.sync()
        }
        try directory.sync()
    }

    private static func warning(_ error: any Error) -> String {
        "the list of staged files could not be written: \(error)"
    }

    /// Adds a file that is staged completely.
    ///
    /// - Parameters:
    ///   - index: the index of the staged entry.
    ///   - file: the file of the entry.
    ///   - source: the status of the source when it was copied.
    func note(
        _ index: Int, _ file: File, at location: RelativePath, _ source: FileStatus, stagedInode: UInt64
    ) {
        let staged = StagedFile(path: file.path, location: location, source: source, stagedInode: stagedInode)
        lines.add(
            staged.isFrom(file.status) ? .entry(index, stagedInode: stagedInode) : .other(staged))
    }

    /// Adds a part of a file.
    func note(part file: StagedFile) { lines.add(.other(file)) }

    /// Writes pending lines now.
    func save() {
        do {
            try lines.flush()
        } catch {
            monitor.warn(StageLog.warning(error))
        }
    }

    /// Ends all writes to the log. Waits for a running batch.
    func close() { lines.close() }

    /// Reads the log of a stage, if there is one.
    ///
    /// - Parameters:
    ///   - isUsable: whether files that were staged under this header can be used.
    ///   - body: called for each file.
    package static func read(
        in directory: Directory, if isUsable: (StageLogHeader) -> Bool, _ body: (StagedFile) -> Void
    ) throws(SystemError) {
        guard try directory.status(of: TransactionEntry.log)?.type == .file else { return }
        let file = try directory.open(TransactionEntry.log, [.read, .noFollow, .nonBlocking])
        try calling("read", directory.path(of: TransactionEntry.log)) { () throws(Errno) in
            var hasHeader = false
            try file.readLines { line in
                guard hasHeader else {
                    hasHeader = StageLogHeader(line: line).map(isUsable) ?? false
                    return hasHeader
                }
                guard let file = StagedFile(line: line) else { return false }
                body(file)
                return true
            }
        }
    }
}

/// The first line of the log.
package struct StageLogHeader: Sendable, Equatable {
    /// The name of the stage's directory.
    package let transaction: String
    /// The attributes with which the files were staged. Files with other attributes are unusable.
    package let attributes: MirroredAttributes

    private static let format = "fsync-lite-stage 1"

    package init(transaction: String, attributes: MirroredAttributes) {
        (self.transaction, self.attributes) = (transaction, attributes)
    }

    package var line: String { "\(StageLogHeader.format) \(transaction) \(attributes.rawValue)" }

    /// nil for a line of another format or version.
    package init?(line: some Collection<UInt8>) {
        let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard fields.count == 4, let attributes = UInt8(fields[3]) else { return nil }
        self.init(transaction: String(fields[2]), attributes: MirroredAttributes(rawValue: attributes))
        guard self.line.utf8.elementsEqual(line) else { return nil }
    }
}
