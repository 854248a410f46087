import FsyncLite

/// A verb of the program: its description and its implementation.
protocol Command: Sendable {
    static var description: CommandDescription { get }
    /// The argument that may name a target on another machine, which then runs the command; nil for none.
    static var remoteTarget: ArgumentDescription? { get }
    /// Other paths that must be on the target's machine.
    static var remotePlaces: RemotePlaces { get }
    /// Whether the command runs here first for a target on another machine, and decides where it continues.
    static func decidesPlace(_ invocation: Invocation) -> Bool
    /// The source that this machine gives to the one that runs the command; nil if there is none.
    static func servedSource(_ invocation: Invocation) throws -> MirrorSource?

    /// - Parameter console: standard output, for scripts. It is flushed after the run.
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode
}

extension Command {
    static var name: String { description.name }
    static var remoteTarget: ArgumentDescription? { nil }
    static var remotePlaces: RemotePlaces { RemotePlaces() }
    static func decidesPlace(_ invocation: Invocation) -> Bool { false }
    /// Whether it writes nothing to a target.
    static var isReading: Bool { self is any ReadingCommand.Type }
}

/// A command that writes nothing to a target.
protocol ReadingCommand: Command {}
