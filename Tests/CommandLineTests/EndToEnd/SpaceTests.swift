import Foundation
import Glibc
import TestNeeds
import TestSupport
import Testing

/// The space that a run needs is known before it writes: by files, and in blocks of the target.
@Suite(.needs(.mounts))
struct SpaceTests {
    /// A source, and an ext4 at `disk` with 40 MB in blocks of 4 KiB.
    private func onDisk(_ options: String..., body: (MirrorScene) throws -> Void) throws {
        let scene = try MirrorScene([:], inMemory: true)
        let image = scene.path("image")
        #expect(FileManager.default.createFile(atPath: image, contents: nil))
        #expect(truncate(image, 40 << 20) == 0)
        let words = ["mkfs.ext4", "-q", "-F", "-b", "4096", "-O", "^has_journal"] + options + [image]
        #expect(HostCommand.works(words))
        try scene.mounted(.image(image), at: "disk") { try body(scene) }
    }

    private func apply(_ scene: MirrorScene, _ options: String...) throws -> CommandRun {
        try scene.run(["apply", "source", "disk/t"] + options)
    }

    private func write(_ count: Int, to path: String) throws {
        try Data(count: count).write(to: URL(fileURLWithPath: path))
    }

    private func link(_ count: Int, _ scene: MirrorScene) throws {
        for number in 1...count {
            #expect(Glibc.link(scene.path("source/a"), scene.path("source/l\(number)")) == 0)
        }
    }

    @Test func namesOfOneFileTakeItsRoomOnce() throws {
        try onDisk("-N", "200") { scene in
            try write(10 << 20, to: scene.path("source/a"))
            try link(300, scene)
            try apply(scene).expect(0)
            #expect(try scene.run("manifest", "show", "disk/t").output.contains("10485760"))
            try scene.run("apply", "source", "disk/apart", "--no-hard-links").expect(
                4, says: "inodes are needed")
        }
    }

