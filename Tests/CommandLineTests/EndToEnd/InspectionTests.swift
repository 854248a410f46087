import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Looking into manifests: totals, selections, differences, exports")
struct InspectionTests {
    private let tree: TreeLiteral = [
        "big": .file(String(repeating: "x", count: 5000), modified: TreeTime(1_600_000_000, 5)),
        "docs": [
            "a.txt": .file("hello", modified: TreeTime(1_500_000_000, 0)),
            "b.jpg": .file(String(repeating: "y", count: 2000), modified: TreeTime(1_700_000_000, 0)),
            "deep": ["c.txt": .file("c", modified: TreeTime(-1, 999_999_999))],
        ],
        "link": .symlink("docs/a.txt"), "pipe": .fifo(),
    ]

    /// Names that other formats must encode.
    private let oddTree: TreeLiteral = [
        "a b": "1", "line\nfeed": "2", "back\\slash": "3", "carriage\rreturn": "4", "#=*?[x]": "5",
        TreeName([0x66, 0xFF]): "6", "-": "7", "d d": ["é": "8", "f": .fifo(), "l": .symlink("a b\\#")],
        "old": .file("9", mode: 0o4711, modified: TreeTime(-473_385_600, 500_000_000)),
    ]

    @Test(arguments: ["source", "target", "m.json"])
    func showTellsWhatStandsOut(manifest: String) throws {
        let scene = try MirrorScene(tree).mirrored()
        #expect(try scene.run("manifest", "create", "source", "-o", "m.json").code == 0)
        let text = try scene.run("manifest", "show", manifest, "--top", "1").output
        for line in [
            "entries             8", "  file              4", "  directory         2",
            "  symlink           1",
            "  fifo              1", "bytes               7006 (7.0 kB)", "at depth 1          4",
            "at depth 3          1", "largest files\n      5.0 kB  2020-09-13 12:26:40  big\n",
            "newest files\n      2.0 kB  2023-11-14 22:13:20  docs/b.jpg\n",
            "oldest files\n         1 B  1969-12-31 23:59:59  docs/deep/c.txt\n",
        ] {
            #expect((text + "\n").contains(line), "\(line): \(text)")
        }
        let json = try scene.run("manifest", "show", "--json", manifest, "--top", "2").json()
        #expect(json.text("format") == "fsync-lite-manifest-totals")
        #expect(json.object("summary")?.number("files") == 4)
        #expect(json.object("summary")?.number("directories") == 2)
        #expect(json.objects("largest").map { $0.text("path") } == ["big", "docs/b.jpg"])
        #expect(json.objects("oldest").map { $0.text("path") } == ["docs/deep/c.txt", "docs/a.txt"])
        #expect(json.objects("types").map { $0.number("entries") } == [4, 2, 1, 1])
    }

    @Test(arguments: [
        ("*.txt", "docs/a.txt docs/deep/c.txt"),
        ("docs/", "docs docs/a.txt docs/b.jpg docs/deep docs/deep/c.txt"),
        ("/a.txt", ""), ("docs/*.txt", "docs/a.txt"), ("docs !*.txt", "docs docs/b.jpg docs/deep"),
        ("!docs", "big link pipe"), ("--type file", "big docs/a.txt docs/b.jpg docs/deep/c.txt"),
        ("--type symlink --type=fifo", "link pipe"), ("--min-size 1999", "big docs/b.jpg"),
        ("--min-size 2K --max-size 1M", "big"), ("--max-size 1", "docs/deep/c.txt"),
        ("--older 2018-01-01 --type file", "docs/a.txt docs/deep/c.txt"),
        ("--newer 2020-09-13T12:26:40Z --older 2024-01-01 --type file", "big docs/b.jpg"),
        ("--newer 2023-11-14T22:13:20Z --older 2023-11-14T22:13:20.000000001Z", "docs/b.jpg"),
        ("*.jpg --max-size 10", ""), ("--newer 26h --type file", ""),
        ("--newer 100y --older 1y6mo --type file", "big docs/a.txt docs/b.jpg docs/deep/c.txt"),
    ])
    func listSelects(conditions: String, expected: String) throws {
        let scene = try MirrorScene(tree)
        let words = conditions.split(separator: " ").map(String.init)
        let run = try scene.run(["manifest", "list", "source"] + words).expect(0)
        #expect(run.output.split(separator: "\n").joined(separator: " ") == expected)
    }

