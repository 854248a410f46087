import TestNeeds
import TestSupport
import Testing

@Suite(
    "A user whom permissions stop", .needs(.otherUser))
struct PermissionTests {
    /// After `chown -R` of a target, its owner takes it back, or the new one continues.
    @Test(.needs(.root)) func aTargetThatWasGivenAway() throws {
        let scene = try MirrorScene(["a": "a"]).mirrored()
        try HostCommand.run("chown", "-R", "5", scene.target)
        try scene.apply().expect(4, says: "take it back: chown -R 0 target/.fsync-lite")
        try HostCommand.run("chown", "-R", "0", scene.path("target/.fsync-lite"))
        try scene.mirror()
        #expect(try scene.status("target/a").st_uid == 0)
    }

    /// A umask that closes new files to their owner.
    @Test(.needs(.otherUser), arguments: ["777", "277", "077"]) func theStateIsUsable(umask: String) throws {
        let scene = try MirrorScene(["a": "a", "d": ["b": "b"]], as: .ordinary)
        func run(_ words: String...) throws -> CommandRun {
            try CommandRun(
                words, as: .ordinary, in: scene.directory.path,
                under: ["sh", "-c", "umask \(umask); exec \"$@\"", "sh"])
        }
        for _ in 0..<2 {
            #expect(try run("apply", "source", "target").code == 0)
            try scene.append("+", to: "source/a")
        }
        #expect(try run("undo", "target").code == 0)
        #expect(try run("manifest", "verify", "target/.fsync-lite/manifest.json", "target").code == 0)
    }

    /// A mirror. Then its source gets three unreadable places, and changes beside them.
    private func closedScene() throws -> MirrorScene {
        let scene = try MirrorScene(
            [
                "closed": ["inside": "i", "deep": ["er": "d"]], "open": ["x": "x"], "secret": "old",
                "gone": "g", "z": "z",
            ],
            as: .ordinary
        ).mirrored()
        try scene.append("+", to: "source/open/x")
        try scene.append("+", to: "source/secret")
        try scene.remove("source/gone")
        try scene.build(["new": "n", "new secret": "s"], at: "source/open")
        for name in ["secret", "open/new secret", "closed"] { try scene.setMode(0, of: "source/\(name)") }
        return scene
    }

    private let unreadable = ["closed", "open/new secret", "secret"]

    @Test func unreadablePathsAreAllListedAndNothingIsChanged() throws {
        let scene = try closedScene()
        let before = try scene.wholeTarget()
        let run = try scene.apply().expect(1)
        for name in unreadable {
            #expect(run.errors.contains("\(name): "), "\(name) is not in: \(run.errors)")
        }
        #expect(run.errors.contains("--keep-going"))
        #expect(try scene.wholeTarget().touched(since: before, except: [".fsync-lite"]) == [])
        let report = try scene.apply("--json").json()
        #expect(report.text("outcome") == "failed")
        #expect(report.objects("problems").compactMap { $0.text("path") } == unreadable)
        #expect(Set(report.objects("problems").compactMap { $0.text("code") }) == ["unreadable"])
        #expect(try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"])
        let plan = try scene.plan("--json").expect(1)
        #expect(try plan.json().objects("problems").compactMap { $0.text("path") } == unreadable)
        #expect(try scene.plan("--keep-going").code == 0)
    }

    @Test func whatIsNewAndUnreadableIsNotCountedAsUnchanged() throws {
        let scene = try MirrorScene(["a": "1", "kept": "2"], as: .ordinary).mirrored()
        try scene.build(["new": "n", "shut": ["x": "x"]], at: "source/d")
        for name in ["d/new", "d/shut"] { try scene.setMode(0, of: "source/\(name)") }
        let summary = try scene.run("plan", "source", "target", "--keep-going", "--json").json().object(
            "summary")
        #expect(
            summary?.number("create") == 1 && summary?.number("unchanged") == 2,
            "\(String(describing: summary))")
        for _ in 0..<2 { #expect(try scene.apply("--keep-going").code == 3) }
        for name in ["d/new", "d/shut"] { try scene.setMode(0o755, of: "source/\(name)") }
        try scene.mirror()
    }

