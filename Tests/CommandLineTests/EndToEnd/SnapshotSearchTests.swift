import Foundation
import TestSupport
import Testing

/// The content of snapshots, and what became of it.
struct SnapshotSearchTests {
    /// Three versions of a thesis, which was moved and then deleted, and other files.
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene([
            "docs": ["thesis.txt": .file("1", modified: TreeTime(1_600_000_000, 0)), "other": "o"], "a": "a",
        ]).mirrored()
        try scene.append("2", to: "source/docs/thesis.txt")
        try scene.mirror()
        try scene.move("source/docs/thesis.txt", to: "source/docs/final thesis.odt")
        try scene.mirror()
        try scene.move("source/docs", to: "source/papers")
        try scene.mirror()
        try scene.remove("source/papers/final thesis.odt")
        try scene.mirror()
        return scene
    }

    /// A directory is removed by hand from both sides. No run removed its file, but one made it.
    @Test func logHasAFileThatIsGoneFromTheTree() throws {
        let scene = try MirrorScene(["d": ["f": "f"], "x": "x"]).mirrored()
        for side in ["source", "target"] { try scene.remove("\(side)/d") }
        try scene.append("x", to: "source/x")
        try scene.mirror()
        let log = try scene.run("snapshot", "log", "target", "f").expect(0)
        #expect(log.output.contains("+ d/f"))
    }

    @Test func findTellsWhichSnapshotsHoldEachVersion() throws {
        let scene = try scene()
        let ids = try scene.snapshots()
        let found = try scene.run("snapshot", "find", "target", "*thesis*").expect(0)
        let ends = found.lines.map { $0.split(separator: "  ").suffix(3).joined(separator: "|") }
        #expect(
            ends.map { $0.drop { $0 == " " } } == [
                "2 B|docs/final thesis.odt|in \(ids[2])", "2 B|docs/thesis.txt|in \(ids[3])",
                "1 B|docs/thesis.txt|in \(ids[4])", "2 B|papers/final thesis.odt|in \(ids[1])",
            ])
        #expect(found.lines[2].hasPrefix("2020-09-13 12:26:40 "))
        let all = try scene.run("snapshot", "find", "target", "a").lines
        #expect(all.count == 1 && all[0].hasSuffix("a  in 5 snapshots, \(ids[0]) to \(ids[4])"))
        let json = try scene.run("snapshot", "find", "target", "/docs/thesis.txt", "--json", "--older", "1d")
            .json()
        #expect(json.objects("found").map { $0.number("size") } == [1])
        #expect(json.objects("found").first?.text("modified") == "2020-09-13T12:26:40Z")
        let list = try scene.run("snapshot", "list", "target", "--json").json().objects("snapshots")
        #expect(json.objects("found").first?.texts("snapshots") == [list[4].text("id") ?? ""])
        let none = try scene.run("snapshot", "find", "target", "*thesis*", "--min-size", "1M")
        #expect(none.code == 2 && none.output.isEmpty)
        #expect(none.errors.contains("no snapshot has such a file"))
        let noJSON = try scene.run("snapshot", "find", "target", "nothing", "--json")
        #expect(try noJSON.code == 2 && noJSON.json().objects("found").isEmpty)
    }

    /// It was made in the target under an excluded name, and was deleted after the filter was removed.
    @Test func whatFiltersLeftOutIsFoundOnceAnApplyTookIt() throws {
        let scene = try MirrorScene(["a": "a", "d": [:]]).mirrored("--exclude", "mine")
        try scene.build(["mine": "1"], at: "target")
        try scene.build(["mine": "2"], at: "target/d")
        try scene.append("a", to: "source/a")
        #expect(try scene.apply("--exclude", "mine").code == 0)
        #expect(try scene.run("snapshot", "find", "target", "mine").code == 2)
        try scene.mirror()
        let ids = try scene.snapshots()
        let found = try scene.run("snapshot", "find", "target", "mine")
        #expect(
            found.lines.map { $0.split(separator: "  ").suffix(2) } == [
                ["d/mine", "in \(ids[1])"], ["mine", "in \(ids[1])"],
            ], "\(found.output)")
        let log = try scene.run("snapshot", "log", "target", "mine")
        #expect(log.lines.map { $0.suffix(18) }.filter { $0.contains("mine") }.count == 2, "\(log.output)")
        #expect(try scene.run("snapshot", "show", "target", "latest").output.contains("- mine"))
        #expect(try scene.run("snapshot", "restore", "target", ids[1], "d/mine", "--to", "old").code == 0)
        #expect(try scene.text("old/d/mine") == "2")
    }

    /// The pattern matches a file, but not its directory. The directory comes, moves, and is replaced.
    @Test func findKnowsTheDirectoriesThatThePatternDoesNotMatch() throws {
        let scene = try MirrorScene(["k": "k"])
        func apply() throws -> String {
            try scene.mirror("--keep-last", "9")
            return try scene.snapshots()[0]
        }
        func found(_ pattern: String, _ options: String...) throws -> [String] {
            try scene.run(["snapshot", "find", "target", pattern] + options).lines.compactMap {
                $0.components(separatedBy: "  in ").last
            }
        }
        _ = try apply()
        try scene.build(["x": ["a": "1"]], at: "source")
        let came = try apply()
        #expect(try found("x/a") == [came])
        try scene.move("source/x", to: "source/y")
        let moved = try apply()
        #expect(try (found("x/a"), found("y/a")) == ([came], [moved]))
        try scene.build(["x": ["b": "1"]], at: "source")
        let other = try apply()
        #expect(try (found("x/a"), found("x/b")) == ([came], [other]))
        #expect(try found("a", "--type", "file").sorted() == [came, "\(other), \(moved)"].sorted())
        try scene.remove("source/y")
        _ = try apply()
        #expect(
            try (found("y/a"), found("y", "--type", "file")) == (
                ["\(other), \(moved)"], ["\(other), \(moved)"]
            ))
        #expect(try found("x", "--type", "file", "--min-size", "1").count == 2)
    }

    /// The names of a file are joined by the number of its object. The root is an ordinary entry.
    @Test func differencesAreThoseOfTheLists() throws {
        let scene = try MirrorScene(["a": "a"])
        try scene.link("source/b", to: "source/a")
        try scene.mirror("--keep-last", "9")
        try scene.remove("source/b")
        try scene.mirror()
        let (name, time) = ("source", TreeTime(1_600_000_000, 0))
        try scene.setTime(time, of: name)
        try scene.mirror()
        for (first, second, wanted) in [
            ("latest~2", "latest~2", []), ("latest~1", "latest~1", []), ("latest", "latest", []),
            ("latest~1", "latest", ["= ./  (modified)"]), ("latest", "latest~1", ["= ./  (modified)"]),
            ("latest~1", "latest~2", ["= ./  (modified)", "+ b  = a  (new)"]),
        ] {
            for words in [
                ["snapshot", "diff", "target", first, second],
                ["manifest", "diff", "target@\(first)", "target@\(second)"],
            ] {
                #expect(try scene.run(words).lines.dropLast() == wanted[...], "\(words)")
            }
        }
        #expect(
            try scene.run("manifest", "diff", "target@latest~1", "target").lines.first == "= ./  (modified)")
    }

    /// As a shell completes them, or as they were listed.
    @Test func pathsAreTakenInTheFormsThatPeopleType() throws {
        let odd: [UInt8] = [0xDF] + Array("\\.txt".utf8)
        let scene = try MirrorScene(["docs": ["x": "x"], "x": "other", "a\\x2db": "unit"])
        try scene.build(
            .directory([(TreeName(odd), .file("1"))], mode: 0o755, modified: nil), at: "source/odd")
        try scene.mirror()
        for typed in ["\(scene.target)/docs/x", "./docs/x", "/docs/x", "docs/x", ".//docs/x"] {
            for words in [["snapshot", "find"], ["snapshot", "log"], ["manifest", "list"]] {
                let run = try scene.run(words + ["target", typed])
                let isThere = run.output.contains("docs/x") && run.output.split(separator: "\n").count == 1
                #expect(run.code == 0 && isThere, "\(words) \(typed): \(run.output)\(run.errors)")
            }
        }
        for typed in ["\(scene.target)/docs/x", "./docs/x", "docs/x"] {
            try scene.run("snapshot", "restore", "target", "latest", typed, "--to", "copy").expect(0)
            #expect(try scene.text("copy/docs/x") == "x")
            try scene.remove("copy")
        }
        // A listed path can be typed.
        let shown = try #require(
            try scene.run("manifest", "list", "target").lines.first { $0.contains("xDF") })
        #expect(shown == #"odd/\xDF\\.txt"#)
        for typed in [shown, #"a\x2db"#] {
            try scene.run("snapshot", "restore", "target", "latest", typed, "--to", "copy").expect(0)
        }
        #expect(try scene.text(#"copy/a\x2db"#) == "unit")
        try scene.run("snapshot", "find", "target", #"odd/\xDF*"#).expect(0, prints: #"\xDF\\.txt"#)
    }

    @Test func logTakesPatternsAndFollowsWhatMatches() throws {
        let scene = try scene()
        let ids = try scene.snapshots()
        func log(_ patterns: String...) throws -> [String] {
            let run = try scene.run(["snapshot", "log", "target"] + patterns).expect(0)
            return run.lines.map { $0.split(separator: "  ").dropFirst().joined(separator: "  ") }
        }
        #expect(
            try log("*thesis*") == [
                "\(ids[0])  - papers/final thesis.odt  (removed)",
                "\(ids[1])  > docs/final thesis.odt -> papers/final thesis.odt  (renamed)",
                "\(ids[2])  > docs/thesis.txt -> docs/final thesis.odt  (renamed)",
                "\(ids[3])  ~ docs/thesis.txt  2 B  (size, modified)",
                "\(ids[4])  + docs/thesis.txt  1 B  (new)",
            ])
        // With the last name alone, the others are found through the renames.
        #expect(try log("papers/final thesis.odt") == log("*thesis*"))
        #expect(
            try log("papers/").contains("\(ids[1])  > docs -> papers/  2 files and directories  (renamed)"))
        #expect(try log("a") == ["\(ids[4])  + a  1 B  (new)"])
        #expect(try log("a", "thesis.txt").count == 4)
        let none = try scene.run("snapshot", "log", "target", "thesis*.doc")
        #expect(none.code == 2 && none.output.isEmpty)
        #expect(none.errors.contains("no run in the history changed a file that matches 'thesis*.doc'"))
    }

    @Test func aShortIDStandsWhereAnIDDoes() throws {
        let scene = try scene()
        let list = try scene.run("snapshot", "list", "target", "--json").json()
        let snapshots = list.objects("snapshots")
        #expect(try scene.snapshots() == snapshots.compactMap { $0.text("short_id") })
        for snapshot in snapshots {
            let (id, short) = try (#require(snapshot.text("id")), #require(snapshot.text("short_id")))
            #expect(id == "initial" || short.count >= 8)
            for name in [id, short] {
                try scene.run("snapshot", "restore", "target", name, "--to", "copy").expect(0)
                try scene.remove("copy")
                #expect(try scene.run("manifest", "list", "target@\(name)").code == 0)
                #expect(try scene.run("snapshot", "diff", "target", id, name).code == 0)
            }
        }
        let history = try scene.run("status", "target", "--json").json().objects("history")
        #expect(try history.map { $0.text("short_id") } == scene.snapshots().dropLast())
        let common = String((snapshots[0].text("id") ?? "").prefix(9))
        try scene.run("snapshot", "show", "target", common).expect(64, says: try "\(scene.snapshots()[0]) (")
    }

    @Test func theHistorysSizeIsTold() throws {
        let scene = try scene()
        let list = try scene.run("snapshot", "list", "target", "--json").json()
        let sum = list.objects("snapshots").compactMap { $0.number("bytes_held") }.reduce(0, +)
        #expect(sum == 3 && list.number("bytes_held") == sum)
        #expect(try scene.run("snapshot", "list", "target").output.contains("history: 3 B\n"))
        #expect(try scene.run("status", "target").output.contains(#/history    \d+ snapshots, 3 B\n/#))
        #expect(try scene.run("status", "target", "--json").json().number("history_bytes_held") == sum)
    }
}
