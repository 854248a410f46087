/// A verb of the program: its description and its implementation.
protocol Command: Sendable {
    static var description: CommandDescription { get }

    /// - Parameter console: standard output, for scripts. It is flushed after the run.
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode
}

extension Command {
    static var name: String { description.name }
}
