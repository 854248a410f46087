import Foundation
import TestSupport
import Testing

/// Removals from the history by rules, by name and by a pattern.
struct RemovalTests {
    /// A mirror with so many snapshots. The oldest one is `initial`. Run N replaces `a` by N bytes.
    private func scene(_ count: Int, _ options: String...) throws -> MirrorScene {
        let scene = try MirrorScene(["a": "", "b": "b"], inMemory: true)
        for number in 1..<count { try change(scene, number, options) }
        return scene
    }

    private func change(_ scene: MirrorScene, _ number: Int, _ options: [String] = []) throws {
        try scene.build(.file(String(repeating: "x", count: number)), at: "source/a")
        try scene.run(["apply", "source", "target"] + options).expect(0)
    }

    private func list(_ scene: MirrorScene) throws -> JSONObject {
        try scene.run("snapshot", "list", "target", "--json").json()
    }

    private func state(_ scene: MirrorScene) -> String {
        scene.exists(".target.fsync-lite") ? ".target.fsync-lite" : "target/.fsync-lite"
    }

    /// The bytes of the files in the slots of these records. A file with several names is counted once. It is
    /// not counted if another name remains, unless that may be in the old tree of an exchange.
    private func onDisk(_ scene: MirrorScene, _ records: [String]) throws -> Int {
        let paths = records.map { scene.path("\(state(scene))/history/\($0)") }.filter {
            FileManager.default.fileExists(atPath: $0)
        }
        guard !paths.isEmpty else { return 0 }
        let listing = try HostCommand.output(
            ["find"] + paths + ["-mindepth", "2", "-type", "f", "-printf", "%i %n %s\\n"])
        let files = Dictionary(grouping: listing.split(separator: "\n")) { $0 }
        return files.map { line, names in
            let fields = line.split(separator: " ").compactMap { Int($0) }
            return names.count == fields[1] || scene.exists("\(state(scene))/trees") ? fields[2] : 0
        }.reduce(0, +)
    }

