import Foundation
import TestSupport
import Testing

@Suite("History across changes of filters")
struct FilterHistoryTests {
    /// The entries of the manifest, which are the included ones.
    private func covered(_ scene: MirrorScene) throws -> [String] {
        try scene.run("manifest", "list", "--long", "target").output.split(separator: "\n").map(String.init)
    }

    /// The values of an entry in older records remain true if a run excludes it.
    @Test func undoOfARunThatOnlyCoversLess() throws {
        let scene = try MirrorScene(["a": ["e": [:], "x": "1"], "b": ["z": "3"]]).mirrored()
        try scene.build(["n": ""], at: "source/a/e")
        try scene.mirror("--keep-last", "9")
        let (before, tree) = (try covered(scene), try TreeSnapshot(scene.target))
        #expect(try scene.apply("--exclude", "/a").code == 0)
        #expect(try covered(scene).count == 2)
        #expect(try TreeSnapshot(scene.target) == tree)
        try scene.run("undo", "target").expect(0)
        #expect(try covered(scene) == before)
        #expect(try TreeSnapshot(scene.target) == tree)
        try scene.mirror()
        for age in 0..<4 {
            try scene.run("snapshot", "restore", "target", "latest~\(age)", "--to", "copy \(age)").expect(0)
        }
        #expect(!scene.exists("copy 1/a"))
        #expect(scene.exists("copy 2/a/e/n"))
    }

    /// One run excludes a directory, and the next one includes it again. Neither changes it.
    @Test func showAndLogKnowThatFiltersLeaveEntriesUnchanged() throws {
        let scene = try MirrorScene(["a": "1", "cache": ["f": "f"]]).mirrored("--keep-last", "9")
        try scene.append("2", to: "source/a")
        #expect(try scene.apply("--exclude", "/cache").code == 0)
        try scene.append("3", to: "source/a")
        try scene.mirror()
        for snapshot in ["latest", "latest~1"] {
            let shown = try scene.run("snapshot", "show", "target", snapshot, "--json").json()
            #expect(shown.objects("actions").map { $0.text("path") } == ["a"])
        }
        let log = try scene.run("snapshot", "log", "target", "/cache").expect(0)
        #expect(log.lines.count == 2 && log.lines.allSatisfy { $0.contains("+ cache") }, "\(log.output)")
    }

    /// Somebody moved a directory away, so the restore of an older tree gives its number to the present one.
    @Test func anExcludedDirectoryRemainsUnderAnotherNumber() throws {
        let scene = try MirrorScene(["d": ["a": ["e": [:], "f": "f"], "g": "g"], "x": ["y": "y"]])
            .mirrored("--keep-last", "9")
        try scene.setMode(0o640, of: "source/d/a/f")
        try scene.mirror()
        try scene.move("target/d/a", to: "target/x/moved")
        try scene.run("snapshot", "restore", "target", "initial", "--in-place").expect(0)
        try scene.mirror()
        #expect(try scene.apply("--exclude", "a/").code == 0)
        let (before, tree) = (try covered(scene), try TreeSnapshot(scene.target))
        try scene.run("snapshot", "restore", "target", "latest~4", "--in-place").expect(
            3, says: "d/a/f: its old content is lost")
        #expect(try covered(scene).count == before.count + 3)
        try scene.run("undo", "target").expect(0)
        #expect(try covered(scene) == before)
        #expect(try TreeSnapshot(scene.target) == tree)
        try scene.run("undo", "target").expect(0)
        #expect(try covered(scene).count == before.count + 3)
        #expect(try TreeSnapshot(scene.target).differences(from: tree) == [])
    }

