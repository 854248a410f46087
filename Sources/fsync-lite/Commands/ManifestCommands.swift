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
        let problems: [Problem]
        if let output = invocation.value("--output") {
            var file = try LocalFile(bytes: output).pendingReplacement()
            problems = try tree.writeManifest(to: &file)
            try file.commit()
        } else {
            problems = try tree.writeManifest(to: &console)
        }
        for problem in problems {
            Console.complain("\(problem.path): \(problem.message) (\(problem.code.rawValue))")
        }
        return problems.isEmpty ? .done : .committedWithOmissions
    }
}
