import FileSystem

/// An invalid command line: the fault, and the advice.
///
/// Both lines are safe to print: bytes that a terminal would obey or cannot show are escaped.
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
