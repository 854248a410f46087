import Foundation
import TestNeeds
import TestSupport
import Testing

/// Immediately after the first run, no file that it read is read again.
@Suite("The second run")
struct SecondRunTests {
    private func racy(_ scene: MirrorScene) throws -> [String] {
        try scene.text("target/.fsync-lite/manifest.json").split(separator: "\n")
            .filter { $0.contains("\"racy\":true") }
            .compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }
    }

    private func scene(inMemory: Bool) throws -> MirrorScene {
        let scene = try MirrorScene(
            [
                "a": "a", "d": ["b": "b", "l": .symlink("b"), "e": .directory([:])],
                "pipe": .fifo(mode: 0o600),
            ],
            inMemory: inMemory)
        ClockTick.pass()
        return scene
    }

    /// The content of a file that only looks new is compared once. Each end probes its own files.
    @Test(arguments: [false, true], [nil, FarMachine.Side.source, .target])
    func whatWasCopiedOrComparedIsSettled(inMemory: Bool, _ side: FarMachine.Side?) throws {
        let scene = try scene(inMemory: inMemory)
        if let side { scene.far = try FarMachine(has: side) }
        try scene.mirror()
        #expect(try racy(scene) == [])
        try scene.append("more", to: "source/a")
        try scene.setMode(0o640, of: "source/d/b")
        ClockTick.pass()
        try scene.mirror()
        #expect(try racy(scene) == [])
        // Its time is restored, so only the change time is new.
        try scene.editInSecret("source/a", "AMORE")
        ClockTick.pass()
        try scene.mirror()
        #expect(try racy(scene) == [])
        #expect(try scene.text("target/a") == "AMORE")
    }

    @Test(.needs(.strace)) func theSecondRunOpensNoFileOfTheSource() throws {
        let scene = try scene(inMemory: false)
        try scene.mirror()
        try scene.here(
            ["apply", scene.source, scene.target],
            under: ["strace", "-f", "-e", "trace=openat", "-o", scene.path("calls")]
        ).expect(prints: "nothing to do")
        #expect(try !scene.text("calls").contains("\"b\""))
    }

    /// While a program can still write, the rule of one minute applies.
    @Test(arguments: [nil, FarMachine.Side.source, .target])
    func aFileThatIsOpenForWritingStaysRacyAndIsFound(_ side: FarMachine.Side?) throws {
        let scene = try scene(inMemory: false)
        if let side { scene.far = try FarMachine(has: side) }
        let writer = open(scene.path("source/a"), O_WRONLY)
        #expect(write(writer, "1", 1) == 1)
        ClockTick.pass()
        try scene.mirror("--verbose").expect(says: "open for writing, so the next run reads it again: a\n")
        #expect(try racy(scene) == ["a"])
        let report = try scene.mirror("--json").json()
        #expect(report.object("refused_probes")?.number("writer") == 1)
        #expect(write(writer, "2", 1) == 1)
        close(writer)
        ClockTick.pass()
        let last = try scene.mirror("--json").json()
        #expect(last.object("refused_probes") == nil)
        #expect(try scene.text("target/a") == "12")
        #expect(try racy(scene) == [])
    }

    /// Filters that exclude it for a while make no difference.
    @Test(arguments: [false, true], [false, true])
    func aFileThatIsMappedStaysRacyAndIsFound(inMemory: Bool, isLeftOut: Bool) throws {
        let scene = try scene(inMemory: inMemory)
        do {
            let mapped = try MappedFile(scene.path("source/a"))
            ClockTick.pass()
            try scene.mirror()
            #expect(try racy(scene) == ["a"])
            if isLeftOut {
                try scene.mirror("--exclude", "/a")
                try scene.mirror()
            }
            mapped.store("A")
        }
        ClockTick.pass()
        try scene.mirror()
        #expect(try scene.text("target/a") == "A")
        #expect(try racy(scene) == [])
    }

    /// Each list has the file with the size and the times of the other one.
    @Test(arguments: [false, true])
    func aContentThatComesBackIsComparedWithAMappedFile(isMovedByHand: Bool) throws {
        let scene = try scene(inMemory: true)
        let mapped = try MappedFile(scene.path("source/a"))
        try scene.mirror("--keep-last", "9")
        try scene.build(["new": "new"], at: "source")
        try scene.mirror()
        if isMovedByHand { try scene.move("target/a", to: "target/moved") }
        mapped.store("A")
        // Then the restore copies the content.
        try scene.apply("--exchange").expect(0)
        #expect(try scene.text("target/a") == "A")
        try scene.run("snapshot", "restore", "target", "latest~2", "--in-place").expect(0)
        #expect(try scene.text("target/a") == "a")
        try scene.apply().expect(0)
        #expect(try scene.text("target/a") == "A")
    }

    /// `Safety.md` describes this for tmpfs: the page was read through the mapping before the store.
    @Test func aStoreThatMovesNoTimeOnTmpfsIsFoundByChecksum() throws {
        let scene = try scene(inMemory: true)
        try scene.mirror()
        do {
            let file = open(scene.path("source/a"), O_RDWR)
            let memory = try #require(mmap(nil, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
            close(file)
            let byte = memory.assumingMemoryBound(to: UInt8.self)
            #expect(byte.pointee == UInt8(ascii: "a"))
            byte.pointee = UInt8(ascii: "A")
            munmap(memory, 1)
        }
        _ = try scene.apply()
        try scene.mirror("--checksum")
        #expect(try scene.text("target/a") == "A")
    }

    /// A power cut can leave earlier content with the same times. Young files are compared once.
    @Test(.needs(.mounts, .strace)) func afterANewStartOfTheMachineWhatWasYoungIsComparedOnce() throws {
        let scene = try scene(inMemory: false)
        try Data("00000000-0000-4000-8000-000000000000\n".utf8)
            .write(to: URL(fileURLWithPath: scene.path("boot")))
        let before = [
            "unshare", "--mount", "sh", "-c",
            #"mount --bind "$1" /proc/sys/kernel/random/boot_id && shift && exec "$@""#, "sh",
            scene.path("boot"),
        ]
        func opened(under prefix: [String]) throws -> Bool {
            try scene.here(
                ["apply", scene.source, scene.target],
                under: prefix + ["strace", "-f", "-e", "trace=openat", "-o", scene.path("calls")]
            ).expect(0)
            return try scene.text("calls").contains("\"a\", O_RDONLY")
        }
        _ = try opened(under: before)
        #expect(try !opened(under: before))
        #expect(try opened(under: []))
        #expect(try !opened(under: []))
    }

    /// Its number is the same, and so is the content of older snapshots.
    @Test func aDigestTellsThatTheSourceChangedAndNotTheTarget() throws {
        let scene = try scene(inMemory: true)
        let mapped = try MappedFile(scene.path("source/a"))
        ClockTick.pass()
        try scene.mirror("--digest")
        let before = try scene.text("target/a")
        try scene.build("b", at: "source/new")
        try scene.mirror("--digest")
        // As after an interrupted exchange.
        try #require(link(scene.path("target/a"), scene.path("target/other")) == 0)
        try scene.remove("target/other")
        mapped.store("A")
        try scene.mirror("--digest", "--trust-source")
        #expect(try scene.text("target/a") == "A")
        try scene.run("snapshot", "restore", "target", "latest~2", "--to", "copy").expect(0)
        #expect(try scene.text("copy/a") == before)
    }
}
