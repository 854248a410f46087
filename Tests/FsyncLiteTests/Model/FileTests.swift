import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct FileTests {
    @Test func everyStatusIsKept() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<2000 {
            let status = randomStatus(&random)
            let file = File(path: path("a"), status: status, destination: [])
            #expect(file.status == status)
            #expect(File(path: path("a"), status: self.status(.file), destination: []).with(status) == file)
            #expect(
                (file.size, file.linkCount, file.isDirectory)
                    == (status.size, status.links, status.type == .directory))
            let base = BaseEntry(
                status: status, targetInode: 7, targetChanged: randomTime(&random), marks: .racy,
                omitted: .mode)
            #expect(base.status == status && base.known.status == status && base.omitted == .mode)
            #expect(base.known.marks == .racy && base.known.targetInode == 7)
        }
    }

    /// Values that do not fit into the packed form.
    @Test(
        arguments: [-9_000_000_000, -8_589_934_593, -8_589_934_592, -1, 0, 1, 8_589_934_591, 8_589_934_592]
            as [Int64])
    func timesFarAwayAreKept(seconds: Int64) {
        let time = FileTime(seconds: seconds, nanoseconds: 999_999_999)
        let far = FsyncLiteTests.with(status(.file)) {
            ($0.modified, $0.changed, $0.created) = (time, time, time)
        }
        let file = File(path: path("a"), status: far, destination: [])
        #expect(file.status == far)
        #expect(file.with(status(.file)) == FsyncLiteTests.file("a"))
        let base = BaseEntry(status: status(.file), targetInode: 1, targetChanged: time)
        #expect(base.known.targetChanged == time)
    }

    @Test func aChangedCopyLeavesTheOther() {
        let file = File(path: path("a/b"), status: status(.file), destination: [])
        var other = file
        other.omitted = .mode
        other.isGrowing = true
        other.extended = ExtendedAttributes([.init(name: [1], value: [2])])
        #expect(file.omitted == [] && file.extended.isEmpty)
        #expect(other.omitted == .mode && other.isGrowing && other.path == file.path)
        #expect(other.moved(to: path("c")).path == path("c"))
        #expect(other.moved(to: path("c")).extended == other.extended)
        other.extended = ExtendedAttributes()
        (other.omitted, other.isGrowing) = ([], false)
        #expect(other == file)
    }

    private func status(_ type: FileType) -> FileStatus { FsyncLiteTests.status(type) }
}
