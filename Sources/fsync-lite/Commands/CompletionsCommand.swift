enum CompletionsCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        guard let shell = Shell(rawValue: try invocation.argumentText("SHELL")) else {
            throw UsageError("no completions for this shell", hint: "use one of: bash, zsh, fish")
        }
        try console.write(Array(shell.completions(of: .fsyncLite).utf8))
        return .done
    }
}
