import FileSystem
import Testing

@testable import FsyncLite

struct StagedFileTests {
    @Test(arguments: [false, true]) func aFileComesBack(isPart: Bool) {
        let source = with(status(.file)) {
            ($0.inode, $0.size, $0.created, $0.changed) = (7, 9, seconds(1), seconds(-2))
        }
        let file = StagedFile(
            path: path("x/a/b"), location: path("0/1/b"), source: source, stagedInode: 8, isPart: isPart)
        #expect(StagedFile(line: Array(file.line.utf8)) == file)
    }
}
