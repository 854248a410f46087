import Foundation
import Synchronization
import TestNeeds
import TestSupport
import Testing

/// A program stores through mappings all the time, while runs follow one another at once.
@Suite("A program that writes all the time")
struct MappedWriterTests {
    private static let names = ["a", "b", "c"]
    private static let size = 3 * 4096

    /// Stores through new and old mappings, to pages that were read before and to others. Restores some
    /// times.
    private final class Writer: Sendable {
        private let isEnded = Atomic(false)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ directory: String, seed: UInt64) {
            Thread.detachNewThread { [self] in
                var random = SplitMix64(seed: seed)
                var kept: [UnsafeMutableRawPointer] = []
                while !isEnded.load(ordering: .relaxed) {
                    let path = "\(directory)/\(MappedWriterTests.names.randomElement(using: &random) ?? "")"
                    if kept.isEmpty || random.next() % 3 == 0, let memory = Writer.map(path) {
                        kept.append(memory)
                    }
                    for memory in kept where random.next() % 2 == 0 {
                        let offset = Int(random.next() % UInt64(MappedWriterTests.size))
                        let read = random.next() % 2 == 0 ? memory.load(as: UInt8.self) : 0
                        memory.storeBytes(
                            of: UInt8(truncatingIfNeeded: random.next()) ^ read, toByteOffset: offset,
                            as: UInt8.self)
                    }
                    if random.next() % 8 == 0 { Writer.putTimeBack(path) }
                    guard kept.count > 3 || random.next() % 4 == 0 else { continue }
                    for memory in kept { munmap(memory, MappedWriterTests.size) }
                    kept = []
                }
                for memory in kept { munmap(memory, MappedWriterTests.size) }
                hasEnded.signal()
            }
        }

        private static func map(_ path: String) -> UnsafeMutableRawPointer? {
            let file = open(path, O_RDWR)
            guard file >= 0 else { return nil }
            defer { close(file) }
            let memory = mmap(
                nil, MappedWriterTests.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
            return memory == MAP_FAILED ? nil : memory
        }

        private static func putTimeBack(_ path: String) {
            var times = [
                timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2), timespec(tv_sec: 1_600_000_000, tv_nsec: 1),
            ]
            utimensat(AT_FDCWD, path, &times, 0)
        }

        func end() {
            isEnded.store(true, ordering: .relaxed)
            hasEnded.wait()
        }
    }

    @Test(.needs(.mounts, .btrfs, .xfs), arguments: [TestDisk.ext4(megabytes: 64), .xfs, .btrfs])
    func isMirroredByTheRunAfterItsEnd(disk: TestDisk) throws {
        // A sync of the target does not clean the source's pages.
        let scene = try MirrorScene([:], inMemory: true)
        try disk.mounted(at: scene.source) {
            try? scene.remove("source/lost+found")
            let content = String(repeating: ".", count: Self.size)
            for name in Self.names { try TreeLiteral.file(content).build(at: scene.path("source/\(name)")) }
            try scene.mirror()
            for round in 0..<8 {
                let writer = Writer(scene.source, seed: UInt64(round))
                for _ in 0..<6 {
                    let run = try scene.apply()
                    // Files that change all the time are listed.
                    #expect([0, 3].contains(run.code), "\(run.errors)")
                }
                writer.end()
                try scene.mirror()
            }
        }
    }

    /// ext4 with inodes of 128 bytes: no time shows an edit within the same second.
    @Test(.needs(.mounts)) func onADiskWithTimesOfWholeSecondsAnEditWithinTheSecondIsFound() throws {
        let place = try TemporaryDirectory(inMemory: true)
        try TestDisk.ext4OfSeconds.mounted(at: place.path) {
            let scene = try MirrorScene(["a": "first"], at: "\(place.path)/scene")
            for text in ["other", "third", "forth"] {
                try scene.mirror()
                try scene.editInSecret("source/a", text)
                try scene.mirror()
                #expect(try scene.text("target/a") == text)
            }
        }
    }
}
