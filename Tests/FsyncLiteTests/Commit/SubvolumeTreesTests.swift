import FileStorage
import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

@Suite(
    "The old tree after an exchange of a subvolume",
    .needs(.btrfs))
struct SubvolumeTreesTests {
    /// After an exchange: the directory that contains everything, and the path of the old tree.
    private func afterExchange(_ body: (String, _ old: String) throws -> Void) throws {
        let directory = try TemporaryDirectory(inMemory: true)
        try TestDisk.btrfs.mounted(at: directory.path) {
            let tree: TreeLiteral = ["edited": "one", "d": ["deep": "two", "other": "three"]]
            try tree.build(at: "\(directory.path)/source")
            try HostCommand.run("btrfs", "subvolume", "create", "\(directory.path)/target")
            for options in [[], ["--exchange"]] {
                try Data("four\(options)".utf8).write(
                    to: URL(fileURLWithPath: "\(directory.path)/source/edited"))
                let run = try CommandRun(["apply", "source", "target"] + options, in: directory.path)
                #expect(run.code == 0, "\(run.errors)")
            }
            let trees = "\(directory.path)/.target.fsync-lite-trees"
            let names = try FileManager.default.contentsOfDirectory(atPath: trees)
            try body(directory.path, "\(trees)/\(try #require(names.first))")
        }
    }

    /// Reduces the old tree as after its time.
    private func reduce(_ directory: String) throws -> [String] {
        let root = try Directory.open(path: Array("\(directory)/target".utf8))
        let (trees, state) = (try SubvolumeTrees(of: root), try StateDirectory(of: root))
        let displaced = FileTime(seconds: .max, nanoseconds: 0)
        return try #require(trees).reduce(in: #require(state), displaced: displaced).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func goesWithoutATrace() throws {
        try afterExchange { directory, old in
            let before = try TreeSnapshot("\(directory)/target")
            #expect(try reduce(directory) == [])
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/.target.fsync-lite-trees"))
            #expect(try TreeSnapshot("\(directory)/target") == before)
        }
    }

    @Test func whatSomebodyPutThereOrChangedIsKept() throws {
        try afterExchange { directory, old in
            try Data("theirs".utf8).write(to: URL(fileURLWithPath: "\(old)/d/late"))
            try FileManager.default.linkItem(atPath: "\(old)/d/late", toPath: "\(old)/again")
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: "\(old)/d/deep"))
            try handle.write(contentsOf: Data("TWO".utf8))
            try handle.close()
            let late = try TreeSnapshot(old)
            let kept = try #require(try reduce(directory).first)
            #expect(
                kept.hasPrefix(
                    "\(directory)/target/.fsync-lite/history/\(URL(fileURLWithPath: old).lastPathComponent)/conflicts/"
                ))
            let found = try TreeSnapshot(kept)
            #expect(found.paths == ["again", "d", "d/deep", "d/late"])
            for path in ["again", "d/deep", "d/late"].map({ Array($0.utf8) }) {
                #expect(found.entries[path] == late.entries[path])
            }
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/.target.fsync-lite-trees"))
            // The next run leaves it there.
            try Data("five".utf8).write(to: URL(fileURLWithPath: "\(directory)/source/edited"))
            #expect(try CommandRun(["apply", "source", "target"], in: directory).code == 0)
            #expect(try TreeSnapshot(kept) == found)
        }
    }

    @Test func aSubvolumeThatSomebodyMadeThereStops() throws {
        try afterExchange { directory, old in
            try HostCommand.run("btrfs", "subvolume", "create", "\(old)/d/inner")
            #expect(throws: SyncError.self) { try reduce(directory) }
            #expect(try TreeSnapshot(old).paths.contains("d/inner"))
        }
    }
}
