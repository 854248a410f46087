import Glibc
import TestNeeds
import TestSupport
import Testing

@Suite("Mounts, locked entries and planted state are refused before anything is written")
struct RefusedInputTests {

    private func expectRefused(
        _ scene: MirrorScene, _ arguments: [String] = ["source", "target"], naming words: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try scene.exists("target") ? scene.wholeTarget() : nil
        for command in ["plan", "apply"] {
            let run = try scene.run([command] + arguments + ["--max-delete", "unlimited", "--adopt"])
            #expect(run.code == 4, "\(command): \(run.code) \(run.errors)", sourceLocation: sourceLocation)
            for word in words {
                #expect(run.errors.contains(word), "\(run.errors)", sourceLocation: sourceLocation)
            }
        }
        if let before {
            #expect(try scene.wholeTarget().touched(since: before) == [], sourceLocation: sourceLocation)
        }
    }

    // MARK: Mounts

    @Test(.needs(.mounts))
    func sourceAndTargetThatAMountPutsIntoEachOther() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]])
        try scene.mirror()
        try scene.build([:], at: "view")
        func bound(_ name: String, at place: String, _ arguments: [String]) throws {
            try TestDisk.bind(scene.path(name)).mounted(at: scene.path(place)) {
                try expectRefused(scene, arguments)
            }
        }
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
        let scene = try MirrorScene(["file": "1", "d": ["inner": [:]]])
        try scene.mirror()
        try scene.build(["outside": "kept"], at: "other")
        try scene.append("+", to: "source/file")
        try TestDisk.bind(scene.path("other/outside")).mounted(at: scene.path("target/file")) {
            try expectRefused(scene, naming: "file", "unmount")
        }
        try TestDisk.tmpfs(options: "size=1m").mounted(at: scene.path("target/d/inner")) {
            try expectRefused(scene, naming: "d/inner", "unmount")
        }
        try TestDisk.tmpfs(options: "size=1m,mode=0700").mounted(at: scene.path("target/.fsync-lite")) {
            try expectRefused(scene, naming: ".fsync-lite", "unmount")
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
        let scene = try MirrorScene(["file": "1", "d": ["x": "x", "y": "y"], "calm": ["z": "z"]])
        try scene.mirror()
        let path = scene.path(name.isEmpty ? "target" : "target/\(name)")
        try HostCommand.run("chattr", "+\(flag)", path)
        defer { _ = HostCommand.works("chattr", "-ia", path) }
        #expect(try scene.plan().code == 0)
        try scene.append("+", to: "source/file")
        try scene.append("+", to: "source/d/x")
        try expectRefused(scene, naming: name.isEmpty ? "root" : name, "chattr -\(flag)")
        try HostCommand.run("chattr", "-\(flag)", path)
        try scene.mirrorAll()
    }

    @Test(.needs(.immutableFiles))
    func lockedEntryThatNothingChangesIsNotInTheWay() throws {
        let scene = try MirrorScene(["file": "1", "d": ["x": "x", "y": "y"]])
        try scene.mirror()
        let path = scene.path("target/d/y")
        try HostCommand.run("chattr", "+i", path)
        defer { _ = HostCommand.works("chattr", "-i", path) }
        try scene.append("+", to: "source/d/x")
        try scene.move("source/d", to: "source/moved")
        let run = try scene.apply()
        #expect(run.code == 0, "\(run.errors)")
        _ = HostCommand.works("chattr", "-i", scene.path("target/moved/y"))
        try scene.expectMirrored()
    }

    // MARK: State

    private static let stateFiles = [
        "manifest.json", "mark", "last-run", "settings.json", "journal", "journal.back", "sync-failed",
    ]

    @Test(arguments: stateFiles + ["stage", "history", "trash"], ["symlink", "FIFO", "socket", "other"])
    func anotherKindInPlaceOfStateIsRefused(name: String, kind: String) throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        try scene.mirror()
        try scene.append("2", to: "source/a")
        try scene.build(["file": "{}\n", "dir": ["in": "it"]], at: "outside")
        let outside = try scene.wholeState("outside")
        let isDirectory = ["stage", "history", "trash"].contains(name)
        let place = "target/.fsync-lite/\(name)"
        if scene.exists(place) { try scene.remove(place) }
        switch kind {
        case "symlink":
            try #require(
                symlink(scene.path(isDirectory ? "outside/dir" : "outside/file"), scene.path(place)) == 0)
        case "FIFO": try #require(mkfifo(scene.path(place), 0o600) == 0)
        case "socket": try HostSocket.make(at: scene.path(place))
        default: try scene.build(isDirectory ? "a file" : ["a": "directory"], at: place)
        }
        try scene.setMode(0o600, of: "outside/file")
        if kind != "symlink" { try scene.setMode(isDirectory ? 0o600 : 0o700, of: place) }
        let before = try scene.wholeTarget()
        let run = try scene.apply()
        #expect(run.code == 4, "\(run.code) \(run.errors)")
        #expect(run.errors.contains(name), "\(run.errors)")
        #expect(try scene.plan().code == 4)
        #expect(try scene.wholeTarget().touched(since: before) == [])
        let (now, then) = (try scene.wholeState("outside"), outside)
        #expect(now.tree["dir/in"] == then.tree["dir/in"] && now.tree.paths == then.tree.paths)
    }

    @Test(arguments: ["{", "[]", "{\"retention\":7}", "\u{0}", "nonsense"])
    func damagedSettingsAre65(text: String) throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.mirror()
        try scene.append("2", to: "source/a")
        try scene.build(["settings.json": .file(text, mode: 0o600)], at: "target/.fsync-lite")
        try scene.setMode(0o700, of: "target/.fsync-lite")
        let before = try scene.wholeTarget()
        for command in ["plan", "apply"] {
            let run = try scene.run(command, "source", "target")
            #expect(run.code == 65, "\(command) \(run.code) \(run.errors)")
            #expect(run.errors.contains("settings.json"))
        }
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }

    @Test func foreignNamesInTheHistoryDoNotPushOutTheLastApply() throws {
        let scene = try MirrorScene(["a": "one"])
        try scene.mirror()
        for name in ["99999999T999999.999999Z", "zzz", "20991231T000000.000000Z-ffff"] {
            try scene.build(["theirs": "kept"], at: "target/.fsync-lite/history/\(name)")
        }
        try scene.append(" two", to: "source/a")
        try scene.mirror()
        #expect(try scene.historyKeeps("one"))
        #expect(try scene.historyKeeps("kept"))
    }

    // MARK: Runs that were cut short

    @Test(.needs(.mounts, .strace))
    func stageOfAKilledRunDoesNotFillTheDiskForTheNext() throws {
        let scene = try MirrorScene(["large": .file(String(repeating: "x", count: 3_000_000))])
        try scene.build([:], at: "target")
        try TestDisk.tmpfs(options: "size=5m").mounted(at: scene.target) {
            for content in ["y", "z"] {
                do {
                    let command = try PausedCommand(
                        ["apply", "source", "target"], in: scene.directory.path, at: .after("syncfs"))
                    #expect(try command.waitForPause())
                }
                // It is another file by now, so what is staged serves nobody.
                try scene.editInSecret("source/large", String(repeating: content, count: 3_000_000))
            }
            var run = try scene.apply()
            while run.code == 75 { run = try scene.apply() }
            #expect(run.code == 0, "\(run.errors)")
            try scene.expectMirrored()
        }
    }

    @Test(.needs(.strace))
    func displacingWithSomethingMissingIs3AndNamesIt() throws {
        let scene = try MirrorScene(["edited": "one", "kept": "k"])
        try scene.mirror()
        try scene.append(" two", to: "source/edited")
        try scene.build(["new": "n"], at: "source")
        do {
            let command = try PausedCommand(
                ["apply", "source", "target"], in: scene.directory.path,
                at: .after("renameat2", of: "journal"))
            #expect(try command.waitForPause())
        }
        try scene.remove("target/edited")
        var run = try scene.run("recover", "target")
        while run.code == 75 { run = try scene.run("recover", "target") }
        #expect(run.code == 6, "\(run.errors)")
        #expect(run.errors.contains("--displace"))
        run = try scene.run("recover", "target", "--displace")
        #expect(run.code == 3, "\(run.errors)")
        #expect(run.errors.contains("edited") && run.errors.contains("missing"), "\(run.errors)")
        #expect(try scene.text("target/new") == "n")
        try scene.mirrorAll()
    }

    @Test(.needs(.strace))
    func loserOfTwoFirstAppliesIs75() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]])
        var other: CommandRun?
        let first = try PausedCommand.run(
            ["apply", "source", "target"], in: scene.directory.path, at: .after("mkdirat", of: "target")
        ) { other = try scene.apply() }
        let codes = [first.code, try #require(other).code].sorted()
        #expect(codes == [0, 75], "\(first.errors) \(other?.errors ?? "")")
        try scene.mirrorAll()
    }
}

enum HostSocket {
    /// Leaves a socket at a path, bound to nobody any more.
    static func make(at path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < 108, "\(path)")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound)
    }
}
