import FileStorage
import FsyncLite

enum ManifestCreateCommand: Command {
    private static let tree = ArgumentDescription("TREE", "a directory")
    private static let output = OptionDescription.value(
        "--output", short: "-o", "FILE", "write it to this file")
    private static let digest = OptionDescription.flag("--digest", "with the SHA-256 of every file")

    static let description = CommandDescription(
        name: "manifest create",
        summary: "Write a manifest of a directory, to standard output unless -o is given.",
        arguments: [tree],
        options: [output, digest],
        examples: [("fsync-lite manifest create src -o before.json", "Record a directory")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument(tree)
        guard try LocalFile(bytes: path).exists else {
            throw SyncError(.inputMissing, path: path, "there is no such directory")
        }
        let tree = try Tree(path: path)
        let withDigests = invocation.options.has(digest)
        let problems: [Problem]
        if let output = invocation.options.value(output) {
            var file = try LocalFile(bytes: output).output()
            problems = try tree.writeManifest(to: &file, withDigests: withDigests)
            try file.commit()
        } else {
            problems = try tree.writeManifest(to: &console, withDigests: withDigests)
        }
        Console.complain(of: problems)
        return ExitCode(problems)
    }
}
