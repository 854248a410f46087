import Foundation
import TestNeeds
import TestSupport
import Testing

/// A target that was written once is not begun again on the disk below its mount point.
@Suite("Known targets, and one whose disk is missing")
struct KnownTargetTests {
    private let scene: MirrorScene

    init() throws {
        scene = try MirrorScene(["a": "a", "d": ["b": "b"]])
    }

    private func run(_ words: [String], under tracer: [String] = []) throws -> CommandRun {
        try CommandRun(
            words, in: scene.directory.path, under: tracer,
            environment: ["FSYNC_LITE_STATE": scene.path("known")])
    }

    private func run(_ words: String...) throws -> CommandRun { try run(words) }

    private func apply(_ target: String = "target", _ options: String...) throws {
        let run = try run(["apply", "source", target] + options)
        try #require(run.code == 0, "\(run.errors)")
    }

    private func onDisk(
        _ name: String = "target", _ disk: TestDisk = .ext4(megabytes: 16), _ body: () throws -> Void
    ) throws {
        try scene.mounted(disk, at: name, body)
    }

    private func record() throws -> JSONObject {
        try JSONObject(text: scene.text("known/targets.json"))
    }

    private func expectRefused(
        _ target: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for command in ["plan", "apply"] {
            let run = try run(command, "source", target, "--json").expect(4, sourceLocation: sourceLocation)
            let cases = try run.json().objects("refusals").map { $0.text("case") }
            #expect(cases == ["missing_target"], "\(run.errors)", sourceLocation: sourceLocation)
        }
    }

    // MARK: Refused

    /// The reported case: the second run filled the disk below, with exit code 0.
    @Test(.needs(.mounts), arguments: ["target", "target/inner"])
    func aTargetThatIsNotMountedIsRefused(path: String) throws {
        try onDisk { try apply(path) }
        try expectRefused(path)
        #expect(try scene.names(in: "target") == [])
        // Only this target, and only for this user.
        try apply("other")
    }

    /// An earlier run filled the disk below.
    @Test(.needs(.mounts)) func anotherStateAtThePathIsRefused() throws {
        try apply()
        try onDisk { try apply("target", "--new-target") }
        try expectRefused("target")
    }

