import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

struct RetentionTests {
    /// Snapshots are removed one after the other to make space, but never the last one or one with a label.
    @Test func theOldestWithoutALabelGivesWay() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        func run(_ words: String...) throws {
            let run = try CommandRun(words, in: directory.path)
            #expect(run.code == 0, "\(run.errors)")
        }
        for round in 0..<5 {
            try (["a": .file("\(round)")] as TreeLiteral).build(at: "\(directory.path)/source\(round)")
            try run("apply", "source\(round)", "target", "--keep-last", "9", "--change-source")
            if round == 1 { try run("snapshot", "create", "target", "--label", "x") }
        }
        let root = try Directory.open(path: Array("\(directory.path)/target".utf8))
        let state = try #require(try StateDirectory(of: root))
        let before = try History(state).snapshots()
        #expect(before.map(\.label) == [nil, nil, nil, "x", nil, nil])
        var gone: [String] = []
        while let id = try Retention(state).removeOldest(where: { _ in true }) { gone.append(id) }
        #expect(gone == [5, 4, 2].map { before[$0].id })
        #expect(try History(state).snapshots().map(\.id) == [0, 1, 3].map { before[$0].id })
        #expect(try Retention(state).removeOldest(where: { _ in false }) == nil)
    }
}
