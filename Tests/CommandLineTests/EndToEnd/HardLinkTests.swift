import Glibc
import TestNeeds
import TestSupport
import Testing

/// The types that can have several names.
enum LinkedKind: String, CaseIterable, Sendable {
    case file, symlink, pipe, device

    /// Only root can make device nodes.
    static let possible = allCases.filter { $0 != .device || geteuid() == 0 }
    static let others = possible.filter { $0 != .file }

    func make(_ name: String, in scene: MirrorScene) throws {
        switch self {
        case .file: try scene.build("group", at: "source/\(name)")
        case .symlink: try scene.build(.symlink("dir"), at: "source/\(name)")
        case .pipe: try scene.build(.fifo(), at: "source/\(name)")
        case .device: try #require(mknod(scene.path("source/\(name)"), S_IFCHR | 0o600, 1 << 8 | 3) == 0)
        }
        try scene.setTime(TreeTime(1_600_000_000, 3), of: "source/\(name)")
    }

    /// `one`, `two` and `dir/three` are one file of 5 bytes. `alone` and `twin` are equal, but not linked.
    func build(_ scene: MirrorScene) throws {
        try scene.build(["dir": ["x": "x"]], at: "source")
        for name in ["one", "alone", "twin"] { try make(name, in: scene) }
        try scene.link("source/two", to: "source/one")
        try scene.link("source/dir/three", to: "source/one")
    }
}