    @Test func longLinesShowEveryKind() throws {
        let scene = try MirrorScene([
            "f": .file("abc", mode: 0o4755, modified: TreeTime(0, 0)), "l": .symlink("f"), "p": .fifo(),
        ])
        let lines = try scene.run("manifest", "list", "--long", "source").output.split(separator: "\n")
        let owner = "\(getuid()):\(getgid())"
        #expect(lines.first == "-rwsr-xr-x \(owner)            3 1970-01-01 00:00:00 f")
        #expect(lines.dropFirst().first?.hasPrefix("lrwxrwxrwx \(owner)            1 ") == true)
        #expect(lines.dropFirst().first?.hasSuffix(" l -> f") == true)
        #expect(lines.last?.hasPrefix("prw") == true)
    }

    @Test func diffBetweenATreeAndACopyOfItSeesOnlyWhatDiffers() throws {
        let scene = try MirrorScene(tree)
        try HostCommand.run("cp", "-a", scene.source, scene.path("copy"))
        let same = try scene.run("manifest", "diff", "source", "copy").expect(0)
        #expect(same.output == "no difference; 8 unchanged\n")
        try scene.append("!", to: "copy/docs/a.txt")
        try scene.remove("copy/link")
        let other = try scene.run("manifest", "diff", "source", "copy").expect(
            2, prints: "~ docs/a.txt", "- link")
        #expect(other.output.hasSuffix("1 changed, 1 gone; 6 unchanged; 6 B in new and changed files\n"))
        let summary = try scene.run("manifest", "diff", "--summary", "source", "copy").expect(2)
        #expect(summary.output == "1 changed, 1 gone; 6 unchanged; 6 B in new and changed files\n")
    }

    @Test func aSnapshotIsATreeLikeOthers() throws {
        let scene = try MirrorScene(tree).mirrored("--digest")
        let before = try scene.run("manifest", "list", "--json", "target").output
        let digests = try scene.run("manifest", "export", "target", "--format", "sha256sum").output
        try scene.append("!", to: "source/big")
        try scene.move("source/docs", to: "source/moved")
        try scene.remove("source/link")
        try scene.mirror()
        func diff(_ first: String, _ second: String, _ code: Int32) throws -> [String] {
            let run = try scene.run("manifest", "diff", first, second).expect(code)
            return run.lines
        }
        #expect(try diff("target@latest", "target", 0) == ["no difference; 7 unchanged"])
        #expect(try diff("target@latest", "source", 0) == ["no difference; 7 unchanged"])
        let changes = try diff("target@latest~1", "target", 2)
        #expect(changes == (try diff("target@latest~1", "target@latest", 2)))
        #expect(changes.contains("> docs -> moved/  4 files and directories  (renamed)"), "\(changes)")
        #expect(changes.contains("~ big  5.0 kB  (size, modified, content)"))
        #expect(changes.contains("- link  (removed)"))
        // Without common inodes, changes are found by paths.
        #expect(try diff("target@latest~1", "source", 2).contains("+ moved/a.txt  5 B  (new)"))
        let listed = try scene.run("manifest", "list", "--json", "target@latest~1")
        let facts = try [before, listed.output].map { text in
            try text.split(separator: "\n").map { line in
                let entry = try JSONObject(text: String(line))
                return [entry.text("path"), entry.text("modified"), entry.text("mode")]
            }
        }
        #expect(facts[0] == facts[1])
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").code == 0)
        #expect(try scene.run("manifest", "verify", "--digest", "target@latest~1", "copy").code == 0)
        #expect(try scene.run("manifest", "verify", "--digest", "target@latest~1", "target").code == 2)
        let export = try scene.run("manifest", "export", "target@latest~1", "--format", "sha256sum")
        #expect(export.output == digests, "\(export.errors)")
    }

