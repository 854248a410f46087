import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import FileSystem

/// On the file system of the temporary directory, and in memory.
@Suite("Files that cannot change any more without a new time")
struct SettlingProbeTests {
    private static let places = [false, true]

    private func probe(_ name: FileName, in directory: Directory) throws -> SettlingProbe {
        try SettlingProbe(directory.open(name, [.read, .noFollow]))
    }

    private func made(_ content: String, inMemory: Bool) throws -> (TemporaryDirectory, Directory, FileName) {
        let directory = try TemporaryDirectory(inMemory: inMemory)
        try Data(content.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/file"))
        return (directory, try Directory.open(path: Array(directory.path.utf8)), FileName("file"))
    }

    @Test(arguments: places) func aFileThatWasJustClosedIsSettled(inMemory: Bool) throws {
        let (place, directory, name) = try made("content", inMemory: inMemory)
        defer { withExtendedLifetime(place) {} }
        let file = try directory.open(name, [.read, .noFollow])
        let probe = try SettlingProbe(file)
        #expect(probe.refusal == nil)
        #expect(try probe.settles(file.status()))
    }

    @Test(arguments: places) func whatAProgramHasOpenForWritingIsNot(inMemory: Bool) throws {
        let (place, directory, name) = try made("content", inMemory: inMemory)
        let writer = open("\(place.path)/file", O_WRONLY)
        #expect(try probe(name, in: directory).refusal == .writer)
        close(writer)
        #expect(try probe(name, in: directory).refusal == nil)
    }

    @Test(arguments: places) func whatAProgramHasMappedForWritingIsNot(inMemory: Bool) throws {
        let (place, directory, name) = try made("content", inMemory: inMemory)
        do {
            let mapped = try MappedFile("\(place.path)/file")
            #expect(try probe(name, in: directory).refusal == .writer)
            mapped.store("other")
        }
        #expect(try probe(name, in: directory).refusal == nil)
    }

    /// A change between the probe and the last status, or while the file is read.
    @Test(arguments: places) func aChangeAfterTheProbeUnsettles(inMemory: Bool) throws {
        let (place, directory, name) = try made("content", inMemory: inMemory)
        let file = try directory.open(name, [.read, .noFollow])
        let probe = try SettlingProbe(file)
        ClockTick.pass()
        let times = try file.status()
        let writer = open("\(place.path)/file", O_WRONLY)
        #expect(write(writer, "CONTENT", 7) == 7)
        // The modification time is restored.
        var back = [
            timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2),
            timespec(tv_sec: Int(times.modified.rawSeconds), tv_nsec: Int(times.modified.nanoseconds)),
        ]
        futimens(writer, &back)
        close(writer)
        #expect(try !probe.settles(file.status()))
    }

    @Test func anotherUsersFileIsNot() throws {
        guard geteuid() != 0 else { return }
        let directory = try Directory.open(path: Array("/etc".utf8))
        #expect([.owner, .unsupported].contains(try probe(FileName("passwd"), in: directory).refusal))
    }

    @Test(arguments: [(Need.bindfs, TestDisk.bindfs), (Need.overlay, TestDisk.overlay)])
    func onFUSEAndOverlayfsNothingIs(need: Need, disk: TestDisk) throws {
        guard need.isThere() else { return }
        let place = try TemporaryDirectory()
        try disk.mounted(at: place.path) {
            try Data("content".utf8).write(to: URL(fileURLWithPath: "\(place.path)/file"))
            let directory = try Directory.open(path: Array(place.path.utf8))
            #expect(try probe(FileName("file"), in: directory).refusal == .unsupported)
        }
    }

    /// A broken lease sends SIGIO, which ends a process by default. This process survives, and nobody waits.
    @Test(arguments: places) func programsThatOpenItForWritingMeanwhileHarmNoOne(inMemory: Bool) async throws
    {
        let (place, directory, name) = try made("content", inMemory: inMemory)
        let path = "\(place.path)/file"
        let writer = Task.detached {
            for _ in 0..<2000 {
                let file = open(path, O_WRONLY)
                guard file >= 0 else { return false }
                close(file)
            }
            return true
        }
        var refusals: Set<SettlingProbe.Refusal?> = []
        for _ in 0..<2000 { refusals.insert(try probe(name, in: directory).refusal) }
        #expect(await writer.value)
        #expect(refusals.isSubset(of: [nil, .writer, .moment]))
    }

    @Test func aTimeInTheFutureProvesNothing() {
        let now = FileTime(seconds: 100, nanoseconds: 5)
        #expect(FileTime(seconds: 100, nanoseconds: 4).isOlder(than: now))
        #expect(!now.isOlder(than: now))
        #expect(!FileTime(seconds: 100, nanoseconds: 6).isOlder(than: now))
        // Times of whole seconds.
        #expect(!FileTime(seconds: 99, nanoseconds: 0).isOlder(than: now))
        #expect(FileTime(seconds: 98, nanoseconds: 0).isOlder(than: now))
        #expect(!FileTime(seconds: .max, nanoseconds: 0).isOlder(than: now))
    }
}
