enum CompletionsCommand: Command {
    private static let shell = ArgumentDescription(
        "SHELL", "the shell", kind: .choice(Shell.allCases.map(\.rawValue)))

    static let description = CommandDescription(
        name: "completions", summary: "Write the completions for a shell.",
        discussion: "scripts/install puts them where the shells look.",
        arguments: [shell],
        examples: [
            ("source <(fsync-lite completions bash)", "In bash, for this session"),
            ("fsync-lite completions fish > ~/.config/fish/completions/fsync-lite.fish", "In fish, for good"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        guard let shell = Shell(rawValue: try invocation.text(shell)) else {
            throw UsageError("no completions for this shell", hint: "use one of: bash, zsh, fish")
        }
        try console.write(Array(shell.completions(of: invocation.program).utf8))
        return .done
    }
}
