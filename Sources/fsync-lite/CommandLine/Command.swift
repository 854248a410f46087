/// A verb of the program: what it takes and says about itself, and what it does.
protocol Command: Sendable {
    static var description: CommandDescription { get }

    /// - Parameter console: what a script reads. It is flushed after the run.
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode
}

extension Command {
    /// The words that name it, such as `manifest create`.
    static var name: String { description.name }
}