    /// While the disk was missing, a run with the option made a target below it.
    @Test(.needs(.mounts)) func theDiskThatComesBackGoesOn() throws {
        try scene.build([:], at: "target")
        try TestDisk.makeImage(scene.path("image"), megabytes: 16)
        let disk = TestDisk.image(scene.path("image"))
        try disk.mounted(at: scene.target) { try apply() }
        try expectRefused("target")
        try apply("target", "--new-target")
        try scene.append("1", to: "source/a")
        try apply()
        #expect(try record().objects("targets").count == 1)
        try disk.mounted(at: scene.target) {
            try apply()
            try scene.append("1", to: "source/a")
            try apply()
        }
        try expectRefused("target")
        #expect(
            try run("apply", "source", "target").errors.contains("wrote, is another one now, and its path"))
    }

    @Test(.needs(.mounts)) func aJobNamesTheDiskToo() throws {
        try scene.writeJob()
        func job(_ options: String...) throws -> CommandRun {
            try run(["run", "j", "--settings", "settings.json"] + options)
        }
        try onDisk { try job("--create-target").expect(0) }
        try job().expect(
            4, says: "wrote, does not exist, and its path is on another file system. Mount its disk.",
            "To begin a new target there, give --create-target")
        try job("--create-target").expect(0)
    }

    @Test(.needs(.mounts)) func aSymlinkLeadsToTheKnownTarget() throws {
        try onDisk("disk") {
            try #require(symlink("disk", scene.path("link")) == 0)
            try apply("link")
        }
        try expectRefused("disk")
        try expectRefused("link")
    }

    @Test(.needs(.mounts)) func twoMountsAreOneTarget() throws {
        try scene.build([:], at: "second")
        try onDisk("disk") {
            try apply("disk/t")
            try TestDisk.bind(scene.path("disk")).mounted(at: scene.path("second")) {
                try scene.append("1", to: "source/a")
                try apply("second/t")
            }
        }
        #expect(try record().objects("targets").count == 1)
        try expectRefused("disk/t")
        try expectRefused("second/t")
    }

    /// Its file system has no UUID, but is certainly another one.
    @Test(.needs(.exfat)) func withoutAUUIDTheTypeTells() throws {
        try onDisk("target", .exfat) { try apply("target", "--weak-commit") }
        try expectRefused("target")
    }

    /// Without this user's record, nothing is known.
    @Test(.needs(.mounts)) func aDamagedRecordIsNoError() throws {
        try onDisk { try apply() }
        for damage in ["", "{", "{\"targets\": [{}], \"version\": 1}"] {
            try Data(damage.utf8).write(to: URL(fileURLWithPath: scene.path("known/targets.json")))
            try #require(run("plan", "source", "target").code == 0)
        }
        try apply()
        #expect(try record().objects("targets").count == 1)
    }

    @Test(.needs(.strace)) func aRecordThatCannotBeReadIsNotBegunAnew() throws {
        try apply()
        let attempts = try scene.names(in: "known/attempts")
            .filter { $0.hasSuffix(".json") && !$0.contains("private") }.map { "attempts/\($0)" }
        func records() throws -> [String] {
            try (["targets.json"] + attempts).map { try scene.text("known/\($0)") }
        }
        let before = try records()
        try scene.append("1", to: "source/a")
        // strace compares the name that the call has.
        let names = (["targets.json"] + attempts).map { ($0 as NSString).lastPathComponent }
        let tracer = Strace.injecting("error=EIO", into: "openat", of: names)
        try run(["apply", "source", "target"], under: tracer)
            .expect(0, says: "this run is not recorded for 'status'")
        #expect(try records() == before)
    }

    /// The disk below is the same file system.
    @Test(.needs(.root)) func aBindMountThatIsGoneIsRefused() throws {
        try scene.build([:], at: "target")
        try scene.build([:], at: "disk")
        try TestDisk.bind(scene.path("disk")).mounted(at: scene.target) { try apply("target/t") }
        try expectRefused("target/t")
        #expect(try scene.names(in: "target") == [])
        try TestDisk.bind(scene.path("disk")).mounted(at: scene.target) {
            try scene.append("1", to: "source/a")
            try apply("target/t")
        }
    }

    @Test(.needs(.mounts, .strace)) func recoverRecordsIt() throws {
        try onDisk {
            try scene.paused(["apply", "source", "target/t"], at: .after("renameat2", of: "journal")).kill()
            #expect(!scene.exists("known/targets.json"))
            try run("recover", "target/t").expect(0, prints: "is finished")
        }
        try expectRefused("target/t")
    }

    // MARK: Not refused

    @Test func aTargetThatItsUserRemovedIsBegunAnew() throws {
        try apply()
        try scene.remove("target")
        try apply()
        try scene.remove("target/.fsync-lite")
        try apply("target", "--adopt")
    }

    /// Memory is empty after each mount, so a missing disk shows nothing.
    @Test(.needs(.root)) func aTargetInMemoryIsNotRecorded() throws {
        try onDisk("target", .tmpfs(options: "size=8m")) { try apply() }
        try apply()
    }

    @Test(.needs(.mounts)) func aCopyOnALargerDiskGoesOn() throws {
        try onDisk {
            try apply()
            try HostCommand.run("cp", "-a", scene.target, scene.path("copy"))
        }
        try scene.remove("target")
        try scene.move("copy", to: "target")
        try scene.append("1", to: "source/a")
        try apply()
    }

    // MARK: The record

    @Test(.needs(.strace)) func aRunThatFindsNothingToDoDoesNotTouchIt() throws {
        try apply()
        let trace = scene.path("trace")
        try run(
            ["apply", "source", "target"],
            under: ["strace", "-f", "-o", trace, "-e", "trace=openat,rename,renameat,renameat2,fsync,syncfs"]
        ).expect(prints: "nothing to do")
        let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("targets.json") }
        #expect(!calls.isEmpty && calls.allSatisfy { $0.contains("O_RDONLY") }, "\(calls)")
    }

    @Test func targetsThatAreGoneAreDropped() throws {
        for name in 1...5 {
            try apply("t\(name)")
            if name != 2 { try scene.remove("t\(name)") }
        }
        try apply()
        let paths = try record().objects("targets").flatMap { $0.texts("paths") }
        #expect(paths.map { $0.split(separator: "/").last } == ["t2", "target"])
    }

    @Test(.needs(.mounts)) func statusListsThem() throws {
        try Data("{\"jobs\": {}}".utf8).write(to: URL(fileURLWithPath: scene.path("settings.json")))
        try onDisk("disk") { try apply("disk/it's") }
        try apply()
        let words = ["status", "--all", "--settings", "settings.json"]
        let table = try run(words).expect(0)
        let lines = table.output.split(separator: "\n")
        #expect(
            lines.contains { $0.contains("/disk/it's") && $0.hasSuffix("not there: mount its disk") },
            "\(lines)")
        #expect(lines.contains { $0.contains("/target ") && $0.hasSuffix(" there") }, "\(lines)")
        let list = try run(words + ["--json"]).json().objects("known_targets")
        #expect(list.map { $0.text("now") } == ["disk_missing", "there"])
    }

    @Test func withoutARecordNothingIsWritten() throws {
        try scene.here(
            ["apply", "source", "target"],
            environment: [
                "FSYNC_LITE_STATE": "", "XDG_STATE_HOME": scene.path("known"), "HOME": scene.path("home"),
            ]
        ).expect(0)
        #expect(!scene.exists("known") && !scene.exists("home"))
    }
}
