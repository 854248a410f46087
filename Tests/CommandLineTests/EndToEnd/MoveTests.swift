import TestSupport
import Testing

@Suite("What moved in the source moves in the target")
struct MoveTests {
    /// Applies. Nothing may be copied, and each of these target objects must be at its new path.
    private func expectMoved(
        _ scene: MirrorScene, _ paths: [String: String], deleted: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try scene.wholeTarget()
        let report = try scene.mirror("--json", sourceLocation: sourceLocation).json()
        #expect(report.object("summary")?.number("bytes_to_copy") == 0, sourceLocation: sourceLocation)
        #expect(report.object("summary")?.number("delete") == deleted, sourceLocation: sourceLocation)
        let after = try scene.wholeTarget()
        for (old, new) in paths {
            #expect(before.inode(old) == after.inode(new), "\(old) -> \(new)", sourceLocation: sourceLocation)
        }
        let again = try scene.mirror("--json", sourceLocation: sourceLocation).json()
        #expect(again.text("outcome") == "unchanged", sourceLocation: sourceLocation)
    }

    @Test func renamedDirectoryIsOneMoveAndCopiesNothing() throws {
        let scene = try MirrorScene([
            "photos": ["2026": .files(0..<200, "content of"), "cover": "c"], "z": "z",
        ]).mirrored()
        try scene.move("source/photos", to: "source/pictures")
        let plan = try scene.planned()
        #expect(plan.actionLinesButTimes == ["move photos -> pictures (renamed)"])
        #expect(plan.objects("actions").last?.number("entries") == 202)
        try expectMoved(
            scene,
            [
                "photos": "pictures", "photos/2026": "pictures/2026",
                "photos/2026/file 7": "pictures/2026/file 7",
            ])
    }

