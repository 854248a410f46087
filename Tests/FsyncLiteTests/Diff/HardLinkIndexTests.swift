import FileSystem
import Testing

@testable import FsyncLite

struct HardLinkIndexTests {
    private func status(_ inode: UInt64, links: UInt32) -> FileStatus {
        with(FsyncLiteTests.status(.symlink)) { ($0.inode, $0.links) = (inode, links) }
    }

    private func admits(_ matches: [(source: FileStatus, target: FileStatus)]) throws -> [Bool] {
        var linkIndex = HardLinkIndex()
        return try matches.enumerated().map { number, match in
            linkIndex.admit(
                match.source, match.target, at: try #require(RelativePath("\(number)")), as: nil)
        }
    }

    @Test func namesOfOneFileAreNamesOfOne() throws {
        let (source, target) = (status(1, links: 2), status(9, links: 2))
        #expect(try admits([(source, target), (source, target)]) == [true, true])
        #expect(try admits([(source, target), (source, status(8, links: 1))]) == [true, false])
        #expect(
            try admits([(status(1, links: 1), target), (status(2, links: 1), target)]) == [true, false])
        #expect(
            try admits([(status(1, links: 2), target), (status(2, links: 2), target)]) == [true, false])
    }

    /// All lost objects have the same identity: none.
    @Test func whatNobodyKnowsAnyMoreIsNotOneFile() throws {
        let lost = status(0, links: 1)
        let target = status(9, links: 2)
        #expect(try admits([(lost, target), (lost, target)]) == [true, false])
    }
}