    @Test(arguments: [
        ("target@latest~9", "there is no latest~9"),
        ("target@2001-01-01", "all snapshots are newer than 2001"),
        ("source@latest", "no target of fsync-lite has this snapshot"), ("nowhere@latest", "no such file"),
        ("@latest", "no such file"),
    ])
    func aSnapshotThatIsNotThereIs66(name: String, message: String) throws {
        let scene = try MirrorScene(tree).mirrored()
        try scene.run("manifest", "diff", name, "source").expect(66, says: message)
        // A target with such a name has priority.
        try scene.move("target", to: name)
        #expect(try scene.run("manifest", "diff", name, "source").code == 0)
    }

    @Test func diffFindsFilesThatSwappedNames() throws {
        let scene = try MirrorScene([
            "a": .file("one", modified: TreeTime(1, 0)), "b": .file("two", modified: TreeTime(1, 0)),
        ])
        #expect(try scene.run("manifest", "create", "source", "-o", "m.json").code == 0)
        try scene.swap("source/a", "source/b")
        try scene.run("manifest", "diff", "m.json", "source").expect(2, prints: "> b -> a", "> a -> b")
    }

    // MARK: Exports

    @Test(
        .needs(.tool("mtree", package: "mtree-netbsd")),
        arguments: ["source", "target", "m.json", "d.json"])
    func mtreeAcceptsItsExport(manifest: String) throws {
        let scene = try MirrorScene(oddTree).mirrored()
        #expect(try scene.run("manifest", "create", "source", "-o", "m.json").code == 0)
        #expect(try scene.run("manifest", "create", "--digest", "source", "-o", "d.json").code == 0)
        let export = try scene.run("manifest", "export", manifest, "--format", "mtree").expect(0)
        try export.output.write(toFile: scene.path("spec"), atomically: true, encoding: .utf8)
        for tree in [scene.source, scene.target] {
            #expect(HostCommand.works("mtree", "-p", tree, "-f", scene.path("spec")), "\(export.output)")
        }
        // It is a comparison, not only a parse.
        try scene.editInSecret("source/a b", "!")
        #expect(
            HostCommand.works("mtree", "-p", scene.source, "-f", scene.path("spec")) == (manifest != "d.json")
        )
        try scene.append("!", to: "source/line\nfeed")
        #expect(!HostCommand.works("mtree", "-p", scene.source, "-f", scene.path("spec")))
    }

    @Test(arguments: ["source", "target", "d.json"])
    func sha256sumAcceptsItsExport(manifest: String) throws {
        let scene = try MirrorScene(oddTree).mirrored()
        #expect(try scene.run("manifest", "create", "--digest", "source", "-o", "d.json").code == 0)
        // Not through a string, because names are bytes.
        let command = "'\(try BuiltCommand.path())' manifest export --format sha256sum \(manifest) > sums"
        try HostCommand.run("sh", "-c", "cd '\(scene.directory.path)' && \(command)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scene.path("sums"))).count { $0 == 10 } == 9)
        func check() -> Bool {
            HostCommand.works(
                "sh", "-c", "cd '\(scene.source)' && sha256sum --check --strict '\(scene.path("sums"))'")
        }
        #expect(check())
        try scene.editInSecret("source/line\nfeed", "!")
        #expect(!check())
    }

    @Test func exportSaysWhatItLacks() throws {
        let scene = try MirrorScene(tree)
        #expect(try scene.run("manifest", "create", "source", "-o", "m.json").code == 0)
        try scene.run("manifest", "export", "m.json", "--format", "sha256sum").expect(
            66, says: "fsync-lite manifest create --digest")
        #expect(try scene.run("manifest", "export", "m.json").code == 64)
        try scene.run("manifest", "export", "m.json", "--format", "md5sum").expect(
            64, says: "use one of: mtree, sha256sum")
    }
}