/// A change of links, and its result.
struct LinkChange: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Bytes of files that must be copied.
    var copied = 0
    let make: @Sendable (MirrorScene, LinkedKind) throws -> Void

    /// The changes for all types.
    static let ofAll: [LinkChange] = [
        .init(testDescription: "one more name") { scene, _ in
            try scene.link("source/four", to: "source/dir/three")
        },
        .init(testDescription: "a name before all others") { scene, _ in
            try scene.link("source/a", to: "source/two")
        },
        .init(testDescription: "a name in a new directory") { scene, _ in
            try scene.build([:], at: "source/new")
            try scene.link("source/new/four", to: "source/two")
        },
        .init(testDescription: "the first name less") { scene, _ in try scene.remove("source/one") },
        .init(testDescription: "one name left") { scene, _ in
            try scene.remove("source/one")
            try scene.remove("source/dir/three")
        },
        .init(testDescription: "a name moved") { scene, _ in
            try scene.move("source/one", to: "source/dir/moved")
        },
        .init(testDescription: "a directory with a name moved") { scene, _ in
            try scene.move("source/dir", to: "source/elsewhere")
        },
        .init(testDescription: "all names are others") { scene, _ in
            for name in ["one", "two", "dir/three"] {
                try scene.move("source/\(name)", to: "source/\(name) renamed")
            }
        },
        .init(testDescription: "split by a copy", copied: 5) { scene, kind in
            try scene.remove("source/two")
            try kind.make("two", in: scene)
        },
        .init(testDescription: "two joined") { scene, _ in
            try scene.remove("source/alone")
            try scene.link("source/alone", to: "source/twin")
        },
        .init(testDescription: "a name goes over to another") { scene, _ in
            try scene.remove("source/two")
            try scene.link("source/two", to: "source/alone")
        },
    ]

    static let ofFiles: [LinkChange] =
        ofAll + [
            .init(testDescription: "a name less") { scene, _ in try scene.remove("source/two") },
            .init(testDescription: "a name in a directory less") { scene, _ in
                try scene.remove("source/dir/three")
            },
            .init(testDescription: "two names swapped with a third") { scene, _ in
                try scene.move("source/two", to: "source/five")
                try scene.move("source/one", to: "source/two")
            },
            .init(testDescription: "moved, and one more name in it") { scene, _ in
                try scene.move("source/dir", to: "source/elsewhere")
                try scene.link("source/elsewhere/four", to: "source/one")
            },
            .init(testDescription: "two names in a moved directory, one of them another's old one") {
                scene, _ in
                try scene.build([:], at: "source/c")
                try scene.move("source/two", to: "source/c/three")
                try scene.mirrorAll()
                try scene.move("source/dir", to: "source/elsewhere")
                try scene.move("source/elsewhere/three", to: "source/elsewhere/four")
                try scene.move("source/c/three", to: "source/elsewhere/three")
            },
            .init(testDescription: "half of forty names are others") { scene, _ in
                for number in 0..<40 { try scene.link("source/\(number)", to: "source/one") }
                try scene.mirrorAll()
                for number in stride(from: 0, to: 30, by: 2) {
                    try scene.move("source/\(number)", to: "source/renamed \(number)")
                }
                for number in stride(from: 30, to: 40, by: 2) {
                    try scene.move("source/\(number)", to: "source/dir/\(number)")
                }
            },
            .init(testDescription: "a file joined to the group") { scene, _ in
                try scene.remove("source/alone")
                try scene.link("source/alone", to: "source/two")
            },
            .init(testDescription: "edited in place", copied: 6) { scene, _ in
                try scene.append("+", to: "source/two")
            },
            .init(testDescription: "edited, and one more name", copied: 6) { scene, _ in
                try scene.append("+", to: "source/two")
                try scene.link("source/a", to: "source/one")
            },
            .init(testDescription: "mode of all") { scene, _ in try scene.setMode(0o600, of: "source/two") },
            .init(testDescription: "mode of all, and a name less", copied: 5) { scene, _ in
                try scene.setMode(0o600, of: "source/two")
                try scene.remove("source/one")
            },
            .init(testDescription: "xattr of all") { scene, _ in
                try scene.setAttribute("user.x", "y", of: "source/two")
            },
            .init(testDescription: "all of it replaced", copied: 3) { scene, _ in
                for name in ["one", "two", "dir/three"] { try scene.remove("source/\(name)") }
                try scene.build(["one": "new"], at: "source")
                try scene.link("source/two", to: "source/one")
                try scene.link("source/dir/three", to: "source/one")
            },
            .init(testDescription: "a name becomes a directory") { scene, _ in
                try scene.remove("source/two")
                try scene.build([:], at: "source/two")
                try scene.link("source/two/two", to: "source/one")
            },
            .init(testDescription: "edited without a trace", copied: 5) { scene, _ in
                try scene.editInSecret("source/one", "GROUP")
            },
        ]

    static let ofOthers: [LinkChange] =
        ofAll + [
            .init(testDescription: "time of all") { scene, _ in
                try scene.setTime(TreeTime(1_700_000_000, 4), of: "source/two")
            },
            .init(testDescription: "time of all, and a name less") { scene, _ in
                try scene.setTime(TreeTime(1_700_000_000, 4), of: "source/two")
                try scene.remove("source/one")
            },
            .init(testDescription: "all of it made anew") { scene, kind in
                for name in ["one", "two", "dir/three"] { try scene.remove("source/\(name)") }
                try kind.make("one", in: scene)
                try scene.link("source/two", to: "source/one")
                try scene.link("source/dir/three", to: "source/one")
            },
        ]

    /// Each change of each type.
    static let ofEach: [(LinkedKind, LinkChange)] =
        ofFiles.map { (LinkedKind.file, $0) }
        + LinkedKind.others.flatMap { kind in ofOthers.map { (kind, $0) } }
}

@Suite("Names of one file stay names of one file")
struct HardLinkTests {

    private func groupScene(_ kind: LinkedKind = .file) throws -> MirrorScene {
        let scene = try MirrorScene([:], inMemory: true)
        try kind.build(scene)
        try scene.mirrorAll()
        return scene
    }

    @Test(arguments: LinkChange.ofFiles)
    func changeOfAGroupIsMirroredAndCopiesNoMoreThanIsNew(change: LinkChange) throws {
        let scene = try groupScene()
        try change.make(scene, .file)
        #expect(try scene.planned().object("summary")?.number("bytes_to_copy") == change.copied)
        try scene.mirrorAll()
        // Objects that the history shares with the tree do not change with it.
        let history = try scene.contentsOfHistory()
        for name in try TreeSnapshot(scene.source).paths where try scene.status("source/\(name)").st_nlink > 1
        {
            try scene.setMode(0o640, of: "source/\(name)")
        }
        try scene.mirrorAll()
        for (inode, mode) in try scene.contentsOfHistory() where history[inode] != nil {
            #expect(mode == history[inode])
        }
    }

