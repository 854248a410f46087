import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// Stories that have fooled such tools. In all of them files look equal: one size, one time.
struct MirrorHazardTests {
    /// The result of a run after some edits of a tree and its exact mirror.
    private struct Result {
        var layout: OperationGraph
        var difference: Difference
        /// Files whose bytes were copied.
        var copied: [String] { layout.stagedEntries.filter { $0.file.isFile }.map { "\($0.file.path)" } }
        /// Renames into and out of slots, without those of the manifest and the transaction.
        var moves: Int { layout.operations.count - 2 }
    }

    private func mirror(
        _ files: [(path: String, content: Int)], drift: (inout ModelTree) -> Void = { _ in },
        _ edit: (inout ModelTree) -> Void
    ) throws -> Result {
        var mirror = try ModelMirror(of: ModelTree(files))
        mirror.synchronizeClocks(advancing: 10)
        edit(&mirror.source)
        mirror.synchronizeClocks()
        drift(&mirror.target)
        let difference = try mirror.difference()
        let layout = mirror.layout(difference)
        let before = mirror.target.state()
        var run = try mirror.stage(layout)
        try run.operate()
        run.setAttributes()
        #expect(run.tree.content() == mirror.source.content())
        try run.revert()
        #expect(run.tree.state() == before)
        try mirror.apply(difference)
        let again = try mirror.difference()
        #expect(again.matches.allSatisfy(\.isUnchanged) && again.created.isEmpty && again.deleted.isEmpty)
        return Result(layout: layout, difference: difference)
    }

