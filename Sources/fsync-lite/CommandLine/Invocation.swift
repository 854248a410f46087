import FsyncLite

/// A command with the values given to it.
///
/// The parser guarantees that every required argument has a value. It also guarantees that an option has at
/// most one value, unless it is repeatable. Values are bytes as given; only `text` and `integer` decode.
struct Invocation: Sendable {
    let program: ProgramDescription
    let command: any Command.Type
    /// By argument name. An argument that was left out is missing here.
    var arguments: [String: [[UInt8]]] = [:]
    var options = GivenOptions()
    /// The machine that sent this command; nil if it was typed here.
    var client: Client?
    /// The target as that machine names it.
    var targetOfClient: [UInt8]?
    /// The directory for a copy as that machine names it; nil if there is none.
    var copyOfClient: [UInt8]?
    /// The name of a job that was given for its target.
    var jobName: String?
    /// The saved plan that an option names. It is read once, because it may come from a pipe.
    var saved: SavedPlan?
    /// No part of a target's history may be removed.
    var keepsHistory = false
    /// Nothing may be written, not even a note.
    var isReadOnly = false

    /// The value of a required argument.
    ///
    /// - Throws: if the argument was left out. For a required one, this never happens.
    func argument(_ argument: ArgumentDescription) throws(UsageError) -> [UInt8] {
        guard let value = values(argument).first else {
            throw UsageError(
                "\(argument.name) is missing", hint: "give '\(command.name)' a value for \(argument.name)")
        }
        return value
    }

    /// The value of a required argument that is a word, not a path.
    func text(_ argument: ArgumentDescription) throws(UsageError) -> String {
        try decoded(try self.argument(argument), of: argument.name)
    }

    /// The target, with its name for messages.
    func target() throws -> Target { Target(path: try argument(.target), name: targetOfClient) }

    /// The words of a command line that gives the same invocation with these options.
    func words(with options: GivenOptions) -> [[UInt8]] {
        let name = command.description.words.map { Array($0.utf8) }
        let given = command.description.arguments.flatMap(values)
        return name + options.words + [Array("--".utf8)] + given
    }

    /// Every value of an argument, in the order given.
    func values(_ argument: ArgumentDescription) -> [[UInt8]] {
        arguments[argument.name] ?? []
    }
}
