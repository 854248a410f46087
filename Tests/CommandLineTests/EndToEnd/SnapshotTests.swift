import Foundation
import TestNeeds
import TestSupport
import Testing

/// Earlier trees, by the command.
struct SnapshotTests {
    /// A mirror that keeps everything, after three trees. `trees[0]` is the present one.
    private func history() throws -> (scene: MirrorScene, trees: [TreeSnapshot]) {
        let scene = try MirrorScene([
            "a": "one", "dir": ["x": "x", "y": "y"], "gone": ["deep": "deep"], "link": .symlink("a"),
        ]).mirrored()
        try scene.build(["settings.json": "{\"keep_last\": 20}"], at: "target/.fsync-lite")
        try scene.setMode(0o600, of: "target/.fsync-lite/settings.json")
        var trees = [try TreeSnapshot(scene.target)]
        try scene.append(", two", to: "source/a")
        try scene.move("source/dir", to: "source/moved")
        try scene.setMode(0o640, of: "source/moved/x")
        try scene.remove("source/gone")
        try scene.mirror()
        trees.insert(try TreeSnapshot(scene.target), at: 0)
        try scene.remove("source/link")
        try scene.build(["link": ["now": "a directory"]], at: "source")
        try scene.swap("source/moved/x", "source/moved/y")
        try scene.mirror()
        trees.insert(try TreeSnapshot(scene.target), at: 0)
        return (scene, trees)
    }

    private func expectTree(_ scene: MirrorScene, _ name: String, _ wanted: TreeSnapshot) throws {
        #expect(try TreeSnapshot(scene.path(name)).differences(from: wanted) == [])
    }

