import FsyncLite

/// A verb of the program: its description and its implementation.
protocol Command: Sendable {
    static var description: CommandDescription { get }
    /// The argument that may name a target of another machine, which then carries the command out; nil for none.
    static var remoteTarget: ArgumentDescription? { get }
    /// What else has to be on that machine.
    static var remotePlaces: RemotePlaces { get }
    /// It runs here first with a target on another machine, and decides where it is carried out.
    static func decidesPlace(_ invocation: Invocation) -> Bool
    /// The source that this machine gives to the one that carries the command out; nil for none.
    static func servedSource(_ invocation: Invocation) throws -> MirrorSource?
    /// It writes nothing to a target.
    static var isReading: Bool { get }

    /// - Parameter console: standard output, for scripts. It is flushed after the run.
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode
}

extension Command {
    static var name: String { description.name }
    static var remoteTarget: ArgumentDescription? { nil }
    static var remotePlaces: RemotePlaces { RemotePlaces() }
    static func decidesPlace(_ invocation: Invocation) -> Bool { false }
    static var isReading: Bool { false }
}

/// A command that writes nothing to a target.
protocol ReadingCommand: Command {}

extension ReadingCommand {
    static var isReading: Bool { true }
}