    /// An edit of the source, or a change by hand of the target, and what its run does.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let files: [(path: String, content: Int)]
        var copied: [String] = []
        /// Nil where the number does not matter.
        var moves: Int?
        var drift: @Sendable (inout ModelTree) -> Void = { _ in }
        let edit: @Sendable (inout ModelTree) -> Void
    }

    private static let stories = [
        Story(testDescription: "swapped files", files: [("a", 1), ("b", 2)], moves: 4) { $0.swap("a", "b") },
        Story(testDescription: "a cycle of three names", files: [("a", 1), ("b", 2), ("c", 3)], moves: 6) {
            $0.swap("a", "b")
            $0.swap("b", "c")
        },
        Story(
            testDescription: "swapped directories that look alike",
            files: [("a/f", 1), ("b/f", 2), ("a/g/h", 3), ("b/g/h", 4)], moves: 4
        ) { $0.swap("a", "b") },
        Story(testDescription: "a directory inside out", files: [("a/b/x", 1), ("a/y", 2)], moves: 4) {
            $0.move("a/b", "b")
            $0.move("a", "b/a")
        },
        Story(testDescription: "the name of its parent", files: [("a/a/a/x", 1), ("a/a/y", 2), ("a/z", 3)]) {
            $0.move("a/a", "tmp")
            $0.move("a", "tmp/b")
            $0.move("tmp", "a")
        },
        Story(
            testDescription: "a file replaced in a renamed directory",
            files: [("old/edited", 1), ("old/kept", 2)], copied: ["new/edited"], moves: 3
        ) {
            $0.move("old", "new")
            $0.remove("new/edited")
            $0.add("new/edited", 3)
        },
        Story(testDescription: "a file becomes a directory that holds it", files: [("a", 1)]) {
            $0.move("a", "tmp")
            $0.add("a/")
            $0.move("tmp", "a/was-a")
        },
        Story(
            testDescription: "a directory becomes a file and its children leave",
            files: [("a/x", 1), ("a/d/y", 2), ("b/", 0)], copied: ["a"]
        ) {
            $0.move("a/x", "x")
            $0.move("a/d", "b/d")
            $0.remove("a")
            $0.add("a", 7)
        },
        Story(
            testDescription: "a new directory with its old children", files: [("a/x", 1), ("a/d/y", 2)],
            moves: 0
        ) {
            $0.move("a/x", "x")
            $0.move("a/d", "d")
            $0.remove("a")
            $0.add("a/", reusingInode: true)
            $0.move("x", "a/x")
            $0.move("d", "a/d")
        },
        Story(testDescription: "replaced by equal content", files: [("a", 1)]) {
            $0.remove("a")
            $0.add("a", 1)
        },
        Story(testDescription: "size and time put back", files: [("a", 1), ("b", 2)], copied: ["a"]) {
            $0.write("a", 9)
        },
        Story(
            testDescription: "files swapped in the target", files: [("a", 1), ("b", 2)], copied: ["a", "b"],
            drift: { $0.swap("a", "b") }, edit: { _ in }),
        // The files' own change times do not move here.
        Story(
            testDescription: "directories swapped in the target", files: [("a/f", 1), ("b/f", 2)],
            copied: ["a/f", "b/f"], drift: { $0.swap("a", "b") }, edit: { _ in }),
    ]

    @Test(arguments: stories) func copiesAndMovesNoMoreThanItMust(story: Story) throws {
        let result = try mirror(story.files, drift: story.drift, story.edit)
        #expect(result.copied == story.copied)
        if let moves = story.moves { #expect(result.moves == moves) }
    }

    @Test(arguments: [1, 10, 500])
    func renamedDirectoryIsOneMove(files: Int) throws {
        let result = try mirror((0..<files).map { ("old/sub/\($0)", $0) } + [("other", 1)]) {
            $0.move("old", "new")
        }
        #expect(result.layout.stagedEntries.isEmpty)
        #expect(result.layout.displaced.isEmpty)
        #expect(result.moves == 2)
        let actions = Plan(result.difference, root: nil).actions
        #expect(actions.map(\.verb) == [.move])
        #expect(actions.first?.entries == files + 1)
    }

    @Test func intoNewDirectoryAndOutOfDeletedOne() throws {
        let result = try mirror([("gone/a", 1), ("gone/deep/b", 2), ("gone/lost", 3)]) {
            $0.add("new/deeper/")
            $0.move("gone/a", "new/a")
            $0.move("gone/deep/b", "new/deeper/b")
            $0.remove("gone")
        }
        #expect(result.copied.isEmpty)
        #expect(result.layout.displaced.map { "\($0.path)" } == ["gone"])
    }

    @Test func newFileWithTheInodeOfADeletedOne() throws {
        let result = try mirror([("a", 1), ("b", 2)]) {
            $0.remove("a")
            $0.add("c", 3, reusingInode: true)
        }
        #expect(result.copied == ["c"])
        #expect(result.difference.deleted.map { "\($0.path)" } == ["a"])
    }

    @Test func replacedBySameNameInodeSizeAndTime() throws {
        let result = try mirror([("a", 1)]) {
            $0.remove("a")
            $0.add("a", 2, reusingInode: true)
        }
        #expect(result.copied == ["a"])
        #expect(result.difference.matches.map(\.causes) == [[.content]])
    }

    @Test func editThatPutsSizeAndTimeBackInTheTarget() throws {
        let result = try mirror([("a", 1), ("b", 2)], drift: { $0.write("a", 9) }) { _ in }
        #expect(result.copied == ["a"])
        #expect(result.difference.matches.first { $0.replacesContent }?.causes == [.content])
    }

    @Test func editAtTheInstantOfTheScan() throws {
        var mirror = ModelMirror(
            source: ModelTree([("a", 1)]), target: ModelTree(now: 100, firstInode: 10_000))
        try mirror.apply()
        // The clock is the same, so not even the change time shows it.
        mirror.source.now = mirror.source[ModelTree.root].status.changed.rawSeconds
        mirror.source.write("a", 2)
        #expect(try mirror.difference().matches.map(\.causes) == [[.content]])
    }

    @Test func twoNamesOfOneFile() throws {
        let files = [("a", 1), ("c", 3)]
        let linked = try mirror(files) { $0.addLink("b", to: "a") }
        #expect(linked.copied.isEmpty)
        let moved = try mirror(files) {
            $0.addLink("b", to: "a")
            $0.remove("a")
        }
        #expect(moved.copied.isEmpty)
        #expect(moved.moves == 2)
        let swapped = try mirror(files) {
            $0.addLink("b", to: "a")
            $0.remove("c")
            $0.addLink("c", to: "a")
            $0.remove("a")
        }
        #expect(swapped.difference.matches.contains { $0.isRenamed })
    }

    @Test func moreNamesThanAFileOfTheTargetCanHave() throws {
        var source = ModelTree([("a", 1)])
        for name in ["b", "c", "d", "e"] { source.addLink(name, to: "a") }
        var mirror = ModelMirror(source: source, target: ModelTree(now: source.now, firstInode: 10_000))
        mirror.linkLimit = 2
        mirror.synchronizeClocks(advancing: 10)
        try mirror.apply()
        #expect(mirror.target.files().map(\.linkCount) == [2, 2, 2, 2, 1])
        mirror.synchronizeClocks(advancing: 10)
        // The difference does not come back at each run.
        let again = try mirror.difference()
        #expect(again.matches.allSatisfy { $0.causes.isEmpty } && again.created.isEmpty)

        mirror.source.addLink("f", to: "a")
        try mirror.apply()
        #expect(mirror.target.files().map(\.linkCount).max() == 2)
        #expect(mirror.target.files().count == 6)
    }

    @Test func withoutBirthTimesNothingIsFollowed() throws {
        var source = ModelTree(now: 100, firstInode: 10, hasBirthTimes: false)
        source.add("a", 1)
        var mirror = try ModelMirror(of: source)
        mirror.synchronizeClocks(advancing: 10)
        mirror.source.move("a", "b")
        let difference = try mirror.difference()
        #expect(difference.created.map(\.path) == [RelativePath("b")])
        #expect(difference.deleted.map(\.path) == [RelativePath("a")])
    }

    @Test func attributesOfALinkedTargetDoNotReachItsOtherName() throws {
        var mirror = try ModelMirror(of: ModelTree([("a", 1)]))
        mirror.synchronizeClocks(advancing: 10)
        mirror.target.addLink("mine", to: "a")
        let history = mirror.target.place("mine")
        if let id = mirror.source.id(at: mirror.source.place("a")) {
            mirror.source.change(id) { $0.status.permissions = 0o600 }
        }
        let layout = mirror.layout(try mirror.difference())
        var run = try mirror.stage(layout)
        let old = mirror.target.id(at: history)
        try run.operate()
        run.setAttributes()
        #expect(old.map { run.tree[$0].status.permissions } == 0o644)
        #expect(run.tree.object("a")?.status.permissions == 0o600)
    }

    /// A move out of a directory that `keepDeleted` protects, onto a name that it would protect.
    @Test func whatIsKeptMakesWayForWhatIsMovedThere() throws {
        var mirror = try ModelMirror(of: ModelTree([("a", 1), ("b", 2)]))
        mirror.synchronizeClocks(advancing: 10)
        mirror.source.remove("a")
        mirror.source.move("b", "a")
        var difference = try mirror.difference()
        difference.keepDeleted()
        try mirror.apply(difference)
        #expect(mirror.target.content() == mirror.source.content())
    }

    /// The new file at the old name of a moved directory cannot be copied. The old entries are not protected.
    @Test func omittedFileAtTheOldNameOfAMovedDirectory() throws {
        var mirror = try ModelMirror(of: ModelTree([("b/x", 1)]))
        mirror.synchronizeClocks(advancing: 10)
        mirror.source.move("b", "a")
        mirror.source.remove("a/x")
        mirror.source.add("a/x", 2)
        mirror.source.add("b", 3)
        var difference = try mirror.difference()
        difference.omit([try #require(RelativePath("b"))])
        try mirror.apply(difference)
        #expect(mirror.target.entries().map { "\($0.path)" } == ["a", "a/x"])
        #expect(mirror.target.object("a/x")?.content == 2)
    }

    @Test func moreArrivalsThanASlotDirectoryHolds() throws {
        var mirror = ModelMirror(
            source: ModelTree((0..<OperationGraph.slotsPerDirectory + 3).map { ("\($0)", $0) }),
            target: ModelTree(now: 100, firstInode: 1_000_000))
        try mirror.apply()
        #expect(mirror.target.entries().count == OperationGraph.slotsPerDirectory + 3)
    }
}