    /// It was changed while filters excluded it.
    @Test func aDirectoryThatStaysIsRecordedAsItIs() throws {
        let scene = try MirrorScene(["d": ["a": "1"]]).mirrored()
        #expect(try scene.apply("--exclude", "d", "--allow-empty-source").code == 0)
        try scene.setAttribute("user.x", "by hand", of: "target/d")
        try scene.setMode(0o700, of: "target/d")
        try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").expect(
            3, says: "d: it was changed while it was excluded")
        #expect(try scene.run("manifest", "verify", "target/.fsync-lite/manifest.json", "target").code == 0)
    }

    /// The directory was excluded, so no change of it was recorded. Somebody moved the one above it.
    @Test(arguments: [1, 2]) func whatReturnsIntoADirectoryThatWasMovedAwayStaysInTheHistory(names: Int)
        throws
    {
        let scene = try MirrorScene(["c": ["f": ["x": "1", "b": "2"]], "e": ""])
        if names == 2 { try scene.link("source/c/f/k", to: "source/c/f/b") }
        try scene.mirror()
        let outside = "outside"
        try scene.build([:], at: outside)
        for name in ["b", "k"].prefix(names) {
            try scene.move("source/c/f/\(name)", to: "\(outside)/\(name)")
        }
        try scene.mirror("--max-delete", "unlimited")
        try scene.run("undo", "target").expect(0)
        for name in ["b", "k"].prefix(names) {
            try scene.move("\(outside)/\(name)", to: "source/c/f/\(name)")
        }
        try scene.mirror()
        try scene.build(["g": [:]], at: "source/c/f")
        try scene.move("source/c/f/b", to: "source/c/f/g/b")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/*", "--allow-empty-source").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~4", "--in-place").code == 0)
        #expect(!scene.exists("target/c/f/g/b"))
        try scene.move("target/c/f", to: "target/moved")
        try scene.run("undo", "target").expect(
            3, says: "c/f/g/b: its directory was removed from the target since; the file is in the history")
        #expect(scene.exists("target/moved/g"))
    }

    @Test func undoOfARunThatCoversMoreLeavesWhatItFound() throws {
        let scene = try MirrorScene(["kept": "kept", "d": ["same": "same", "other": "source's"]])
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.build(["other": "target's", "own": "own"], at: "target/d")
        let (before, tree) = (try covered(scene), try TreeSnapshot(scene.target))
        try scene.mirror()
        #expect(!scene.exists("target/d/own"))
        try scene.run("undo", "target").expect(0)
        #expect(try covered(scene) == before)
        #expect(try TreeSnapshot(scene.target).differences(from: tree) == [])
        // Undoing the undo applies the run again.
        try scene.run("undo", "target").expect(0)
        try scene.expectMirrored()
        try scene.run("undo", "target").expect(0)
        // An edit that was made while no run included the file is left unchanged and reported.
        try scene.append(" and edited", to: "target/d/other")
        try scene.run("undo", "target").expect(3)
        #expect(try scene.text("target/d/other") == "target's and edited")
        try scene.mirror()
    }

    /// An undo leaves an excluded file unchanged that was edited or deleted by hand.
    @Test func whatWasEditedWhileNoRunCoveredItStays() throws {
        let scene = try MirrorScene(["a": "one", "b": "two", "c": "three"]).mirrored()
        #expect(try scene.apply("--exclude", "/a", "--exclude", "/b").code == 0)
        try scene.append(" edited", to: "target/a")
        try scene.remove("target/b")
        try scene.run("undo", "target").expect(3)
        #expect(try scene.text("target/a") == "one edited")
        #expect(!scene.exists("target/b"))
        try scene.mirror()
    }

    @Test func filtersComeBackWithTheTree() throws {
        let scene = try MirrorScene(["a": "one", "b": "two"])
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try scene.mirror()
        try scene.run("undo", "target").expect(0)
        #expect(!scene.exists("target/a"))
        let header = try JSONObject(text: scene.text("target/.fsync-lite/manifest.json"))
        #expect(header.texts("filters") == ["--exclude=/a"])
        #expect(try scene.plan("--exclude", "/a").output.contains("nothing to do"))
    }

    /// The filters change. The earlier ones included a file that was made by hand: it was in no tree.
    @Test func whatEarlierFiltersCoveredIsAnEdit() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored("--keep-last", "9")
        try scene.append("2", to: "source/a")
        try scene.mirror()
        try scene.build(["brought": "x"], at: "target")
        #expect(try scene.apply("--exclude", "/other\\n").code == 0)
        #expect(!scene.exists("target/brought"))
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").code == 0)
        #expect(try scene.text("target/a") == "1")
        #expect(!scene.exists("target/brought"))
    }

    /// Excluded files that remain when the old filters return are in no manifest.
    @Test func aManifestIsNotTrustedAfterARestoreThatLeavesStrangers() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.append("2", to: "source/a")
        #expect(try scene.apply("--exclude", "/own").code == 0)
        try scene.build(["own": "x"], at: "target")
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(scene.exists("target/own"))
        try scene.mirror("--trust-manifest")
    }

    /// Only the change time shows the attribute. A later commit must not hide that.
    @Test func attributesOfWhatIsLeftOutComeBack() throws {
        let scene = try MirrorScene(["a": ["x": "1"], "b": "2"]).mirrored("--keep-last", "9")
        try scene.setAttribute("user.own", "kept", of: "target/a")
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try scene.append("2", to: "source/b")
        #expect(try scene.apply("--exclude", "/a").code == 0)
        let before = try AttributeSnapshot(scene.path("target/a"))
        #expect(try scene.apply("--exclude", "/a", "--delete-excluded").code == 0)
        try scene.run("undo", "target").expect(0)
        #expect(try AttributeSnapshot(scene.path("target/a")) == before)
    }

    /// The restored list has two uncovered names of the file, and the list before it has one, which is covered.
    @Test func undoRemovesTheNameThatARestoreBrought() throws {
        let scene = try MirrorScene(["b": ["c": "1", "g": ["e": "2"]]])
        try scene.link("source/b/g/h", to: "source/b/c")
        try scene.mirror()
        try scene.remove("source/b/g/h")
        try scene.run(
            "apply", "source", "target", "--exclude", "b", "--allow-empty-source", "--change-source"
        ).expect(0)
        try scene.move("source/b/g", to: "source/above")
        try scene.move("source/b", to: "source/above/b")
        try scene.move("source/above", to: "source/b")
        try scene.mirror()
        let before = try TreeSnapshot(scene.target)
        try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").expect(0)
        #expect(scene.exists("target/b/g/h"))
        try scene.run("undo", "target").expect(0)
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
        try scene.run("undo", "target").expect(0)
        #expect(scene.exists("target/b/g/h"))
    }

    /// A run without hard links changes nothing in earlier trees.
    @Test func namesOfOneFileComeBackAfterARunWithoutHardLinks() throws {
        let scene = try MirrorScene(["a": "1"])
        try FileManager.default.linkItem(atPath: scene.path("source/a"), toPath: scene.path("source/b"))
        try scene.mirror()
        #expect(try scene.apply("--no-hard-links").code == 0)
        try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").expect(0)
        #expect(try AttributeSnapshot(scene.path("copy")).entries.values.count { $0.group != nil } == 2)
    }

    /// Somebody replaces one name of a file while it is excluded. The other name is still the file of then.
    @Test(arguments: [["undo", "target"], ["snapshot", "restore", "target", "latest~1", "--in-place"]])
    func aReplacedNameIsNotTheFileOfTheOthers(words: [String]) throws {
        let scene = try MirrorScene(["d": ["a": "one"], "x": "x"])
        try scene.link("source/d/b", to: "source/d/a")
        try scene.mirror()
        try scene.remove("target/d/a")
        try scene.build(["a": "HAND"], at: "target/d")
        try scene.append("x", to: "source/x")
        try scene.apply("--exclude", "d/").expect(0)
        try scene.run(words).expect(3, says: "d/a: it was changed while it was excluded")
        #expect(try scene.text("target/d/a") == "HAND")
        #expect(try scene.text("target/d/b") == "one")
        #expect(try scene.text("target/x") == "x")
    }

    /// A snapshot lists excluded entries that a later run moved into the history. A copy names them, and has those that
    /// its paths name.
    @Test func aCopyNamesExcludedEntriesThatARunTook() throws {
        let scene = try MirrorScene(["d": ["f": "1"], "e": ["f": "2", "g": "3"], "k": "k"]).mirrored()
        try scene.apply("--exclude", "/d", "--exclude", "/e").expect(0)
        try scene.remove("source/e/f")
        try scene.apply("--exclude", "/d", "--exclude", "/e/g", "--delete-excluded").expect(0)
        #expect(!scene.exists("target/d"))
        try scene.run("snapshot", "find", "target", "f").expect(0)
        try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").expect(
            0, says: "restored only if you name them: d and 2 more")
        #expect(try scene.names(in: "copy") == ["k"])
        try scene.run("snapshot", "restore", "target", "latest~1", "e/f", "--to", "path").expect(0)
        #expect(try scene.text("path/e/f") == "2")
    }

    /// Only a file returns, and its directory is excluded now.
    @Test func aPathReturnsIntoAnExcludedDirectory() throws {
        let scene = try MirrorScene(["d": ["f": "1", "g": "g"], "k": "k"]).mirrored()
        try scene.append("2", to: "source/d/f")
        try scene.mirror()
        try scene.apply("--exclude", "d/").expect(0)
        try scene.run("snapshot", "restore", "target", "latest~2", "d/f", "--in-place").expect(0)
        #expect(try scene.text("target/d/f") == "1")
        #expect(try scene.text("target/d/g") == "g")
        try scene.run("undo", "target").expect(0)
        #expect(try scene.text("target/d/f") == "12")
    }

    /// A directory was deleted and made again, and an undo of both runs brings the first one back.
    @Test(arguments: [[], ["--exchange"]])
    func whatNoRunCopiedStaysWhereAnOlderDirectoryReturns(exchange: [String]) throws {
        let scene = try MirrorScene(["d": ["e": ["c": "1", "f": ["g": "2"]]], "k": "k"]).mirrored(
            "--exclude", "*.log")
        func apply() throws {
            try scene.run(["apply", "source", "target", "--exclude", "*.log"] + exchange).expect(0)
        }
        try scene.remove("source/d/e")
        try apply()
        try scene.build(["c": "3", "new": "4"], at: "source/d/e")
        try apply()
        try scene.build("log", at: "target/d/e/x.log")
        try scene.build("theirs", at: "target/d/e/y")
        func expectTheirs() throws {
            #expect(try scene.text("target/d/e/x.log") == "log" && scene.text("target/d/e/y") == "theirs")
        }
        try scene.run("undo", "--steps", "2", "target").expect(0)
        try expectTheirs()
        #expect(try scene.text("target/d/e/c") == "1" && scene.text("target/d/e/f/g") == "2")
        #expect(!scene.exists("target/d/e/new"))
        try scene.run("undo", "target").expect(0)
        try expectTheirs()
        #expect(try scene.text("target/d/e/c") == "3" && scene.text("target/d/e/new") == "4")
        #expect(!scene.exists("target/d/e/f"))
        try scene.run("snapshot", "verify", "target").expect(0)
    }

    /// A directory moves with an excluded one, whose place a file takes.
    @Test func leftOutContentIsNotDisplacedWhereItsDirectoryIsMovedTo() throws {
        let scene = try MirrorScene(["a": ["in": ["left": "1", "x": "2"]]]).mirrored()
        try scene.move("source/a", to: "source/b")
        try scene.remove("source/b/in")
        try scene.build(["in": "3"], at: "source/b")
        let before = try TreeSnapshot(scene.target)
        try scene.apply("--exclude", "left").expect(4)
        #expect(try TreeSnapshot(scene.target) == before)
        #expect(try scene.apply("--exclude", "left", "--delete-excluded").code == 0)
        #expect(try scene.text("target/b/in") == "3")
    }

    /// In place of a lost file, a file that the old filters exclude remains.
    @Test func whatStaysForALostFileMayBeLeftOut() throws {
        let scene = try MirrorScene(["c": "1"])
        #expect(try scene.apply("--exclude", "/c/b").code == 0)
        try scene.move("source/c", to: "source/moved")
        try scene.build(["c": ["b": "2"]], at: "source")
        try scene.mirror()
        try scene.remove("target/moved")
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 3)
        #expect(try scene.text("target/c/b") == "2")
        #expect(try scene.run("snapshot", "restore", "target", "latest", "--to", "copy").code == 0)
        #expect(scene.exists("copy/c") && !scene.exists("copy/c/b"))
        try scene.mirror()
    }
}
