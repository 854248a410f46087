import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite(
    "A source that changes while an apply runs",
    .needs(.strace))
struct ChangingSourceTests {
    /// A change of the source during a run.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (MirrorScene) throws -> Void
    }

    private static let changes: [Change] = [
        Change(testDescription: "a new file is rewritten") { try $0.rewrite("source/new", "rewritten") },
        Change(testDescription: "an edited file is rewritten") { try $0.rewrite("source/edited", "again") },
        Change(testDescription: "a rewritten file keeps size and time") {
            try $0.editInSecret("source/new", "NEW")
        },
        Change(testDescription: "a file grows") { try $0.append("and more", to: "source/edited") },
        Change(testDescription: "a file shrinks") { #expect(truncate($0.path("source/edited"), 1) == 0) },
        Change(testDescription: "a new file is removed") { try $0.remove("source/new") },
        Change(testDescription: "an edited file is removed") { try $0.remove("source/edited") },
        Change(testDescription: "a file becomes a symlink") {
            try $0.remove("source/new")
            try $0.build(["new": .symlink("/etc/passwd")], at: "source")
        },
        Change(testDescription: "a file becomes a FIFO") {
            try $0.remove("source/edited")
            try $0.build(["edited": .fifo()], at: "source")
        },
        Change(testDescription: "a file becomes a directory") {
            try $0.remove("source/edited")
            try $0.build(["edited": ["in": "it"]], at: "source")
        },
        Change(testDescription: "a file is replaced by another") {
            try $0.build(["other": "the other"], at: "source")
            try $0.move("source/other", to: "source/new")
        },
        Change(testDescription: "a new directory is renamed") {
            try $0.move("source/made", to: "source/made otherwise")
        },
        Change(testDescription: "a new directory is removed") { try $0.remove("source/made") },
        Change(testDescription: "a directory of a new file becomes a symlink") {
            try $0.move("source/dir", to: "elsewhere")
            try $0.build(["dir": .symlink("../elsewhere")], at: "source")
        },
        Change(testDescription: "a moved directory moves again") {
            try $0.move("source/moved", to: "source/dir/moved again")
        },
        Change(testDescription: "a file appears and a directory goes") {
            try $0.build(["appeared": "now"], at: "source/dir")
            try $0.remove("source/kept")
        },
        Change(testDescription: "everything is renamed") {
            for name in ["new", "edited", "dir", "made", "moved", "kept"] {
                try $0.move("source/\(name)", to: "source/\(name) renamed")
            }
        },
        Change(testDescription: "everything goes") {
            try $0.remove("source")
            try $0.build([:], at: "source")
        },
    ]

    private static let points: [PausedCommand.Point] = [
        .after("mkdirat", of: "stage"), .after("openat", of: "new"),
        .after("pread64", of: "source/new"), .after("pread64", of: "source/edited"), .after("syncfs"),
        .after("renameat2", of: "journal"),
    ]

    /// Every file of the target is a complete version of the source's. The exit code is right, and the next
    /// run completes the mirror.
    @Test(arguments: points, changes)
    func endsWithATrueCodeAndTheNextRunRepairsIt(point: PausedCommand.Point, change: Change) throws {
        let scene = try MirrorScene(
            [
                "edited": "first version", "dir": ["a": "a", "b": "b"], "was": ["x": "x", "y": "y"],
                "kept": ["k": "k"], "gone": "gone", "some": ["1": "1", "2": "2", "3": "3"],
            ], inMemory: true
        ).mirrored()
        try scene.append(", edited", to: "source/edited")
        try scene.build(
            [
                "new": .file("new", modified: TreeTime(1_600_000_000, 1)), "dir": ["c": "c"],
                "made": ["in": "it", "deeper": ["and": "so on"]],
            ], at: "source")
        try scene.move("source/was", to: "source/moved")
        try scene.remove("source/gone")
        let old = try TreeSnapshot(scene.target)
        var versions = try contents(old).union(contents(TreeSnapshot(scene.source)))
        let run = try scene.paused(["apply", "--json", "source", "target"], at: point) {
            try change.make(scene)
            versions.formUnion(try contents(TreeSnapshot(scene.source)))
        }
        let now = try TreeSnapshot(scene.target)
        #expect(contents(now).subtracting(versions) == [])
        let report = try run.json()
        switch run.code {
        case 0, 3:
            #expect(report.text("outcome") == "committed")
            #expect(now != old)
            let listed = report.objects("problems").compactMap { $0.text("code") }
            #expect(listed == (run.code == 0 ? [] : ["changing"]), "\(listed)")
        // The source is another directory now.
        case 1 where change.testDescription == "everything goes":
            #expect(report.text("outcome") == "failed")
            #expect(now.touched(since: old) == [])
        default: Issue.record("exit \(run.code): \(run.errors)")
        }
        #expect(!scene.exists("target/.fsync-lite/journal"))
        // The manifest agrees with the target, because nobody else writes there.
        let listed = try scene.run("manifest", "list", "--null", "target").output
        #expect(
            listed.split(separator: "\0").map { String($0) }.sorted() == now.paths,
            "the manifest is not of this tree")

        try scene.run(
            "apply", "--max-delete", "unlimited", "--allow-empty-source", "source", "target"
        ).expect(0)
        try scene.expectMirrored()
        #expect(try scene.apply("--allow-empty-source").output.contains("nothing to do"))
    }

    private func contents(_ snapshot: TreeSnapshot) -> Set<[UInt8]> {
        Set(snapshot.entries.values.filter { $0.type == "-" }.compactMap(\.content))
    }

    // MARK: A file that never stands still

    private static let change: @Sendable (MirrorScene) throws -> Void = {
        let content = try $0.text("source/restless")
        try $0.rewrite("source/restless", String(content.reversed()))
    }

    private func restlessRun(
        _ scene: MirrorScene, changes: Int = .max, _ options: String...,
        change: (MirrorScene) throws -> Void = ChangingSourceTests.change
    ) throws -> CommandRun {
        let command = try PausedCommand(
            ["apply", "source", "target"] + options, in: scene.directory.path,
            at: .every("pread64", of: "source/restless"))
        var made = 0
        while try command.waitForPause() {
            if made < changes { try change(scene) }
            made += 1
            command.resume()
        }
        return try command.finish()
    }

    private func restlessScene() throws -> MirrorScene {
        let scene = try MirrorScene(["restless": "old", "d": ["a": "a"]], inMemory: true).mirrored()
        try scene.append(" and new", to: "source/restless")
        return scene
    }

    @Test func fileThatChangesTwiceIsCopiedAThirdTime() throws {
        let scene = try restlessScene()
        #expect(try restlessRun(scene, changes: 2).code == 0)
        #expect(try scene.text("target/restless") == "old and new")
        try scene.expectMirrored()
    }

    @Test func fileThatGrowsTwiceIsCopiedAThirdTimeWhereThatIsStrict() throws {
        let scene = try restlessScene()
        try restlessRun(scene, changes: 2, "--strict") { try $0.append("!", to: "source/restless") }.expect(0)
        #expect(try scene.text("target/restless") == "old and new!!")
        try scene.expectMirrored()
    }

    /// The changes, after which the old content is not the beginning of the new one.
    private static let restless: [Change] = [
        Change(testDescription: "it is rewritten", make: change),
        Change(testDescription: "it grows, and its first part changes") {
            try $0.rewrite("source/restless", String(try $0.text("source/restless").reversed()) + "!")
        },
        Change(testDescription: "it is emptied and grows (copytruncate)") {
            let size = try $0.text("source/restless").utf8.count
            try $0.rewrite("source/restless", String(repeating: "\(size % 10)", count: size + 1))
        },
        Change(testDescription: "it grows, and is another file each time") {
            let content = try $0.text("source/restless")
            try $0.append("!", to: "source/restless")
            try $0.build(["other": .file(content + "?")], at: "source")
            try $0.move("source/other", to: "source/restless")
        },
    ]

    @Test(arguments: restless)
    func fileThatGoesOnChangingKeepsItsOldVersionAndTheRestIsMirrored(change: Change) throws {
        let scene = try restlessScene()
        try scene.build(["z": "the rest"], at: "source")
        let run = try restlessRun(scene, "--json", change: change.make).expect(3)
        let problems = try run.json().objects("problems")
        #expect(problems.map { $0.text("path") } == ["restless"])
        #expect(problems.first?.text("code") == "changing")
        #expect(try scene.text("target/restless") == "old")
        #expect(try scene.text("target/z") == "the rest")
        try scene.mirror()
        #expect(try scene.mirror().output.contains("nothing to do"))
    }

    @Test func newFileThatGoesOnChangingIsLeftOut() throws {
        let scene = try MirrorScene(["restless": "new", "d": ["a": "a"]], inMemory: true)
        try restlessRun(scene).expect(3, says: "restless: it was still changing after three tries (changing)")
        #expect(!scene.exists("target/restless"))
        #expect(try scene.text("target/d/a") == "a")
        try scene.mirror()
    }

    @Test(arguments: ["--no-owner", "--keep-going"])
    func fileThatGoesOnChangingIs1WithStrictAndTheTargetIsUnchanged(other: String) throws {
        let scene = try restlessScene()
        let before = try TreeSnapshot(scene.target)
        try restlessRun(scene, "--strict", other).expect(1, says: "restless", "leave out --strict")
        #expect(try TreeSnapshot(scene.target).touched(since: before) == [])
        try scene.mirror()
    }

    @Test func everyNameOfAFileThatGoesOnChangingKeepsItsOldVersion() throws {
        let scene = try MirrorScene(["restless": "old"], inMemory: true)
        #expect(link(scene.path("source/restless"), scene.path("source/second")) == 0)
        try scene.mirror()
        try scene.append(" and new", to: "source/restless")
        let run = try restlessRun(scene, "--json").expect(3)
        #expect(try run.json().objects("problems").map { $0.text("path") } == ["restless", "second"])
        #expect(try scene.text("target/second") == "old")
        try scene.mirror()
    }
}

extension MirrorScene {
    /// Writes other bytes to the same file.
    func rewrite(_ name: String, _ content: String) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path(name)))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(content.utf8))
        try handle.close()
    }
}
