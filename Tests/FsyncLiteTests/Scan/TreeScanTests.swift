import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

@Suite struct TreeScanTests {
    /// Which thread reads a directory changes nothing of what is told, nor its order.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func helpersChangeNothing(seed: UInt64) throws {
        let scratch = try TemporaryDirectory(inMemory: true)
        var tree = try DiskTree("\(scratch.path)/tree", seed: seed)
        try tree.grow(Int(seed) * 8)
        let alone = try entries("\(scratch.path)/tree", helpers: 0)
        for helpers in [1, 3] {
            #expect(try entries("\(scratch.path)/tree", helpers: helpers) == alone)
        }
        #expect(alone == alone.sorted { $0.path < $1.path })
    }

    /// More directories than are read ahead at a time, at more levels than those have room for.
    @Test func manyDirectoriesAtManyLevels() throws {
        let scratch = try TemporaryDirectory(inMemory: true)
        var level: TreeLiteral = ["leaf": "leaf"]
        for _ in 0..<12 {
            let inner = level
            level = .directory(
                (0..<40).map { (TreeName(stringLiteral: "\($0)"), $0 == 17 ? inner : [:]) }, mode: 0o755,
                modified: nil)
        }
        try level.build(at: "\(scratch.path)/tree")
        let found = try entries("\(scratch.path)/tree", helpers: 2)
        #expect(found.count == 12 * 40 + 1)
        #expect(found == (try entries("\(scratch.path)/tree", helpers: 0)))
    }

    private func entries(_ path: String, helpers: Int) throws -> [File] {
        var options = TreeScan.Options()
        options.helpers = helpers
        let scan = try TreeScan(Directory.open(path: Array(path.utf8)), options)
        var found: [File] = []
        while try scan.advance() { found.append(scan.file) }
        return found
    }
}