    @Test func firstApplyFromAnUnreadableSourceLeavesNothing() throws {
        let scene = try MirrorScene(["a": "1", "secret": "2", "shut": ["x": "x"]], as: .ordinary)
        for name in ["secret", "shut"] { try scene.setMode(0, of: "source/\(name)") }
        let run = try scene.apply().expect(1)
        for name in ["secret", "shut"] { #expect(run.errors.contains("\(name): "), "\(run.errors)") }
        // The root, too.
        try scene.setMode(0, of: "source")
        #expect(try scene.apply().code == 1)
        #expect(try scene.plan().code == 1)
        #expect(!scene.exists("target"))
    }

    @Test func keepGoingCommitsTheRestAndDeletesNothingBelowAnUnreadableDirectory() throws {
        let scene = try closedScene()
        let run = try scene.apply("--keep-going", "--json").expect(3)
        let report = try run.json()
        #expect(report.text("outcome") == "committed")
        #expect(report.objects("problems").compactMap { $0.text("path") } == unreadable)
        #expect(try scene.text("target/open/x") == "x+")
        #expect(try scene.text("target/open/new") == "n")
        #expect(!scene.exists("target/gone"))
        #expect(!scene.exists("target/open/new secret"))
        try scene.setMode(0o700, of: "target/closed")
        #expect(try scene.text("target/closed/inside") == "i")
        #expect(try scene.text("target/closed/deep/er") == "d")
        try scene.setMode(0o600, of: "target/secret")
        #expect(try scene.text("target/secret") == "old")
        // Repaired once all is readable.
        #expect(try scene.apply("--keep-going").code == 3)
        for (name, mode) in [("secret", 0o644), ("open/new secret", 0o644), ("closed", 0o755)] {
            try scene.setMode(UInt32(mode), of: "source/\(name)")
        }
        try scene.mirror()
        #expect(try scene.mirror().output.contains("nothing to do"))
    }

    @Test func unwritableTargetIs1AndNothingIsChanged() throws {
        let scene = try MirrorScene(["a": "1"], as: .ordinary)
        try scene.build([:], at: "target")
        try scene.setMode(0o555, of: "target")
        let before = try scene.wholeTarget()
        let run = try scene.apply()
        #expect(run.code == 1 || run.code == 4)
        #expect(run.errors.contains("target"))
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }

    @Test func readOnlyTreeIsMirroredAndFollowed() throws {
        let scene = try MirrorScene(
            .directory(
                [
                    "locked": .directory(
                        [
                            "file": .file("one", mode: 0o444),
                            "sub": .directory(["x": .file("x", mode: 0o400)], mode: 0o555),
                            "old": "old", "mode": .file("m", mode: 0o444),
                        ], mode: 0o555),
                    "moving": .directory(["y": .file("y", mode: 0o444)], mode: 0o555),
                ], mode: 0o555), as: .ordinary
        ).mirrored("--keep-last", "1")
        #expect(try scene.mirror().output.contains("nothing to do"))
        try scene.run("snapshot", "restore", "target", "latest", "--to", "copy").expect(0)
        try scene.expectSame("copy", as: "target")
        #expect(!scene.exists("copy/.fsync-lite"))

        for name in ["", "locked", "locked/sub", "moving"] { try scene.setMode(0o755, of: "source/\(name)") }
        try scene.setMode(0o644, of: "source/locked/file")
        try scene.append(" two", to: "source/locked/file")
        try scene.setMode(0o444, of: "source/locked/file")
        try scene.setMode(0o555, of: "source/locked/mode")
        try scene.remove("source/locked/old")
        try scene.build(["new": .file("new", mode: 0o444)], at: "source/locked/sub")
        try scene.move("source/moving", to: "source/locked/moved")
        for name in ["locked/sub", "locked/moved", "locked", ""] {
            try scene.setMode(0o555, of: "source/\(name)")
        }
        let plan = try scene.planned()
        #expect(plan.actionLines.contains("move moving -> locked/moved (renamed)"))
        try scene.mirror()
        #expect(try scene.mirror().output.contains("nothing to do"))

        // A directory only moves. The directories that it leaves and enters do not change.
        for name in ["", "locked"] { try scene.setMode(0o755, of: "source/\(name)") }
        try scene.setMode(0o755, of: "source/locked/moved")
        try scene.move("source/locked/moved", to: "source/back")
        for name in ["back", "locked", ""] { try scene.setMode(0o555, of: "source/\(name)") }
        try scene.mirror()

        // Deleted with its content.
        try scene.setMode(0o755, of: "source")
        try scene.setMode(0o755, of: "source/back")
        try scene.remove("source/back")
        try scene.setMode(0o555, of: "source")
        try scene.mirror()
        // The moved object was read-only, too, and must be removed when its time is over.
        try scene.setMode(0o755, of: "source")
        try scene.build(["last": "l"], at: "source")
        try scene.mirror()
        #expect(
            try TreeSnapshot(scene.path("target/.fsync-lite/history")).paths.filter { !$0.contains("/") }
                .count == 1)
        #expect(try scene.stateNames() == ["history", "last-run", "manifest.json", "mark"])
    }

