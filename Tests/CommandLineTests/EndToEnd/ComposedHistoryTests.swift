import Foundation
import TestNeeds
import TestSupport
import Testing

/// Earlier trees with hard links, excluded entries and edits by hand: an example of each rule, and hazards
/// that are rare. `scripts/sequences` draws the others.
struct ComposedHistoryTests {
    private func expectTree(
        _ scene: MirrorScene, _ snapshot: String, _ wanted: AttributeSnapshot, inPlace: Bool = false
    ) throws {
        try scene.run(
            ["snapshot", "restore", "target", snapshot] + (inPlace ? ["--in-place"] : ["--to", "copy"])
        ).expect(0)
        let found = try AttributeSnapshot(scene.path(inPlace ? "target" : "copy"))
        #expect(found.differences(from: wanted) == [])
    }

    /// The paths of the included entries.
    private func covered(_ scene: MirrorScene) throws -> [String] {
        try scene.run("manifest", "list", "target").lines
    }

    /// An edit of an entry that was excluded before remains.
    @Test func whatAnUndoLeavesTakesNoPartWhereItTookNone() throws {
        let scene = try MirrorScene(["a": "1", "z": "z"])
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try scene.mirror()
        try scene.append("2", to: "target/a")
        #expect(try scene.run("undo", "target").code == 3)
        #expect(try scene.text("target/a") == "12")
        #expect(try covered(scene) == ["z"])
    }

