import FileStorage
import FileSystem
import Foundation
import TestSupport
import Testing

@testable import FsyncLite

struct RecoveryTests {
    private func recovery(_ scene: CommitScene) throws -> Recovery {
        Recovery(root: scene.root, state: try #require(try StateDirectory(of: scene.root)))
    }

    /// A crash during a commit, with its journal.
    private func cutShort() throws -> CommitScene {
        let scene = try CommitScene()
        try scene.journal.write(to: scene.state)
        try scene.perform(6)
        return scene
    }

    private func expectPending(_ scene: CommitScene, _ text: String) throws {
        let before = try TreeSnapshot(scene.directory.path, withState: true)
        #expect { _ = try recovery(scene).run() } throws: {
            guard let error = $0 as? SyncError else { return false }
            return error.code == .pending && error.message.contains(text)
        }
        #expect(try TreeSnapshot(scene.directory.path, withState: true) == before)
    }

    @Test func finishesAndRemovesTheJournal() throws {
        let scene = try cutShort()
        #expect(try recovery(scene).run() != nil)
        // A transaction without a record is useless, and is removed.
        try scene.expectNew(isTidied: true)
        #expect(try !scene.state.hasJournal())
        #expect(try recovery(scene).run() == nil)
    }

    @Test func takesBackAndGoesOnTakingBack() throws {
        let scene = try cutShort()
        try scene.state.turnJournal()
        // The journal was turned round, so the requested direction has no effect.
        #expect(try recovery(scene).run() != nil)
        try scene.expectOld()
        #expect(try !scene.state.hasJournal())
    }

    @Test func withoutAJournalNothingIsDone() throws {
        let scene = try CommitScene()
        try scene.perform(6)
        let before = try TreeSnapshot(scene.directory.path, withState: true)
        #expect(try recovery(scene).run() == nil)
        #expect(try TreeSnapshot(scene.directory.path, withState: true) == before)
    }

    @Test func journalOfAnotherDirectoryIsNotCarriedOut() throws {
        let scene = try CommitScene()
        var journal = scene.journal
        journal.root.inode += 1
        try journal.write(to: scene.state)
        try expectPending(scene, "this journal was written for another directory")
    }

    @Test func afterASyncThatFailedOnlyANewMountTells() throws {
        let scene = try cutShort()
        try scene.state.noteFailedSync(under: scene.root.mount())
        try expectPending(scene, "a sync failed")
    }

    @Test func whatIsMovedOutOfTheWayGoingBackIsKept() throws {
        let scene = try cutShort()
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: scene.path("gone-too")))
        try FileManager.default.moveItem(atPath: scene.path("gone-too"), toPath: scene.path("d"))
        #expect(throws: SyncError.self) { _ = try recovery(scene).run(undo: true) }
        let (_, commit) = try #require(try recovery(scene).run(undo: true, displacingConflicts: true))
        #expect(commit.conflicts.map(\.path) == [Array(scene.path("d").utf8)])
        try scene.expectOld()
        let history = scene.path(".fsync-lite/history")
        let kept = try FileManager.default.subpathsOfDirectory(atPath: history).map { "\(history)/\($0)" }
        #expect(kept.contains { (try? String(contentsOfFile: $0, encoding: .utf8)) == "theirs" })
    }

    @Test func damagedJournalIsNotCarriedOut() throws {
        let scene = try cutShort()
        let journal = scene.path(".fsync-lite/journal")
        let text = try String(contentsOfFile: journal, encoding: .utf8)
        try text.replacing("\"gone\"", with: "\"gon2\"").write(
            toFile: journal, atomically: false, encoding: .utf8)
        let before = try TreeSnapshot(scene.directory.path)
        #expect(throws: SyncError.self) { _ = try recovery(scene).run() }
        #expect(try TreeSnapshot(scene.directory.path) == before)
    }
}
