import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("What an apply refuses, before it writes anything")
struct GuardTests {
    @Test func deletingMoreThanHalf() throws {
        let scene = try MirrorScene(["keep": "k", "d": .files(0..<20)]).mirrored()
        try scene.remove("source/d")
        try scene.expectRefused(hint: "--max-delete 21", saying: "21")
        for option in ["20", "50%", "0"] { #expect(try scene.apply("--max-delete", option).code == 4) }
        try scene.mirror("--max-delete", "21")
    }

    @Test func noDeleteDeletesNothing() throws {
        let scene = try MirrorScene(["a": "1", "b": "2", "d": ["x": "x", "y": "y"], "gone": ["z": "z"]])
            .mirrored()
        try scene.remove("source/a")
        try scene.remove("source/gone")
        try scene.move("source/d", to: "source/e")
        try scene.remove("source/e/x")
        try scene.append("2", to: "source/b")
        let report = try scene.apply("--no-delete", "--json").json()
        #expect(report.text("outcome") == "committed")
        #expect(report.object("summary")?.number("delete") == 0)
        #expect(try scene.text("target/a") == "1")
        #expect(try scene.text("target/gone/z") == "z")
        #expect(try scene.text("target/b") == "22")
        #expect(try scene.text("target/e/y") == "y")
        #expect(try scene.text("target/e/x") == "x")
        #expect(try scene.apply("--no-delete").output.contains("nothing to do"))
        try scene.mirror()
    }

    /// An undo restores the sources of its tree. After that, only these are expected.
    @Test func anUndoBringsTheSourceBack() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]]).mirrored("--keep-last", "9")
        try scene.build(["a": "1", "d": ["b": "two"]], at: "second")
        #expect(try scene.run("apply", "second", "target", "--change-source").code == 0)
        try scene.expectSame("target", as: "second")
        #expect(try scene.run("apply", "second", "target").code == 0)
        #expect(try scene.run("undo", "target").code == 0)
        try scene.mirror()
        try scene.expectRefused(
            ["second", "target"], hint: "--change-source",
            saying: "the source is another directory than last time (\(scene.source))")
        // Also if the record between them is joined to others.
        for text in ["3", "4"] {
            try scene.append(text, to: "second/a")
            #expect(try scene.run("apply", "second", "target", "--change-source").code == 0)
        }
        #expect(try scene.run("snapshot", "prune", "target", "--keep-last", "1").code == 0)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(try scene.run("apply", "second", "target").code == 0)
        try scene.move("second/d", to: "second/e")
        try scene.run("apply", "second", "target", "-v").expect(prints: "> d -> e")
    }

    /// Equal files of the target stay. If only size and time are equal, the content is compared.
    @Test func takingOverSaysWhatItDeletes() throws {
        let time = TreeTime(9, 9)
        let scene = try MirrorScene([
            "a": "1", "both": .file("new", modified: time), "same": .file("s", modified: time),
        ])
        try scene.build(
            [
                "theirs": "precious", "both": .file("old", modified: time),
                "same": .file("s", modified: time),
            ], at: "target")
        let before = try TreeSnapshot(scene.target)
        let lost =
            "taking it over deletes 1 file or directory that only the target has (theirs) and replaces 1 file or directory (both), "
            + "which the history keeps"
        try scene.expectRefused(hint: "--adopt", saying: lost)
        #expect(!scene.exists("target/.fsync-lite"))
        let help = try scene.run("help", "apply").output.split(whereSeparator: \.isWhitespace)
        #expect(help.joined(separator: " ").contains("files that SOURCE lacks are moved"))
        try scene.mirror("--adopt").expect(says: "note: \(lost)")
        for text in ["precious", "old"] { #expect(try scene.historyKeeps(text)) }
        #expect(try TreeSnapshot(scene.target).inode("same") == before.inode("same"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: before) == [])
    }

    @Test(.needs(.mounts))
    func lostAndFoundOfAFileSystemTakesNoPart() throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.mounted(.tmpfs(options: "size=8m"), at: "target") {
            // Not only at the root of a file system.
            try scene.build(["lost+found": [:]], at: "made")
            try HostCommand.run("cp", "-a", scene.path("made/lost+found"), scene.target)
            #expect(try scene.apply().code == 0)
            #expect(scene.exists("target/lost+found"))
            #expect(try scene.apply().output.contains("nothing to do"))
            #expect(try !scene.run("manifest", "list", "target").output.contains("lost+found"))
            try scene.build([:], at: "source/lost+found")
            #expect(try scene.apply().code == 0)
            // If the source's one has content, it is named, unless it is excluded.
            try scene.build(["kept": "not mirrored"], at: "source/lost+found")
            try scene.apply().expect(1, says: "lost+found: a file system keeps this name for itself")
            #expect(try scene.apply("--keep-going").code == 3)
            #expect(try scene.apply("--exclude", "/lost+found").code == 0)
            #expect(scene.exists("target/lost+found") && !scene.exists("target/lost+found/kept"))
            // It is also ignored in a source. In other places it is an ordinary name.
            let run = try scene.run("apply", "target", "copy")
            #expect(run.code == 0 && !scene.exists("copy/lost+found"), "\(run.errors)")
            let other = try scene.run("apply", "made", "other")
            #expect(other.code == 0 && scene.exists("other/lost+found"), "\(other.errors)")
        }
    }

    @Test(.needs(.mounts), arguments: [TestDisk.btrfs, .xfs])
    func aCloneNeedsNoRoom(_ disk: TestDisk) throws {
        let scene = try MirrorScene([:], inMemory: true)
        try scene.mounted(disk, at: "disk") {
            try scene.build([:], at: "disk/source")
            let free = try FileManager.default.attributesOfFileSystem(forPath: scene.path("disk"))[
                .systemFreeSize]
            let size = try #require(free as? Int) * 3 / 5
            try Data(count: size).write(to: URL(fileURLWithPath: scene.path("disk/source/large")))
            try scene.run("apply", "disk/source", "disk/target").expect(0)
            #expect(scene.exists("disk/target/large"))
            // A copy from another mount needs space.
            try scene.mounted(.bind(scene.path("disk")), at: "view") {
                try scene.run("plan", "view/source", "disk/other").expect(4, says: " are needed and ")
            }
        }
    }

    // MARK: Mounts

    @Test(.needs(.mounts))
    func sourceAndTargetThatAMountPutsIntoEachOther() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]]).mirrored()
        try scene.build([:], at: "view")
        func bound(_ name: String, at place: String, _ arguments: [String]) throws {
            try TestDisk.bind(scene.path(name)).mounted(at: scene.path(place)) {
                try scene.expectRefused(arguments)
            }
        }
        for arguments in [
            ["source", "view"], ["view", "source"], ["source", "view/d"], ["view/d", "source"],
        ] {
            try bound("source", at: "view", arguments)
        }
        #expect(!scene.exists("source/.fsync-lite"))
        try bound("target/d", at: "view", ["view", "target"])
        try bound("source/d", at: "view", ["source", "view"])
        try bound("target", at: "view", ["target", "view"])
        try bound("target", at: "view", ["view", "target/d"])
        try bound("target", at: "source/d", ["source", "target"])
        try bound("source", at: "target/d", ["source", "target"])
        try scene.mirrorAll()
    }

    @Test(.needs(.mounts))
    func whatIsMountedInTheTargetIsNamed() throws {
        let scene = try MirrorScene(["file": "1", "d": ["inner": [:]]]).mirrored()
        try scene.build(["outside": "kept"], at: "other")
        try scene.append("+", to: "source/file")
        try TestDisk.bind(scene.path("other/outside")).mounted(at: scene.path("target/file")) {
            try scene.expectRefused(saying: "file", "unmount")
        }
        try TestDisk.tmpfs(options: "size=1m").mounted(at: scene.path("target/d/inner")) {
            try scene.expectRefused(saying: "d/inner", "unmount")
        }
        try TestDisk.tmpfs(options: "size=1m,mode=0700").mounted(at: scene.path("target/.fsync-lite")) {
            try scene.expectRefused(saying: ".fsync-lite", "unmount")
        }
        #expect(try scene.text("other/outside") == "kept")
        try scene.mirrorAll()
    }

    // MARK: Locked entries

    @Test(
        .needs(.immutableFiles),
        arguments: [
            ("i", ""), ("a", ""), ("i", "d"), ("a", "d"), ("i", "file"), ("a", "file"), ("i", "d/x"),
        ])
    func immutableAndAppendOnlyEntriesAreNamed(flag: String, name: String) throws {
        let scene = try MirrorScene(["file": "1", "d": ["x": "x", "y": "y"], "calm": ["z": "z"]]).mirrored()
        let path = scene.path(name.isEmpty ? "target" : "target/\(name)")
        try HostCommand.run("chattr", "+\(flag)", path)
        defer { _ = HostCommand.works("chattr", "-ia", path) }
        #expect(try scene.plan().code == 0)
        try scene.append("+", to: "source/file")
        try scene.append("+", to: "source/d/x")
        try scene.expectRefused(saying: name.isEmpty ? "root" : name, "chattr -\(flag)")
        try HostCommand.run("chattr", "-\(flag)", path)
        try scene.mirrorAll()
    }

    @Test(.needs(.immutableFiles))
    func lockedEntryThatNothingChangesIsNotInTheWay() throws {
        let scene = try MirrorScene(["file": "1", "d": ["x": "x", "y": "y"]]).mirrored()
        let path = scene.path("target/d/y")
        try HostCommand.run("chattr", "+i", path)
        defer { _ = HostCommand.works("chattr", "-i", path) }
        try scene.append("+", to: "source/d/x")
        try scene.move("source/d", to: "source/moved")
        try scene.apply().expect(0)
        _ = HostCommand.works("chattr", "-i", scene.path("target/moved/y"))
        try scene.expectMirrored()
    }
    @Test func noDeleteKeepsWhatADirectoryHolds() throws {
        let scene = try MirrorScene(["m": ["b": "kept"], "empty": [:], "n": ["b": ["x": "1"]], "z": "z"])
            .mirrored()
        for name in ["m", "empty"] { try scene.remove("source/\(name)") }
        try scene.build(["m": "a file", "empty": "a file"], at: "source")
        try scene.plan("--no-delete").expect(4, says: "m in the target")
        #expect(try scene.apply("--no-delete").code == 4)
        #expect(try scene.text("target/m/b") == "kept")
        #expect(try scene.apply("--no-delete", "--exclude", "/m").code == 0)
        #expect(try scene.text("target/empty") == "a file")
        #expect(try scene.text("target/m/b") == "kept")
        // A file moves there.
        try scene.remove("source/n")
        try scene.move("source/z", to: "source/n")
        #expect(try scene.apply("--no-delete", "--exclude", "/m").code == 4)
        #expect(try scene.text("target/n/b/x") == "1")
        try scene.mirror()
    }

    /// The typed command with the needed option. The next refusal keeps the options that solved earlier ones.
    @Test func hintIsTheTypedCommandAndWhatIsNeeded() throws {
        let scene = try MirrorScene(["a": "a", "b.tmp": "b"], inMemory: true)
        try scene.build(["theirs": "theirs"], at: "target")
        for (command, preview) in [("plan", ""), ("apply", ""), ("apply", " --dry-run")] {
            let words = [command, "source", "target"] + preview.split(separator: " ").map(String.init)
            try scene.run(words + ["--exclude", "*.tmp", "--create-parents"]).expect(
                says:
                    "next: fsync-lite \(command) source target\(preview) --exclude '*.tmp' --create-parents --adopt\n"
            )
        }
        try scene.writeJob()
        let words = ["run", "j", "--settings", "settings.json"]
        for (typed, printed) in [
            ([], "--create-target"), (["--adopt"], "--adopt --create-target"),
            (["--create-target"], "--create-target --adopt"),
        ] {
            try scene.run(words + typed).expect(
                says: "next: fsync-lite run j \(printed) --settings settings.json\n")
        }
        #expect(try scene.run(words + ["--create-target", "--adopt"]).code == 0)
        for number in 1...20 { try scene.build(.file("x"), at: "source/\(number)") }
        #expect(try scene.run("apply", "source", "target").code == 0)
        for number in 1...20 { try scene.remove("source/\(number)") }
        try scene.run("apply", "--max-delete", "3", "--verify", "source", "target").expect(
            says: "fsync-lite apply source target --verify --max-delete 20\n")
        // A name that looks like an option.
        try scene.build(["x": "x"], at: "-odd")
        try scene.run("apply", "--", "-odd", "target").expect(
            says: "next: fsync-lite apply --max-delete 22 --change-source -- -odd target\n")
    }

    @Test func aSymlinkThatLeadsNowhereIsNoTarget() throws {
        let scene = try MirrorScene(["a": "a"], inMemory: true)
        try scene.build(.symlink("missing"), at: "target")
        for command in ["plan", "apply"] {
            try scene.run(command, "source", "target").expect(
                4, says: "is a symlink to ./missing, which does not exist. Is a disk missing?",
                "next: mkdir -p ./missing && fsync-lite \(command) source target\n")
        }
        #expect(!scene.exists("missing"))
    }
}
