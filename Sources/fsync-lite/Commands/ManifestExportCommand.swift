import FsyncLite

enum ManifestExportCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let tree = try Tree(path: try invocation.argument("MANIFEST"))
        switch try invocation.text("--format") {
        case "mtree":
            try tree.writeMtree(to: &console)
            return .done
        case "sha256sum":
            let problems = try tree.writeChecksums(to: &console)
            try console.flush()
            return Console.complain(of: problems)
        default:
            throw UsageError(
                "'\(invocation.command.name)' is missing --format",
                hint: "give --format mtree or --format sha256sum")
        }
    }
}