    /// Also if an editor replaced the file. No file is deleted, so no guard counts one. The history tells the same.
    @Test func filesThatAreEditedInARenamedDirectoryAreUpdated() throws {
        let scene = try MirrorScene([
            "a": ["s": .files(0..<9, "content of"), "f": "f", "g": "g", "type": "t"]
        ]).mirrored()
        try scene.move("source/a", to: "source/b")
        try scene.append("more", to: "source/b/f")
        try scene.remove("source/b/type")
        try scene.build(["type": .symlink("f")], at: "source/b")
        for name in ["g", "s/file 3", "s/file 5"] {
            try scene.build("more than before", at: "source/saved")
            try scene.move("source/saved", to: "source/b/\(name)")
        }
        let lines = try scene.planned().actionLinesButTimes
        #expect(
            lines == [
                "move a -> b (renamed)", "update b/f (size, modified)", "update b/g (size, modified)",
                "update b/s/file 3 (size, modified)", "update b/s/file 5 (size, modified)",
                "update b/type (type)",
            ])
        try scene.mirror("--max-delete", "0")
        try scene.expectMirrored()
        func shown() throws -> [String] {
            try scene.run("snapshot", "show", "--json", "target").json().actionLinesButTimes
        }
        #expect(try shown() == lines)
        try scene.run("snapshot", "log", "target", "b/s/file 3").expect(0, prints: "~ b/s/file 3")
        let undo = try scene.run("undo", "--json", "target").expect(0).json()
        #expect(
            undo.actionLinesButTimes
                == lines.map { $0.replacing("b/", with: "a/").replacing("a -> b", with: "b -> a") })
        #expect(undo.objects("actions").first { $0.text("action") == "move" }?.number("entries") == 13)
        #expect(try shown() == undo.actionLinesButTimes)
        #expect(try scene.text("target/a/g") == "g" && scene.text("target/a/f") == "f")
    }

    /// Nothing replaces the directory, so its excluded files and those of others remain in it, also after an undo.
    @Test func aDirectoryThatIsMadeAnewInARenamedDirectoryIsTheOneThatMoves() throws {
        let scene = try MirrorScene(["d": ["e": ["c": "one"]]]).mirrored("--exclude", "*.log")
        try scene.build("log", at: "target/d/e/x.log")
        try scene.remove("source/d/e")
        try scene.build(["c": "three"], at: "source/d/e")
        try scene.move("source/d", to: "source/D")
        let lines = ["move d -> D (renamed)", "update D/e/c (size, modified)"]
        let plan = try scene.plan("--json", "--exclude", "*.log").expect(0).json()
        // The new file in the target may have changed the time of its directory.
        #expect(plan.actionLinesButTimes.filter { !$0.contains("D/e (modified") } == lines)
        try scene.apply("--exclude", "*.log").expect(0)
        #expect(try scene.text("target/D/e/c") == "three" && scene.text("target/D/e/x.log") == "log")
        let shown = try scene.run("snapshot", "show", "--json", "target").json()
        #expect(shown.actionLinesButTimes.filter { !$0.contains("D/e (modified") } == lines)
        try scene.build("theirs", at: "target/D/e/y")
        try scene.run("undo", "target").expect(0)
        #expect(try scene.text("target/d/e/c") == "one" && scene.text("target/d/e/x.log") == "log")
        #expect(try scene.text("target/d/e/y") == "theirs")
    }

    /// A rollback by `rsync --inplace`. The same size and time do not show the same content.
    @Test(arguments: ["a's content", "other words"])
    func swappedFilesThatGotTheirContentBackAreUpdated(content: String) throws {
        let (early, late) = (TreeTime(1_500_000_000), TreeTime(1_600_000_000))
        let saved: TreeLiteral = [
            "a": .file("a's content", modified: early), "b": .file("b", modified: late),
        ]
        let scene = try MirrorScene(saved).mirrored()
        try scene.build(["a": .file(content, modified: early), "b": .file("b", modified: late)], at: "saved")
        try scene.swap("source/a", "source/b")
        try HostCommand.run("cp", "-p", scene.path("saved/a"), scene.path("saved/b"), scene.source)
        let plan = try scene.planned()
        #expect(plan.actionLinesButTimes == (content == "a's content" ? [] : ["update a (content)"]))
        try scene.mirror()
        try scene.expectMirrored()
        #expect(try scene.planned().actionLinesButTimes == [])
    }

    @Test func aRefusalInARenamedDirectoryNamesBothPaths() throws {
        let scene = try MirrorScene(["a": ["f": "f", "sub": ["x": "x"], "rotten": "1"]]).mirrored("--digest")
        try scene.move("source/a", to: "source/b")
        try scene.editInSecret("source/b/rotten", "2")
        try scene.remove("source/b/sub")
        try scene.build("now a file", at: "source/b/sub")
        try scene.apply("--no-delete").expect(
            4,
            says: "a/sub in the target has files that --no-delete protects, but the source has a new b/sub",
            "the content of b/rotten changed in the source", "Its copy in the target is a/rotten",
            "to read the copies: fsync-lite manifest verify --digest target target. If a copy is good")
    }

    /// Each in a directory of its own: swapped files and directories, a cycle of three, a child that trades places
    /// with its parent, ways into a new directory and out of a deleted one, and a file that gets the name of its
    /// directory, which moves below another one.
    @Test func everyWayIsMovedAtOnce() throws {
        let scene = try MirrorScene([
            "files": ["a": "1", "b": "2"],
            "directories": ["a": .files(0..<3, "content of"), "b": .files(10..<13, "content of")],
            "cycle": ["a": "3", "b": ["x": "4"], "c": .symlink("three")],
            "parent": ["a": ["b": ["inner": "5"], "outer": "6"]],
            "into": ["a": "7", "d": .files(0..<3, "content of")],
            "out": ["old": ["a": "8", "sub": ["b": "9"], "junk": "junk"]],
            "name": ["a": ["f": "10", "d": ["x": "11"]]],
        ]).mirrored()
        for name in ["files", "directories"] { try scene.swap("source/\(name)/a", "source/\(name)/b") }
        try scene.build(["sub": [:]], at: "source/into/new")
        for (name, other) in [
            ("source/cycle/c", "aside"), ("source/cycle/b", "source/cycle/c"),
            ("source/cycle/a", "source/cycle/b"), ("aside", "source/cycle/a"),
            ("source/parent/a/b", "source/parent/b"), ("source/parent/a", "source/parent/b/a"),
            ("source/into/a", "source/into/new/a"), ("source/into/d", "source/into/new/sub/d"),
            ("source/out/old/a", "source/out/a"), ("source/out/old/sub", "source/out/sub"),
            ("source/name/a", "aside"), ("aside/f", "source/name/a"), ("aside/d", "source/name/d"),
            ("aside", "source/name/d/a"),
        ] { try scene.move(name, to: other) }
        try scene.remove("source/out/old")
        try expectMoved(
            scene,
            [
                "files/a": "files/b", "files/b": "files/a", "directories/a": "directories/b",
                "directories/b": "directories/a", "directories/a/file 1": "directories/b/file 1",
                "directories/b/file 11": "directories/a/file 11", "cycle/a": "cycle/b",
                "cycle/b": "cycle/c", "cycle/c": "cycle/a", "cycle/b/x": "cycle/c/x",
                "parent/a": "parent/b/a", "parent/a/b": "parent/b", "parent/a/outer": "parent/b/a/outer",
                "parent/a/b/inner": "parent/b/inner", "into/a": "into/new/a", "into/d": "into/new/sub/d",
                "into/d/file 2": "into/new/sub/d/file 2", "out/old/a": "out/a", "out/old/sub/b": "out/sub/b",
                "name/a/f": "name/a", "name/a/d": "name/d", "name/a": "name/d/a", "name/a/d/x": "name/d/x",
            ], deleted: 2)
        #expect(try scene.historyKeeps("junk"))
    }

    /// Entries that `--no-delete` protects remain in their directory, even if the one above moves away.
    @Test func directoryStaysAtItsPathWhenTheOneAboveMovesAway() throws {
        let scene = try MirrorScene(["a": ["e": ["f": "file", "extra": "x"], "other": "o"]]).mirrored()
        try scene.move("source/a", to: "source/b")
        try scene.build(["a": [:]], at: "source")
        try scene.move("source/b/e", to: "source/a/e")
        try scene.remove("source/a/e/extra")
        #expect(try scene.apply("--no-delete").code == 0)
        #expect(try scene.text("target/a/e/extra") == "x")
        try scene.mirror()
        try scene.expectMirrored()
    }
}