    @Test(arguments: ["file", "directory"]) func smallObjectsTakeBlocks(_ kind: String) throws {
        try onDisk("-N", "20000") { scene in
            for number in 0..<10_000 {
                let path = scene.path("source/\(number)")
                if kind == "file" { try write(100, to: path) } else { #expect(mkdir(path, 0o755) == 0) }
            }
            try apply(scene).expect(4, says: "are needed and")
            #expect(!scene.exists("disk/t"))
        }
    }

    /// The estimate is at least the space that is used, and little more.
    @Test func theSumForSmallFilesIsClose() throws {
        try onDisk("-N", "9000") { scene in
            for number in 0..<6000 { try write(100, to: scene.path("source/file \(number)")) }
            // With this number of free blocks the run succeeds. With a twentieth less it is refused.
            let used = try mostUsed(scene)
            let filler = scene.path("disk/filler")
            for (share, code) in [(106, 0), (96, 4)] as [(Int64, Int32)] {
                // ext4 reserves a fiftieth of all blocks.
                let rest = try blocks("%f", scene) - blocks("%b", scene) / 50 - used * share / 100
                try HostCommand.run("fallocate", "-l", "\(rest * 4096)", filler)
                try apply(scene).expect(code, of: "\(share) %")
                try scene.remove("disk/filler")
                if code == 0 { try scene.remove("disk/t") }
            }
        }
    }

    private func blocks(_ format: String, _ scene: MirrorScene) throws -> Int64 {
        Int64(
            try HostCommand.output("stat", "-f", "-c", format, scene.path("disk"))
                .trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// The blocks that a run uses, measured where it uses the most.
    private func mostUsed(_ scene: MirrorScene) throws -> Int64 {
        let before = try blocks("%f", scene)
        let command = try scene.paused(["apply", "source", "disk/t"], at: .after("renameat2", of: "journal"))
        try HostCommand.run("sync")
        let used = before - (try blocks("%f", scene))
        #expect(try command.finish().code == 0)
        try scene.remove("disk/t")
        try HostCommand.run("sync")
        return used
    }

    @Test func anExchangeNeedsRoomForWhatGetsOtherAttributes() throws {
        try onDisk { scene in
            try write(20 << 20, to: scene.path("source/a"))
            #expect(try apply(scene).code == 0)
            try scene.setMode(0o600, of: "source/a")
            try apply(scene, "--exchange").expect(4)
            #expect(try apply(scene).code == 0)
        }
    }

    @Test func theReserveOfRootIsFreeForRoot() throws {
        try onDisk("-m", "40") { scene in
            try write(28 << 20, to: scene.path("source/a"))
            try apply(scene).expect(0)
        }
    }

    @Test func aReadOnlyDiskIsTheReasonAlsoForAnExchange() throws {
        try onDisk { scene in
            try write(1, to: scene.path("source/a"))
            #expect(try apply(scene, "--exchange").code == 0)
            try write(2, to: scene.path("source/a"))
            #expect(try apply(scene, "--exchange").code == 0)
            try HostCommand.run("mount", "-o", "remount,ro", scene.path("disk"))
            let undo = try scene.run("undo", "disk/t").expect(4, says: "mounted read-only")
            #expect(!undo.errors.contains("--no-exchange"))
        }
    }

    /// The advice leaves snapshots that the restore needs. It copies, because the object has another name.
    @Test func aRestoreIsToldToPruneOnlyWhatItDoesNotNeed() throws {
        try onDisk { scene in
            try write(10 << 20, to: scene.path("source/old"))
            #expect(try apply(scene, "--keep-last", "9").code == 0)
            try scene.remove("source/old")
            try write(12 << 20, to: scene.path("source/a"))
            #expect(try apply(scene).code == 0)
            try scene.move("source/a", to: "source/b")
            #expect(try apply(scene).code == 0)
            try write(10 << 20, to: scene.path("disk/filler"))
            func restore() throws -> CommandRun {
                try scene.run("snapshot", "restore", "disk/t", "latest~1", "a", "--in-place")
            }
            try restore().expect(4, says: "snapshot prune --keep-last 1 frees")
            #expect(try scene.run("snapshot", "prune", "disk/t", "--keep-last", "1").code == 0)
            try restore().expect(0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: scene.path("disk/t/a"))).count == 12 << 20)
        }
    }

    @Test(.needs(.btrfs)) func aQuotaNamesTheFileAndTheRoom() throws {
        let scene = try MirrorScene([:], inMemory: true)
        try scene.mounted(.btrfs, at: "disk") {
            let volume = scene.path("disk/v")
            try HostCommand.run("btrfs", "quota", "enable", scene.path("disk"))
            try HostCommand.run("btrfs", "subvolume", "create", volume)
            try HostCommand.run("btrfs", "qgroup", "limit", "10M", volume)
            try scene.build(["photos": [:]], at: "source")
            var random = SplitMix64(seed: 1)
            let words = (0..<2_000_000).map { _ in random.next() }
            try words.withUnsafeBytes { Data($0) }
                .write(to: URL(fileURLWithPath: scene.path("source/photos/big.raw")))
            let run = try scene.run("apply", "source", "disk/v/t").expect(
                1, says: "photos/big.raw: Disk quota exceeded (write); ", "are needed and")
            #expect(!run.errors.contains(".fsync-lite"))
        }
    }

    @Test func aFileThatTheTargetCannotHoldIsNamed() throws {
        let scene = try MirrorScene(["small": "s", "d": ["big": "b"]])
        try write(3 << 20, to: scene.path("source/d/big"))
        let command = try BuiltCommand.path()
        for (option, code) in [("--dry-run", 1), ("", 1), ("--keep-going", 3)] {
            let line =
                "ulimit -f 1024; exec '\(command)' apply \(scene.source) \(scene.target) \(option) 2>&1"
            let run = try HostCommand.result(["bash", "-c", line])
            let text = String(decoding: run.output, as: UTF8.self)
            #expect(run.code == code, "\(text)")
            #expect(text.contains("d/big: File too large"), "\(text)")
        }
        #expect(try scene.text("target/small") == "s")
    }

    /// The largest size on ext4 is known: 4 TiB with blocks of 1 KiB.
    @Test func aPlanKnowsWhatIsTooLarge() throws {
        try onDisk("-b", "1024") { scene in
            try scene.build(["small": "s", "vm.img": "v"], at: "source")
            #expect(truncate(scene.path("source/vm.img"), 5 << 40) == 0)
            try scene.run("plan", "source", "disk/t").expect(1, says: "vm.img: File too large")
            #expect(try apply(scene).code == 1)
            try apply(scene, "--keep-going").expect(3, says: "vm.img: File too large")
            #expect(try scene.text("disk/t/small") == "s")
        }
    }

    @Test func anActiveSwapFileIsRead() throws {
        try onDisk { scene in
            try scene.build([:], at: "disk/s")
            let swap = scene.path("disk/s/swap.img")
            try HostCommand.run("dd", "if=/dev/zero", "of=\(swap)", "bs=1M", "count=4", "status=none")
            #expect(chmod(swap, 0o600) == 0)
            try HostCommand.run("mkswap", swap)
            try HostCommand.run("swapon", swap)
            defer { _ = HostCommand.works("swapoff", swap) }
            try scene.run("apply", "disk/s", "disk/t").expect(0)
            #expect(HostCommand.works("cmp", swap, scene.path("disk/t/swap.img")))
        }
    }
}
