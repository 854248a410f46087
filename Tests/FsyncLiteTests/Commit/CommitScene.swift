import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// A target with a staged transaction. `new` replaces `gone`. `d` becomes `e`, and `d/x` moves to `x`. `a`
/// and `b`, two names of one file, change places. `kept` gets a second name.
final class CommitScene {
    let directory: TemporaryDirectory
    let root: Directory
    let state: StateDirectory
    private(set) var journal: Journal
    let old: TreeSnapshot

    private static let id = "20260101T000000.000000Z-0000"
    static let operations: [OperationGraph.Operation] = [
        .detach(8), .detach(9), .detach(10), .detach(11), .exchange(6, with: 7), .attach(10), .attach(8),
        .attach(9), .attach(11), .link(OperationGraph.Link(object: 12, location: location("second"))),
        .rename(OperationGraph.transaction),
    ]

    private static func location(_ name: String, in parent: Int = OperationGraph.root)
        -> OperationGraph.Location
    {
        OperationGraph.Location(parent: parent, name: FileName(name.utf8).unsafelyUnwrapped)
    }

    init(in directory: TemporaryDirectory? = nil) throws {
        let directory = try directory ?? TemporaryDirectory(inMemory: true)
        self.directory = directory
        root = try directory.open()
        let time = TreeTime(1000)
        try
            (["gone": "old", "d": .directory(["x": "x", "y": "y"]), "a": "linked", "kept": "kept"]
            as TreeLiteral)
            .build(at: directory.path)
        try directory.makeHardLink("b", to: "a")
        for name in ["gone", "d/x", "d", "a", "kept", "."] { try time.set(on: "\(directory.path)/\(name)") }
        state = try StateDirectory.make(in: root)
        try time.set(on: directory.path)
        try TreeLiteral.staged(["0": ["0": .file("new", modified: time)]], Self.id)
            .build(at: "\(directory.path)/.fsync-lite")
        old = try TreeSnapshot(directory.path)

        let name = try #require(FileName(Self.id.utf8))
        var objects = OperationGraph.ownObjects(name)
        func slot(_ number: Int) -> OperationGraph.Location { Self.location("\(number)", in: 5) }
        func moving(_ old: OperationGraph.Location, _ number: Int, _ new: OperationGraph.Location?)
            -> OperationGraph.Object
        {
            OperationGraph.Object(old: old, slot: slot(number), new: new)
        }
        objects += [
            OperationGraph.Object(fixed: Self.location("0", in: OperationGraph.transaction)),
            OperationGraph.Object(slot: slot(0), new: Self.location("gone")),
            moving(Self.location("gone"), 0, nil),
            moving(Self.location("x", in: 10), 1, Self.location("x")),
            moving(Self.location("a"), 2, Self.location("b")),
            moving(Self.location("d"), 3, Self.location("e")),
            moving(Self.location("b"), 4, Self.location("a")),
            OperationGraph.Object(fixed: Self.location("kept")),
        ]
        var changes: [OperationGraph.AttributeChange] = []
        let moved = try #require(try root.status(of: FileName("d")))
        for (object, status) in [(10, moved), (OperationGraph.root, try root.status())] {
            var new = Attributes(status)
            (new.modified, new.permissions) = (FileTime(seconds: 2000, nanoseconds: 0), 0o750)
            changes.append(OperationGraph.AttributeChange(object: object, new: new))
        }
        journal = try Commit.prepare(
            OperationGraph(.init(objects), Self.operations, changes), id: Self.id, root: root, state: state)
    }

    /// Does only the first operations, in order, as before a kill.
    func perform(_ count: Int) throws {
        guard count > 0 else { return }
        var part = journal
        (part.operations, part.attributes) = (.init(part.operations.prefix(count)), [])
        try Commit(part, root: root, state: state).runOnCopy()
    }

    /// Runs a recovery.
    @discardableResult
    func recover(_ direction: Commit.Direction, displacingConflicts: Bool = false) throws -> Commit {
        let commit = try Commit(
            recovering: journal, direction, root: root, state: state,
            displacingConflicts: displacingConflicts)
        try commit.run(direction)
        return commit
    }

    func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    /// Checks the stage, the history, and all other names.
    func expectNew(isTidied: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let tree = try TreeSnapshot(directory.path)
        func text(_ name: String) -> String? {
            tree.entries[Array(name.utf8)]?.content.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(
            tree.entries.keys.map { String(decoding: $0, as: UTF8.self) }.sorted()
                == [".", "a", "b", "e", "e/y", "gone", "kept", "second", "x"], sourceLocation: sourceLocation)
        #expect(
            ["gone", "x", "e/y", "kept", "a"].map(text) == ["new", "x", "y", "kept", "linked"],
            sourceLocation: sourceLocation)
        #expect(
            tree.inode("a") == old.inode("a") && tree.inode("b") == tree.inode("a"),
            sourceLocation: sourceLocation)
        #expect(tree.inode("second") == tree.inode("kept"), sourceLocation: sourceLocation)
        #expect(tree.inode("e") == old.inode("d"), sourceLocation: sourceLocation)
        for name in [".", "e"] {
            let entry = tree.entries[Array(name.utf8)]
            #expect(
                entry?.modified == TreeTime(2000) && entry?.mode == 0o750, "\(name)",
                sourceLocation: sourceLocation)
        }
        guard !isTidied else { return }
        let kept = path(".fsync-lite/history/\(Self.id)/0/0")
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "old", sourceLocation: sourceLocation)
    }

    func expectOld(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let tree = try TreeSnapshot(directory.path)
        #expect(tree.differences(from: old) == [], sourceLocation: sourceLocation)
        for name in ["a", "b", "d", "d/x", "gone"] {
            #expect(tree.inode(name) == old.inode(name), "\(name)", sourceLocation: sourceLocation)
        }
    }
}