    /// Killed after its last operation, it is undone or finished.
    @Test(.needs(.strace), arguments: LinkChange.ofEach)
    func changeOfAGroupIsTakenBackOrFinishedByARecovery(kind: LinkedKind, change: LinkChange) throws {
        let scene = try groupScene(kind)
        try change.make(scene, kind)
        let before = try scene.wholeState()
        try scene.takenBackApply()
        #expect(try scene.wholeState().differences(from: before) == [])
        try scene.recoverStoppedApply().expect(0)
        try scene.expectAllMirrored()
    }

    @Test func namesThatSomebodyLinkedInTheTargetArePutRight() throws {
        let scene = try groupScene()
        for name in ["alone", "two"] { try scene.remove("target/\(name)") }
        try scene.link("target/alone", to: "target/twin")
        try scene.build(["two": .file("group", modified: TreeTime(1_600_000_000, 3))], at: "target")
        // Files with other content, too.
        try scene.remove("target/dir/x")
        try scene.link("target/dir/x", to: "target/one")
        let lines = try scene.planned().actionLinesButTimes
        #expect(lines.contains { $0.contains(" alone (links") || $0.contains(" twin (links") }, "\(lines)")
        #expect(lines.contains { $0.contains(" two (") && $0.contains("links") }, "\(lines)")
        try scene.mirrorAll()
    }

    /// A foreign name of an object outside the target never changes.
    @Test(arguments: [
        "mode", "xattr", "time", "owner", "content", "grown", "gone", "moved", "one more name",
    ])
    func fileThatIsLinkedFromOutsideIsNeverChanged(change: String) throws {
        let scene = try groupScene()
        try scene.build(["kept": [:]], at: "outside")
        for name in ["alone", "two"] { try scene.link("outside/\(name)", to: "target/\(name)") }
        let before = try scene.wholeState("outside")
        for name in ["alone", "two"] {
            switch change {
            case "mode": try scene.setMode(0o600, of: "source/\(name)")
            case "xattr": try scene.setAttribute("user.x", "y", of: "source/\(name)")
            case "time": try scene.setTime(TreeTime(7, 7), of: "source/\(name)")
            case "owner": if geteuid() == 0 { try scene.setOwner(5, 5, of: "source/\(name)") }
            case "content": try scene.editInSecret("source/\(name)", "GROUP")
            case "grown": try scene.append("+", to: "source/\(name)")
            case "gone": try scene.remove("source/\(name)")
            case "moved": try scene.move("source/\(name)", to: "source/\(name) moved")
            default: try scene.link("source/\(name) again", to: "source/\(name)")
            }
        }
        try scene.mirrorAll()
        #expect(try scene.wholeState("outside").differences(from: before) == [])
        // A second change, because the first one may have left the object unchanged.
        for name in try TreeSnapshot(scene.source).paths where name != "dir" {
            try scene.setMode(0o606, of: "source/\(name)")
        }
        try scene.mirrorAll()
        #expect(try scene.wholeState("outside").differences(from: before) == [])
    }

