import Foundation
import TestNeeds
import TestSupport
import Testing

/// Earlier trees that several records tell of: what is linked, what takes no part, what somebody edited. Each of these
/// was found by `scripts/sequences`.
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

    /// Paths of the entries that take part.
    private func covered(_ scene: MirrorScene) throws -> [String] {
        try scene.run("manifest", "list", "target").output.split(separator: "\n").map(String.init)
    }

    /// One name gets other times, the other is replaced: what they were then tells that they are one file.
    @Test func namesAreLinkedAgainWhateverTheirTimesAreNow() throws {
        let scene = try MirrorScene(["a": .symlink("x"), "z": "z"])
        try scene.link("source/b", to: "source/a")
        try scene.mirror("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.source)
        try scene.setTime(TreeTime(2000, 0), of: "source/a")
        try scene.mirror()
        try scene.remove("source/b")
        try scene.build(["b": "new"], at: "source")
        try scene.mirror()
        try expectTree(scene, "latest~2", wanted)
    }

    /// An exchange copies what it gives other attributes; the copy stands for the file that has names in the history.
    @Test(.needs(.btrfs))
    func copiesThatExchangesMadeAreTheFileStill() throws {
        let scene = try MirrorScene([:], inMemory: true)
        try TestDisk.btrfs.mounted(at: scene.directory.path) {
            try scene.build(["a": "1", "z": "z"], at: "source")
            try scene.link("source/b", to: "source/a")
            try scene.link("source/c", to: "source/a")
            try scene.mirror("--keep-last", "9")
            let wanted = try AttributeSnapshot(scene.source)
            try scene.remove("source/c")
            try scene.mirror()
            try scene.append("z", to: "source/z")
            try scene.mirror("--exchange")
            try scene.setMode(0o600, of: "source/a")
            try scene.mirror("--exchange")
            try scene.setTime(TreeTime(2000, 0), of: "source/a")
            try scene.mirror()
            try expectTree(scene, "latest~4", wanted)
        }
    }

    /// What took part then and takes none now stays, but not where the earlier tree has something else.
    @Test func whatIsInTheWayOfAnEarlierTreeGivesWay() throws {
        let scene = try MirrorScene(["c": ["c": ["y": "2"], "x": "1"], "z": "z"]).mirrored("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.source)
        try scene.move("source/c", to: "source/n")
        try scene.build(["c": [:]], at: "source")
        try scene.move("source/n/c", to: "source/c/f")
        try scene.move("source/n", to: "source/c/c")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/c").code == 0)
        try expectTree(scene, "latest~2", wanted, inPlace: true)
    }

    /// A directory that a restore left takes part again, with what somebody had put there.
    @Test func whatLiesInAStrangersDirectoryWasInNoTree() throws {
        let scene = try MirrorScene(["d": ["b": ["x": "1"], "e": "e"], "z": "z"]).mirrored("--keep-last", "9")
        try scene.move("target/d/b", to: "target/d/new")
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(scene.exists("target/d/new/x"))
        try scene.remove("source/d/b")
        try scene.build(["new": [:]], at: "source/d")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").expect(0)
        #expect(!scene.exists("copy/d"))
    }

    /// Something comes back that took no part then, and somebody has moved its directory since.
    @Test func whatComesBackHasItsDirectory() throws {
        let scene = try MirrorScene(["e": "e", "h": ["h": ["x": "1"]]]).mirrored("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/h").code == 0)
        try scene.remove("source/h/h/x")
        try scene.mirror()
        try scene.move("target/h/h", to: "target/h/b")
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").expect(0)
        #expect(try scene.text("target/h/h/x") == "1")
    }

    /// What the filters of then cover and their tree did not have was not there, nor was anything in it.
    @Test func nothingIsInADirectoryThatWasNotThere() throws {
        let scene = try MirrorScene(["e": "e"])
        #expect(try scene.apply("--keep-last", "9", "--exclude", "*.x").code == 0)
        try scene.build(["g": ["f.x": ["y": "1"]]], at: "target")
        #expect(try scene.apply("--exclude", "/g").code == 0)
        #expect(try scene.apply("--no-delete").code == 0)
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").expect(0)
        #expect(try TreeSnapshot(scene.target).paths == ["e"])
    }

    /// What was made by hand while no run covered it was not there before the first run.
    @Test func theInitialTreeHasNoFilters() throws {
        let scene = try MirrorScene(["z": "z"])
        #expect(try scene.apply("--keep-last", "9", "--exclude", "/own").code == 0)
        try scene.build(["own": "own"], at: "target")
        try scene.mirror()
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").code == 0)
        #expect(try TreeSnapshot(scene.target).paths == [])
    }

    /// An edit stays that was made to what took no part before.
    @Test func whatAnUndoLeavesTakesNoPartWhereItTookNone() throws {
        let scene = try MirrorScene(["a": "1", "z": "z"])
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try scene.mirror()
        try scene.append("2", to: "target/a")
        #expect(try scene.run("undo", "target").code == 3)
        #expect(try scene.text("target/a") == "12")
        #expect(try covered(scene) == ["z"])
    }

    /// A directory that an undo brought back would go again, but for what somebody put there.
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

    /// A directory comes back to where another one takes no part: nothing is in it that the other one held.
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

    /// Somebody puts a file in the place of a directory that takes no part, and an undo moves what holds it.
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

    /// Somebody moves a directory away and puts a file in the place of the one that held it.
    @Test func whatIsLostWithTheDirectoryThatHeldItIsOffTheRecord() throws {
        let scene = try MirrorScene(["d": ["e": ["x": "1"]], "z": "z"]).mirrored()
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.move("target/d/e", to: "target/moved")
        try scene.remove("target/d")
        try scene.build(["d": "edited"], at: "target")
        try scene.run("undo", "target").expect(3)
        #expect(try covered(scene) == ["z"])
    }

    /// Another file comes back into a directory that takes no part, and somebody has made a file of that.
    @Test func nothingIsOnRecordBelowWhatIsNoDirectory() throws {
        let scene = try MirrorScene(["d": ["x": "1"], "z": "z"]).mirrored("--keep-last", "9")
        try scene.build(["new": "2"], at: "source")
        try scene.move("source/new", to: "source/d/x")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.remove("target/d")
        try scene.build(["d": "edited"], at: "target")
        try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").expect(3)
        #expect(try covered(scene) == ["z"])
    }

    /// What takes no part any more goes to the history, since something of an older tree comes to its path.
    @Test func whatTookPartOnceIsFoundWhereItWasDisplacedLater() throws {
        let scene = try MirrorScene(["e": ["x": "1"], "z": "z"]).mirrored("--keep-last", "9")
        try scene.remove("source/e")
        try scene.mirror()
        try scene.build(["e": ["x": "22"]], at: "source")
        try scene.mirror()
        let wanted = try AttributeSnapshot(scene.source)
        #expect(try scene.apply("--exclude", "/*", "--allow-empty-source").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").code == 0)
        #expect(try scene.text("target/e/x") == "1")
        try expectTree(scene, "latest~2", wanted)
    }

    /// A directory goes, another one comes to its path, and a file there is replaced.
    @Test(arguments: [[], ["--exchange"]])
    func whatADirectoryHeldGoesWithItAlsoWhereAnotherOneComes(options: [String]) throws {
        let scene = try MirrorScene(["d": ["f": "of d", "g": "g"], "n": ["f": "of n"], "z": "z"]).mirrored()
        let wanted = try AttributeSnapshot(scene.target)
        try scene.remove("source/d")
        try scene.move("source/n", to: "source/d")
        try scene.remove("source/d/f")
        try scene.build(["f": "new"], at: "source/d")
        try scene.run(["apply", "source", "target", "--max-delete", "unlimited"] + options).expect(0)
        try expectTree(scene, "latest~1", wanted)
        #expect(try scene.text("copy/d/f") == "of d")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try (scene.text("target/d/f"), scene.text("target/n/f")) == ("of d", "of n"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/d/f") == "new")
    }

    /// A directory that took no part goes, with one name of a file: the other one stays, and takes no part from then on.
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

    /// Two symlinks that look alike are two objects, also where an exchange makes one of them anew.
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

    /// A file moves out of a directory that goes, with other content: what it held goes with the directory.
    @Test func whatAFileHeldBeforeItLeftItsDirectoryGoesWithThat() throws {
        let scene = try MirrorScene(["h": ["a": "a", "b": "b"], "z": "z"]).mirrored()
        let wanted = try AttributeSnapshot(scene.target)
        try scene.append("2", to: "source/h/a")
        try scene.move("source/h/a", to: "source/f")
        try scene.remove("source/h")
        try scene.mirror()
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        try expectTree(scene, "latest~1", wanted)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try (scene.text("target/h/a"), scene.text("target/h/b")) == ("a", "b"))
        #expect(!scene.exists("target/f"))
    }

    /// One name takes no part, the other one goes or moves: the first stays where it is.
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

    /// One name is left out, and the other one gets attributes back that the file had: from then on there are two files.
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
        func state() throws -> [NSDictionary] {
            try ["a", "b"].map {
                let all = try FileManager.default.attributesOfItem(atPath: scene.path("target/\($0)"))
                return all.filter { [.posixPermissions, .referenceCount].contains($0.key) } as NSDictionary
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

    /// One name of a file goes while another one is left out, and both are covered in the tree that comes back.
    @Test func aNameComesBackBesideOneThatIsCoveredAgain() throws {
        let scene = try MirrorScene(["a": ["c": "1"], "k": "k"])
        try scene.link("source/h", to: "source/a/c")
        try scene.mirror("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.target)
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try scene.remove("source/h")
        #expect(try scene.apply("--exclude", "/a").code == 0)
        try expectTree(scene, "latest~2", wanted, inPlace: true)
    }

    /// Two names of a file lie in a directory that is not wanted itself.
    @Test func namesThatLieInADisplacedDirectoryComeBackTogether() throws {
        let scene = try MirrorScene(["a": "1", "k": "k"])
        try scene.link("source/b", to: "source/a")
        try scene.mirror("--keep-last", "9")
        let wanted = try AttributeSnapshot(scene.target)
        try scene.build(["d": [:]], at: "source")
        for name in ["a", "b"] { try scene.move("source/\(name)", to: "source/d/\(name)") }
        try scene.mirror()
        try scene.remove("source/d")
        try scene.mirror("--max-delete", "unlimited")
        try expectTree(scene, "latest~2", wanted, inPlace: true)
    }

    /// Filters leave a directory out, which another one has replaced since and something stays in.
    @Test func aDirectoryThatIsLeftOutStaysWhereAnotherOneWas() throws {
        let scene = try MirrorScene(["k": "k", "d": ["f": ["x": "x"]]]).mirrored("--keep-last", "9")
        try scene.append("1", to: "source/k")
        #expect(try scene.apply("--exclude", "/d").code == 0)
        // It goes with the filter, and another one comes.
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

    /// One name of a file is left out from the exchange on that makes a copy of it.
    @Test(.needs(.btrfs))
    func leftOutNamesAreLinkedAgainAfterAnExchange() throws {
        let scene = try MirrorScene([:], inMemory: true)
        try TestDisk.btrfs.mounted(at: scene.directory.path) {
            try scene.build(["a": "1"], at: "source")
            try scene.link("source/b", to: "source/a")
            try scene.mirror("--keep-last", "9")
            let wanted = try AttributeSnapshot(scene.source)
            #expect(try scene.apply("--exchange", "--exclude", "/b").code == 0)
            try expectTree(scene, "latest~1", wanted)
        }
    }

    /// Somebody swaps two files that take no part, and an exchange copies them: each is still the other one.
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

    /// An edited object that takes no part goes to the history: what it held before is lost.
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

    /// Somebody makes a symlink point elsewhere before it is left out.
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

    /// The filters leave directories out, and somebody makes one of a file.
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

    /// A directory stays for what is excluded in it, and a file is left out: the source says nothing of either.
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

    /// Something comes back that took no part then; the directory that held it stays elsewhere.
    @Test func whatComesBackHasADirectoryOfItsOwn() throws {
        let scene = try MirrorScene(["p": ["h": ["x": "1", "y": "2"]]]).mirrored("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/p/h").code == 0)
        try scene.remove("source/p/h/x")
        try scene.mirror()
        try scene.move("source/p/h", to: "source/k")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/k").code == 0)
        try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").expect(0)
        #expect(try TreeSnapshot(scene.target).paths == ["k", "k/y", "p", "p/h", "p/h/x"])
        #expect(try covered(scene) == ["p"])
    }

    /// The same, and the directory that held it was moved away by hand: no manifest could name what comes back.
    @Test func whatComesBackIntoNoDirectoryStaysInTheHistory() throws {
        let scene = try MirrorScene(["p": ["f": "f", "h": ["x": "1"]]]).mirrored("--keep-last", "9")
        try scene.move("target/p/h/x", to: "target/p/h/a")
        #expect(try scene.apply("--exclude", "h").code == 0)
        try scene.mirror()
        #expect(try scene.apply("--exclude", "h").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").code == 0)
        #expect(try scene.run("undo", "target").code == 0)
        try scene.move("target/p", to: "target/b")
        try scene.run("undo", "target").expect(
            3, says: "p/h/a: its directory was removed from the target since; the file is in the history")
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        try scene.mirror()
    }

    /// The same, and the directory that held it comes along with the one above.
    @Test func whatComesBackIsInTheDirectoryThatComesAlong() throws {
        let scene = try MirrorScene(["p": ["h": ["x": "1", "y": "2"]]]).mirrored("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/p/h").code == 0)
        try scene.remove("source/p/h/x")
        try scene.mirror()
        try scene.move("source/p", to: "source/q")
        try scene.mirror()
        #expect(try scene.apply("--exclude", "/q/h").code == 0)
        try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").expect(0)
        let wanted = try TreeSnapshot(scene.target)
        #expect(wanted.paths == ["p", "p/h", "p/h/x", "p/h/y"])
        #expect(try covered(scene) == ["p"])
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target) == wanted)
    }

    /// A name comes back to a file of which nothing has changed since, neither here nor there.
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

    /// Somebody makes a directory where one took no part, whose content comes back into it; then filters let it in.
    @Test func whatCameWhereSomethingTookNoPartIsNotInThatTree() throws {
        let scene = try MirrorScene(["d": ["x": "1"], "z": "z"]).mirrored("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/d").code == 0)
        #expect(try scene.apply("--exclude", "/d", "--delete-excluded").code == 0)
        try scene.build(["d": [:]], at: "target")
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(try scene.text("target/d/x") == "1")
        try scene.mirror()
        #expect(try scene.run("snapshot", "restore", "target", "latest~3", "--to", "copy").code == 0)
        #expect(!scene.exists("copy/d"))
    }

    /// A joined record says of a directory that came back only that it was not there; then another takes its path.
    @Test func whatLeavesADirectoryThatWasNotThereWasNotThereEither() throws {
        let scene = try MirrorScene(["d": ["e": ["x": "1"]], "z": "z"]).mirrored("--keep-last", "1")
        let before = try AttributeSnapshot(scene.source)
        try scene.move("source/d", to: "aside")
        try scene.mirror()
        let wanted = try AttributeSnapshot(scene.target)
        #expect(try scene.run("snapshot", "create", "--label", "without", "target").code == 0)
        try expectTree(scene, "latest~1", before, inPlace: true)
        try scene.move("aside", to: "source/d")
        try scene.mirror()
        try scene.move("source/d/e", to: "source/e")
        try scene.move("source/d", to: "source/e/d")
        try scene.move("source/e", to: "source/d")
        try scene.mirror()
        try expectTree(scene, "latest~2", wanted)
    }

    /// The same of what lies in such a directory, whether that tree has a file at its path or another directory.
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

    /// Somebody replaces a directory that took no part; another comes to its path when what held it moves.
    @Test func aDirectoryTakesAlongOnlyWhatItHolds() throws {
        let scene = try MirrorScene(["d": ["e": ["x": "1"]], "z": "z"]).mirrored("--keep-last", "9")
        #expect(try scene.apply("--exclude", "/d").code == 0)
        try scene.remove("target/d/e")
        try scene.build(["d": ["e": "file"]], at: "target")
        try scene.move("source/d", to: "aside")
        try scene.build(["d": ["e": ["x": "2"]]], at: "source")
        try scene.move("aside", to: "source/d/f")
        try scene.remove("source/d/f/e")
        try scene.mirror()
        #expect(try TreeSnapshot(scene.target).differences(from: TreeSnapshot(scene.source)) == [])
        #expect(try covered(scene) == ["d", "d/e", "d/e/x", "d/f", "z"])
    }

    /// Somebody swaps two files of one size and time, or the whole target is a copy.
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

    /// An exchange copies a directory out of the history with what the wanted tree has of it; the rest stays there.
    @Test func whatACopiedDirectoryLeavesInTheHistoryIsFound() throws {
        let scene = try MirrorScene(["d": ["a": "1", "s": ["b": "2"]], "e": "e"]).mirrored(
            "--exchange", "--keep-last", "9")
        try scene.build(["n": "3"], at: "source/d")
        try scene.build(["m": "4"], at: "source/d/s")
        try scene.mirror("--exchange")
        try scene.remove("source/d")
        try scene.mirror("--exchange", "--max-delete", "unlimited")
        #expect(try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").code == 0)
        #expect(try scene.text("target/d/s/b") == "2")
        #expect(!scene.exists("target/d/n"))
        for way in [["latest~2", "--to", "copy"], ["latest~2", "--in-place"]] {
            try scene.run(["snapshot", "restore", "target"] + way).expect(0)
        }
        for tree in ["copy", "target"] {
            #expect(try scene.text("\(tree)/d/n") == "3")
            #expect(try scene.text("\(tree)/d/s/m") == "4")
        }
    }

    /// One of two names goes, and the other one moves with its directory.
    @Test func aNameThatMovedWithItsDirectoryIsANameOfTheSameFile() throws {
        let scene = try MirrorScene(["d": ["a": "1", "other": ""]])
        try scene.link("source/d/b", to: "source/d/a")
        try scene.mirror("--keep-last", "9")
        try scene.remove("source/d/a")
        try scene.mirror()
        try scene.move("source/d", to: "source/moved")
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").expect(0)
        #expect(try scene.status("copy/d/a").st_ino == scene.status("copy/d/b").st_ino)
    }

    /// Somebody overwrites a name in the target that shares its file with one in the history, and puts the time back.
    @Test(arguments: [false, true])
    func aCopyTellsWhatWasOverwrittenByAnotherName(isReplaced: Bool) throws {
        let scene = try MirrorScene(["a": "old", "other": "3"])
        try scene.directory.makeHardLink("source/b", to: "source/a")
        #expect(try scene.apply("--digest").code == 0)
        try scene.remove("source/a")
        try scene.mirror()
        try scene.editInSecret("target/b", "new")
        if isReplaced {
            try scene.build(["new": "x"], at: "target")
            try scene.move("target/new", to: "target/b")
        }
        try scene.mirror()
        try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").expect(
            3, says: "a: its old content is lost")
        #expect(!scene.exists("copy/a"))
        #expect(try scene.text("copy/other") == "3")
        #expect(try scene.run("snapshot", "verify", "target").code == 65)
    }

    /// A file that moved, or got another mode, keeps its digest for the snapshots before that.
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

    /// A name stays, as what the restored tree had there is lost. Another name of its file takes no part.
    @Test func namesOfAFileStayTogetherWhereOneOfThemStays() throws {
        let scene = try MirrorScene(["file": "1", "lost": "l", "d": [:]])
        try scene.directory.makeHardLink("source/d/other", to: "source/file")
        try scene.mirror("--keep-last", "9")
        try scene.build(["a": "new"], at: "source")
        try scene.mirror()
        try scene.remove("source/lost")
        try scene.remove("source/d")
        try scene.append("x", to: "target/lost")
        try scene.mirror()
        try scene.directory.makeHardLink("source/lost", to: "source/file")
        try scene.mirror()
        #expect(try scene.run("snapshot", "restore", "target", "latest~3", "--in-place").code == 3)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").code == 0)
        let copy = try TreeSnapshot(scene.path("copy"))
        #expect(copy.inode("lost") == copy.inode("file"))
    }

    /// An edit that only the change time tells of, of what goes to the history and comes back before it is compared.
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

    /// The same of what takes no part for a while: its digest is that of what was compared.
    @Test func whatNobodyComparedIsComparedWhenItTakesPartAgain() throws {
        let scene = try MirrorScene(["a": "first", "z": "z"]).mirrored("--digest")
        try scene.editInSecret("target/a", "drift")
        #expect(try scene.apply("--digest", "--exclude", "a").code == 0)
        #expect(try scene.apply("--digest").code == 0)
        #expect(try scene.text("target/a") == "first")
    }
}
