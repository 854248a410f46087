import Glibc
import TestNeeds
import TestSupport
import Testing

@Suite("Content that is hard to see")
struct CopyTests {
    private static let size = 3_000_000

    /// A file of several reads, so that time passes between the first and the last one.
    private func largeScene() throws -> MirrorScene {
        try MirrorScene(["large": .file(String(repeating: "a", count: Self.size)), "b": "b"], inMemory: true)
    }

    private func copy(
        _ scene: MirrorScene, _ options: [String] = [], change: () throws -> Void
    ) throws {
        try PausedCommand.run(
            ["apply", "source", "target"] + options, in: scene.directory.path,
            at: .after("copy_file_range", of: "source/large"), change
        ).expect(0)
        try scene.expectMirrored()
    }

    /// Without `--strict`, the first part of a file that grows is mirrored: see `GrowingFileTests`.
    @Test(.needs(.strace), arguments: ["grows", "shrinks", "is emptied and filled", "is rewritten"])
    func fileThatChangesWhileItIsCopiedIsWhole(change: String) throws {
        let scene = try largeScene()
        let large = scene.path("source/large")
        try copy(scene, change == "grows" ? ["--strict"] : []) {
            switch change {
            case "grows": try scene.append(String(repeating: "b", count: 400_000), to: "source/large")
            case "shrinks": try #require(truncate(large, 1000) == 0)
            case "is rewritten":
                try scene.editInSecret("source/large", String(repeating: "b", count: Self.size))
            default: try #require(truncate(large, 0) == 0 && truncate(large, Self.size) == 0)
            }
        }
    }

    @Test(.needs(.strace))
    func attributesThatChangeWhileAFileIsCopiedAreTheLastOnes() throws {
        let scene = try largeScene()
        try scene.setAttribute("user.x", "before", of: "source/large")
        try copy(scene) {
            try scene.setAttribute("user.x", "after", of: "source/large")
            try scene.setMode(0o600, of: "source/large")
        }
        try scene.expectAllMirrored()
    }

    @Test(.needs(.strace))
    func fileThatIsLinkedWhileItIsCopiedIsMirroredByTheNextRun() throws {
        let scene = try largeScene()
        try scene.paused(at: .after("copy_file_range", of: "source/large")) {
            try scene.link("source/c", to: "source/large")
        }.expect(0)
        try scene.mirrorAll()
    }

    /// The kernel reports the size 0. A copy would be empty, or would differ forever.
    @Test(.needs(.file("/proc/sys/kernel/random")))
    func filesThatTheKernelMakesUpAreNamed() throws {
        let scene = try MirrorScene([:])
        try scene.run("apply", "/proc/sys/kernel/random", "target").expect(1, says: "uuid")
        #expect(!scene.exists("target"))
    }
}
