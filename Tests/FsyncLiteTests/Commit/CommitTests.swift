import FileStorage
import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

struct CommitTests {
    private static let points = 0...CommitScene.operations.count

    @Test func goesForwardAndBack() throws {
        let scene = try CommitScene()
        try scene.recover(.forward)
        try scene.expectNew()
        try scene.recover(.backward)
        try scene.expectOld()
    }

    @Test(arguments: points, [true, false])
    func isFinishedOrTakenBackFromAnyPoint(point: Int, isFinished: Bool) throws {
        let scene = try CommitScene()
        try scene.perform(point)
        // A second recovery changes nothing.
        for _ in 0..<2 {
            try scene.recover(isFinished ? .forward : .backward)
            if isFinished { try scene.expectNew() } else { try scene.expectOld() }
        }
    }

    // MARK: Objects of others

    @Test(arguments: ["e", "x", "second"]) func whatCameMeanwhileStopsItOrIsMovedAway(name: String) throws {
        let scene = try CommitScene()
        try scene.perform(4)
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: scene.path(name)))
        #expect { try scene.recover(.forward) } throws: { ($0 as? SyncError)?.code == .pending }
        #expect(try String(contentsOfFile: scene.path(name), encoding: .utf8) == "theirs")
        let commit = try scene.recover(.forward, displacingConflicts: true)
        #expect(commit.conflicts.map(\.path) == [Array(scene.path(name).utf8)])
        try scene.expectNew()
        let kept = scene.path(".fsync-lite/history/\(commit.journal.id)/conflicts")
        let found = try FileManager.default.subpathsOfDirectory(atPath: kept)
        #expect(
            try found.contains { try String(contentsOfFile: "\(kept)/\($0)", encoding: .utf8) == "theirs" })
    }

    /// The object is still in its slot, where a recovery looks first, or in its old directory, which comes later in the
    /// journal.
    @Test(arguments: [0, 4]) func aLinkOfTheObjectAtItsNewPlaceIsMovedAway(performed: Int) throws {
        let scene = try CommitScene()
        try scene.perform(performed)
        let place = performed == 0 ? "d/x" : ".fsync-lite/stage/\(scene.journal.id)/0/1"
        try scene.directory.makeHardLink("x", to: place)
        #expect { try scene.recover(.forward) } throws: { ($0 as? SyncError)?.code == .pending }
        let commit = try scene.recover(.forward, displacingConflicts: true)
        #expect(commit.conflicts.map(\.path) == [Array(scene.path("x").utf8)])
        try scene.expectNew()
    }

    @Test func whatSomebodyReplacedIsNotMoved() throws {
        let scene = try CommitScene()
        try FileManager.default.removeItem(atPath: scene.path("gone"))
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: scene.path("gone")))
        let before = try TreeSnapshot(scene.directory.path)
        for direction in [Commit.Direction.forward, .backward] {
            #expect { try scene.recover(direction) } throws: {
                guard let error = $0 as? SyncError, error.code == .pending else { return false }
                return error.path == Array(scene.path("gone").utf8)
            }
        }
        #expect(try TreeSnapshot(scene.directory.path) == before)
        let commit = try scene.recover(.forward, displacingConflicts: true)
        #expect(commit.lost.map(\.path) == [Array(scene.path("gone").utf8)])
        #expect(commit.conflicts.map(\.path) == [Array(scene.path("gone").utf8)])
        #expect(try String(contentsOfFile: scene.path("gone"), encoding: .utf8) == "new")
    }

    @Test func whatIsReplacedBetweenTheLookAndTheRenameStopsIt() throws {
        let scene = try CommitScene()
        let commit = Commit(scene.journal, root: scene.root, state: scene.state)
        try FileManager.default.removeItem(atPath: scene.path("d/x"))
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: scene.path("d/x")))
        #expect { try commit.run(.forward) } throws: { ($0 as? SyncError)?.code == .failed }
        #expect(try String(contentsOfFile: scene.path("d/x"), encoding: .utf8) == "theirs")
    }

    /// Taking a link back removes only our own name of our own file.
    @Test func aLinkThatSomebodyReplacedStays() throws {
        let scene = try CommitScene()
        try scene.recover(.forward)
        try FileManager.default.removeItem(atPath: scene.path("second"))
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: scene.path("second")))
        try scene.recover(.backward)
        #expect(try String(contentsOfFile: scene.path("second"), encoding: .utf8) == "theirs")
    }

    /// The last name of another user's file is never removed.
    @Test func aLinkThatIsTheLastNameStays() throws {
        let scene = try CommitScene()
        try scene.recover(.forward)
        let commit = try Commit(
            recovering: scene.journal, .backward, root: scene.root, state: scene.state,
            displacingConflicts: false)
        try FileManager.default.removeItem(atPath: scene.path("kept"))
        try commit.run(.backward)
        #expect(try String(contentsOfFile: scene.path("second"), encoding: .utf8) == "kept")
    }

    // MARK: Room

    /// The disk becomes full between the first operation and the last.
    @Test(.needs(.mounts)) func ballastIsGivenUpWhereTheNamesNeedRoom() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        try TestDisk.ext4(megabytes: 4).mounted(at: directory.path) {
            try FileManager.default.removeItem(atPath: "\(directory.path)/lost+found")
            let scene = try CommitScene(in: directory)
            var journal = scene.journal
            // Names that fill the blocks of a directory.
            journal.operations.removeLast()
            for number in 0..<40 {
                let name = FileName((String(repeating: "n", count: 200) + "\(number)").utf8)
                let location = OperationGraph.Location(parent: OperationGraph.root, name: try #require(name))
                journal.operations.append(.link(OperationGraph.Link(object: 12, location: location)))
            }
            journal.operations.append(.rename(OperationGraph.transaction))
            let stage = try scene.state.makeStage()
                .directory(#require(FileName(journal.id.utf8)))
            try ReservedSpace.make(for: journal, in: stage)
            #expect(!HostCommand.works("dd", "if=/dev/zero", "of=\(directory.path)/full", "bs=1k"))
            try Commit(journal, root: scene.root, state: scene.state).run(.forward)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: directory.path).count {
                    $0.hasPrefix("nn")
                } == 40)
        }
    }
}
