import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct EntryTableTests {
    /// Entries come back as they were added, whatever the order of their paths.
    @Test func whatIsAddedComesBack() throws {
        var random = SplitMix64(seed: 7)
        let table = EntryTable()
        var files: [(packed: File, loose: File)] = []
        for _ in 0..<3000 {
            let depth = Int.random(in: 1...6, using: &random)
            let names = (0..<depth).map { _ in
                ["a", "a-b", "b", "ä\n", "c.d"].randomElement(using: &random) ?? "a"
            }
            let path = try #require(RelativePath(names.joined(separator: "/")))
            let status = randomStatus(&random)
            let destination = Array("to".utf8)
            files.append(
                (
                    File(path: path, status: status, destination: destination, in: table),
                    File(path: path, status: status, destination: destination)
                ))
        }
        for (packed, loose) in files {
            #expect(packed == loose)
            #expect(packed.path == loose.path)
            #expect(packed.status == loose.status)
        }
        for (first, second) in zip(files, files.shuffled(using: &random)) {
            #expect((first.packed < second.packed) == (first.loose < second.loose))
        }
    }

    @Test func aChangedCopyLeavesTheOther() {
        let table = EntryTable()
        let file = File(path: path("a/b"), status: status(.file), destination: [], in: table)
        var other = file
        other.omitted = .mode
        other.isGrowing = true
        #expect(file.omitted == [])
        #expect(other.omitted == .mode && other.isGrowing && other.path == file.path)
        #expect(other.moved(to: path("c")).path == path("c"))
        #expect(other.moved(to: path("c")).omitted == .mode)
    }

    /// What 64 bytes cannot say is kept all the same.
    @Test(
        arguments: [-9_000_000_000, -8_589_934_593, -8_589_934_592, -1, 0, 1, 8_589_934_591, 8_589_934_592]
            as [Int64])
    func timesFarAwayAreKept(seconds: Int64) {
        let time = FileTime(seconds: seconds, nanoseconds: 999_999_999)
        let status = with(status(.file)) { ($0.modified, $0.changed, $0.created) = (time, time, time) }
        #expect(File(path: path("a"), status: status, destination: [], in: EntryTable()).status == status)
    }

    private func randomStatus(_ random: inout SplitMix64) -> FileStatus {
        var status = FileStatus(
            type: FileType.allCases.randomElement(using: &random) ?? .file,
            modified: FileTime(seconds: .random(in: -9...9_000_000_000, using: &random), nanoseconds: 5))
        status.changed = FileTime(seconds: .random(in: 0...2_000_000_000, using: &random), nanoseconds: 0)
        if Bool.random(using: &random) { status.created = FileTime(seconds: 0, nanoseconds: 1) }
        status.inode = .random(in: 0 ... .max, using: &random)
        status.size = .random(in: 0 ... .max, using: &random)
        status.allocated = .random(in: 0 ... .max, using: &random)
        (status.owner, status.group) = (.random(in: 0 ... .max, using: &random), .max)
        (status.links, status.permissions) = (.random(in: 1 ... .max, using: &random), 0o7777)
        status.device = DeviceNumber(
            major: .random(in: 0...2, using: &random), minor: .random(in: 0...3000, using: &random))
        (status.isMountRoot, status.isImmutable) = (.random(using: &random), .random(using: &random))
        (status.isAppendOnly, status.isEncrypted) = (.random(using: &random), .random(using: &random))
        if status.type == .blockDevice { status.represents = DeviceNumber(major: 8, minor: 1) }
        return status
    }
}