    @Test(arguments: [1, 2]) func everyTreeComesBackInPlaceAndGoesAgain(step: Int) throws {
        let (scene, trees) = try history()
        try scene.run("snapshot", "restore", "target", "latest~\(step)", "--in-place").expect(0)
        try expectTree(scene, "target", trees[step])
        #expect(try scene.run("undo", "target").code == 0)
        try expectTree(scene, "target", trees[0])
        // Two more commits.
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").code == 0)
        try expectTree(scene, "copy", trees[0])
        try scene.remove("copy")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.run("snapshot", "prune", "--keep-last", "2", "target").code == 0)
    }

    @Test func pathsOfATree() throws {
        let (scene, trees) = try history()
        try scene.run("snapshot", "restore", "target", "latest~2", "gone", "dir/x", "--to", "copy").expect(0)
        #expect(try TreeSnapshot(scene.path("copy")).paths.sorted() == ["dir", "dir/x", "gone", "gone/deep"])
        #expect(try scene.text("copy/dir/x") == "x")

        // In place, an entry that moved elsewhere since then also remains there.
        try scene.run("snapshot", "restore", "target", "latest~2", "dir/x", "gone/", "--in-place").expect(0)
        #expect(try scene.text("target/dir/x") == "x")
        #expect(try scene.text("target/gone/deep") == "deep")
        #expect(try scene.text("target/moved/y") == "x")
        #expect(try scene.run("undo", "target").code == 0)
        try expectTree(scene, "target", trees[0])
        try scene.run("snapshot", "restore", "target", "latest~2", "nowhere", "--to", "none").expect(66)
    }

    @Test func whatItSays() throws {
        let (scene, _) = try history()
        let lines = try scene.run("snapshot", "show", "target", "latest").lines
        #expect(
            lines.filter { "~+>-".contains($0.prefix(1)) } == [
                "~ link/  (type)", "+ link/now  11 B  (new)", "> moved/y -> moved/x  (renamed)",
                "> moved/x -> moved/y  (renamed)",
            ])
        let log = try scene.run("snapshot", "log", "target", "moved/y").lines.map {
            $0.split(separator: "  ", maxSplits: 2).last.map(String.init) ?? ""
        }
        #expect(log.first == "> moved/x -> moved/y  (renamed)")
        #expect(log.last == "+ dir/x  1 B  (new)")
        let diff = try scene.run("snapshot", "diff", "target", "latest~2", "latest~1").expect(2)
        #expect(diff.lines.contains("- gone/deep  (removed)"))
        #expect(diff.lines.contains("> dir -> moved/  2 files and directories  (renamed)"))
        #expect(try scene.run("snapshot", "diff", "target", "latest", "latest~0").code == 0)
    }

    @Test func aDamagedRecordTakesOnlyWhatIsOlder() throws {
        let (scene, trees) = try history()
        let list = try scene.run("snapshot", "list", "target", "--json").json().objects("snapshots")
        let id = try #require(list[1].text("id"))
        try scene.append("x", to: "target/.fsync-lite/history/\(id)/list.json")
        try scene.run("snapshot", "verify", "target").expect(65, says: "history/\(id)/list.json: line ")
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--to", "none").code == 65)
        #expect(!scene.exists("none"))
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").code == 0)
        try expectTree(scene, "copy", trees[1])
    }

    @Test func aRecordWithoutItsListIsDamaged() throws {
        let (scene, _) = try history()
        let list = try scene.run("snapshot", "list", "target", "--json").json().objects("snapshots")
        try scene.remove("target/.fsync-lite/history/\(try #require(list[0].text("id")))/list.json")
        for command in [["undo", "target"], ["snapshot", "verify", "target"]] {
            try scene.run(command).expect(65, says: "list.json: it is missing")
        }
    }

    @Test(arguments: ["two\nlines", "\u{1B}[31m", String(repeating: "l", count: 256), "\u{202E}x"])
    func aLabelIsAShortLine(label: String) throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.run("snapshot", "create", "target", "--label", label).expect(64, says: "at most 255 bytes")
        #expect(try scene.run("snapshot", "create", "target", "--label", #"Grüße \ 1"#).code == 0)
    }

    @Test(arguments: ["latest", "latest~1", "ID", "SHORT"])
    func aLabelHidesNoOtherName(label: String) throws {
        let (scene, _) = try history()
        let list = try scene.run("snapshot", "list", "target", "--json").json().objects("snapshots")
        let id = try #require(list[1].text(label == "SHORT" ? "short_id" : "id"))
        let name = label.hasPrefix("latest") ? label : id
        #expect(try scene.run("snapshot", "create", "target", "--label", name).code == 64)
        #expect(try scene.run("snapshot", "create", "target", "--label", "late").code == 0)
    }

    @Test func verifyMissesWhatIsGone() throws {
        let (scene, _) = try history()
        let held = try scene.wholeTarget().paths.filter { $0.contains("/0/") }
        try scene.remove("target/" + (try #require(held.first { !$0.contains("deep") })))
        try scene.run("snapshot", "verify", "target").expect(65, says: "missing: an old version of")
    }

    @Test func verifyReadsWhatHasADigest() throws {
        let scene = try MirrorScene(["a": "one", "b": "two", "c": "three"]).mirrored("--digest")
        try scene.append(", more", to: "source/a")
        try scene.remove("source/b")
        try scene.mirror()
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        for (content, other) in [("one", "ono"), ("two", "too")] {
            try scene.editInSecret(try #require(try scene.inHistory(content)), other)
        }
        let verify = try scene.run("snapshot", "verify", "target").expect(65)
        for name in ["a", "b"] {
            #expect(verify.errors.contains("damaged: an old version of \(name)\n"))
        }
    }

    /// Lost content is not in a copy.
    @Test(arguments: ["edited", "secret", "grown"]) func whatHasOtherContentIsNoCopy(change: String) throws {
        let scene = try MirrorScene(["a": "one", "b": "two"])
        // Size and time show the other cases.
        try scene.mirror(change == "secret" ? "--digest" : "--no-acls")
        switch change {
        case "edited": try Data("ONE".utf8).write(to: URL(fileURLWithPath: scene.path("target/a")))
        case "secret": try scene.editInSecret("target/a", "ONE")
        default: try scene.append("!", to: "target/a")
        }
        let run = try scene.run("snapshot", "restore", "target", "latest", "--to", "copy")
        #expect([1, 3].contains(run.code), "\(run.code) \(run.output)")
        #expect(run.errors.contains("a: "), "\(run.errors)")
        #expect(!scene.exists("copy/a"))
    }

    @Test(
        .needs(.strace),
        arguments: [
            PausedCommand.Point.after("renameat2", of: "journal"), .after("unlinkat", of: "journal"),
            .after("unlinkat", of: "manifest.json"), .after("unlinkat", of: "copy"),
        ])
    func aCopyThatWasCutShort(_ point: PausedCommand.Point) throws {
        let (scene, trees) = try history()
        let command = ["snapshot", "restore", "target", "latest~1", "--to", "copy"]
        try scene.paused(command, at: point).kill()
        if point.description.contains("manifest") {
            #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").code == 4)
        }
        let again = try scene.run(command)
        #expect(again.code == (point.description.contains("copy") ? 4 : 0), "\(again.errors)")
        try expectTree(scene, "copy", trees[1])
        #expect(!scene.exists("copy/.fsync-lite") || again.code == 4)
    }

    @Test func refused() throws {
        let (scene, _) = try history()
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "target").code == 4)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "./target").code == 4)
        try scene.build(["mine": "mine"], at: "full")
        try scene.run("snapshot", "restore", "target", "latest~1", "--to", "full").expect(
            4,
            says: "already has files, and a whole tree is copied only to an empty directory. Name the paths")
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "target/inside").code == 4)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1").code == 64)
        #expect(try scene.run("snapshot", "restore", "target", "latest~9", "--in-place").code == 66)
        #expect(try scene.text("full/mine") == "mine")
    }

    @Test(.needs(.strace)) func aReaderWaitsForTheEndOfACommit() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true).mirrored()
        try scene.append("2", to: "source/a")
        let apply = try PausedCommand(
            ["apply", "source", "target"], in: scene.directory.path, at: .after("renameat2", of: "journal"))
        #expect(try apply.waitForPause())
        // It has found the journal.
        let list = try PausedCommand(
            ["snapshot", "list", "target", "--ids"], in: scene.directory.path,
            at: .after("statx", of: "journal"))
        #expect(try list.waitForPause())
        try apply.finish().expect(0)
        let ids = try list.finish().expect(0).lines
        #expect(ids.count == 3)
    }
}
