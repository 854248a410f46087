import FsyncLite

/// A command with the values given to it.
///
/// The parser guarantees that every required argument has a value and that an option which is not
/// repeatable has at most one. Values are bytes exactly as given; only `text` and `integer` decode.
struct Invocation: Sendable {
    let program: ProgramDescription
    let command: any Command.Type
    /// By argument name. An argument that was left out has no entry.
    var arguments: [String: [[UInt8]]] = [:]
    var options = GivenOptions()
    /// The machine that has this command carried out here; nil for none.
    var client: Client?
    /// The target as that machine names it.
    var targetOfClient: [UInt8]?
    /// The saved plan that an option names, read once: it may come from a pipe.
    var saved: SavedPlan?
    /// Nothing of a target's history may go.
    var keepsHistory = false
    /// Nothing may be written, not even a note.
    var isReadOnly = false

    /// The value of a required argument.
    ///
    /// - Throws: only when the argument was left out, so never for one the description requires.
    func argument(_ argument: ArgumentDescription) throws(UsageError) -> [UInt8] {
        guard let value = values(argument).first else {
            throw UsageError(
                "\(argument.name) is missing", hint: "give '\(command.name)' a value for \(argument.name)")
        }
        return value
    }

    /// The value of a required argument that is a word rather than a path.
    func text(_ argument: ArgumentDescription) throws(UsageError) -> String {
        try decoded(try self.argument(argument), of: argument.name)
    }

    /// The target, as messages call it.
    func target() throws -> Target { Target(path: try argument(.target), name: targetOfClient) }

    /// Every value of an argument, in the order given.
    func values(_ argument: ArgumentDescription) -> [[UInt8]] {
        arguments[argument.name] ?? []
    }
}
