import TestNeeds
import TestSupport
import Testing

@Suite("What vanishes from the source during a run")
struct VanishingSourceTests {
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(["kept": "one", "late": "two"], inMemory: true).mirrored()
        try scene.build(["new": "three", "late": "more"], at: "source")
        return scene
    }

    @Test(.needs(.strace)) func filesAreCountedAndNamed() throws {
        let scene = try scene()
        try scene.paused(at: .after("mkdirat", of: "stage")) {
            for name in ["new", "late"] { try scene.remove("source/\(name)") }
        }.expect(0, says: "2 files and directories vanished from the source before being copied (late, new)")
        #expect(try scene.text("target/late") == "two")
        try scene.mirror()
    }

    /// A disk that was removed, or a link that leads to another release now.
    @Test(.needs(.strace), arguments: [false, true], [false, true])
    func rootThatIsGoneEndsTheRun(isReplaced: Bool, isRemote: Bool) throws {
        let scene = try scene()
        let before = try TreeSnapshot(scene.target)
        let far = isRemote ? try FarMachine() : nil
        let apply = ["apply", "source", "target"]
        let pull = far?.reaching(apply + ["--change-source"], in: scene.directory.path)
        defer { withExtendedLifetime(far) {} }
        try scene.paused(pull ?? apply, at: .after("mkdirat", of: "stage")) {
            try scene.remove("source")
            if isReplaced { try scene.build(["other": "x"], at: "source") }
        }.expect(1, says: "source was removed or replaced while it was read")
        #expect(try TreeSnapshot(scene.target).touched(since: before) == [])
    }
}
