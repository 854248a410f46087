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

    @Test func createWritesTheSameBytesToAFile() throws {
        let scene = try MirrorScene(tree)
        let printed = try scene.run("manifest", "create", "source")
        let run = try scene.run("manifest", "create", "source", "-o", "m.json").expect(0)
        #expect(run.output.isEmpty)
        let written = try scene.text("m.json")
        #expect(printed.output != written && Self.lasting(printed.output) == Self.lasting(written))
    }

    /// Without the parts that are new in every manifest.
    private static func lasting(_ manifest: String) -> String {
        var lines = manifest.components(separatedBy: "\n")
        lines[0] = lines[0].replacing(#/"(id|created)":"[^"]*"/#, with: "")
        lines = lines.map { $0.replacing(#/"checksum":"[^"]*"/#, with: "") }
        return lines.joined(separator: "\n")
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

    @Test func diffFindsWhatChangedBetweenTreesTargetsAndFiles() throws {
        let scene = try MirrorScene(tree).mirrored()
        #expect(try scene.run("manifest", "create", "source", "-o", "old.json").code == 0)
        for other in ["source", "target"] {
            try scene.run("manifest", "diff", "old.json", other).expect(0)
        }
        try scene.append("!", to: "source/a")
        try scene.move("source/d/x", to: "source/z")
        try scene.run("manifest", "diff", "old.json", "source").expect(2, prints: "~ a", "> d/x -> z")
        let lines = try scene.run("manifest", "diff", "--json", "old.json", "source").json()
            .actionLinesButTimes
        #expect(lines == ["update a (size, modified)", "move d/x -> z (renamed)"])
        #expect(try scene.run("manifest", "diff", "source", "nowhere").code == 66)
    }

    @Test func statusTellsWhatTheTargetHolds() throws {
        let scene = try MirrorScene(tree)
        #expect(try scene.run("status", "target").code == 66)
        try scene.mirror()
        try scene.append("!", to: "source/a")
        try scene.mirror()
        let status = try scene.run("status", "--json", "target").json()
        #expect(status.text("state") == "committed")
        #expect(status.object("summary")?.number("files") == 3)
        #expect(status.objects("history").count == 2)
        // As in `snapshot list`: the space that is free after the tree before the present one is removed.
        #expect(status.objects("history").map { $0.number("bytes_held") } == [0, 5])
        #expect(status.number("history_bytes_held") == 5)
        let text = try scene.run("status", "target").output
        #expect(text.contains("3 files"))
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

    @Test func helpAndVersionGoToStandardOutput() throws {
        let scene = try MirrorScene([:])
        let version = try scene.run("--version").expect(0)
        #expect(version.output.hasPrefix("fsync-lite "))
        for arguments in [
            ["--help"], ["help"], ["help", "apply"], ["apply", "--help"], ["manifest", "diff", "--help"],
        ] {
            let help = try scene.run(arguments).expect(0, prints: "fsync-lite")
            #expect(help.errors.isEmpty)
        }
    }
}
