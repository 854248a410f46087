import FileStorage
import FileSystem

/// A line of a log file for each run.
public struct RunLog: Sendable {
    /// In place of a path: the log is on the client that runs the command here.
    package static let ofClient = Array("-".utf8)

    /// The log file.
    public let file: LocalFile
    private let line: String

    /// - Parameters:
    ///   - file: the log, as the user named it.
    ///   - line: the message. Line breaks and other control characters in it are escaped.
    public init(_ file: LocalFile, line: String) {
        self.file = file
        self.line = line
    }

    /// The line with its end.
    package var text: String { singleLine(line) + "\n" }

    /// Appends the line in one write, so that lines of concurrent runs do not mix. A new file is for this user only,
    /// because the lines name files that others may not see. A symlink or file that another user made is refused if
    /// that user may write in the directory.
    public func append() throws(SyncError) {
        let log = try file.openToAppend(permissions: 0o600)
        try file.naming(log.appendAtOnce(Array(text.utf8)))
    }
}
