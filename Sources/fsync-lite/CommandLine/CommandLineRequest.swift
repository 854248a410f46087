/// What a well-formed command line asks for.
enum CommandLineRequest: Sendable {
    case invocation(Invocation)
    /// Help for one command, or for the program when nil.
    case help(CommandDescription?)
    /// The manual page.
    case manual
    case version
}
