import FileSystem
import FsyncLite

/// An invalid command line: what is wrong, and what to do.
///
/// Both lines are safe to print: bytes of the command line that a terminal could act on or cannot show are escaped.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String
    let hint: String

    init(_ message: String, hint: String) {
        self.message = message
        self.hint = hint
    }

    var description: String { "\(message)\n\(hint)" }
}

/// Bytes of the command line in a message, escaped and quoted.
func quoted(_ bytes: some Collection<UInt8>) -> String { "'\(escapedText(bytes))'" }
