import TestNeeds
import TestSupport
import Testing

@Suite("What is taken for unchanged without being read")
struct ChangeTimeTests {
    private static let time = TreeTime(1_600_000_000, 1)

    private func manifest(_ scene: MirrorScene) throws -> String {
        try scene.text("target/.fsync-lite/manifest.json")
    }

    /// The files of the source that a run opens.
    private func opened(_ scene: MirrorScene, by arguments: [String]) throws -> [String] {
        let log = scene.path("calls")
        try scene.here(arguments, under: ["strace", "-f", "-qq", "-e", "trace=openat", "-o", log]).expect(0)
        return try scene.text("calls").split(separator: "\n").map(String.init)
            .filter { $0.contains("\"file ") }
    }

    /// The record shows that the attributes of unchanged files are unchanged.
    @Test(.needs(.strace, .later)) func withoutAChangeNoAttributeIsLookedUp() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2", "link": .symlink("b")]], inMemory: true)
        try scene.setAttribute("user.a", "1", of: "source/a")
        try scene.mirror()
        try scene.settle()
        try scene.here(
            ["apply", "source", "target"],
            under: ["strace", "-f", "-qq", "-e", "trace=/xattr", "-o", scene.path("calls")]
        ).expect(prints: "nothing to do")
        // Only the mark of the state is read.
        let calls = try scene.text("calls").split(separator: "\n").filter {
            !$0.contains("user.fsync-lite.state")
        }
        for name in ["user.", "\"a\"", "\"b\"", "\"link\""] {
            #expect(!calls.contains { $0.contains(name) })
        }
    }

    @Test(.needs(.btrfs)) func sourceThatWasRolledBackIsMirrored()
        throws
    {
        let directory = try TemporaryDirectory(inMemory: true)
        try TestDisk.btrfs.mounted(at: directory.path) {
            let scene = try MirrorScene([:], at: "\(directory.path)/scene")
            try scene.remove("source")
            let (source, snapshot) = (scene.path("source"), scene.path("snapshot"))
            try HostCommand.run("btrfs", "-q", "subvolume", "create", source)
            try scene.build(["f": .file("first", modified: Self.time)], at: "source")
            try scene.setAttribute("user.a", "first", of: "source/f")
            try HostCommand.run("btrfs", "-q", "subvolume", "snapshot", source, snapshot)
            try scene.mirror()
            try scene.editInSecret("source/f", "other")
            try scene.setAttribute("user.a", "other", of: "source/f")
            try scene.mirror()
            try scene.mirror()
            try HostCommand.run("btrfs", "-q", "subvolume", "delete", source)
            try HostCommand.run("btrfs", "-q", "subvolume", "snapshot", snapshot, source)
            try scene.mirror("--change-source")
            #expect(try scene.text("target/f") == "first")
            #expect(
                try AttributeSnapshot(scene.target)["f"]?.attributes
                    == AttributeSnapshot(scene.source)["f"]?.attributes)
        }
    }

    @Test(.needs(.strace, .later))
    func sourceOfWhichALinkedCopyWasMadeIsReadOnce() throws {
        let scene = try MirrorScene(["file 1": "one", "d": ["file 2": "two", "file 3": "three"]]).mirrored()
        try scene.settle()
        #expect(try opened(scene, by: ["plan", "source", "target"]) == [])
        try HostCommand.run("cp", "-al", scene.source, scene.path("copy"))
        try scene.remove("copy")
        let before = try manifest(scene)
        #expect(try opened(scene, by: ["plan", "source", "target"]).count == 6)
        try scene.settle()
        let after = try manifest(scene)
        // It is written again once.
        #expect(after != before)
        try scene.settle()
        #expect(try manifest(scene) == after)
        #expect(try opened(scene, by: ["plan", "source", "target"]) == [])
    }

    /// A store to a mapped page moves the times only once, until the page is written back.
    @Test(.needs(.later))
    func storeToAMappedFileAfterItWasMirroredIsFound() throws {
        let scene = try MirrorScene(["file": .file("before", modified: Self.time)], inMemory: true)
        let mapped = try MappedFile(scene.path("source/file"))
        mapped.store("during")
        try scene.mirror()
        mapped.store("after.")
        try scene.mirror()
        #expect(try scene.text("target/file") == "after.")
        #expect(try manifest(scene).contains("\"racy\":true"))
        try scene.settle()
        #expect(try !manifest(scene).contains("\"racy\":true"))
    }

    /// The change time of an object that no commit touched is compared with the recorded one, not with the
    /// time of a commit. The links of an exchange move all change times, which could hide a later edit.
    @Test(.needs(.strace, .later), arguments: [[], ["--exchange"]])
    func editOfTheTargetWhileACommitIsUnderWayIsFound(options: [String]) throws {
        let scene = try MirrorScene(["a": .file("first", modified: Self.time), "b": "b"]).mirrored()
        try scene.settle()
        try scene.append("more", to: "source/b")
        try scene.append("still more", to: "source/b")
        try scene.paused(["apply", "source", "target"] + options, at: .after("syncfs")) {
            try scene.editInSecret("target/a", "drift")
        }.expect(0)
        #expect(try scene.text("target/a") == "drift")
        try scene.mirror()
        #expect(try scene.text("target/a") == "first")
    }

    @Test func manifestIsWrittenAnewWithoutAStep() throws {
        let scene = try MirrorScene(["a": "one", "b": "two"]).mirrored()
        let snapshots = try scene.run("snapshot", "list", "target").output
        try HostCommand.run("ln", scene.path("source/a"), scene.path("other name"))
        try scene.remove("other name")
        let before = try manifest(scene)
        #expect(try scene.plan().output.contains("nothing to do"))
        #expect(try manifest(scene) == before)
        try scene.mirror()
        #expect(try manifest(scene) != before)
        #expect(try scene.run("snapshot", "list", "target").output == snapshots)
        try scene.run("manifest", "verify", "target", "target").expect(0)
    }
}