    /// A user other than root needs write permission on a file to give it attributes. An ACL may remove it.
    @Test(arguments: [false, true])
    func readOnlyFilesKeepTheirAttributes(withACL: Bool) throws {
        let scene = try MirrorScene(
            .directory(["file": "f", "dir": ["x": "x"]], mode: 0o755), as: .ordinary)
        let names = ["file", "dir/x", "dir"]
        func found(_ name: String) throws -> [UInt8]? {
            try RawPath.attributes(of: Array(scene.path(name).utf8))[Array("user.a".utf8)]
        }
        // A long value grows more than the ACL.
        let values = ["one", "two", String(repeating: "three", count: 30), "four"].map { Array($0.utf8) }
        for (round, value) in values.enumerated() {
            for name in names {
                try scene.setMode(0o755, of: "source/\(name)")
                try RawPath.setAttribute("user.a", value, on: scene.path("source/\(name)"))
            }
            for name in names {
                if withACL {
                    let list = AccessList(owner: 5, users: [7: 5], group: 5, mask: 5, others: 5)
                    try RawPath.setAttribute(AccessList.access, list.bytes, on: scene.path("source/\(name)"))
                }
                try scene.setMode(name == "dir" ? 0o555 : 0o444, of: "source/\(name)")
            }
            if round == 1 {
                #expect(try scene.planned().actionLines.contains("attributes file (xattrs)"))
            }
            if round == 3 { try scene.mirror("--exchange") } else { try scene.mirror() }
            for name in names { #expect(try found("target/\(name)") == value, "\(name)") }
        }
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try found("target/file") == values[2])
        #expect(try scene.run("snapshot", "restore", "target", "latest", "--to", "copy").code == 0)
        #expect(try found("copy/file") == values[2])
    }

    @Test(arguments: ["--exchange", "--verify"])
    func rootThatIsReadOnlyIsExchangedToo(option: String) throws {
        let scene = try MirrorScene(.directory(["d": ["x": "x"]], mode: 0o555), as: .ordinary).mirrored(
            option)
        for next in ["--exchange", "--exchange", option] {
            try scene.append("+", to: "source/d/x")
            let run = try scene.mirror(next)
            #expect(!run.errors.contains("denied"), "\(run.errors)")
        }
        #expect(try scene.status("target").st_mode & 0o777 == 0o555)
    }

    /// As `chmod` would do.
    @Test(arguments: [0o000, 0o300, 0o200] as [UInt32])
    func directoryThatTheOwnerClosedIsOpened(mode: UInt32) throws {
        let scene = try MirrorScene(["d": ["inner": ["x": "x"]], "y": "y"], as: .ordinary).mirrored()
        try scene.append("+", to: "source/d/inner/x")
        for name in ["target/d/inner", "target/d"] { try scene.setMode(mode, of: name) }
        try scene.mirror()
        #expect(try scene.apply().output.contains("nothing to do"))
        // A refused run leaves it closed.
        for name in ["target/d/inner", "target/d"] { try scene.setMode(mode, of: name) }
        try scene.remove("source/d")
        #expect(try scene.apply("--max-delete", "0").code == 4)
        #expect(try scene.status("target/d").st_mode & 0o777 == mode)
    }

    /// `plan` changes nothing, so it says what `apply` would do. An undo restores the old mode.
    @Test func undoClosesWhatTheRunHadOpened() throws {
        let scene = try MirrorScene(["d": ["x": "x"]], as: .ordinary).mirrored()
        try scene.setMode(0o300, of: "target/d")
        try scene.plan().expect(1, says: "target/d", "run apply")
        try scene.mirror()
        #expect(try scene.status("target/d").st_mode & 0o777 == 0o755)
        try scene.run("undo", "target").expect(0)
        #expect(try scene.status("target/d").st_mode & 0o777 == 0o300)
        try scene.mirror()
        try scene.setMode(0, of: "target")
        try scene.apply().expect(1, says: "chmod u+rwx")
        try scene.setMode(0o755, of: "target")
    }

