import FsyncLite

enum ManifestExportCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { .manifest }

    private enum Format: String, CaseIterable {
        case mtree, sha256sum, manifest
    }

    static let format = OptionDescription.value(
        "--format", "FORMAT", "the tool that reads it", choices: Format.allCases.map(\.rawValue))

    static let description = CommandDescription(
        name: "manifest export", summary: "Write a manifest in the format of another tool, or as a file.",
        discussion: """
            For mtree, the digests of the manifest are written. For sha256sum, every file needs one. In a directory or a \
            target, files without a digest are read. A manifest file must be made with --digest. The format manifest \
            makes a file for other commands, also from a snapshot.
            """,
        arguments: [.manifest],
        options: [format] + OptionDescription.remote,
        examples: [
            ("fsync-lite manifest export src --format mtree | mtree -p copy", "Let mtree compare a copy"),
            (
                "fsync-lite manifest export --format manifest nas:mirror@yesterday > nas.json",
                "Keep the manifest of a snapshot of another machine"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try Tree(path: try invocation.argument(.manifest))
        let format = try invocation.options.text(format).flatMap(Format.init)
        switch format {
        case .mtree:
            try tree.writeMtree(to: &console)
            return .done
        case .sha256sum, .manifest:
            let problems =
                try format == .manifest
                ? tree.writeManifestAsRecorded(to: &console) : tree.writeChecksums(to: &console)
            try console.flush()
            Console.complain(of: problems)
            return ExitCode(problems)
        case nil:
            throw UsageError(
                "'\(name)' is missing \(self.format.name)",
                hint: "give " + Format.allCases.map { "\(self.format.name) \($0)" }.joined(separator: " or "))
        }
    }
}
