import FileStorage
import FileSystem
import Foundation
import Glibc
import TestSupport
import Testing

@testable import FsyncLite

/// Two files that look the same change names, and a third one, which looks the same, is replaced. The inodes
/// of the file system prove nothing, so only slots and phases show each place. Different contents would show
/// a mixture.
private struct LookalikeScene {
    static let id = "20260101T000000.000000Z-0000"
    let directory: TemporaryDirectory
    let root: Directory
    let state: StateDirectory
    private(set) var journal: Journal

    private static let operations: [OperationGraph.Operation] = [
        .detach(6), .detach(7), .detach(9), .attach(7), .attach(6), .attach(8),
        .rename(OperationGraph.transaction),
    ]
    static let departures = 3

    init() throws {
        directory = try TemporaryDirectory(inMemory: true)
        var capabilities = FileSystemCapabilities(name: "pretended")
        (capabilities.isComplete, capabilities.keepsInodes) = (false, false)
        root = try directory.open().asTarget(on: TargetFileSystem(capabilities))
        let time = TreeTime(1000)
        try
            ([
                "p": .file("p", modified: time), "q": .file("q", modified: time),
                "r": .file("o", modified: time),
            ] as TreeLiteral).build(at: directory.path)
        state = try StateDirectory.make(in: root)
        try TreeLiteral.staged(["0": ["2": .file("r", modified: time)]], Self.id)
            .build(at: "\(directory.path)/.fsync-lite")
        func place(_ name: String, in parent: Int = OperationGraph.root) throws -> OperationGraph.Location {
            OperationGraph.Location(parent: parent, name: try #require(FileName(name.utf8)))
        }
        let objects =
            OperationGraph.ownObjects(try #require(FileName(Self.id.utf8)))
            + [
                OperationGraph.Object(fixed: try place("0", in: OperationGraph.transaction)),
                OperationGraph.Object(old: try place("p"), slot: try place("0", in: 5), new: try place("q")),
                OperationGraph.Object(old: try place("q"), slot: try place("1", in: 5), new: try place("p")),
                OperationGraph.Object(slot: try place("2", in: 5), new: try place("r")),
                OperationGraph.Object(old: try place("r"), slot: try place("3", in: 5)),
            ]
        journal = try Commit.prepare(
            OperationGraph(.init(objects), Self.operations, []), id: Self.id, root: root, state: state)
    }

    /// The state after a kill between two operations, with the journal.
    ///
    /// - Parameter isNoted: phase 2 is noted, so all objects have left.
    func cutShort(after count: Int, isNoted: Bool) throws {
        try journal.write(to: state)
        if count > 0 {
            var part = journal
            part.operations = .init(part.operations.prefix(count))
            try Commit(part, root: root, state: state).runOnCopy()
        }
        if isNoted { try state.noteDeparture(journal) }
    }

    func text(_ name: String) -> String? {
        try? String(contentsOfFile: "\(directory.path)/\(name)", encoding: .utf8)
    }

    var texts: [String?] { ["p", "q", "r"].map(text) }
}

@Suite("A weak commit, told by slots and phases")
struct WeakCommitTests {
    private static let cases: [(count: Int, isNoted: Bool)] = [
        (0, false), (1, false), (2, false), (3, false), (3, true), (4, true), (5, true), (6, true), (7, true),
    ]

    @Test(arguments: cases, [false, true])
    func cutShortAnywhereIsFinishedOrTakenBack(cut: (count: Int, isNoted: Bool), undo: Bool) throws {
        // An object whose place is in the history is not taken back.
        guard !(undo && cut.count == 7) else { return }
        let scene = try LookalikeScene()
        try scene.cutShort(after: cut.count, isNoted: cut.isNoted)
        _ = try Recovery(root: scene.root, state: scene.state).run(undo: undo)
        #expect(scene.texts == (undo ? ["p", "q", "o"] : ["q", "p", "r"]))
        #expect(try !scene.state.hasJournal() && !scene.state.has(.phase2))
    }

    /// The way back is interrupted as well, after the arrivals are in their slots again.
    @Test func takenBackByTwoRecoveries() throws {
        let scene = try LookalikeScene()
        try scene.cutShort(after: LookalikeScene.departures, isNoted: false)
        try scene.state.turnJournal()
        try #require(
            Glibc.rename(
                "\(scene.directory.path)/.fsync-lite/stage/\(LookalikeScene.id)/0/1",
                "\(scene.directory.path)/q") == 0)
        _ = try Recovery(root: scene.root, state: scene.state).run()
        #expect(scene.texts == ["p", "q", "o"])
    }

    /// After a power cut, both names of a rename may be durable.
    @Test func foundAtTwoPlacesNothingIsTouched() throws {
        let scene = try LookalikeScene()
        try scene.cutShort(after: 1, isNoted: false)
        try ("p" as TreeLiteral).build(at: "\(scene.directory.path)/p")
        try TreeTime(1000).set(on: "\(scene.directory.path)/p")
        let before = try TreeSnapshot(scene.directory.path, withState: true)
        #expect {
            _ = try Recovery(root: scene.root, state: scene.state).run()
        } throws: {
            ($0 as? SyncError)?.code == .pending && "\($0)".contains("is here and in the stage")
        }
        #expect(try TreeSnapshot(scene.directory.path, withState: true) == before)
    }

    @Test func strangerInThePlaceOfAnObjectStopsIt() throws {
        let scene = try LookalikeScene()
        try scene.cutShort(after: 1, isNoted: false)
        try ("a stranger" as TreeLiteral).build(at: "\(scene.directory.path)/other")
        try #require(Glibc.rename("\(scene.directory.path)/other", "\(scene.directory.path)/q") == 0)
        #expect(throws: SyncError.self) { _ = try Recovery(root: scene.root, state: scene.state).run() }
        #expect(scene.text("q") == "a stranger")
    }

    /// The phase of an earlier transaction shows nothing about this one.
    @Test func phaseOfAnotherTransactionCountsForNothing() throws {
        let scene = try LookalikeScene()
        try scene.cutShort(after: 1, isNoted: false)
        var other = scene.journal
        other.id += "0"
        try scene.state.noteDeparture(other)
        _ = try Recovery(root: scene.root, state: scene.state).run()
        #expect(scene.texts == ["q", "p", "r"])
    }

    @Test func journalInWhichSomethingLeavesLateIsRefused() throws {
        let scene = try LookalikeScene()
        var journal = scene.journal
        journal.operations = .init([
            .detach(6), .detach(9), .attach(8), .detach(7), .attach(7), .attach(6),
            .rename(OperationGraph.transaction),
        ])
        try journal.write(to: scene.state)
        #expect {
            _ = try scene.state.pendingJournal()
        } throws: { "\($0)".contains("an old file would leave after a new one has come") }
    }
}