    /// An undo would remove a directory that came back. It remains because of a file that was put there by
    /// hand.
    @Test func whatStaysForWhatIsNobodysTakesNoPart() throws {
        let scene = try MirrorScene(["d": ["x": "1"], "z": "z"]).mirrored("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.remove("source/d")
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        try scene.build(["own": "own"], at: "target/d")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(scene.exists("target/d/own"))
        #expect(try covered(scene) == ["z"])
    }

    /// A directory comes back to a path where another one is excluded. It does not get the other's content.
    @Test func whatTakesNoPartIsNotTheObjectOfThen() throws {
        let scene = try MirrorScene(["a": ["x": "1"]]).mirrored("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.source)
        try scene.move("source/a", to: "source/b")
        try scene.mirror()
        try scene.build(["a": ["new": "2"]], at: "source")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try expectTree(scene, "latest~3", wanted, inPlace: true)
    }

    /// A file is put in place of an excluded directory by hand, and an undo moves the directory above.
    @Test func whatMovesAlongStandsInTheWayWhereItArrives() throws {
        let scene = try MirrorScene(["d": ["f": ["x": "1"]]]).mirrored()
        try scene.move("source/d", to: "source/e")
        #expect(try scene.apply("--exclude", "f").code == 0)
        try scene.remove("target/e/f")
        try scene.build(["f": "edited"], at: "target/e")
        try scene.run("undo", "target").expect(3)
        #expect(try scene.text("target/d/f") == "edited")
        #expect(try covered(scene) == ["d"])
    }

    /// A directory is moved away by hand, and a file is put in place of the one that contained it.
    @Test func whatIsLostWithTheDirectoryThatHeldItIsOffTheRecord() throws {
        let scene = try MirrorScene(["d": ["e": ["x": "1"]], "z": "z"]).mirrored()
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.move("target/d/e", to: "target/moved")
        try scene.remove("target/d")
        try scene.build(["d": "edited"], at: "target")
        try scene.run("undo", "target").expect(3)
        #expect(try covered(scene) == ["z"])
    }

    /// An excluded directory is removed with one name of a file. The other name remains, and is then
    /// excluded.
    @Test func namesThatTookNoPartComeBackToTheirFile() throws {
        let scene = try MirrorScene(["e": "1", "h": ["b": "b"], "z": "z"])
        try scene.link("source/h/e", to: "source/e")
        try scene.mirror("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/h").code == 0)
        try scene.remove("source/h")
        let wanted = try AttributeSnapshot(scene.target)
        #expect(try scene.apply("--exclude", "/e").code == 0)
        #expect(!scene.exists("target/h"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try AttributeSnapshot(scene.target).differences(from: wanted) == [])
    }

    /// Two symlinks that look alike are two objects, even if an exchange makes one of them again.
    @Test func aSymlinkThatLooksAlikeIsAnotherObject() throws {
        let link = TreeLiteral.symlink("x", modified: TreeTime(1_600_000_000, 0))
        let scene = try MirrorScene(["l": link, "z": "z"]).mirrored("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.target)
        try scene.remove("source/l")
        try scene.mirror()
        try scene.build(["l": link], at: "source")
        try scene.mirror()
        try scene.remove("source/l")
        try scene.mirror()
        // The second one is back, and its slot is empty.
        #expect(try scene.run("undo", "target").code == 0)
        try scene.append("2", to: "source/z")
        #expect(try scene.apply("--exchange", "--exclude", "l").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~5", "--in-place").code == 0)
        #expect(try AttributeSnapshot(scene.target).differences(from: wanted) == [])
        try scene.run("snapshot", "verify", "target").expect(0)
    }

    /// One name is excluded, and the other one is removed or moves. The first one remains in its place.
    @Test(arguments: [nil, "source/d"])
    func aNameThatTakesNoPartGivesItsFileToNoOther(newName: String?) throws {
        let scene = try MirrorScene(["a": "1", "c": ["z": "z"]])
        try scene.link("source/c/b", to: "source/a")
        try scene.mirror("--keep-last", "9")
        #expect(try scene.apply("--exclude", "b").code == 0)
        let wanted = try AttributeSnapshot(scene.target)
        if let newName { try scene.move("source/a", to: newName) } else { try scene.remove("source/a") }
        #expect(try scene.apply("--exclude", "b").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").code == 0)
        #expect(try scene.text("copy/a") == "1")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try AttributeSnapshot(scene.target).differences(from: wanted) == [])
    }

    /// One name is excluded, and the other one gets older attributes back. From then on there are two files.
    @Test(arguments: [[], ["--exchange"]], ["a", "b"])
    func aNameThatGetsItsAttributesBackAloneIsAFileOfItsOwn(options: [String], leftOut: String) throws {
        let scene = try MirrorScene(["a": "1", "b": "1", "c": "c"])
        let other = leftOut == "a" ? "b" : "a"
        try scene.remove("source/\(leftOut)")
        try scene.setMode(0o600, of: "source/\(other)")
        try scene.mirror("--keep-last", "9")
        try scene.setMode(0o644, of: "source/\(other)")
        try scene.link("source/\(leftOut)", to: "source/\(other)")
        try scene.mirror()
        let leavingOut = ["apply", "source", "target", "--exclude", "/\(leftOut)"]
        try scene.append("!", to: "source/c")
        #expect(try scene.run(leavingOut + options).code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").code == 0)
        func state() throws -> [[UInt64]] {
            try ["a", "b"].map { try scene.status("target/\($0)") }.map {
                [UInt64($0.st_mode), UInt64($0.st_nlink)]
            }
        }
        let wanted = try (state(), AttributeSnapshot(scene.target))
        try scene.remove("source/\(leftOut)")
        try scene.append("!", to: "source/\(other)")
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try state() == wanted.0)
        #expect(try AttributeSnapshot(scene.target).differences(from: wanted.1) == [])
    }

    /// A directory comes back from the history, a file in it is edited by hand, and the directory leaves
    /// again. The record of that names the new file by its other name.
    @Test func aFileThatWasEditedInAReturnedDirectoryIsLost() throws {
        let scene = try MirrorScene(["d": ["f": "1111"], "z": "z"])
        let time = TreeTime(1_600_000_000, 0)
        try scene.setTime(time, of: "source/d/f")
        try scene.mirror("--keep-last", "9")
        try scene.remove("source/d")
        try scene.mirror()
        try scene.run("undo", "target").expect(0)
        try scene.append("by hand", to: "target/d/f")
        try scene.build(["d": ["f": "2222"]], at: "source")
        try scene.setTime(time, of: "source/d/f")
        try scene.link("source/d/a", to: "source/d/f")
        try scene.mirror()
        try scene.remove("source/d")
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~4", "--to", "copy").expect(3)
        #expect(scene.exists("copy/d") && !scene.exists("copy/d/f"))
    }

    /// Filters exclude a directory that has replaced another one, and an entry in it remains.
    @Test func aDirectoryThatIsLeftOutStaysWhereAnotherOneWas() throws {
        let scene = try MirrorScene(["k": "k", "d": ["f": ["x": "x"]]]).mirrored("--keep-last", "9")
        try scene.append("1", to: "source/k")
        #expect(try scene.apply("--exclude", "/d").code == 0)
        // It is removed with the filter, and another one comes.
        try scene.move("source/d/f", to: "source/f")
        try scene.remove("source/d")
        try scene.mirror("--max-delete", "unlimited")
        try scene.build(["d": ["g": ["y": "y"]]], at: "source")
        try scene.move("source/f", to: "source/d/f")
        try scene.mirror("--max-delete", "unlimited")
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").expect(0)
        #expect(try scene.text("target/d/f/x") == "x")
        #expect(try scene.text("target/d/g/y") == "y")
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
    }

    /// Two excluded files are swapped by hand, and an exchange copies them. Each is still the other one.
    @Test(.needs(.btrfs))
    func whatTakesNoPartIsKnownAsTheCopyOfItsObject() throws {
        let scene = try MirrorScene([:], inMemory: true)
        try TestDisk.btrfs.mounted(at: scene.directory.path) {
            let time = TreeTime(2000, 0)
            try scene.build(["a": "1", "b": "2", "other": "3"], at: "source")
            for name in ["a", "b"] { try scene.setTime(time, of: "source/\(name)") }
            try scene.mirror("--keep-last", "9")
            #expect(try scene.apply("--exclude", "?").code == 0)
            try scene.swap("target/a", "target/b")
            try scene.append("3", to: "source/other")
            #expect(try scene.apply("--exchange", "--exclude", "?").code == 0)
            try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").expect(3)
            #expect(try scene.text("target/a") == "2")
        }
    }

    /// An edited object that is excluded is moved into the history. Its older content is lost.
    @Test func editsOfWhatTakesNoPartAreOnRecord() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored("--keep-last", "9")
        try scene.move("source/a", to: "source/b")
        try scene.mirror()
        try scene.build(["a": "2"], at: "source")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try scene.remove("target/a")
        try scene.build(["a": .symlink("x")], at: "target")
        #expect(try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").code == 0)
        try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").expect(
            3, says: "a: its old content is lost")
    }

    /// A symlink is changed by hand before it is excluded.
    @Test func editedSymlinksThatAreLeftOutAreKnown() throws {
        let scene = try MirrorScene(["l": .symlink("x"), "z": "z"]).mirrored("--keep-last", "9")
        try scene.remove("target/l")
        try scene.build(["l": .symlink("y")], at: "target")
        let wanted = try TreeSnapshot(scene.target)
        #expect(try scene.apply("--exclude", "/l").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(try TreeSnapshot(scene.target) == wanted)
        #expect(try covered(scene) == ["l", "z"])
    }

    /// The filters exclude directories, and a file is replaced by one by hand.
    @Test func whatTookThePlaceOfAnotherTypeTookNoPart() throws {
        let scene = try MirrorScene(["d": "1"])
        #expect(try scene.apply("--keep-last", "9", "--exclude", "/d/").code == 0)
        try scene.remove("target/d")
        try scene.build(["d": ["own": "own"]], at: "target")
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/d/own") == "own")
        #expect(try covered(scene) == [])
    }

    /// A directory remains because of excluded content, and a file is excluded. The source has neither.
    @Test func attributesAreOnRecordOfWhatIsNotCompared() throws {
        let scene = try MirrorScene(["d": ["e": "e"], "f": "f", "z": "z"])
        #expect(try scene.apply("--keep-last", "9", "--exclude", "/d/x").code == 0)
        try scene.build(["x": "own"], at: "target/d")
        let wanted = try AttributeSnapshot(scene.source)
        try scene.append("z", to: "source/z")
        #expect(try scene.apply("--exclude", "/d/x").code == 0)
        for name in ["d", "f"] { try scene.setAttribute("user.own", "own", of: "target/\(name)") }
        try scene.remove("source/d")
        #expect(try scene.apply("--exclude", "/d/x", "--exclude", "/f").code == 0)
        try expectTree(scene, "latest~2", wanted)
    }

    /// An excluded entry comes back. The directory that contained it remains elsewhere, or comes back with the
    /// one above it.
    @Test(arguments: [
        ("p/h", "k", "/k", ["k", "k/y", "p", "p/h", "p/h/x"]),
        ("p", "q", "/q/h", ["p", "p/h", "p/h/x", "p/h/y"]),
    ])
    func whatComesBackHasADirectory(old: String, new: String, excluded: String, paths: [String]) throws {
        let scene = try MirrorScene(["p": ["h": ["x": "1", "y": "2"]]]).mirrored("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/p/h").code == 0)
        try scene.remove("source/p/h/x")
        try scene.mirror()
        try scene.move("source/\(old)", to: "source/\(new)")
        try scene.mirror()
        #expect(try scene.apply("--exclude", excluded).code == 0)
        try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").expect(0)
        let wanted = try TreeSnapshot(scene.target)
        #expect(wanted.paths == paths)
        #expect(try covered(scene) == ["p"])
        for _ in 1...2 { #expect(try scene.run("undo", "target").code == 0) }
        #expect(try TreeSnapshot(scene.target) == wanted)
    }

    /// A name comes back to a file that has not changed since then, on either side.
    @Test(.needs(.later))
    func aNewNameIsRecordedAsTheFileThatItIsOf() throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.setAttribute("user.a", "1", of: "source/a")
        try scene.mirror("--keep-last", "9")
        try scene.link("source/b", to: "source/a")
        try scene.mirror()
        try scene.settle()
        #expect(try scene.run("undo", "target").code == 0)
        try scene.mirror()
        try scene.run("manifest", "verify", "target", "target").expect(0)
    }

    /// The same for the content of such a directory, if that tree has a file or another one at its path.
    @Test(arguments: ["1", ["y": "1"]] as [TreeLiteral])
    func whatLiesInWhatCameLaterIsNotInThatTree(_ node: TreeLiteral) throws {
        let scene = try MirrorScene(["c": node, "z": "z"])
        let wanted = try TreeSnapshot(scene.source)
        #expect(try scene.apply("--keep-last", "9", "--exclude", "/c/x").code == 0)
        try scene.remove("source/c")
        #expect(try scene.apply("--exclude", "/c/x").code == 0)
        #expect(try scene.apply("--exclude", "/c").code == 0)
        try scene.build(["c": ["x": "2"]], at: "target")
        #expect(try scene.apply("--max-delete", "unlimited").code == 0)
        #expect(!scene.exists("target/c"))
        try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").expect(0)
        #expect(try TreeSnapshot(scene.target).differences(from: wanted) == [])
    }

    /// Two files of the same size and time are swapped by hand, or the whole target is a copy.
    @Test(arguments: [false, true], [false, true])
    func aCopyTellsWhatMayHaveBeenSwapped(withDigest: Bool, isLeftOut: Bool) throws {
        let scene = try MirrorScene(["a": "1", "b": "2", "other": "3"])
        for name in ["a", "b"] { try scene.setTime(TreeTime(2000, 0), of: "source/\(name)") }
        #expect(try scene.run(["apply", "source", "target"] + (withDigest ? ["--digest"] : [])).code == 0)
        if isLeftOut { #expect(try scene.apply("--exclude", "?").code == 0) }
        let snapshot = isLeftOut ? "latest~1" : "latest"
        try scene.swap("target/a", "target/b")
        let run = try scene.run("snapshot", "restore", "target", snapshot, "--to", "copy").expect(3)
        for name in ["a", "b"] {
            #expect(
                run.errors.contains(
                    withDigest ? "\(name): its old content is lost" : "\(name): another file has replaced it")
            )
            #expect(scene.exists("copy/\(name)") == !withDigest)
        }
        #expect(try scene.text("copy/other") == "3")
        try scene.swap("target/a", "target/b")
        try HostCommand.run("cp", "-a", scene.target, scene.path("moved"))
        try scene.remove("target")
        try scene.move("moved", to: "target")
        #expect(try scene.run("snapshot", "restore", "target", snapshot, "--to", "again").code == 0)
    }

    /// A file of several names: one is replaced in the source and so displaced, the other is removed from the target.
    @Test func aFileReturnsFromTheHistoryIfItsOtherNameIsGone() throws {
        let scene = try MirrorScene(["a": "one"])
        try scene.link("source/b", to: "source/a")
        try scene.mirror()
        try scene.remove("source/a")
        try scene.build(["a": "two"], at: "source")
        try scene.mirror()
        try scene.remove("target/b")
        try scene.run("snapshot", "restore", "target", "latest~1", "a", "--to", "copy").expect(0)
        #expect(try scene.text("copy/a") == "one")
        try scene.run("undo", "target").expect(3, says: "b: it was removed from the target since")
        #expect(try scene.text("target/a") == "one")
    }

    /// A new file, of the same size and time, has replaced a file of the target. A copy has its content.
    @Test func aCopyNamesAFileThatANewOneHasReplaced() throws {
        let scene = try MirrorScene(["a": "one", "other": "x"])
        try scene.setTime(TreeTime(2000, 0), of: "source/a")
        try scene.mirror()
        try scene.append("y", to: "source/other")
        try scene.mirror()
        try scene.build(["new": "HAN"], at: "target")
        try scene.setTime(TreeTime(2000, 0), of: "target/new")
        try scene.remove("target/a")
        try scene.move("target/new", to: "target/a")
        let restore = ["snapshot", "restore", "target", "latest~1", "--to", "copy"]
        try scene.run(restore).expect(3, says: "a: another file has replaced it")
    }

    /// A name in the target shares its file with one in the history. It is overwritten, and its time
    /// restored. As the digests show, the next run copies the old content again.
    @Test(arguments: [false, true])
    func whatWasOverwrittenByAnotherNameIsRestoredFromTheNewCopy(isReplaced: Bool) throws {
        let scene = try MirrorScene(["a": "old", "other": "3"])
        try scene.link("source/b", to: "source/a")
        #expect(try scene.apply("--digest").code == 0)
        try scene.remove("source/a")
        try scene.mirror()
        try scene.editInSecret("target/b", "new")
        if isReplaced {
            try scene.build(["new": "x"], at: "target")
            try scene.move("target/new", to: "target/b")
        }
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").expect(0)
        #expect(try scene.text("copy/a") == "old" && scene.text("copy/other") == "3")
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
    }

    /// A file that moved, or got another mode, still has its digest in earlier snapshots.
    @Test func digestsOfMovedFilesAreCompared() throws {
        let scene = try MirrorScene(["a": "one", "b": "two", "c": "3"])
        #expect(try scene.apply("--digest").code == 0)
        try scene.move("source/a", to: "source/moved")
        try scene.setMode(0o600, of: "source/b")
        try scene.mirror()
        for name in ["moved", "b"] { try scene.editInSecret("target/\(name)", "rot") }
        let run = try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").expect(3)
        for name in ["a", "b"] {
            #expect(run.errors.contains("\(name): its old content is lost"), "\(run.errors)")
            #expect(!scene.exists("copy/\(name)"))
        }
        #expect(try scene.text("copy/c") == "3")
    }

    /// Only the change time shows an edit of a file that leaves and comes back before it is compared.
    @Test func whatNobodyComparedIsComparedWhenItComesBack() throws {
        let scene = try MirrorScene(["z": "z"]).mirrored("--digest", "--keep-last", "9")
        try scene.build(["a": "first"], at: "source")
        try scene.mirror("--digest")
        try scene.append("z", to: "source/z")
        try scene.mirror("--digest")
        try scene.editInSecret("target/a", "drift")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").code == 0)
        #expect(!scene.exists("target/a"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/a") == "drift")
        #expect(try scene.apply("--digest").code == 0)
        #expect(try scene.text("target/a") == "first")
    }
}
