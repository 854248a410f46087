import Foundation
import TestNeeds
import TestSupport
import Testing

/// Files with huge holes, on tmpfs. A run that read or hashed a whole one would not end.
@Suite("Files with large holes", .needs(.otherFileSystem))
struct HoleTests {
    static let size = 1 << 60

    private func scene(_ far: FarMachine.Side?, size: Int = size) throws -> MirrorScene {
        let scene = try MirrorScene(["disk": "first", "small": "s"], inMemory: true)
        if let far { scene.far = try FarMachine(has: far) }
        let file = open(scene.path("source/disk"), O_WRONLY)
        defer { close(file) }
        try #require(pwrite(file, "middle", 6, size / 2) == 6)
        try #require(ftruncate(file, size) == 0)
        ClockTick.pass()
        return scene
    }

    /// `MirrorScene.mirror` would read both files.
    @discardableResult
    private func mirror(_ scene: MirrorScene, _ options: String...) throws -> CommandRun {
        let run = try scene.run(["apply", "source", "target"] + options).expect(0)
        return run
    }

    /// The middle of the target's file.
    private func middle(_ scene: MirrorScene, size: Int = size) -> String {
        let file = open(scene.path("target/disk"), O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 6)
        return pread(file, &bytes, 6, size / 2) == 6 ? String(decoding: bytes, as: UTF8.self) : ""
    }

    @Test(arguments: [nil, .source, .target] as [FarMachine.Side?])
    func theyAreCopiedAndComparedByTheirData(far: FarMachine.Side?) throws {
        let scene = try scene(far)
        try mirror(scene)
        #expect(middle(scene) == "middle")
        #expect(try mirror(scene).output.contains("nothing to do"))
        #expect(try mirror(scene, "--checksum").output.contains("nothing to do"))
        // Data in place of a hole, and the reverse, with the time restored.
        var status = stat()
        try #require(stat(scene.path("source/disk"), &status) == 0)
        let file = open(scene.path("source/disk"), O_WRONLY)
        try #require(pwrite(file, [UInt8](repeating: 0, count: 8192), 8192, 1 << 40) == 8192)
        try #require(pwrite(file, "MIDDLE", 6, Self.size / 2) == 6)
        var times = [status.st_atim, status.st_mtim]
        futimens(file, &times)
        close(file)
        ClockTick.pass()
        try mirror(scene)
        #expect(middle(scene) == "MIDDLE")
    }

    @Test(arguments: [nil, .source, .target] as [FarMachine.Side?])
    func theirDigestsAreLeftOutAndListed(far: FarMachine.Side?) throws {
        let scene = try scene(far)
        for _ in 0..<2 {
            try mirror(scene, "--digest").expect(
                says: "no digest was recorded of disk: its holes have more than 16 GiB")
        }
        let manifest = try scene.text("target/.fsync-lite/manifest.json")
        #expect(manifest.components(separatedBy: "\"digest\"").count == 2)
        #expect(middle(scene) == "middle")
    }

    @Test(arguments: [nil, .source, .target] as [FarMachine.Side?])
    func smallHolesHaveThePlainDigest(far: FarMachine.Side?) throws {
        let scene = try scene(far, size: 4 << 20)
        try scene.mirror("--digest")
        let printed = try HostCommand.output("sha256sum", scene.path("source/disk")).prefix(64)
        #expect(try scene.text("target/.fsync-lite/manifest.json").contains(printed))
        #expect(try scene.run("manifest", "verify", "target", "source", "--digest").code == 0)
    }

    @Test func allDigestsAreMadeUntilASignal() throws {
        let scene = try scene(nil)
        #expect(try scene.apply("--digest=no").code == 64)
        let command = try RunningCommand(
            ["apply", "source", "target", "--digest=all"], in: scene.directory.path)
        // The copy exists, so the digest is being computed, or is about to be.
        let stage = scene.path("target/.fsync-lite/stage")
        func isStaged() -> Bool {
            (FileManager.default.enumerator(atPath: stage)?.allObjects ?? []).contains {
                var status = stat()
                return lstat("\(stage)/\($0)", &status) == 0 && status.st_size == Self.size
            }
        }
        while command.isRunning, !isStaged() { usleep(1000) }
        command.send(SIGTERM)
        #expect(try command.finish().code == 143)
        #expect(!scene.exists("target/disk"))
    }
}
