import Foundation
import TestSupport
import Testing

@Suite("Documents from pipes")
struct InputDocumentTests {
    /// A mirror, with `manifest`, `plan`, `patterns` and `prefs` beside it.
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(["a": "1", "b.tmp": "2"], inMemory: true).mirrored()
        try FileManager.default.copyItem(
            atPath: scene.path("target/.fsync-lite/manifest.json"), toPath: scene.path("manifest"))
        try scene.build(.file("*.tmp\n"), at: "patterns")
        try scene.build(.file(#"{"defaults": {"exclude": ["*.tmp"]}}"#), at: "prefs")
        try scene.build(.file("3"), at: "source/c")
        try #require(scene.plan("--out", "plan").code == 0)
        return scene
    }

    private struct Reader: Sendable, CustomTestStringConvertible {
        let document: String
        /// `FILE` is replaced by the document.
        let words: [String]
        var code: Int32 = 0
        var testDescription: String { words.joined(separator: " ") }
    }

    private static let readers = [
        Reader(document: "manifest", words: ["manifest", "show", "FILE"]),
        Reader(document: "manifest", words: ["manifest", "list", "FILE"]),
        Reader(document: "manifest", words: ["manifest", "export", "--format", "mtree", "FILE"]),
        Reader(document: "manifest", words: ["manifest", "diff", "FILE", "source"], code: 2),
        Reader(document: "manifest", words: ["manifest", "diff", "source", "FILE"], code: 2),
        Reader(document: "manifest", words: ["manifest", "verify", "FILE", "source"], code: 2),
        Reader(document: "patterns", words: ["plan", "--exclude-from", "FILE", "source", "target"]),
        Reader(document: "patterns", words: ["apply", "--exclude-from", "FILE", "source", "target"]),
        Reader(document: "prefs", words: ["apply", "--settings", "FILE", "source", "target"]),
        Reader(document: "prefs", words: ["settings", "show", "--settings", "FILE"]),
        Reader(document: "plan", words: ["plan", "--show", "FILE"]),
        Reader(document: "plan", words: ["apply", "--plan", "FILE"]),
    ]

    /// The same run reads the document as a file, and from a pipe with a slow writer.
    @Test(arguments: readers, ["/dev/stdin", "named pipe"])
    private func aSlowPipeIsAsGoodAsAFile(reader: Reader, pipe: String) throws {
        func words(_ file: String, in scene: MirrorScene) throws -> [String] {
            reader.words.map { $0 == "FILE" ? file : $0 }
        }
        let (first, second) = (try scene(), try scene())
        let expected = try first.run(words(reader.document, in: first))
        #expect(expected.code == reader.code, "\(expected.errors)")

        let feed: [String]
        let name: String
        if pipe == "/dev/stdin" {
            name = pipe
            feed = ["sh", "-c", #"(sleep 0.3; cat "$0") | exec "$@""#, reader.document]
        } else {
            name = "fifo"
            try #require(mkfifo(second.path(name), 0o600) == 0)
            feed = [
                "sh", "-c", #"(sleep 0.3; cat "$0" > fifo) & exec "$@""#, reader.document,
            ]
        }
        let run = try CommandRun(
            words(name, in: second), in: second.directory.path, under: feed)
        #expect(run.code == expected.code, "\(run.errors)")
        func withoutPaths(_ text: String, _ scene: MirrorScene, _ document: String) -> [Substring] {
            text.replacing(scene.directory.path, with: "HERE").replacing(document, with: "FILE")
                .split(separator: "\n")
                // The time of its creation.
                .filter { !$0.hasPrefix("manifest  ") && !$0.hasPrefix("created") && !$0.hasPrefix("saved") }
        }
        if reader.document != "manifest" {
            #expect(
                withoutPaths(run.output, second, name)
                    == withoutPaths(expected.output, first, reader.document))
        }
        #expect(run.errors.isEmpty || !expected.errors.isEmpty, "\(run.errors)")
    }

    @Test func twoManifestsFromPipesAreCompared() throws {
        let scene = try scene()
        let shell = "\"$0\" manifest diff /dev/fd/3 /dev/fd/4"
        try scene.here(
            [],
            under: ["sh", "-c", "cat manifest | { exec 3<&0; cat manifest | { exec 4<&0; \(shell); }; }"]
        ).expect(0)
    }

    @Test(arguments: ["--exclude-from", "--settings", "--plan"])
    func whatHoldsNoDocumentIsRefusedWithOneCode(option: String) throws {
        let scene = try scene()
        let trees = option == "--plan" ? [] : ["source", "target"]
        try scene.run(["apply", option, "missing"] + trees).expect(66, says: "missing: there is no such file")
        try scene.run(["apply", option, "source"] + trees).expect(65, says: "source: Is a directory")
    }

    /// The settings in this directory are optional, so nothing waits for them.
    @Test func aPipeInTheSettingsDirectoryIsNotWaitedFor() throws {
        let scene = try scene()
        try scene.build(["fsync-lite": [:]], at: "config")
        try #require(mkfifo(scene.path("config/fsync-lite/settings.json"), 0o600) == 0)
        let running = try RunningCommand(
            ["plan", "source", "target"], in: scene.directory.path,
            environment: ["XDG_CONFIG_HOME": scene.path("config")])
        try running.finish().expect(65, says: "is not a regular file")
    }
}
