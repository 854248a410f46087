import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

@Suite("The old tree after an exchange")
struct RetiredTreeTests {
    private let directory: TemporaryDirectory
    private var target: String { "\(directory.path)/target" }
    private var state: String { "\(directory.path)/.target.fsync-lite" }

    /// Two exchanges. The second one changes a file and the mode of another file.
    init() throws {
        directory = try TemporaryDirectory(inMemory: true)
        let time = TreeTime(1_600_000_000, 5)
        let source = "\(directory.path)/source"
        let tree: TreeLiteral = [
            "same": .file("same", modified: time), "mode": .file("mode", modified: time), "edited": "one",
            "d": ["deep": "two"],
        ]
        try tree.build(at: source)
        try exchange()
        try Data("other".utf8).write(to: URL(fileURLWithPath: "\(source)/edited"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(source)/mode")
        try exchange()
    }

    private func exchange() throws {
        // A file changed in the tick in which the exchange begins is protected: it may be another user's.
        ClockTick.pass()
        let run = try CommandRun(["apply", "source", "target", "--exchange"], in: directory.path)
        #expect(run.code == 0, "\(run.errors)")
    }

    /// Reduces the old trees as after their time.
    private func reduce() throws -> [String] {
        let root = try Directory.open(path: Array(target.utf8))
        let state = try #require(try StateDirectory(of: root))
        return try RetiredTree.reduce(
            in: state, displaced: FileTime(seconds: .max, nanoseconds: 0), looked: nil
        ).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func trees() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(state)/trees").sorted()
    }

    private func links(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: "\(target)/\(name)")[.referenceCount] as? Int
    }

    @Test func staysAtFirstAndGoesWithoutATrace() throws {
        #expect(try trees().count == 2)
        #expect(try links("same") == 2)
        #expect(try links("mode") == 1)
        let before = try TreeSnapshot(target)
        #expect(try reduce() == [])
        #expect(try trees() == [])
        #expect(try TreeSnapshot(target) == before)
        #expect(try links("same") == 1)
    }

    @Test func whatSomebodyPutThereIsKept() throws {
        let tree = try #require(try trees().last)
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: "\(state)/trees/\(tree)/d/late"))
        let kept = try reduce()
        #expect(kept.count == 1)
        let place = try #require(kept.first)
        #expect(place.contains("history/\(tree)/conflicts"))
        #expect(try String(contentsOfFile: "\(place)/d/late", encoding: .utf8) == "theirs")
        #expect(try TreeSnapshot(place).paths == ["d", "d/late"])
        #expect(try trees() == [])
    }

    @Test func aChangeThatSizeAndTimeDoNotShowIsStillNoticed() throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: "\(target)/same"))
        try handle.write(contentsOf: Data("SAME".utf8))
        try handle.close()
        try TreeTime(1_600_000_000, 5).set(on: "\(target)/same")
        #expect(try reduce() == [])
        let plan = try CommandRun(["plan", "source", "target"], in: directory.path)
        #expect(plan.output.contains("same"), "\(plan.output)")
    }
}
