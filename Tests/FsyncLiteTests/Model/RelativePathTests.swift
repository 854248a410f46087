import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct RelativePathTests {
    @Test(arguments: ["", "a", "a/b", "...", ".a", "a..", "..a/.b", "a b/\n", "\u{7F}", "-"])
    func takesWhatTheKernelTakes(_ text: String) throws {
        let path = try #require(RelativePath(text))
        #expect(path.bytes == Array(text.utf8))
        #expect(path.isRoot == text.isEmpty)
    }

    @Test(arguments: [
        "/", "/a", "a/", "a//b", "//", ".", "..", "./a", "a/.", "a/..", "../a", "a/../b", "a/./b", "\0",
        "a\0b", "a/\0",
    ])
    func rejectsWhatLeadsElsewhere(_ text: String) {
        #expect(RelativePath(text) == nil)
    }

    @Test func ordersAsAScanDoes() throws {
        let names: [[UInt8]] = [
            Array("a".utf8), Array("a/b".utf8), Array("a/b/c".utf8), Array("a/b-".utf8),
            Array("a/\u{1}".utf8),
            Array("a\u{1}".utf8), Array("a\n/x".utf8), Array("a-".utf8), Array("a-/b".utf8),
            Array("a.b".utf8),
            Array("a0".utf8), Array("aa".utf8), Array("e\u{301}".utf8), Array("\u{E9}".utf8), [0xFF],
            [0xFF, 0x2F, 0x61],
        ]
        var tree = ModelTree(now: 1, firstInode: 1)
        for bytes in names {
            var parent = ModelTree.root
            for component in try #require(RelativePath(bytes)).components {
                let place = ModelTree.Place(parent, try #require(FileName(component)))
                if tree.id(at: place) == nil { tree.link(tree.make(.directory), place) }
                parent = try #require(tree.id(at: place))
            }
        }
        let scanned = tree.entries().map(\.path)
        #expect(scanned.shuffled().sorted() == scanned)
        for (left, right) in zip(scanned, scanned.dropFirst()) {
            #expect(left < right && !(right < left) && left != right)
        }
    }

    @Test func tellsWhatIsBelow() throws {
        let path = try #require(RelativePath("a/b"))
        #expect(try #require(RelativePath("a/b/c/d")).isBelow(path))
        #expect(try !#require(RelativePath("a/bc")).isBelow(path))
        #expect(try !#require(RelativePath("a")).isBelow(path))
        #expect(!path.isBelow(path))
        #expect(path.isBelow(.root))
        #expect(!RelativePath.root.isBelow(.root))
    }

    @Test func takesPathsApart() throws {
        let path = try #require(RelativePath("a/b/c"))
        #expect(path.parent == RelativePath("a/b"))
        #expect(RelativePath("a")?.parent == .root)
        #expect(RelativePath.root.parent == nil)
        #expect(path.lastComponent.elementsEqual("c".utf8))
        #expect(path.components.map { Array($0) } == ["a", "b", "c"].map { Array($0.utf8) })
        #expect(RelativePath.root + "x" == RelativePath("x"))
        #expect(path + "x" == RelativePath("a/b/c/x"))
        for name in ["", ".", "..", "x/y", "\0"] { #expect(path + name == nil) }
    }
}
