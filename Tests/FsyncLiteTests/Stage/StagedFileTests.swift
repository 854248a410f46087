import FileSystem
import Testing

@testable import FsyncLite

struct StagedFileTests {
    @Test(
        arguments: [
            ("a/b", "0/1/b"), ("a/b", "0/1"), ("a/b", "12/9999/a/b"), ("a", "0/1/a"), ("a/b", "0/01/b"),
            ("a/b", "0/10000/b"), ("a/b", "0/1/c"), ("a/b", "tree/a/b"), ("b", "0/0/a/b"), ("a/b", "0"),
            ("a/b", "99999999999/0/b"), ("x/a/b", "3/4/a/b"),
        ])
    func aFileComesBack(name: String, location: String) {
        let source = with(status(.file)) {
            ($0.inode, $0.size, $0.created, $0.changed) = (7, 9, seconds(1), seconds(-2))
        }
        for isPart in [false, true] {
            let file = StagedFile(
                path: path(name), location: path(location), source: source, stagedInode: 8, isPart: isPart)
            #expect(StagedFile(line: Array(file.line.utf8)) == file)
        }
    }
}
