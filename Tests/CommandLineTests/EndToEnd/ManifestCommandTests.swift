import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Manifests, status and what the output is good for")
struct ManifestCommandTests {
    private let tree: TreeLiteral = [
        "a": .file("hello", mode: 0o640, modified: TreeTime(1_600_000_000, 123_456_789)),
        "d": ["x": "x", "y": .fifo()],
        "l": .symlink("a"), TreeName([0x66, 0xFF]): "bytes",
    ]

    /// Runs a tool of the system.
    private func tool(_ words: [String]) throws -> (code: Int32, output: String) {
        let (code, output) = try HostCommand.result(words)
        return (code, String(decoding: output, as: UTF8.self))
    }

    @Test func createWritesToStandardOutputAndNothingElse() throws {
        let scene = try MirrorScene(tree)
        let before = try TreeSnapshot(scene.source, withState: true)
        let run = try scene.run("manifest", "create", "source").expect(0)
        let manifest = try run.json()
        #expect(manifest.text("format") == "fsync-lite-manifest")
        let entries = manifest.objects("entries")
        #expect(
            entries.compactMap { $0.text("path") ?? $0.text("path_base64") } == [
                "a", "d", "d/x", "d/y", "Zv8=", "l",
            ])
        let file = entries[0]
        #expect(file.text("type") == "file" && file.number("size") == 5 && file.text("mode") == "0640")
        #expect(file.text("modified") == "2020-09-13T12:26:40.123456789Z")
        #expect(entries[5].text("destination") == "a" && entries[3].text("type") == "fifo")
        #expect(manifest.object("summary")?.number("bytes") == 11)
        #expect(run.output.split(separator: "\n").filter { $0.hasPrefix("{\"path") }.count == 6)
        #expect(try scene.run("manifest", "list", "source").output.contains("f\\xFF"))
        #expect(try TreeSnapshot(scene.source, withState: true).touched(since: before) == [])
    }

    /// A manifest of version 1 can always be read.
    @Test func manifestOfTheFirstVersionIsRead() throws {
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../fixtures/manifest-v1/small.json").standardizedFileURL.path
        let entries = try JSONObject(text: String(contentsOfFile: fixture, encoding: .utf8)).objects(
            "entries")
        let listed = try CommandRun(["manifest", "list", fixture])
        #expect(
            listed.code == 0 && listed.output.split(separator: "\n").count == entries.count,
            "\(listed.errors)")
        #expect(try CommandRun(["manifest", "show", fixture]).code == 0)
        #expect(try CommandRun(["manifest", "diff", fixture, fixture]).code == 0)
    }

    @Test(.needs(.tool("jq")))
    func jqAndGrepReadTheManifestOfATarget() throws {
        let scene = try MirrorScene(tree).mirrored()
        let manifest = scene.path("target/.fsync-lite/manifest.json")
        #expect(
            try tool(["jq", "-r", ".entries[] | select(.type == \"file\") | .path // \"-\"", manifest]).output
                == "a\nd/x\n-\n")
        #expect(
            try tool([
                "jq", "[.entries[].size // 0] | add == $m[0].summary.bytes", "--slurpfile", "m", manifest,
                manifest,
            ]).output == "true\n")
        let found = try tool(["grep", "-c", "\"path\":\"d/", manifest])
        #expect(found.output == "2\n")
    }

    @Test func listGivesPathsInEveryShape() throws {
        let scene = try MirrorScene(["a\nb": "1", "c": "2"]).mirrored()
        #expect(try scene.run("manifest", "list", "target").output.split(separator: "\n").count == 2)
        #expect(try scene.run("manifest", "list", "-0", "target").output == "a\nb\0c\0")
        #expect(try scene.run("manifest", "list", "--long", "target").output.contains("-rw-r--r--"))
        let lines = try scene.run("manifest", "list", "--json", "target").output.split(separator: "\n")
        #expect(try lines.map { try JSONObject(text: String($0)).text("path") } == ["a\nb", "c"])
    }

    @Test func logFileGrowsByARun() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored("--log-file", "runs/log")
        let first = try scene.text("runs/log")
        #expect(first.split(separator: "\n").count == 1)
        #expect(first.contains("committed"))
        try scene.mirror("--log-file", "runs/log", "--quiet")
        let second = try scene.text("runs/log")
        #expect(second.hasPrefix(first))
        #expect(second.split(separator: "\n").count == 2)
        #expect(second.contains("unchanged"))
        #expect(try scene.run("apply", "nowhere", "target", "--log-file", "runs/log").code == 66)
        #expect(try scene.text("runs/log").split(separator: "\n").count == 3)
    }

    /// Help: `GeneratedTextTests` and `ForeignWordTests`.
    @Test func versionGoesToStandardOutput() throws {
        let version = try CommandRun(["--version"]).expect(0)
        #expect(version.output.hasPrefix("fsync-lite ") && version.errors.isEmpty)
    }
}