    @Test func groupWithAMemberThatIsExcludedIsMirroredWithoutIt() throws {
        let scene = try groupScene()
        try scene.link("source/not me", to: "source/one")
        let arguments = ["apply", "source", "target", "--exclude", "not me"]
        func expectWithout() throws {
            try scene.run(arguments).expect(0)
            #expect(
                try TreeSnapshot(scene.target, leavingOut: ["not me"]).differences(
                    from: TreeSnapshot(scene.source, leavingOut: ["not me"])) == [])
            #expect(try scene.status("target/one").st_ino == scene.status("target/dir/three").st_ino)
            #expect(try scene.run(arguments).output.contains("nothing to do"))
        }
        try expectWithout()
        #expect(!scene.exists("target/not me"))
        // The target has a name, too, which does not matter.
        try scene.link("target/not me", to: "target/one")
        try expectWithout()
        let before = try scene.status("target/not me")
        try scene.setMode(0o600, of: "source/one")
        try expectWithout()
        try scene.append("+", to: "source/one")
        try expectWithout()
        let after = try scene.status("target/not me")
        #expect(before.st_mode == after.st_mode && before.st_ino == after.st_ino && after.st_size == 5)
        // Included again.
        try scene.mirrorAll()
    }

    /// A directory with excluded content remains, and the file in it is deleted. New names cannot be linked
    /// to it.
    @Test func namesOfAFileThatCannotMoveAlongAreNamesOfOneCopy() throws {
        let scene = try MirrorScene(["dir": ["one": "group", "stays": "x"]])
        try scene.mirrorAll()
        try scene.link("source/two", to: "source/dir/one")
        try scene.move("source/dir", to: "source/moved")
        try scene.apply("--exclude", "dir/stays", "--max-delete", "unlimited").expect(0)
        #expect(try scene.status("target/two").st_ino == scene.status("target/moved/one").st_ino)
        #expect(try scene.status("target/two").st_nlink == 2)
        #expect(scene.exists("target/dir/stays") && !scene.exists("target/dir/one"))
    }

    @Test func switchedOffEachNameIsAFileAndOnAgainTheyAreJoined() throws {
        let scene = try MirrorScene([:])
        try LinkedKind.file.build(scene)
        try scene.mirror("--no-hard-links")
        for name in ["one", "two", "dir/three"] { #expect(try scene.status("target/\(name)").st_nlink == 1) }
        #expect(try scene.apply("--no-hard-links").output.contains("nothing to do"))
        let lines = try scene.planned().actionLinesButTimes
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains("links") }, "\(lines)")
        try scene.mirrorAll()
        // A group of names remains one until something in it changes.
        #expect(try scene.plan("--json", "--no-hard-links").json().actionLines == [])
        #expect(try scene.apply("--no-hard-links").code == 0)
        try scene.setMode(0o600, of: "source/two")
        try scene.mirror("--no-hard-links")
        try scene.mirrorAll()
    }

    /// `--no-delete` keeps a name that the source no longer has, in a directory that moves.
    @Test func manifestCountsTheNamesThatAreKept() throws {
        let scene = try MirrorScene(["old": ["a": "one file"]])
        for name in ["b", "c"] { try scene.link("source/old/\(name)", to: "source/old/a") }
        try scene.mirror()
        try scene.move("source/old", to: "source/new")
        try scene.remove("source/new/b")
        func counted() throws -> Int {
            try scene.text("target/.fsync-lite/manifest.json").components(separatedBy: "\"links\":3").count
                - 1
        }
        for _ in 0..<2 {
            try scene.apply("--no-delete").expect(0)
            #expect(try counted() == 3)
        }
        #expect(try scene.apply("--no-delete").output.contains("nothing to do"))
        try scene.run("undo", "target").expect(0)
        #expect(try scene.status("target/old/b").st_nlink == 3)
        #expect(try counted() == 3)
    }

    /// Clones of one image have equal inodes and birth times. The file system distinguishes their files.
    @Test(.needs(.mounts))
    func groupsOfTwoFileSystemsAreNotTakenForOne() throws {
        let scene = try MirrorScene(["first": [:], "second": [:]])
        let (first, second) = (scene.path("first.image"), scene.path("second.image"))
        try TestDisk.makeImage(first, megabytes: 2)
        try TestDisk.image(first).mounted(at: scene.path("source/first")) {
            try scene.build(["a": .file("1111", modified: TreeTime(7, 7))], at: "source/first")
            try scene.link("source/first/b", to: "source/first/a")
        }
        try HostCommand.run("cp", first, second)
        try TestDisk.image(first).mounted(at: scene.path("source/first")) {
            try TestDisk.image(second).mounted(at: scene.path("source/second")) {
                try scene.editInSecret("source/second/a", "2222")
                #expect(try scene.apply().code == 0)
                #expect(try scene.wholeState().differences(from: scene.wholeState("source")) == [])
            }
        }
    }
}

extension MirrorScene {
    /// The modes of the files in the history, by inode.
    fileprivate func contentsOfHistory() throws -> [UInt64: UInt32] {
        let snapshot = try TreeSnapshot(path("target/.fsync-lite/history"))
        var modes: [UInt64: UInt32] = [:]
        for (name, entry) in snapshot.entries where entry.type == "-" {
            if let identity = snapshot.identities[name] { modes[identity.inode] = entry.mode }
        }
        return modes
    }
}
