import FileSystem
import Foundation
import FsyncLite
import TestNeeds
import TestSupport
import Testing

@testable import fsync_lite

/// A file such as a log, which a program writes to while it is copied.
@Suite(
    "A file that grows while it is copied",
    .needs(.strace))
struct GrowingFileTests {
    private static let megabytes = log(lines: 200_000)

    private static func log(lines: Int) -> String { String(repeating: "a line of a log\n", count: lines) }

    /// Applies. At each of these calls on the log, it grows, or something else happens.
    private func run(
        _ scene: MirrorScene, _ arguments: [String] = ["apply", "source", "target"],
        at point: PausedCommand.Point = .every("pread64", of: "source/log"),
        meanwhile: (MirrorScene) throws -> Void = { try $0.append("+", to: "source/log") }
    ) throws -> CommandRun {
        let command = try PausedCommand(arguments, in: scene.directory.path, at: point)
        while try command.waitForPause() {
            try meanwhile(scene)
            command.resume()
        }
        return try command.finish()
    }

    private func scene(_ log: String = "first\n") throws -> MirrorScene {
        let scene = try MirrorScene(["log": "old\n", "d": ["a": "a"]], inMemory: true).mirrored()
        try scene.append(log, to: "source/log")
        try scene.build(["z": "the rest"], at: "source")
        return scene
    }

