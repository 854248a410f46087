import Foundation
import TestSupport
import Testing

@Suite("What a command says to input that it cannot use")
struct BadInputTests {
    @Test func missingSourceIs66AndMakesNothing() throws {
        let scene = try MirrorScene(["a": "1"])
        for command in ["plan", "apply"] {
            let run = try scene.run(command, "nowhere", "target").expect(66, says: "nowhere")
            #expect(run.output.isEmpty)
        }
        #expect(!scene.exists("target"))
    }

    @Test(arguments: [
        [], ["--keep-going", "--allow-empty-source", "--change-source", "--max-delete", "unlimited"],
    ])
    func vanishedSourceIs66WhateverTheOptionsAndTouchesNothing(options: [String]) throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.move("source", to: "unplugged")
        let before = try scene.wholeTarget()
        #expect(try scene.run(["apply", "source", "target"] + options).code == 66)
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }

    @Test func missingParentIsRefusedWithTheWayOutThatWorks() throws {
        let scene = try MirrorScene(["a": "1"])
        let run = try scene.run("apply", "source", "some/new place/target").expect(4)
        #expect(!scene.exists("some"))
        let hint = "fsync-lite apply source 'some/new place/target' --create-parents"
        #expect(run.errors.contains(hint) || run.errors.contains(hint.replacing("'", with: "\"")))
        try scene.run("apply", "source", "some/new place/target", "--create-parents").expect(0)
        try scene.expectSame("some/new place/target", as: "source")
    }

    @Test func fileAsSourceOrTargetIs66() throws {
        let scene = try MirrorScene(["file": "1"])
        try scene.build(["x": "x", "pipe": .fifo()], at: "other")
        for (source, target, said) in [
            ("source/file", "target", "source/file: the source is a file, not a directory"),
            (
                "source/file/x", "target",
                "source/file/x: the source cannot exist: a part of its path is a file"
            ),
            ("other/pipe", "target", "other/pipe: the source is not a directory"),
            ("source", "other/x", "other/x: the target is a file, not a directory"),
        ] {
            for command in ["plan", "apply"] {
                let run = try scene.run(command, source, target)
                #expect(run.code == 66 && run.errors == "fsync-lite: \(said)\n", "\(run.errors)")
            }
        }
        #expect(!scene.exists("target"))
        #expect(try scene.text("other/x") == "x")
    }

    @Test func unknownWordsAre64WithASuggestion() throws {
        let scene = try MirrorScene(["a": "1"])
        for (arguments, suggestion) in [
            (["aply", "source", "target"], "'apply'"),
            (["apply", "--kep-going", "source", "target"], "'--keep-going'"),
            (["manifest", "lst", "source"], "list"), (["plan", "--jsn", "source", "target"], "'--json'"),
        ] {
            try scene.run(arguments).expect(64, says: "did you mean", suggestion)
        }
        #expect(!scene.exists("target"))
    }

    @Test(arguments: [
        ["apply", "source"], ["apply", "source", "target", "third"], ["apply", "", "target"],
        ["apply", "source", ""],
        ["apply", "source", "target", "--max-delete", "many"], ["apply", "source", "target", "--max-delete"],
        ["apply", "source", "target", "--json=yes"], [],
    ])
    func commandLineWithoutSenseIs64(arguments: [String]) throws {
        let scene = try MirrorScene(["a": "1"])
        let run = try scene.run(arguments).expect(64)
        #expect(!run.errors.isEmpty)
        #expect(!scene.exists("target"))
    }

    @Test(arguments: [["host:", "target"], ["source", "host:"]])
    func noPathThereIs64(arguments: [String]) throws {
        let scene = try MirrorScene(["a": "1"])
        for command in ["plan", "apply"] {
            try scene.run([command] + arguments).expect(64, says: "./")
        }
        #expect(!scene.exists("target"))
        try scene.run("apply", "source", "./host:dir").expect(0)
        #expect(scene.exists("host:dir/a"))
    }

    @Test func secondApplyIs75WhileOneHoldsTheTarget() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.append("2", to: "source/a")
        let before = try scene.wholeTarget()
        let descriptor = open(scene.target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        for arguments in [["apply", "source", "target"], ["recover", "target"]] {
            try scene.run(arguments).expect(75, says: "target")
        }
        #expect(try scene.plan().code == 0)
        #expect(try scene.run("status", "target").code == 0)
        #expect(try scene.wholeTarget().touched(since: before) == [])
        // Closing is not enough: a command that another test starts now may have the descriptor, too.
        #expect(flock(descriptor, LOCK_UN) == 0)
        close(descriptor)
        try scene.mirror()
    }

    @Test(arguments: ["{", "[]", "{\"retention\":7}", "\u{0}", "nonsense"])
    func damagedSettingsAre65(text: String) throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.append("2", to: "source/a")
        try scene.build(["settings.json": .file(text, mode: 0o600)], at: "target/.fsync-lite")
        try scene.setMode(0o700, of: "target/.fsync-lite")
        let before = try scene.wholeTarget()
        for command in ["plan", "apply"] {
            try scene.run(command, "source", "target").expect(65, says: "settings.json")
        }
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }
}