    /// The list agrees with the disk, and each record has its number without a look at the disk.
    private func expectSizes(_ scene: MirrorScene, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let list = try list(scene)
        let snapshots = list.objects("snapshots")
        for (newer, older) in zip(snapshots, snapshots.dropFirst()) {
            let id = try #require(newer.text("id"))
            let header = try JSONObject(text: scene.text("\(state(scene))/history/\(id)/header.json"))
            #expect(header.number("is_measured") == 1, "\(id)", sourceLocation: sourceLocation)
            let held = try onDisk(scene, [id] + header.texts("holds"))
            #expect(older.number("bytes_held") == held, "\(id)", sourceLocation: sourceLocation)
        }
        let status = try scene.run("status", "target", "--json").json()
        #expect(
            status.number("history_bytes_held") == list.number("bytes_held"), sourceLocation: sourceLocation)
        for (told, listed) in zip(status.objects("history"), snapshots) {
            #expect(told.text("id") == listed.text("id"), sourceLocation: sourceLocation)
            #expect(told.number("bytes_held") == listed.number("bytes_held"), sourceLocation: sourceLocation)
        }
    }

    // MARK: By rules

    @Test func aRunSaysWhatItsRulesRemove() throws {
        let scene = try scene(7, "--keep-last", "9")
        let removed = try scene.snapshots().dropFirst(1)
        let freed = try #require(try list(scene).number("bytes_held"))
        let run = try scene.apply("--keep-last", "1", "--log-file", "log")
        // The rule keeps the tree before the present one.
        #expect(
            freed == 15 && run.errors.contains(#/removed 5 snapshots \(.*\), 10 B are free/#), "\(run.errors)"
        )
        let log = try scene.text("log")
        #expect(removed.dropFirst().allSatisfy(log.contains) && !log.contains(removed[1]), "\(log)")
        #expect(try scene.snapshots().count == 2)
        try expectSizes(scene)
    }

    @Test func theReportListsThem() throws {
        let scene = try scene(5, "--keep-last", "9")
        let ids = try list(scene).objects("snapshots").compactMap { $0.text("id") }
        let report = try scene.apply("--keep-last", "2", "--json").json()
        #expect(report.texts("removed_snapshots") == Array(ids.dropFirst(3)))
        #expect(report.number("bytes_freed") == 1)
    }

    @Test func newRulesDoNotRemoveMostWithoutASay() throws {
        let scene = try scene(13, "--keep-last", "20")
        let before = try scene.wholeTarget()
        for words in [["plan", "source", "target"], ["apply", "source", "target"]] {
            try scene.run(words + ["--keep-last", "1"]).expect(
                4, says: "would remove 11 snapshots (", "if that is not meant: leave the new rules out",
                "--keep-last 1 --allow-removal")
        }
        #expect(try scene.wholeTarget().differences(from: before) == [])
        // Eleven of 13 were too many. Ten are not.
        #expect(try scene.apply("--keep-last", "2").code == 0)
        #expect(try scene.snapshots().count == 3)
    }

    @Test func pruneSaysWhatItFrees() throws {
        let scene = try scene(6, "--keep-last", "9")
        let dry = try scene.run("snapshot", "prune", "target", "--keep-last", "2", "--dry-run")
        #expect(
            dry.lines.last?.contains(#/^would remove 3 snapshots.*, at most 3 B would be free; 3 kept$/#)
                ?? false)
        let run = try scene.run("snapshot", "prune", "target", "--keep-last", "2", "--json").json()
        #expect(run.texts("removed_snapshots").count == 3 && run.number("bytes_freed") == 3)
        try expectSizes(scene)
    }

    // MARK: Sizes

    /// An undo takes content out of the history, a removal in between joins records, an exchange links files.
    @Test(arguments: [[], ["--exchange"]]) func sizesAreThoseOfTheDisk(options: [String]) throws {
        let scene = try MirrorScene(["a": "1", "d": ["x": "22", "y": "333"], "e": "4444"])
        try HostCommand.run("ln", scene.path("source/e"), scene.path("source/f"))
        func run(_ words: String...) throws {
            try scene.run(words).expect(0)
            try expectSizes(scene)
        }
        func apply() throws {
            try scene.run(["apply", "source", "target", "--keep-last", "20"] + options).expect(0)
            try expectSizes(scene)
        }
        try apply()
        try scene.remove("source/d")
        try apply()
        try scene.append("5", to: "source/a")
        try apply()
        try run("undo", "target")
        try run("undo", "target", "--steps", "3")
        try scene.remove("source/e")
        try scene.append("55555", to: "source/a")
        try apply()
        try scene.remove("source/f")
        try apply()
        try run("snapshot", "remove", "target", "latest~3", "latest~5")
        try run("snapshot", "restore", "target", "latest~2", "--in-place")
        try run("snapshot", "prune", "target", "--keep-last", "2")
        try run("undo", "target")
    }

    @Test func showHasTheRunAndSizes() throws {
        let scene = try scene(3)
        try scene.build(["c": .file(String(repeating: "y", count: 2000)), "e": "eee"], at: "source")
        try scene.remove("source/b")
        try change(scene, 50)
        let (all, ids) = (try scene.run("snapshot", "show", "target"), try scene.snapshots())
        #expect(all.lines[0].contains(#/^run of \d{4}-\d\d-\d\d \d\d:\d\d, \d+ s, after /#), "\(all.output)")
        #expect(all.lines[0].hasSuffix(" \(ids[1])"))
        #expect(all.lines.contains("~ a  2 B -> 50 B  (size, modified)"))
        #expect(all.lines.contains("- b  1 B  (removed)"))
        #expect(all.lines.last?.contains("2.1 kB copied") ?? false, "\(all.output)")
        let largest = try scene.run("snapshot", "show", "target", "latest", "--largest", "2")
        #expect(largest.lines[1...2] == ["+ c  2.0 kB  (new)", "~ a  2 B -> 50 B  (size, modified)"])
        let document = try scene.run("snapshot", "show", "target", "--json").json()
        #expect(document.number("bytes_copied") == 2053 && document.text("after") != nil)
        #expect(document.objects("actions").first { $0.text("path") == "a" }?.number("size_before") == 2)
        #expect(try scene.run("snapshot", "diff", "target").output.contains("~ a"))
    }

    // MARK: By name

    @Test func namedSnapshotsAreRemoved() throws {
        let scene = try scene(6, "--keep-last", "9")
        _ = try scene.run("snapshot", "create", "target", "--label", "kept")
        try change(scene, 9)
        try change(scene, 10)
        let before = try scene.snapshots()
        let trees = try before.map { try scene.run("manifest", "list", "target@\($0)").output }
        let dry = try scene.run("snapshot", "remove", "target", before[3], "kept", "--dry-run")
        #expect(
            dry.code == 0 && dry.lines.last?.contains("would remove 2 snapshots") ?? false, "\(dry.output)")
        #expect(try scene.snapshots() == before)
        let run = try scene.run("snapshot", "remove", "target", before[3], "kept").expect(0)
        #expect(
            run.lines.last?.contains(#/^removed 2 snapshots \(.*\), 9 B are free; 6 kept$/#) ?? false,
            "\(run.output)")
        let after = before.enumerated().filter { ![2, 3].contains($0.0) }.map(\.1)
        #expect(try scene.snapshots() == after)
        for (index, id) in before.enumerated() where after.contains(id) {
            #expect(try scene.run("manifest", "list", "target@\(id)").output == trees[index])
        }
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        try expectSizes(scene)
    }

    @Test func thePresentTreeAndTheOneBeforeStay() throws {
        let scene = try scene(4)
        let before = try scene.wholeTarget()
        for name in ["latest", "latest~1"] {
            try scene.run("snapshot", "remove", "target", "latest~2", name).expect(4, says: "the present")
        }
        #expect(try scene.run("snapshot", "remove", "target", "nosuch").code == 66)
        #expect(try scene.wholeTarget().differences(from: before) == [])
    }

    // MARK: By a pattern

    private static let secret = "the secret of all secrets"

    /// Whether a file or symlink of the state has the content.
    private func hasSecret(_ scene: MirrorScene) throws -> Bool {
        let state = scene.path(state(scene))
        let links = try HostCommand.output("find", state, "-type", "l", "-printf", "%l\\n")
        return links.contains(RemovalTests.secret)
            || HostCommand.works("grep", "-rqs", RemovalTests.secret, state)
    }

    /// A key that was mirrored, moved, linked, changed and deleted.
    private func secretScene(_ options: String...) throws -> MirrorScene {
        let scene = try MirrorScene(["a": "a", "keys": ["key": .file(RemovalTests.secret), "pub": "p"]])
        func apply() throws {
            try scene.run(["apply", "source", "target", "--keep-last", "20", "--digest"] + options).expect(0)
        }
        try HostCommand.run("ln", "-s", RemovalTests.secret, scene.path("source/keys/link"))
        try HostCommand.run("ln", scene.path("source/keys/key"), scene.path("source/other"))
        try apply()
        try scene.move("source/keys/key", to: "source/moved")
        try apply()
        try scene.append(" and more", to: "source/moved")
        try apply()
        try scene.remove("source/moved")
        try scene.remove("source/other")
        try scene.remove("source/keys")
        try apply()
        try scene.build(.file("a2"), at: "source/a")
        try apply()
        return scene
    }

    @Test(arguments: [[], ["--exchange"]]) func aPurgedSecretIsGone(options: [String]) throws {
        let scene = try options.isEmpty ? secretScene() : secretScene("--exchange")
        let ids = try scene.snapshots()
        try scene.run("snapshot", "purge", "target", "key", "link", "--dry-run").expect(
            0, prints: "- keys/key  ", ", also moved, other")
        #expect(try hasSecret(scene))
        let run = try scene.run("snapshot", "purge", "target", "key", "link", "moved").expect(0)
        #expect(run.lines.last?.hasPrefix("purged 3 versions, ") ?? false, "\(run.output)")
        #expect(try !hasSecret(scene))
        try expectSizes(scene)
        #expect(try scene.snapshots() == ids)
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        try scene.run("snapshot", "find", "target", "key").expect(0, prints: "keys/key  (purged)")
        try scene.run("snapshot", "log", "target", "key").expect(
            0, prints: "+ keys/key  25 B  (new)  (purged)\n")
        try scene.run("snapshot", "show", "target", "latest~1").expect(
            0, prints: "- keys/link  (removed)  (purged)\n")
        let shown = try scene.run("snapshot", "show", "target", "latest~1", "--json").json()
        let removed = try #require(shown.objects("actions").first { $0.text("path") == "keys/link" })
        #expect(removed.number("purged") == 1, "\(removed)")
        // The rest is restored, and the purged files are listed.
        try scene.run("snapshot", "restore", "target", "latest~4", "--to", "copy").expect(
            3, says: "keys/key: its content was purged", "keys/link: its content was purged")
        #expect(try scene.text("copy/keys/pub") == "p" && !scene.exists("copy/keys/key"))
        #expect(!scene.exists("copy/keys/link") && !scene.exists("copy/other"))
        try scene.run("undo", "target", "--steps", "4").expect(3, says: "its content was purged")
        #expect(try scene.text("target/keys/pub") == "p" && !scene.exists("target/keys/key"))
        // Nothing is left to purge.
        #expect(try scene.run("snapshot", "purge", "target", "key", "link", "moved").code == 2)
        try scene.mirror()
        #expect(try !hasSecret(scene))
    }

    @Test func whatThePresentTreeHasStays() throws {
        let scene = try MirrorScene(["a": "a", "key": .file(RemovalTests.secret)]).mirrored()
        try scene.move("source/key", to: "source/elsewhere")
        try scene.mirror()
        let run = try scene.run("snapshot", "purge", "target", "/key")
        #expect(
            run.code == 3 && run.errors.contains("elsewhere: not removed, as the present tree has it"),
            "\(run.errors)")
        #expect(try scene.text("target/elsewhere") == RemovalTests.secret)
        let document = try scene.run("snapshot", "purge", "target", "/key", "--json").json()
        #expect(document.objects("present").first?.text("path") == "elsewhere")
    }

    @Test func whatWasStagedAndPreparedGoesToo() throws {
        let scene = try MirrorScene(["a": "a", "key": .file(RemovalTests.secret)]).mirrored()
        try scene.remove("source/key")
        try scene.mirror()
        try scene.build(.file(RemovalTests.secret), at: "source/key")
        let id = try #require(try scene.apply("--prepare").expect(0).lines.last)
        try scene.run("snapshot", "purge", "target", "key", "--dry-run").expect(says: "would be abandoned")
        try scene.run("snapshot", "purge", "target", "key").expect(
            0, says: "the prepared run \(id) is abandoned")
        #expect(try !hasSecret(scene))
        #expect(try scene.run("commit", "target", id).code == 5)
    }

    /// It matches nothing, or names what stays.
    @Test(
        arguments: [("nosuch", 2, "nothing is purged"), ("!b", 64, "would purge all other files")]
            as [(String, Int32, String)])
    func aPatternThatPurgesNothingSaysSo(pattern: String, code: Int32, text: String) throws {
        let scene = try scene(3)
        let before = try scene.wholeTarget()
        try scene.run("snapshot", "purge", "target", pattern).expect(code, says: text)
        #expect(try scene.wholeTarget().differences(from: before) == [])
    }

    /// The content has a name that is in no list.
    @Test func anotherNameOutsideIsListed() throws {
        let scene = try MirrorScene(["a": "a", "key": .file(RemovalTests.secret)]).mirrored()
        try HostCommand.run("ln", scene.path("target/key"), scene.path("outside"))
        try scene.remove("source/key")
        try scene.mirror()
        try scene.run("snapshot", "purge", "target", "key").expect(
            3, says: "key: its content has another name outside")
        #expect(try !hasSecret(scene))
    }

    @Test func whatWasMovedAsideGoesToo() throws {
        let scene = try scene(3)
        let id = try #require(try list(scene).objects("snapshots").first?.text("id"))
        try scene.build(["1": ["d": ["key": .file(RemovalTests.secret), "other": "o"]]], at: "conflicts")
        try HostCommand.run(
            "mv", scene.path("conflicts"), scene.path("target/.fsync-lite/history/\(id)/conflicts"))
        try scene.run("snapshot", "purge", "target", "d/key").expect(
            0, prints: "conflicts/1/d/key  set aside")
        #expect(try !hasSecret(scene))
        #expect(scene.exists("target/.fsync-lite/history/\(id)/conflicts/1/d/other"))
    }

    @Test(.needs(.tool("setfattr", package: "attr"))) func extendedAttributesGoToo() throws {
        let scene = try MirrorScene(["a": "a", "d": ["key": "k"]])
        try HostCommand.run(
            "setfattr", "-n", "user.pw", "-v", RemovalTests.secret, scene.path("source/d/key"))
        try scene.mirror()
        try scene.remove("source/d")
        try scene.mirror()
        #expect(HostCommand.works("grep", "-rqs", "user.pw", scene.path("target/.fsync-lite")))
        #expect(try scene.run("snapshot", "purge", "target", "key").code == 0)
        #expect(!HostCommand.works("grep", "-rqs", "user.pw", scene.path("target/.fsync-lite")))
    }

    /// An exchange links the old tree, which has names of recorded files.
    @Test(arguments: ["rules", "prune", "remove", "undo", "undo and remove"])
    func theOldTreesOfExchangesKeepNothingBack(way: String) throws {
        let scene = try MirrorScene(["a": "1", "b": "b", "d": ["key": .file(RemovalTests.secret)]])
        func apply(_ last: Int) throws {
            try scene.run("apply", "source", "target", "--exchange", "--keep-last", "\(last)").expect(0)
        }
        func run(_ words: String...) throws {
            try scene.run(words).expect(0)
        }
        try apply(20)
        try scene.remove("source/d/key")
        try apply(20)
        if way.hasPrefix("undo") {
            try run("undo", "target")
            try apply(20)
        }
        for number in 2..<5 {
            try scene.build(.file("\(number)"), at: "source/a")
            try apply(way == "rules" ? 1 : 20)
        }
        #expect(try hasSecret(scene) == (way != "rules"))
        switch way {
        case "prune": try run("snapshot", "prune", "target", "--keep-last", "1")
        case "remove": try run("snapshot", "remove", "target", "latest~4", "initial")
        case "undo": try run("snapshot", "purge", "target", "key")
        case "undo and remove":
            try run("snapshot", "remove", "target", "latest~5")
            try run("snapshot", "purge", "target", "key")
        default: break
        }
        #expect(try !hasSecret(scene))
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        try apply(20)
        #expect(try !hasSecret(scene))
    }

    /// A purge that is killed at any rename leaves a whole history, and the same purge finishes it. A run before
    /// that removes the objects that the killed purge had removed from the lists.
    @Test(
        .needs(.strace),
        arguments: (1...12).map { ($0, false) } + [5, 7, 9, 11].map { ($0, true) } as [(Int, Bool)])
    func aKilledPurgeIsEnded(rename: Int, afterARun: Bool) throws {
        let scene = try secretScene()
        func purge(under tracer: [String] = []) throws -> CommandRun {
            try scene.here(["snapshot", "purge", scene.target, "keys", "moved"], under: tracer)
        }
        let killed = try purge(under: Strace.killing(at: "renameat,renameat2", number: rename))
        if afterARun {
            try scene.build(.file("a3"), at: "source/a")
            #expect(try scene.apply().code == 0)
        }
        try scene.run("snapshot", "verify", "target").expect(0)
        if killed.code != 0 { #expect([0, 2].contains(try purge().code)) }
        #expect(try !hasSecret(scene))
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        try scene.run("snapshot", "restore", "target", afterARun ? "latest~5" : "latest~4", "--to", "copy")
            .expect(3, says: "other: its content was purged")
    }

    // MARK: Numbers

    /// A name is removed, and another one still has the content.
    @Test func whatHasAnotherNameIsNotFree() throws {
        let scene = try MirrorScene(["k": .file(String(repeating: "k", count: 5000)), "b": "b"])
        try scene.link("source/l", to: "source/k")
        try scene.mirror()
        try scene.remove("source/k")
        try scene.mirror()
        #expect(try list(scene).number("bytes_held") == 0)
        try scene.remove("source/l")
        try scene.mirror()
        #expect(try list(scene).number("bytes_held") == 0, "each record has one name")
        try scene.build(.file("bb"), at: "source/b")
        try scene.mirror()
        let run = try scene.run("snapshot", "prune", "target", "--keep-last", "1", "--json").json()
        #expect(run.number("bytes_freed") == 5000)
    }

    /// A run with changes adds a snapshot, and its rule removes one more.
    @Test func theOwnSnapshotOfARunCounts() throws {
        let scene = try scene(12, "--keep-last", "20")
        #expect(try scene.plan("--keep-last", "1").code == 0)
        try scene.build(.file("changed"), at: "source/a")
        try scene.apply("--keep-last", "1").expect(4, says: "would remove 11 snapshots (")
        try scene.apply("--keep-last", "1", "--allow-removal").expect(0, says: "removed 11 snapshots (")
        #expect(try scene.snapshots().count == 2)
        // The rule is no longer new.
        for number in 20..<23 { try change(scene, number) }
    }
}
