import FsyncLite

enum ManifestExportCommand: Command {
    static var remoteTarget: ArgumentDescription? { .manifest }
    static var isReading: Bool { true }

    private enum Format: String, CaseIterable {
        case mtree, sha256sum
    }

    private static let format = OptionDescription.value(
        "--format", "FORMAT", "for which tool", choices: Format.allCases.map(\.rawValue))

    static let description = CommandDescription(
        "manifest export", summary: "Write a manifest in the format of another tool.",
        discussion: """
            For mtree the digests are written that the manifest has. For sha256sum every file needs one: of a \
            directory or a target, files without are read; a manifest file has to be made with --digest.
            """,
        arguments: [.manifest],
        options: [format] + OptionDescription.remote,
        examples: [
            ("fsync-lite manifest export src --format mtree | mtree -p copy", "Let mtree compare a copy")
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try Tree(path: try invocation.argument(.manifest))
        switch try invocation.options.text(format).flatMap(Format.init) {
        case .mtree:
            try tree.writeMtree(to: &console)
            return .done
        case .sha256sum:
            let problems = try tree.writeChecksums(to: &console)
            try console.flush()
            Console.complain(of: problems)
            return ExitCode(problems)
        case nil:
            throw UsageError(
                "'\(name)' is missing \(format.name)",
                hint: "give " + Format.allCases.map { "\(format.name) \($0)" }.joined(separator: " or "))
        }
    }
}
