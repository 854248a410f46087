import FileSystem
import Testing

@testable import FsyncLite

struct StoredStatusTests {
    private func time(_ seconds: Int64, _ nanoseconds: Int32 = 0) -> FileTime {
        FileTime(seconds: seconds, nanoseconds: nanoseconds)
    }

    @Test func timeIsKeptWhereTheTargetHasItsStep() {
        let second: Int64 = 1_000_000_000
        #expect(time(7, 999_999_999).isStored(as: time(7), step: second))
        #expect(!time(8).isStored(as: time(7), step: second))
        #expect(!time(7).isStored(as: time(7, 1), step: second))
        #expect(time(-1, 500_000_000).isStored(as: time(-1), step: second))
        #expect(time(7, 5).isStored(as: time(7, 5), step: 1) && !time(7, 5).isStored(as: time(7, 4), step: 1))
        #expect(!time(.max).isStored(as: time(.min), step: second))
    }

    @Test func whatIsNotMirroredIsWantedAsItIs() {
        var wanted = FileStatus(type: .file, modified: time(7, 5))
        wanted.permissions = 0o600
        var there = FileStatus(type: .file, modified: time(7))
        there.permissions = 0o777
        var coarse = wanted
        coarse.keepUnmirrored(of: there, mirroring: .all.subtracting(.mode), timeStep: 1_000_000_000)
        #expect(coarse.permissions == 0o777 && coarse.modified == time(7))
        var exact = wanted
        exact.keepUnmirrored(of: there, mirroring: .all, timeStep: 1)
        #expect(exact == wanted)
    }

    @Test func attributesOfSymlinksStayWhereTheyCannotBeSet() {
        var wanted = FileStatus(type: .symlink, modified: time(7))
        wanted.owner = 1
        let there = FileStatus(type: .symlink, modified: time(9))
        wanted.keepUnmirrored(of: there, mirroring: .all.subtracting(.symlinks), timeStep: 1)
        #expect(wanted.modified == time(9) && wanted.owner == 0)
    }
}