    /// Root's tree, which this user can read by its group.
    @Test(.needs(.root), arguments: [false, true])
    func whatOnlyItsOwnerMayNotReadIsOpenToTheMirrorsOwner(withACL: Bool) throws {
        let scene = try MirrorScene(["a": "a", "d": ["x": "x", "e": ["y": "y"]]], as: .ordinary)
        let names = ["", "/d", "/d/e", "/d/x", "/a"]
        try HostCommand.run("chown", "-R", "0:65534", scene.source)
        for name in names {
            let path = "source\(name)"
            if withACL {
                let list = AccessList(owner: 0, users: [65534: 7], group: 0, mask: 7, others: 0)
                try scene.setOwner(0, 0, of: path)
                try RawPath.setAttribute(AccessList.access, list.bytes, on: scene.path(path))
            } else {
                try scene.setMode(name == "/a" || name == "/d/x" ? 0o040 : 0o070, of: path)
            }
        }
        try scene.apply().expect(0, says: "the owner of the copy may read . and 4 more")
        for name in names {
            let isFile = name == "/a" || name == "/d/x"
            #expect(
                try scene.status("target\(name)").st_mode & 0o700 == (isFile ? 0o400 : 0o500), "\(name)")
        }
        for _ in 0..<2 {
            try scene.apply().expect(0, prints: "nothing to do")
        }
        try scene.apply("--checksum").expect(prints: "nothing to do")
        try scene.append("2", to: "source/d/x")
        try scene.build(["new": "n"], at: "source/d/e")
        try scene.setOwner(0, 0, of: "source/d/e/new")
        try scene.setMode(0o044, of: "source/d/e/new")
        #expect(try scene.apply().code == 0)
        for words in [
            ["status", "target"], ["snapshot", "list", "target"],
            ["snapshot", "restore", "target", "latest", "--to", "copy"], ["undo", "target"],
            ["apply", "source", "target", "--exchange"], ["manifest", "verify", "target", "target"],
        ] {
            try scene.run(words).expect(0)
        }
        #expect(try scene.text("copy/d/x") == "x2" && scene.text("target/d/e/new") == "n")
    }

    /// The directory in the target belongs to a user. Root's run does not change that.
    @Test(.needs(.root)) func rootClosesNoDirectoryToItsOwner() throws {
        let scene = try MirrorScene(["d": ["x": "x"]])
        try scene.setOwner(65534, 65534, of: "source/d")
        try scene.mirror()
        try scene.setOwner(0, 0, of: "source/d")
        try scene.setMode(0o070, of: "source/d")
        for _ in 0..<2 { #expect(try scene.apply("--no-owner").code == 0) }
        let status = try scene.status("target/d")
        #expect(status.st_uid == 65534 && status.st_mode & 0o777 == 0o570)
        #expect(try scene.apply("--no-owner").output.contains("nothing to do"))
        // If the owner is mirrored, the mode is that of the source.
        try scene.mirror()
    }
    /// A target below directories that can be searched, but not read.
    @Test func targetsBelowADirectoryThatMayOnlyBeSearched() throws {
        let scene = try MirrorScene(["s": ["f": "1"], "here": [:]], as: .ordinary)
        let me = scene.path("source")
        try scene.setOwner(0, 0, of: ".")
        try scene.setMode(0o711, of: ".")
        defer { try? scene.setMode(0o755, of: ".") }
        try scene.run("apply", "\(me)/s", "\(me)/t").expect(0)
        #expect(try scene.run("apply", "\(me)/s", "\(me)/new/t", "--create-parents").code == 0)
        try scene.run("snapshot", "restore", "\(me)/t", "latest", "--to", "\(me)/copy").expect(0)
        #expect(try scene.text("source/copy/f") == "1")
        // A state with another name could be in it.
        try scene.build(["own": "o"], at: "other")
        #expect(try scene.run("apply", "\(me)/s", scene.path("other"), "--adopt").code == 0)
    }
}