    /// The mirror has a complete first part of the file, and the next run mirrors the rest.
    private func expectFirstPart(
        _ scene: MirrorScene, _ run: CommandRun, atLeast size: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(run.code == 0, "\(run.errors)", sourceLocation: sourceLocation)
        let (source, target) = (try scene.text("source/log"), try scene.text("target/log"))
        #expect(
            source.hasPrefix(target) && (size..<source.utf8.count).contains(target.utf8.count),
            "\(target.utf8.count) of \(source.utf8.count)", sourceLocation: sourceLocation)
        #expect(try scene.text("target/z") == "the rest", sourceLocation: sourceLocation)
        #expect(
            run.errors.contains(
                "note: log grew while it was copied: its first \(Amount.bytes(ByteCount(clamping: target.utf8.count))) are mirrored"
            ),
            "\(run.errors)", sourceLocation: sourceLocation)
        #expect(run.errors.contains("snapshot of the source"), sourceLocation: sourceLocation)
    }

    private func expectTheRestNextTime(
        _ scene: MirrorScene, _ options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let next = try scene.run(["apply", "source", "target"] + options)
        #expect(
            next.code == 0 && !next.errors.contains("grew"), "\(next.errors)", sourceLocation: sourceLocation)
        #expect(next.output.contains("1 updated"), "\(next.output)", sourceLocation: sourceLocation)
        try scene.expectMirrored(sourceLocation: sourceLocation)
        let last = try scene.run(["apply", "source", "target"] + options)
        #expect(last.output.contains("nothing to do"), "\(last.output)", sourceLocation: sourceLocation)
    }

    @Test(arguments: [
        [], ["--digest"], ["--verify"], ["--exchange"], ["--no-sparse"], ["--bandwidth", "1G"],
    ])
    func itsFirstPartIsMirroredAndTheRestNextTime(options: [String]) throws {
        let scene = try scene()
        try expectFirstPart(scene, run(scene, ["apply", "source", "target"] + options), atLeast: 10)
        // The manifest agrees with the file.
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        try expectTheRestNextTime(scene, options)
    }

    /// It is not copied again, although it has stopped growing by then.
    @Test func largeOneIsCopiedOnce() throws {
        let scene = try scene(Self.megabytes)
        let run = try run(
            scene, ["apply", "source", "target", "--digest", "--verify"],
            at: .after("copy_file_range", of: "source/log"))
        try expectFirstPart(scene, run, atLeast: Self.megabytes.utf8.count)
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        try expectTheRestNextTime(scene, ["--digest", "--verify"])
    }

    @Test(.needs(.btrfs))
    func cloneIsOfOneInstant() throws {
        let disk = try TemporaryDirectory()
        try TestDisk.btrfs.mounted(at: disk.path) {
            let scene = try scene(Self.megabytes)
            for name in ["source", "target"] {
                try HostCommand.run("cp", "-a", "--reflink=never", scene.path(name), "\(disk.path)/\(name)")
                try scene.remove(name)
                #expect(symlink("\(disk.path)/\(name)", scene.path(name)) == 0)
            }
            let run = try run(
                scene, ["apply", "source", "target", "--change-source"],
                at: .every("statx", of: "source/log"))
            try expectFirstPart(scene, run, atLeast: Self.megabytes.utf8.count)
            #expect(try scene.apply().output.contains("1 updated"))
            #expect(try scene.text("target/log") == scene.text("source/log"))
        }
    }

    @Test func holesStayHoles() throws {
        let scene = try scene()
        #expect(truncate(scene.path("source/log"), 1 << 20) == 0)
        try scene.append("after the hole", to: "source/log")
        let run = try run(scene)
        try expectFirstPart(scene, run, atLeast: 1 << 20)
        var status = stat()
        #expect(lstat(scene.path("target/log"), &status) == 0 && status.st_blocks < 64)
        try expectTheRestNextTime(scene)
    }

    /// It has content that was not there when it was looked at.
    @Test func emptyOneThatBeginsToGrowIsNoProblem() throws {
        let scene = try MirrorScene(["log": "", "z": "the rest"], inMemory: true)
        try run(scene, at: .every("statx", of: "source/log")).expect(0)
        try scene.mirror()
    }

    @Test func allItsNamesAreNamesOfOneFile() throws {
        let scene = try scene()
        #expect(link(scene.path("source/log"), scene.path("source/same")) == 0)
        try expectFirstPart(scene, run(scene), atLeast: 10)
        #expect(try scene.text("target/same") == scene.text("target/log"))
        try scene.mirror().expect(prints: "2 updated")
        #expect(try scene.mirror().output.contains("nothing to do"))
    }

    /// The old log grows under another name. The file that has the name now is mirrored.
    @Test func rotatedLogIsNotTakenForTheNewOne() throws {
        let scene = try scene()
        var isRotated = false
        try run(scene) {
            guard !isRotated else { return }
            isRotated = true
            try $0.append("+", to: "source/log")
            try $0.move("source/log", to: "source/log.1")
            try $0.build(["log": "fresh\n"], at: "source")
            try $0.append("and more\n", to: "source/log.1")
        }.expect(0)
        #expect(try scene.text("target/log") == "fresh\n")
        try scene.mirror()
    }

    @Test func oneThatVanishesKeepsItsOldVersion() throws {
        let scene = try scene(Self.megabytes)
        try run(scene, at: .after("copy_file_range", of: "source/log")) {
            try $0.append("+", to: "source/log")
            try $0.remove("source/log")
        }.expect(0)
        #expect(try scene.text("target/log") == "old\n")
        #expect(try scene.text("target/z") == "the rest")
        try scene.mirror()
    }

    @Test(arguments: ["strict", "stric"])
    func jobsMayBeStrict(key: String) throws {
        let scene = try MirrorScene(["log": "one"], inMemory: true)
        try scene.writeJob("j", #", "\#(key)": true"#)
        let run = try run(scene, ["run", "j", "--create-target", "--settings", "settings.json"])
        #expect(run.code == (key == "strict" ? 1 : 65), "\(run.errors)")
        #expect(!scene.exists("target/log"))
    }

    @Test(arguments: [(1, "pread64"), (200_000, "copy_file_range")])
    func savedPlanNoLongerFits(lines: Int, call: String) throws {
        let scene = try scene(Self.log(lines: lines))
        #expect(try scene.plan("--out", "plan").code == 0)
        let before = try TreeSnapshot(scene.target)
        try run(scene, ["apply", "--plan", "plan"], at: .after(call, of: "source/log")).expect(5)
        #expect(try TreeSnapshot(scene.target).touched(since: before) == [])
    }

    @Test(arguments: [[], ["--exchange"]]) func itCanBeTakenBack(options: [String]) throws {
        let scene = try scene()
        let old = try TreeSnapshot(scene.target)
        #expect(try run(scene, ["apply", "source", "target"] + options).code == 0)
        let grown = try TreeSnapshot(scene.target)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: old) == [])
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: grown) == [])
        try scene.mirror()
        #expect(try scene.mirror().output.contains("nothing to do"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).differences(from: grown) == [])
    }
}
