import Foundation
import TestSupport

/// Git's answer to what is ignored. It judges the semantics of the filters.
struct GitCheckIgnore {
    /// The rule that decided, as git names it; nil if none matched.
    typealias Rule = (file: String, line: Int, text: [UInt8])

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let files: TemporaryDirectory

    /// `foo**/bar` ignores `foobar`, as in git before 2.53.
    static let forgetsPrefix: Bool = {
        var tree = IgnoreTree()
        tree.ignoreFiles[[]] = Array("foo**/bar\n".utf8)
        let name = Array("foobar".utf8)
        guard let directory = try? TemporaryDirectory(inMemory: true), let git = try? GitCheckIgnore(),
            (try? tree.build(at: directory.path)) != nil
        else { return false }
        return (try? git.rules(for: [name], in: directory.path).first ?? nil) != nil
    }()

    init() throws {
        files = try TemporaryDirectory(inMemory: true)
        _ = try GitCheckIgnore.git(["init", "-q", "--bare", "\(files.path)/git"])
    }

    /// Asks about paths of a tree. None may begin with a colon. The answers are in the order of the paths.
    func rules(for paths: [[UInt8]], in tree: String) throws -> [Rule?] {
        let questions = "\(files.path)/questions"
        try Data(paths.joined(separator: [0]) + [0]).write(to: URL(fileURLWithPath: questions))
        let output = try run(
            ["check-ignore", "-v", "-n", "-z", "--no-index", "--stdin"], in: tree, input: questions)
        let fields = output.split(separator: 0, omittingEmptySubsequences: false)
        guard fields.count == paths.count * 4 + 1 else {
            throw Failure(description: "\(fields.count) fields")
        }
        return try paths.indices.map { index in
            let answer = fields[(index * 4)...]
            guard answer[index * 4 + 3].elementsEqual(paths[index]) else {
                throw Failure(description: "out of step")
            }
            let file = String(decoding: answer[index * 4], as: UTF8.self)
            guard let line = Int(String(decoding: answer[index * 4 + 1], as: UTF8.self)) else { return nil }
            return (file, line, Array(answer[index * 4 + 2]))
        }
    }

    /// The files of a tree that are not ignored, also with rules of the command line.
    func files(in tree: String, excluding patterns: [String]) throws -> Set<[UInt8]> {
        let output = try run(
            ["ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"]
                + patterns.map { "--exclude=\($0)" },
            in: tree)
        return Set(output.split(separator: 0).map(Array.init))
    }

    private func run(_ arguments: [String], in tree: String, input: String = "/dev/null") throws -> Data {
        try GitCheckIgnore.git(
            [
                "-c", "core.excludesFile=/dev/null", "-C", tree,
                "--git-dir=\(files.path)/git",
            ]
                + ["--work-tree=\(tree)"] + arguments, input: input)
    }

    /// Exit code 1 is not a failure: it means that nothing is ignored.
    private static func git(_ arguments: [String], input: String = "/dev/null") throws -> Data {
        let (code, output) = try HostCommand.result(["git"] + arguments, input: input)
        guard (0...1).contains(code) else { throw Failure(description: "git \(arguments): \(code)") }
        return output
    }
}
