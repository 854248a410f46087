import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// Lists of a snapshot that another machine may send.
struct FarSnapshotTests {
    @Test(
        arguments: [
            (["a"], ["a"], true), (["a"], ["b"], false), (["a"], ["a", "b"], false), (["a"], [], false),
            ([], ["a"], false), ([], [], true), (["*.txt"], ["x.txt", "d/y.txt"], true),
            (["*.txt"], ["x.sh"], false), (["d/*"], ["d/x"], true), (["d/*"], ["e/x"], false),
            (["*.txt"], ["*.txt"], true), (["/srv/p/d/a"], ["d/a"], true), (["/srv/p/d/a"], ["d/b"], false),
            (["/srv/p/*.txt"], ["x.txt"], true), (["./a/"], ["a"], true), (["a"], ["a/b"], false),
            (["?x"], [".ssh"], false),
        ] as [([String], [String], Bool)])
    func onlyPathsThatWereAskedFor(asked: [String], found: [String], isGood: Bool) throws {
        let request = FarSnapshot.Request("latest", paths: asked.map { Array($0.utf8) }, locks: false)
        #expect(try request.names(found.map { try #require(RelativePath($0)) }) == isGood)
    }

    /// A longer list would plant files beside the wanted ones.
    @Test func onlyEntriesOfThesePaths() throws {
        let request = FarSnapshot.Request("latest", paths: [Array("d/a".utf8)], locks: false)
        let answer = Payload.reader(.answer) {
            $0.text("20261129T080229.404559Z-e7a4")
            $0.byte(0)
            $0.number(1 as UInt32)
            $0.text("d/a")
            $0.number(0 as UInt32)
            $0.number(0 as UInt32)
        }
        let end = try SnapshotEnd(answer, to: request)
        func list(_ names: [String], _ type: FileType = .file) -> FileList {
            FileList(names.map { file($0, 0, $0.contains("/") ? .file : type) })
        }
        let locator = try end.locator(of: list(["d", "d/a", "d/a/b"], .directory))
        #expect(try locator.number(of: #require(RelativePath("d"))) == 1)
        for planted in [["d", "d/a", "d/b"], [".ssh", "d", "d/a"], ["d/", "e"]] {
            let names = planted.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
            #expect(throws: WireError.self) { try end.locator(of: list(names, .directory)) }
        }
        #expect(throws: WireError.self) { try end.locator(of: list(["d"], .file)) }
    }
}
