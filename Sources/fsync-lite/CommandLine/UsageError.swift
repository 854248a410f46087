import FileSystem
import FsyncLite

/// A command line that cannot be acted on: what is wrong, and what to do about it.
///
/// Both lines are safe to print: bytes taken from the command line are escaped where a terminal
/// could act on them or could not show them.
struct UsageError: Error, Equatable, CustomStringConvertible {
    let message: String
    let hint: String

    init(_ message: String, hint: String) {
        self.message = message
        self.hint = hint
    }

    var description: String { "\(message)\n\(hint)" }
}

/// Bytes from the command line in a message, with what a terminal should not see escaped.
func quoted(_ bytes: some Collection<UInt8>) -> String { "'\(escapedText(bytes))'" }
