import Foundation
import TestNeeds
import TestSupport
import Testing

/// Copies of paths into a directory with other files.
struct RestorePathsTests {
    /// Two versions of `docs`. `there` contains other files.
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(
            [
                "docs": ["a": "one", "b": "b", "deep": ["c": "c"], "link": .symlink("a")],
                "same": .file("same", modified: TreeTime(1_600_000_000, 0)),
            ], inMemory: true)
        try scene.link("source/docs/a2", to: "source/docs/a")
        try scene.mirror()
        try scene.append(", two", to: "source/docs/a")
        try scene.remove("source/docs/b")
        try scene.remove("source/docs/deep")
        try scene.mirror()
        try scene.build(["mine": "mine", "docs": ["mine": "mine"]], at: "there")
        try scene.setMode(0o700, of: "there/docs")
        return scene
    }

    private func restore(_ scene: MirrorScene, _ arguments: String...) throws -> CommandRun {
        try scene.run(["snapshot", "restore", "target"] + arguments)
    }

    /// A source that is a symlink has two paths.
    @Test func aPathOfTheSourceMayBeTheOneItLeadsTo() throws {
        let scene = try scene()
        try scene.move("source", to: "real")
        try scene.build(["source": .symlink("real")], at: ".")
        for (number, source) in ["source", "real"].enumerated() {
            let run = try restore(
                scene, "latest~1", "\(scene.path(source))/docs/b", "--to", "new\(number)")
            #expect(run.code == 0 && scene.exists("new\(number)/docs/b"), "\(run.errors)")
        }
    }

    /// A copy into another target, or an apply into its state, would bypass its history.
    @Test func nothingIsWrittenIntoAnotherTarget() throws {
        let scene = try scene()
        try scene.build(["docs": ["a": "theirs"]], at: "other")
        #expect(try scene.run("apply", "other", "box/docs", "--create-parents").code == 0)
        try scene.append(", edited", to: "other/docs/a")
        #expect(try scene.run("apply", "other", "box/docs").code == 0)
        let before = try TreeSnapshot(scene.path("box"))
        // The first is the state of the restored target, which this run has locked.
        for directory in [
            "target/.fsync-lite", "box/docs/.fsync-lite", "box/docs/.fsync-lite/history", "box/docs/docs",
            "box/docs/new",
        ] {
            try restore(scene, "latest~1", "docs/a", "--to", directory, "--overwrite").expect(
                4, says: "is inside the ")
        }
        try restore(scene, "latest~1", "docs", "--to", "box", "--overwrite").expect(
            4, says: "docs in the destination is a target")
        for target in ["box/docs/.fsync-lite/x", "box/docs/.fsync-lite"] {
            try scene.run("apply", "source", target).expect(4, says: "is inside the state")
        }
        #expect(try TreeSnapshot(scene.path("box")) == before)
    }

    @Test func pathsAreCopiedBesideTheTargetAndNotIntoIt() throws {
        let scene = try scene()
        try scene.build(["target": ["x": "x"]], at: "source")
        try scene.mirror()
        try restore(scene, "latest", "docs/a", "same", "--to", ".").expect(0)
        #expect(try scene.text("docs/a") == "one, two" && scene.exists("same"))
        let before = try scene.wholeTarget()
        for path in ["target", "target/x"] {
            try restore(scene, "latest", path, "--to", ".", "--overwrite").expect(
                4, says: "the target lies inside the destination", "--to target.restored")
        }
        try restore(scene, "latest", "same", "--to", "./target/").expect(
            4, says: "./target/ is a target", "latest same --to ./target.restored\n")
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }

    /// The failed restore has searched, and the command that it names works.
    @Test func aPathThatIsGoneIsFound() throws {
        let scene = try scene()
        let lost = try restore(scene, "latest", "docs/b", "--to", "there").expect(66)
        let text =
            #/docs\/b is not in latest: the run of 20.* deleted it\. The newest version has 1 B, from 20/#
        #expect(lost.errors.contains(text), "\(lost.errors)")
        let next = try #require(lost.errors.firstMatch(of: #/next: fsync-lite (.*)/#))
        let words = next.1.split(separator: " ").map { String($0).replacing("'", with: "") }
        let found = try scene.run(words)
        #expect(
            found.code == 0 && found.output.hasPrefix("restored 1 file, 1 B, to there/docs/b"),
            "\(found.output)")
        let pattern = try restore(scene, "latest", "deep", "*.nope", "--to", "there")
        #expect(pattern.code == 66 || pattern.code == 2, "\(pattern.errors)")
        try restore(scene, "latest", "*.nope", "--to", "there").expect(
            2, says: "no path of latest matches *.nope")
    }

    @Test func aSnapshotHasTheNameOfItsDay() throws {
        let scene = try scene()
        let today = Date.now.formatted(
            .dateTime.weekday(.wide).locale(Locale(identifier: "en_US_POSIX"))
        ).lowercased()
        let run = try scene.here(["snapshot", "restore", "target", today, "same", "--to", "new"])
        #expect(run.code == 0 && scene.exists("new/same"), "\(today): \(run.errors)")
        #expect(try restore(scene, "someday", "same", "--to", "new").code == 66)
    }

    @Test func pathsGoBesideOthers() throws {
        let scene = try scene()
        let mode = try TreeSnapshot(scene.path("there")).entries[Array("docs".utf8)]?.mode
        try restore(scene, "latest~1", "docs/b", "docs/deep", "docs/link", "--to", "there").expect(0)
        let after = try TreeSnapshot(scene.path("there"))
        #expect(
            after.paths.sorted() == [
                "docs", "docs/b", "docs/deep", "docs/deep/c", "docs/link", "docs/mine", "mine",
            ])
        #expect(try scene.text("there/docs/deep/c") == "c" && scene.text("there/docs/mine") == "mine")
        #expect(after.entries[Array("docs".utf8)]?.mode == mode)
        #expect(!scene.exists("there/.fsync-lite"))
        // A second time, there is nothing to do.
        let again = try restore(scene, "latest~1", "docs/b", "docs/deep", "docs/link", "--to", "there")
        #expect(again.code == 0 && again.output.hasPrefix("nothing to do"), "\(again.errors)")
        #expect(!scene.exists("there/.fsync-lite"))
        #expect(try TreeSnapshot(scene.path("there")) == after)
    }

    @Test func whatIsThereIsNotOverwrittenUnasked() throws {
        let scene = try scene()
        try scene.build(["a": "theirs", "b": "b"], at: "there/docs")
        let before = try TreeSnapshot(scene.path("there"))
        for dryRun in [["--dry-run"], []] {
            try scene.run(
                ["snapshot", "restore", "target", "latest~1", "docs", "--to", "there"] + dryRun
            ).expect(
                4, says: "refused: docs/a exists, of ",
                "next: fsync-lite snapshot restore target 'latest~1' docs --to there")
            #expect(try TreeSnapshot(scene.path("there")) == before)
        }
        try restore(scene, "latest~1", "docs", "--to", "there", "--overwrite", "--dry-run").expect(
            0, prints: "~ docs/a  3 B")
        #expect(try TreeSnapshot(scene.path("there")) == before)
        try restore(scene, "latest~1", "docs", "--to", "there", "--overwrite").expect(
            0, says: "the snapshot's content replaces that of docs/a")
        #expect(try scene.text("there/docs/a") == "one" && scene.text("there/docs/mine") == "mine")
        let there = try TreeSnapshot(scene.path("there"))
        #expect(there.inode("docs/a") == there.inode("docs/a2"))
        #expect(!scene.exists("there/.fsync-lite"))
    }

    /// If only attributes differ, or the run is refused, nothing is overwritten.
    @Test func onlyWhatIsOverwrittenIsSaidToBe() throws {
        let scene = try scene()
        try restore(scene, "latest~1", "docs/b", "--to", "there").expect(0)
        try scene.setMode(0o600, of: "there/docs/b")
        let equal = try restore(scene, "latest~1", "docs/b", "--to", "there", "--overwrite")
        #expect(equal.code == 0 && !equal.errors.contains("replaces"), "\(equal.errors)")
        try scene.build(["a": "theirs", "deep": "a file"], at: "there/docs")
        try scene.remove("there/docs/b")
        try scene.build(["b": ["mine": "mine"]], at: "there/docs")
        let refused = try restore(scene, "latest~1", "docs", "--to", "there", "--overwrite")
        #expect(refused.code == 4 && !refused.errors.contains("replaces"), "\(refused.errors)")
    }

    @Test(.needs(.immutableFiles))
    func immutableFileIsRefused() throws {
        let scene = try MirrorScene(["docs": ["a": "one"]]).mirrored()
        try scene.build(["docs": ["a": "theirs"]], at: "there")
        try HostCommand.run("chattr", "+i", scene.path("there/docs/a"))
        defer { _ = try? HostCommand.run("chattr", "-i", scene.path("there/docs/a")) }
        try restore(scene, "latest", "docs", "--to", "there", "--overwrite").expect(
            4, says: "docs/a in the target is immutable. To change that: chattr -i")
    }

    @Test(.needs(.mounts))
    func whatDoesNotFitIsRefused() throws {
        let scene = try MirrorScene(["a": .file(String(repeating: "a", count: 3_000_000))], inMemory: true)
            .mirrored()
        try scene.mounted(.tmpfs(options: "size=1m"), at: "small") {
            for options in [["--dry-run"], []] {
                for paths in [[], ["a"]] {
                    try scene.run(
                        ["snapshot", "restore", "target", "latest"] + paths + ["--to", "small"] + options
                    ).expect(4, says: "are needed and")
                }
            }
        }
    }

    @Test func anotherKindOfEntryIsInTheWay() throws {
        let scene = try scene()
        try scene.build(["a": ["mine": "mine"]], at: "there/docs")
        try restore(scene, "latest~1", "docs/a", "--to", "there", "--overwrite").expect(
            4, says: "docs/a is a directory in the destination")
        try scene.remove("there/docs")
        try scene.build(.symlink("../outside"), at: "there/docs")
        try scene.build([:], at: "outside")
        try restore(scene, "latest~1", "docs/a", "--to", "there", "--overwrite").expect(
            4, says: "docs is a symlink in the destination")
        #expect(try TreeSnapshot(scene.path("outside")).paths.isEmpty)
        // A wanted path itself is replaced.
        try restore(scene, "latest~1", "docs", "--to", "there", "--overwrite").expect(0)
        #expect(try scene.text("there/docs/deep/c") == "c")
    }

    @Test func backToTheSource() throws {
        let scene = try scene()
        try scene.build(["new": "not mirrored yet"], at: "source/docs")
        try restore(scene, "latest~1", "docs", "--to-source").expect(4, says: "docs/a exists")
        #expect(!scene.exists("source/docs/b"))
        try restore(scene, "latest~1", "docs/b", "docs/deep", "--to-source").expect(0)
        #expect(try scene.text("source/docs/b") == "b" && scene.text("source/docs/new") == "not mirrored yet")
        #expect(try scene.text("source/docs/a") == "one, two")
        try restore(scene, "latest~1", "docs", "--to-source", "--overwrite").expect(0)
        #expect(
            try scene.text("source/docs/a") == "one" && scene.text("source/docs/new") == "not mirrored yet")
        #expect(!scene.exists("source/.fsync-lite"))
        try scene.mirror()
    }

    @Test func onlyToTheDirectoryThatWasMirrored() throws {
        let scene = try scene()
        try scene.move("source", to: "away")
        try restore(scene, "latest~1", "docs/b", "--to-source").expect(
            4, says: "does not exist. Is a disk missing?")
        #expect(!scene.exists("source"))
        try scene.build([:], at: "source")
        try restore(scene, "latest~1", "docs/b", "--to-source").expect(
            4, says: "is not the directory that was mirrored")
        #expect(try TreeSnapshot(scene.source).paths.isEmpty)
        try restore(scene, "latest~1", "docs/b", "--to", "source").expect(0)
        #expect(try scene.text("source/docs/b") == "b")
    }

    /// The directory of a path is now a file or a symlink, which is moved into the history.
    @Test(arguments: [TreeLiteral.file("file"), .symlink("elsewhere")])
    func whatIsInTheWayOfAPathGoesToTheHistory(now: TreeLiteral) throws {
        let scene = try MirrorScene(["a": ["f": "1", "g": "2"], "z": "z"]).mirrored()
        try scene.remove("source/a")
        try scene.build(["a": now], at: "source")
        try scene.mirror("--max-delete", "unlimited")
        let before = try TreeSnapshot(scene.target)
        try restore(scene, "latest~1", "a/f", "--in-place").expect(0)
        #expect(try scene.text("target/a/f") == "1" && !scene.exists("target/a/g"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
    }

    @Test(arguments: [
        ["--to", "there", "--to-source"], ["--to-source", "--in-place"], ["--overwrite", "--to", "there"],
        ["docs", "--overwrite", "--in-place"], ["docs", "--to", "there", "--exchange"],
        ["--in-place", "--exchange", "--no-exchange"], ["docs"],
    ])
    func noSense(options: [String]) throws {
        let scene = try scene()
        #expect(try scene.run(["snapshot", "restore", "target", "latest~1"] + options).code == 64)
    }

    /// After a kill at any point, each overwritten file is old or new. The same command finishes the restore.
    @Test(.needs(.strace), arguments: 1...7) func cutShort(renames: Int) throws {
        let scene = try scene()
        try scene.build(["a": "theirs"], at: "there/docs")
        let command = ["snapshot", "restore", "target", "latest~1", "docs", "--to", "there", "--overwrite"]
        do {
            let paused = try PausedCommand(
                command, in: scene.directory.path, at: .after("renameat2", number: renames))
            guard try paused.waitForPause() else { return }
        }
        if try scene.run("recover", "there").code == 0, !scene.exists("there/.fsync-lite") {
            #expect(["theirs", "one"].contains(try scene.text("there/docs/a")))
        }
        try scene.run(command).expect(0)
        #expect(try scene.text("there/docs/a") == "one" && scene.text("there/docs/deep/c") == "c")
        #expect(try scene.text("there/docs/mine") == "mine" && !scene.exists("there/.fsync-lite"))
    }

    /// A restore into the source that was killed in its commit. The source has parts of two trees.
    private func halfRestored() throws -> MirrorScene? {
        let scene = try scene()
        let paused = try PausedCommand(
            ["snapshot", "restore", "target", "latest~1", "docs", "--to-source", "--overwrite"],
            in: scene.directory.path, at: .after("renameat2", of: "journal"))
        guard try paused.waitForPause() else { return nil }
        paused.kill()
        return scene
    }

    @Test(.needs(.strace)) func unfinishedRestoreOfTheSourceIsNoticed() throws {
        let scene = try #require(try halfRestored())
        let before = try scene.wholeTarget()
        for words in [["apply"], ["plan"]] {
            try scene.run(words + ["source", "target"]).expect(6, says: "run: fsync-lite recover source")
        }
        #expect(try scene.run("plan", "there", "source").code == 6)
        #expect(try scene.wholeTarget().touched(since: before) == [])
        try scene.run("recover", "source").expect(0)
        #expect(!scene.exists("source/.fsync-lite"))
        #expect(try scene.text("source/docs/a") == "one")
        #expect(try scene.apply("--max-delete", "unlimited").code == 0)
    }

    @Test(.needs(.strace)) func nextRestoreSaysWhatBecameOfTheUnfinishedOne() throws {
        let scene = try #require(try halfRestored())
        try restore(scene, "latest~1", "same", "--to-source").expect(
            0, says: "was cut short; it is finished now")
        #expect(!scene.exists("source/.fsync-lite"))
        #expect(try scene.text("source/docs/a") == "one")
    }

    /// It does not become a target because of that.
    @Test(.needs(.strace)) func aHalfRestoredDirectoryIsNotTakenOver() throws {
        let scene = try #require(try halfRestored())
        try scene.run("apply", "there", "source").expect(4, says: "fsync-lite has never written to it")
        #expect(scene.exists("source/same"))
        #expect(try scene.text("source/docs/a") == "one")
    }

    /// A restore omits nothing, and the mirror cannot be the destination.
    @Test(arguments: ["target/in it", "target/.fsync-lite/in it", "other/in it"])
    func aRestoreIntoAMirrorNamesADirectoryThatWorks(place: String) throws {
        let scene = try MirrorScene(["docs": ["a": "one"]])
        for target in ["target", "other"] { #expect(try scene.run("apply", "source", target).code == 0) }
        let restore = ["snapshot", "restore", "target", "latest", "docs/a", "--to"]
        let run = try scene.run(restore + [place]).expect(4)
        let next = "next: fsync-lite \(restore.joined(separator: " ")) target.restored\n"
        #expect(run.errors.contains(next), "\(run.errors)")
        try scene.run(restore + ["target.restored"]).expect(0)
        #expect(try scene.text("target.restored/docs/a") == "one")
    }
}
