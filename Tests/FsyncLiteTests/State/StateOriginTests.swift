import FileStorage
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

/// A forged state with its own journal moves nothing outside of its target.
struct StateOriginTests {
    /// A target `m` with a history. Its tree has `k` and `.k.fsync-lite`, as a client mirrors them. The
    /// journal's root is `m`, and its operations move the history of `m` into the trash of the forged state.
    private func forged() throws -> (directory: TemporaryDirectory, history: String, state: StateDirectory) {
        let directory = try TemporaryDirectory(inMemory: true)
        let name = FileName("20260101T000000.000000Z-0000")
        try
            ([
                ".fsync-lite": .directory(["history": ["old": "version"]], mode: 0o700, modified: nil),
                "k": [:],
                ".k.fsync-lite": .directory(
                    ["stage": ["20260101T000000.000000Z-0000": ["0": [:]]], "history": [:], "trash": [:]],
                    mode: 0o700,
                    modified: nil),
            ] as TreeLiteral).build(at: directory.path)
        let root = try directory.open()
        func location(_ name: FileName, in parent: Int) -> OperationGraph.Location {
            OperationGraph.Location(parent: parent, name: name)
        }
        var objects = OperationGraph.ownObjects(name)
        objects += [
            OperationGraph.Object(fixed: location(.state, in: OperationGraph.root)),
            OperationGraph.Object(fixed: location(FileName("trash"), in: OperationGraph.state)),
            OperationGraph.Object(
                old: location(FileName("history"), in: 5), new: location(FileName("gone"), in: 6)),
        ]
        let state = try #require(
            try StateDirectory.found(of: root.directory(FileName("k"))), "there is no forged state")
        let operations: [OperationGraph.Operation] = [.rename(7), .rename(OperationGraph.transaction)]
        let journal = try Commit.prepare(
            OperationGraph(.init(objects), operations, []), id: name.description, root: root, state: state)
        try journal.write(to: state)
        return (directory, "\(directory.path)/.fsync-lite/history/old", state)
    }

    /// A mirrored state is not followed. On a stolen disk it has the mark, but names only its own target.
    @Test(arguments: [false, true]) func nothingOutsideOfTheTargetMoves(isMarked: Bool) throws {
        let (directory, history, state) = try forged()
        if isMarked { try state.directory.markAsState() }
        let (code, text): (SyncError.Code, String) =
            isMarked ? (.invalidDocument, "outside of its own target") : (.refused, "may have mirrored it")
        let target = Target(path: Array("\(directory.path)/k".utf8))
        #expect {
            _ = try target.recover()
        } throws: {
            let error = $0 as? SyncError
            return error?.code == code && error?.message.contains(text) == true
        }
        if !isMarked { #expect(throws: SyncError.self) { _ = try target.status() } }
        #expect(FileManager.default.fileExists(atPath: history))
    }
}
