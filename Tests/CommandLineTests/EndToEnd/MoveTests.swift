import TestSupport
import Testing

@Suite("What moved in the source moves in the target")
struct MoveTests {
    /// Applies. Nothing may be copied, and each of these target objects must be at its new path.
    private func expectMoved(
        _ scene: MirrorScene, _ paths: [String: String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try scene.wholeTarget()
        let report = try scene.mirror("--json", sourceLocation: sourceLocation).json()
        #expect(report.object("summary")?.number("bytes_to_copy") == 0, sourceLocation: sourceLocation)
        #expect(report.object("summary")?.number("delete") == 0, sourceLocation: sourceLocation)
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

    @Test func swappedFilesAreMoved() throws {
        let scene = try MirrorScene(["a": "one", "b": "two"]).mirrored()
        try scene.swap("source/a", "source/b")
        #expect(
            try scene.planned().actionLinesButTimes == ["move b -> a (renamed)", "move a -> b (renamed)"])
        try expectMoved(scene, ["a": "b", "b": "a"])
    }

    @Test func swappedDirectoriesAreMoved() throws {
        let scene = try MirrorScene(["a": .files(0..<3, "content of"), "b": .files(10..<13, "content of")])
            .mirrored()
        try scene.swap("source/a", "source/b")
        try expectMoved(scene, ["a": "b", "b": "a", "a/file 1": "b/file 1", "b/file 11": "a/file 11"])
    }

    @Test func cycleOfThreeIsMoved() throws {
        let scene = try MirrorScene(["a": "one", "b": ["x": "two"], "c": .symlink("three")]).mirrored()
        try scene.move("source/c", to: "aside")
        try scene.move("source/b", to: "source/c")
        try scene.move("source/a", to: "source/b")
        try scene.move("aside", to: "source/a")
        try expectMoved(scene, ["a": "b", "b": "c", "c": "a", "b/x": "c/x"])
    }

    @Test func childTradesPlacesWithItsParent() throws {
        let scene = try MirrorScene(["a": ["b": ["inner": "i"], "outer": "o"]]).mirrored()
        try scene.move("source/a/b", to: "source/b")
        try scene.move("source/a", to: "source/b/a")
        try expectMoved(scene, ["a": "b/a", "a/b": "b", "a/outer": "b/a/outer", "a/b/inner": "b/inner"])
    }

    @Test func movesIntoANewDirectory() throws {
        let scene = try MirrorScene(["a": "one", "d": .files(0..<3, "content of")]).mirrored()
        try scene.build(["sub": [:]], at: "source/new")
        try scene.move("source/a", to: "source/new/a")
        try scene.move("source/d", to: "source/new/sub/d")
        try expectMoved(scene, ["a": "new/a", "d": "new/sub/d", "d/file 2": "new/sub/d/file 2"])
    }

    @Test func movesOutOfADeletedDirectory() throws {
        let scene = try MirrorScene(["old": ["a": "one", "sub": ["b": "two"], "junk": "junk"]]).mirrored()
        try scene.move("source/old/a", to: "source/a")
        try scene.move("source/old/sub", to: "source/sub")
        try scene.remove("source/old")
        let before = try scene.wholeTarget()
        let report = try scene.mirror("--json").json()
        #expect(report.object("summary")?.number("bytes_to_copy") == 0)
        #expect(report.object("summary")?.number("delete") == 2)
        let after = try scene.wholeTarget()
        #expect(before.inode("old/a") == after.inode("a"))
        #expect(before.inode("old/sub/b") == after.inode("sub/b"))
        #expect(try scene.historyKeeps("junk"))
    }

    @Test func movesFromTheDeletedIntoTheNewDirectoryOfTheSameName() throws {
        let scene = try MirrorScene(["d": ["a": "one", "b": "two"]]).mirrored()
        try scene.move("source/d", to: "aside")
        try scene.build([:], at: "source/d")
        try scene.move("aside/a", to: "source/d/a")
        try scene.mirror()
        #expect(try scene.mirror("--json").json().text("outcome") == "unchanged")
    }

    @Test func movedAndEditedFileIsMoveThenUpdate() throws {
        let scene = try MirrorScene(["d": ["a": "one", "b": "two"]]).mirrored()
        try scene.move("source/d", to: "source/e")
        try scene.append("!", to: "source/e/a")
        try scene.move("source/e/b", to: "source/c")
        try scene.append("?", to: "source/c")
        let lines = try scene.planned().actionLinesButTimes
        #expect(lines.contains("move d/b -> c (renamed)"))
        #expect(lines.contains("update c (size, modified)"))
        #expect(lines.contains("move d -> e (renamed)"))
        #expect(lines.contains("update e/a (size, modified)"))
        try scene.mirror()
        #expect(try scene.mirror("--json").json().text("outcome") == "unchanged")
    }

    @Test func kindsOfThingsChangeInPlace() throws {
        let scene = try MirrorScene([
            "f2d": "file", "d2f": ["x": "x", "y": ["z": "z"]], "l2f": .symlink("f2d"), "f2l": "file",
            "d2l": ["q": "q"],
            "l2d": .symlink("nowhere"), "p2f": .fifo(), "f2p": "file",
        ]).mirrored()
        for name in ["f2d", "d2f", "l2f", "f2l", "d2l", "l2d", "p2f", "f2p"] {
            try scene.remove("source/\(name)")
        }
        try scene.build(
            [
                "f2d": ["in": "in"], "d2f": "now a file", "l2f": "now a file", "f2l": .symlink("d2f"),
                "d2l": .symlink("f2d"), "l2d": ["w": "w"], "p2f": "now a file", "f2p": .fifo(),
            ], at: "source")
        let lines = try scene.planned().actionLines
        for name in ["f2d", "d2f", "l2f", "f2l", "d2l", "l2d", "p2f", "f2p"] {
            #expect(lines.contains("update \(name) (type)"))
        }
        try scene.mirror()
        #expect(try scene.mirror("--json").json().text("outcome") == "unchanged")
    }

    @Test func fileMovedOntoTheNameOfADirectoryThatMovedBelowIt() throws {
        let scene = try MirrorScene(["a": ["f": "file", "d": ["x": "x"]], "keep": "k"]).mirrored()
        // a/f gets the name a. The old directory moves below the former a/d.
        try scene.move("source/a", to: "aside")
        try scene.move("aside/f", to: "source/a")
        try scene.move("aside/d", to: "source/d")
        try scene.move("aside", to: "source/d/a")
        try expectMoved(scene, ["a/f": "a", "a/d": "d", "a": "d/a", "a/d/x": "d/x"])
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
