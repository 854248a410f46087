import FileStorage
import FileSystem
import FsyncLite

enum ManifestCreateCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let path = try invocation.argument("TREE")
        let file = LocalFile(bytes: path)
        guard try file.exists else {
            throw SyncError(.inputMissing, path: path, "there is no such directory")
        }
        let tree = try Tree(path: path)
        let withDigests = invocation.has("--digest")
        let problems: [Problem]
        if let output = invocation.value("--output") {
            var file = try LocalFile(bytes: output).output()
            problems = try tree.writeManifest(to: &file, withDigests: withDigests)
            try file.commit()
        } else {
            problems = try tree.writeManifest(to: &console, withDigests: withDigests)
        }
        return Console.complain(of: problems)
    }
}
