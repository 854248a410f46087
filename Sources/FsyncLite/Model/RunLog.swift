import FileStorage
import FileSystem

/// The line that a run adds to a log file.
public struct RunLog: FileWritable, Sendable {
    public static let fileName = "fsync-lite.log"

    /// The log, which grows by one line per run.
    public let file: LocalFile
    private let line: String

    /// - Parameters:
    ///   - file: the log as a person named it.
    ///   - line: what to say of the run. Line breaks and other control characters in it are escaped.
    public init(_ file: LocalFile, line: String) {
        self.file = file
        self.line = line
    }

    /// The line in the directory's own log.
    public init(in directory: LocalFile, line: String) {
        self.init(directory + RunLog.fileName, line: line)
    }

    public func fileText() -> String { singleLine(line) + "\n" }

    /// Adds the line, in one write: the lines of runs that end together do not mix.
    public func append() throws(SyncError) {
        try append(to: file)
    }
}