@Suite("A manifest that is damaged or foreign")
struct DamagedManifestTests {
    private struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let line: Int?
        let change: @Sendable (inout [String]) -> Void

        init(_ name: String, line: Int?, change: @escaping @Sendable (inout [String]) -> Void) {
            (testDescription, self.line, self.change) = (name, line, change)
        }

        /// - Parameter index: of the line with the old text.
        init(_ name: String, line: Int?, in index: Int, _ old: String, _ new: String) {
            self.init(name, line: line) { $0[index] = $0[index].replacing(old, with: new) }
        }
    }

    private static let damages: [Damage] = [
        Damage("cut short", line: nil) { $0.removeLast(2) },
        Damage("empty", line: 1) { $0 = [] },
        Damage("not JSON", line: 1) { $0 = ["hello"] },
        Damage("another format", line: 1, in: 0, "fsync-lite-manifest", "fsync-lite-plan"),
        Damage("a later version", line: 1, in: 0, "\"version\":3", "\"version\":4"),
        Damage("a changed digit", line: nil, in: 2, "\"size\":1", "\"size\":2"),
        Damage("a path that climbs out", line: 3, in: 2, "\"path\":\"a\"", "\"path\":\"..\""),
        Damage("an absolute path", line: 3, in: 2, "\"path\":\"a\"", "\"path\":\"/a\""),
        Damage("an entry twice", line: 4) { $0.insert($0[2], at: 3) },
        Damage("entries out of order", line: 4) { $0.swapAt(2, 3) },
        Damage("a number that overflows", line: 3, in: 2, "\"size\":1", "\"size\":99999999999999999999"),
        Damage("an unknown type", line: 3, in: 2, "\"type\":\"file\"", "\"type\":\"door\""),
        Damage("nesting without end", line: 3) {
            $0[2] = "{\"path\":" + String(repeating: "[", count: 100_000)
        },
        Damage("a reserved path", line: 3, in: 2, "\"path\":\"a\"", "\"path\":\".fsync-lite\""),
    ]

    @Test(arguments: damages)
    private func is65NamingFileAndLineAndNothingIsTouched(damage: Damage) throws {
        let scene = try MirrorScene(["a": "1", "b": "2"]).mirrored()
        let manifest = scene.path("target/.fsync-lite/manifest.json")
        var lines = try String(contentsOfFile: manifest, encoding: .utf8).components(separatedBy: "\n")
        damage.change(&lines)
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: manifest))
        try scene.append("more", to: "source/a")
        let before = try scene.wholeTarget()
        for arguments in [
            ["apply", "source", "target"], ["plan", "source", "target"], ["status", "target"],
            ["manifest", "list", "target"], ["manifest", "show", "target/.fsync-lite/manifest.json"],
        ] {
            let run = try scene.run(arguments).expect(65)
            let place = damage.line.map { "manifest.json: line \($0): " } ?? "manifest.json: line "
            #expect(run.errors.contains(place), "\(arguments): \(run.errors)")
        }
        #expect(try scene.wholeTarget().touched(since: before) == [])
    }
}
