import Foundation
import TestNeeds
import TestSupport
import Testing

/// Large files that changed, between two machines. A command in ssh's place starts the other end here.
@Suite("Deltas of large files")
struct DeltaTests {
    private static func size(_ path: String) throws -> stat {
        var found = stat()
        try #require(lstat(path, &found) == 0, "\(path)")
        return found
    }

    /// A file, and an edit of it.
    private struct Editing {
        let path: String
        var random: SplitMix64

        func make(_ size: Int) throws {
            try HostCommand.run("sh", "-c", "head -c \(size) /dev/urandom > '\(path)'")
        }

        private func write(_ bytes: [UInt8], at offset: Int) throws {
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { handle.closeFile() }
            try handle.seek(toOffset: UInt64(offset))
            try handle.write(contentsOf: Data(bytes))
        }

        private mutating func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        }

        private var size: Int { get throws { Int(try DeltaTests.size(path).st_size) } }

        /// Overwrites whole pieces of 4 KiB.
        mutating func overwrite(pieces count: Int) throws {
            let pieces = Array(0..<(try size / 4096)).shuffled(using: &random).prefix(count)
            for piece in pieces { try write(bytes(4096), at: piece * 4096) }
        }

        mutating func change() throws {
            let size = try size
            let offset = Int.random(in: 0..<size, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0: try write(bytes(Int.random(in: 1..<9000, using: &random)), at: offset)
            case 1: try write(bytes(Int.random(in: 1..<300_000, using: &random)), at: size)
            case 2: try #require(truncate(path, max(offset, 300_000)) == 0)
            case 3:
                var content = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
                content.insert(contentsOf: bytes(10), at: offset)
                try write(content, at: 0)
            case 4:
                try HostCommand.run(
                    "fallocate", "--punch-hole", "--keep-size", "-o", "\(offset)", "-l", "200000", path)
            case 5: try write([UInt8](repeating: 0, count: 70_000), at: offset)
            default:
                // Far after its end, so a hole is before it.
                try write(bytes(5000), at: size + 500_000)
            }
        }
    }

    private static func expectHoles(_ scene: MirrorScene, _ name: String) throws {
        func allocated(_ tree: String) throws -> Int {
            Int(try size(scene.path("\(tree)/\(name)")).st_blocks) * 512
        }
        let (source, target) = try (allocated("source"), allocated("target"))
        #expect(target <= source + 64 * 1024, "\(name): \(source) became \(target)")
    }

    private func followEdits(_ scene: MirrorScene, seed: UInt64, _ options: [[String]]) throws {
        var files = (0..<6).map {
            Editing(path: scene.path("source/f\($0)"), random: SplitMix64(seed: seed * 10 + UInt64($0)))
        }
        for index in files.indices {
            try files[index].make(Int.random(in: 270_000..<900_000, using: &files[index].random))
        }
        func mirror(_ options: [String]) throws {
            try scene.run(["apply", "source", "target"] + options).expect(0, of: "seed \(seed)")
            #expect(
                try TreeSnapshot(scene.target).differences(from: TreeSnapshot(scene.source)) == [],
                "seed \(seed)")
        }
        try mirror([])
        for options in options {
            for index in files.indices {
                for _ in 0...Int.random(in: 0..<3, using: &files[index].random) { try files[index].change() }
            }
            try mirror(options)
            guard !options.contains("--no-sparse") else { continue }
            for index in files.indices { try DeltaTests.expectHoles(scene, "f\(index)") }
        }
    }

    private static let ways = [
        [], ["--digest", "--verify"], ["--exchange"], ["--trust-manifest"], ["--checksum", "--threads", "1"],
        ["--no-sparse"],
    ]

    @Test(arguments: FarMachine.Side.allCases, [1, 2, 3] as [UInt64])
    func whateverEditsTheCopyIsEqual(side: FarMachine.Side, seed: UInt64) throws {
        try followEdits(FarMachine(has: side).scene([:]), seed: seed, Self.ways)
    }

    /// The old file is cloned. Its holes and its length must be replaced by those of the new one.
    @Test(.needs(.btrfs)) func theSameWhereBlocksAreShared() throws {
        let scene = try FarMachine().scene([:])
        try scene.mounted(.btrfs) {
            try scene.build([:], at: "source")
            try followEdits(scene, seed: 7, Self.ways + [[]])
            try scene.run("undo", "target").expect(0)
        }
    }

    // MARK: What goes over the line

    /// A mirror with one file of random bytes.
    private func mirroredImage(_ size: Int, _ far: FarMachine) throws -> (MirrorScene, Editing) {
        let scene = try far.scene([:])
        let image = Editing(path: scene.path("source/image"), random: SplitMix64(seed: 5))
        try image.make(size)
        try scene.mirror()
        return (scene, image)
    }

    @Test(arguments: FarMachine.Side.allCases) func onlyWhatDiffersGoesOver(side: FarMachine.Side) throws {
        let line = try WireRecording(has: side)
        let (scene, made) = try mirroredImage(64 << 20, line.far)
        #expect(try line.size > 64 << 20)
        var image = made
        // 1 % of its pieces.
        let count = (64 << 20) / 4096 / 100
        try image.overwrite(pieces: count)
        try scene.mirror()
        let (bytes, changed) = (try line.size, count * 4096)
        #expect(bytes <= changed * 105 / 100 + 8000, "\(bytes) for \(changed)")
    }

    @Test func afterALongChangeTheRestMatchesAgain() throws {
        let line = try WireRecording()
        let (scene, image) = try mirroredImage(64 << 20, line.far)
        try HostCommand.run(
            "dd", "if=/dev/urandom", "of=\(image.path)", "bs=1M", "seek=10", "count=20", "conv=notrunc",
            "status=none")
        try scene.mirror()
        #expect(try line.size < 21 << 20)
    }

    /// The hole is in the part that is sent without hashes.
    @Test func whereNothingMatchesTheRestIsSentWhole() throws {
        let line = try WireRecording()
        let size = 100 << 20
        let (scene, image) = try mirroredImage(size, line.far)
        try image.make(size)
        try HostCommand.run(
            "fallocate", "--punch-hole", "--keep-size", "-o", "\(95 << 20)", "-l", "1000000",
            scene.path("source/image"))
        try scene.mirror()
        try Self.expectHoles(scene, "image")
        // Hashes of the pieces of less than 90 MiB.
        let hashes = try line.size - (size - 1_000_000)
        #expect(hashes < (90 << 20) / 4096 * 10, "\(hashes)")
    }

    /// One byte of the data is changed once on the connection.
    @Test(.needs(.tool("perl"))) func whatDoesNotFitItsDigestIsSentWhole() throws {
        let line = try WireRecording(
            down:
                "perl -e '$| = 1; while (sysread(STDIN, $b, 65536)) { $d ||= $b =~ s/MARK-A/MARK-B/; syswrite(STDOUT, $b) }'"
        )
        let (scene, _) = try mirroredImage(1 << 20, line.far)
        try scene.append("MARK-A", to: "source/image")
        try scene.build(["a": "a", "other": "other"], at: "source")
        try scene.mirror()
        #expect(try line.size > 1 << 20)
        #expect(try scene.text("target/other") == "other")
    }

    // MARK: What changes meanwhile, and what waits

    /// The file is edited after the other end has sent hashes, and before it receives the answer.
    @Test(
        .needs(.tool("perl")),
        arguments: [
            "printf more >>FILE", "printf more | dd of=FILE bs=1 seek=3000000 conv=notrunc 2>/dev/null",
            "truncate -s 5M FILE",
        ])
    func aFileThatChangesMeanwhileIsSentAnew(edit: String) throws {
        let (scene, image) = try mirroredImage(8 << 20, FarMachine())
        let plain = scene.far
        let edited = edit.replacingOccurrences(of: "FILE", with: image.path)
        try edited.write(toFile: scene.path("edit"), atomically: false, encoding: .utf8)
        try image.make(8 << 20)
        func content(_ name: String) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: scene.path(name)))
        }
        let before = try content("source/image")
        let up =
            "perl -e '$| = 1; while (sysread(STDIN, $b, 65536)) { $n += length $b; "
            + "if ($n > 6000 && !$d++) { system(\"sh \(scene.path("edit"))\") } syswrite(STDOUT, $b) }'"
        scene.far = try FarMachine("\(up) | sh -c \"$far\"")
        let run = try scene.apply().expect(0)
        let (now, target) = try (content("source/image"), content("target/image"))
        #expect(now != before)
        if now.count > before.count {
            #expect(target == before && run.errors.contains("grew while it was copied"), "\(run.errors)")
        } else {
            #expect(target == now)
        }
        scene.far = plain
        try scene.mirror()
    }

    /// The content of a large file waits until earlier answers are taken.
    @Test(arguments: FarMachine.Side.allCases) func attributesOfANeighbourDoNotHoldUpALargeFile(
        side: FarMachine.Side
    ) throws {
        let scene = try FarMachine(has: side).scene(["a": "a", "b": .fifo()])
        let image = Editing(path: scene.path("source/c"), random: SplitMix64(seed: 5))
        try image.make(10 << 20)
        let machine = try #require(scene.far)
        try scene.here(
            machine.reaching(["apply", "source", "target"], in: scene.directory.path),
            under: ["timeout", "60"]
        ).expect(0)
        try scene.expectMirrored()
    }

    // MARK: A line that drops

    /// - Parameter isNew: the target has no content of the file.
    @Test(.needs(.tool("stdbuf")), arguments: [true, false])
    func whatCameOfALargeFileIsNotSentAgain(isNew: Bool) throws {
        let line = try WireRecording()
        let scene = try line.far.scene(["a": "a"])
        let image = Editing(path: scene.path("source/image"), random: SplitMix64(seed: 5))
        let size = 40 << 20
        if !isNew { try image.make(size) }
        try scene.mirror()
        try image.make(size)
        scene.far = try FarMachine(#"sh -c "$far" | { stdbuf -o0 head -c 30000000; kill $$; }"#)
        #expect(try scene.apply().code == 69)
        scene.far = line.far
        try scene.mirror()
        // A window, and hashes.
        let bytes = try line.size
        #expect(bytes < size - 30_000_000 + (5 << 20), "\(bytes)")
    }
}
