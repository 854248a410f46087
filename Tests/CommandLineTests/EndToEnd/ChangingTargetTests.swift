import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite(
    "A target that somebody changes while an apply runs",
    .needs(.strace))
struct ChangingTargetTests {
    /// A change in the target during a run, and the text of the file that must not be lost.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The text that only this file has.
        var theirs = "theirs, and only here"
        let make: @Sendable (MirrorScene) throws -> Void
    }

    private static let theirs = "theirs, and only here"

    private static let changes: [Change] = [
        Change(testDescription: "a file where one will be created") {
            guard !$0.exists("target/new") else { throw TooLate() }
            try $0.build(["new": .file(theirs)], at: "target")
        },
        Change(testDescription: "a directory where a file will be created") {
            guard !$0.exists("target/new") else { throw TooLate() }
            try $0.build(["new": ["in": .file(theirs)]], at: "target")
        },
        Change(testDescription: "a file where a directory will be created") {
            guard !$0.exists("target/made") else { throw TooLate() }
            try $0.build(["made": .file(theirs)], at: "target")
        },
        Change(testDescription: "a file where a directory will be moved to") {
            guard !$0.exists("target/moved") else { throw TooLate() }
            try $0.build(["moved": .file(theirs)], at: "target")
        },
        Change(testDescription: "a file in a directory that will be moved") {
            try $0.build(["mine": .file(theirs)], at: try $0.place("was", "moved"))
        },
        Change(testDescription: "a file in a directory that will be deleted") {
            guard $0.exists("target/gone") else { throw TooLate() }
            try $0.build(["mine": .file(theirs)], at: "target/gone")
        },
        Change(testDescription: "a file beside the others") {
            try $0.build(["mine": .file(theirs)], at: "target")
        },
        Change(testDescription: "an edit of a file that will be replaced") {
            try $0.rewrite("target/edited", theirs)
        },
        Change(testDescription: "an edit of a file that will be deleted") {
            guard $0.exists("target/gone/file") else { throw TooLate() }
            try $0.rewrite("target/gone/file", theirs)
        },
        Change(testDescription: "an edit of a file that stays") { try $0.rewrite("target/kept", theirs) },
        Change(testDescription: "an edit of a file that moves along") {
            try $0.rewrite("\(try $0.place("was", "moved"))/x", theirs)
        },
        Change(testDescription: "another file in place of one that will be replaced") {
            try $0.build(["theirs": .file(theirs)], at: "target")
            try $0.move("target/theirs", to: "target/edited")
        },
        Change(testDescription: "another file in place of one that will be deleted") {
            guard $0.exists("target/gone/file") else { throw TooLate() }
            try $0.build(["theirs": .file(theirs)], at: "target")
            try $0.move("target/theirs", to: "target/gone/file")
        },
        Change(testDescription: "another directory in place of one that will be moved") {
            try $0.move("target/\(try $0.place("was", "moved").dropFirst(7))", to: "target/put aside")
            try $0.build(["was": ["mine": .file(theirs)]], at: "target")
        },
        Change(testDescription: "a file that will be replaced goes elsewhere") {
            try $0.rewrite("target/edited", theirs)
            try $0.move("target/edited", to: "target/kept too")
        },
        Change(testDescription: "a file that will be replaced is removed", theirs: "") {
            try $0.remove("target/edited")
        },
        Change(testDescription: "a directory that will be moved is removed", theirs: "") {
            try $0.remove(try $0.place("was", "moved"))
        },
    ]

    /// Nothing was left to change.
    struct TooLate: Error {}

    private static let points: [PausedCommand.Point] = [
        .after("mkdirat", of: "stage"), .after("syncfs"), .after("fallocate"),
        .after("renameat2", of: "journal"),
    ]

    private func changedScene() throws -> MirrorScene {
        let scene = try MirrorScene(
            [
                "edited": "first version", "kept": "kept", "was": ["x": "x", "y": "y"],
                "gone": ["file": "gone", "too": "too"], "some": ["1": "1", "2": "2", "3": "3", "4": "4"],
            ], inMemory: true
        ).mirrored()
        try scene.append(", edited", to: "source/edited")
        try scene.build(["new": "new", "made": ["in": "it"]], at: "source")
        try scene.move("source/was", to: "source/moved")
        try scene.remove("source/gone")
        return scene
    }

    @Test(arguments: points, changes)
    func nothingOfTheirsIsLost(point: PausedCommand.Point, change: Change) throws {
        try check(at: point, change)
    }

    /// After each rename of the commit and of the tidying after it.
    @Test(arguments: changes)
    func nothingOfTheirsIsLostBetweenTwoRenames(change: Change) throws {
        // The first two renames are the probe's, and the third is the journal's.
        for number in 4...9 {
            #expect(try check(at: .after("renameat2", number: number), change))
        }
    }

    /// - Returns: whether the run came to the point.
    @discardableResult
    private func check(
        at point: PausedCommand.Point, _ change: Change, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        let scene = try changedScene()
        let old = try TreeSnapshot(scene.target)
        let command = try PausedCommand(["apply", "source", "target"], in: scene.directory.path, at: point)
        guard try command.waitForPause() else {
            _ = try command.finish()
            return false
        }
        do {
            try change.make(scene)
        } catch is TooLate {
            _ = try command.finish()
            return true
        }
        let run = try command.finish()
        let story = Comment(rawValue: "\(point): exit \(run.code): \(run.errors)\(run.output)")
        #expect([0, 1, 6].contains(run.code), story, sourceLocation: sourceLocation)
        #expect(
            (scene.exists("target/.fsync-lite/journal") || scene.exists("target/.fsync-lite/journal.back"))
                == (run.code == 6), story,
            sourceLocation: sourceLocation)
        if run.code == 1, !run.errors.contains("taken back") {
            // The run was refused before the commit, so all differences from the old tree are the user's.
            let now = try TreeSnapshot(scene.target)
            #expect(!now.paths.contains("moved") || change.testDescription.contains("moved to"), story)
            #expect(now["some"] == old["some"], story)
        }
        if !change.theirs.isEmpty {
            #expect(try isKept(change.theirs, scene), story, sourceLocation: sourceLocation)
        }

        // The next step of a user must not lose the file either.
        if run.code == 6 {
            var recovery = try scene.run("recover", "target")
            if recovery.code == 6 { recovery = try scene.run("recover", "--displace", "target") }
            // A removed object is missing, and the message says so.
            let isMissing = recovery.errors.contains("it is missing")
            #expect(
                recovery.code == (isMissing ? 3 : 0), "\(story) \(recovery.errors)",
                sourceLocation: sourceLocation)
            if !change.theirs.isEmpty {
                #expect(try isKept(change.theirs, scene), story, sourceLocation: sourceLocation)
            }
        }
        let history = try scene.historyKeeps(change.theirs)
        try scene.apply().expect(0, of: "\(story), then", sourceLocation: sourceLocation)
        try scene.expectMirrored(sourceLocation: sourceLocation)
        // By default one snapshot is kept. So an object that the first run put into the history may be
        // removed with the second.
        if !change.theirs.isEmpty, !history {
            #expect(try isKept(change.theirs, scene), story, sourceLocation: sourceLocation)
        }
        #expect(
            try scene.apply().output.contains("nothing to do"), story, sourceLocation: sourceLocation)
        return true
    }

    /// Whether any file in the target or its history has this content.
    private func isKept(_ content: String, _ scene: MirrorScene) throws -> Bool {
        try scene.wholeTarget().entries.values.contains {
            $0.type == "-" && $0.content == Array(content.utf8)
        }
    }

    /// A killed commit is undone. Entries that came into new directories meanwhile are moved with them.
    @Test func nothingOfTheirsIsLostOnTheWayBack() throws {
        var changed: Set<String> = []
        for number in 4...12 {
            let scene = try changedScene()
            let old = try TreeSnapshot(scene.target)
            let command = try PausedCommand(
                ["apply", "source", "target"], in: scene.directory.path,
                at: .after("renameat2", number: number))
            guard try command.waitForPause() else { break }
            command.kill()
            _ = try command.finish()
            guard scene.exists("target/.fsync-lite/journal") else { continue }
            var theirs: [String] = []
            if scene.exists("target/made") {
                theirs += ["a file in a new directory", "one in a directory in it"]
                try scene.build(
                    ["mine": .file(theirs[0]), "own": ["mine": .file(theirs[1])]], at: "target/made")
            }
            if scene.exists("target/new") {
                theirs.append("an edit of a new file")
                try scene.rewrite("target/new", "an edit of a new file")
            }
            try scene.run("recover", "--back", "target").expect(0)
            #expect(try TreeSnapshot(scene.target) == old)
            for content in theirs {
                #expect(try isKept(content, scene), "\(number): \(content)")
                changed.insert(content)
            }
            try scene.mirror()
            for content in theirs { #expect(try isKept(content, scene), "\(number): \(content)") }
        }
        #expect(changed.count == 3)
    }
}

extension MirrorScene {
    /// The present path of a directory of the target that an apply renames.
    func place(_ old: String, _ new: String) throws -> String {
        if exists("target/\(old)") { return "target/\(old)" }
        if exists("target/\(new)") { return "target/\(new)" }
        // It is in a slot, where nobody finds it.
        throw ChangingTargetTests.TooLate()
    }
}
