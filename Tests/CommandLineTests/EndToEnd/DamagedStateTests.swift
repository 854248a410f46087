import Foundation
import TestSupport
import Testing

/// Each message names the command that loses least, and that command works.
@Suite("A document of the state that is damaged")
struct DamagedStateTests {
    enum Damage: CaseIterable {
        /// `directory` is a directory in place of the document.
        case empty, cut, zeroed, directory

        static let allCases: [Damage] = [.empty, .cut, .zeroed]

        func apply(to path: String) throws {
            guard self != .directory else {
                try FileManager.default.removeItem(atPath: path)
                return try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: false)
            }
            var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            switch self {
            case .empty: bytes = []
            case .cut: bytes.removeLast(bytes.count / 2)
            case .zeroed: bytes[bytes.count / 2] = 0
            case .directory: break
            }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }
    }

    /// A target with three snapshots, in which `a` is 0, 01 and 012.
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(["a": "0", "b": "b"]).mirrored()
        for step in 1...2 {
            try scene.append("\(step)", to: "source/a")
            try scene.mirror()
        }
        return scene
    }

    private static let history = "target/.fsync-lite/history"

    /// Runs the command at the end of a message.
    private func goOn(_ run: CommandRun, in scene: MirrorScene) throws {
        let line = try #require(run.errors.split(separator: "\n").last { $0.contains("next: ") })
        let command = line.split(separator: "next: ", maxSplits: 1)[1]
        let word = "fsync-lite "
        if command.hasPrefix(word) {
            try scene.run(command.dropFirst(word.count).split(separator: " ").map(String.init)).expect(0)
        } else {
            try HostCommand.run("sh", "-c", "cd \(scene.directory.path) && \(command)")
        }
    }

    @Test(arguments: Damage.allCases) func ofTheManifestTheHistoryStays(damage: Damage) throws {
        let scene = try scene()
        try damage.apply(to: scene.path("target/.fsync-lite/manifest.json"))
        try scene.run("snapshot", "verify", "target").expect(65)
        let run = try scene.apply().expect(65, says: "--adopt")
        try goOn(run, in: scene)
        try scene.mirror("--adopt")
        try expectSnapshots(scene)
    }

    /// The tree was adopted unchanged, so the snapshots have the unchanged files, too.
    private func expectSnapshots(_ scene: MirrorScene) throws {
        for (age, text) in [(3, "0"), (2, "01"), (1, "012")] {
            try scene.run("snapshot", "restore", "target", "latest~\(age)", "--to", "old \(age)").expect(0)
            #expect(try scene.text("old \(age)/a") == text)
            #expect(try scene.text("old \(age)/b") == "b")
        }
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
    }

    @Test func aManifestThatIsMissingIsNoNewTarget() throws {
        let scene = try scene()
        try scene.remove("target/.fsync-lite/manifest.json")
        for words in [
            ["snapshot", "restore", "target", "latest~1", "--to", "old"],
            ["snapshot", "find", "target", "a"],
            ["snapshot", "log", "target", "a"], ["snapshot", "verify", "target"], ["undo", "target"],
        ] {
            try scene.run(words).expect(66, says: "its manifest is missing", "--adopt")
        }
        #expect(try scene.run("status", "target").output.contains("apply with --adopt"))
        try scene.mirror("--adopt")
        try expectSnapshots(scene)
    }

    /// The lists name a version that is gone. This is a fault before and after an undo that did not find it.
    @Test func ofAnOldVersionEachCommandSaysThatItIsLost() throws {
        let scene = try scene()
        let record = try scene.names(in: Self.history)[2]
        try scene.remove("target/.fsync-lite/history/\(record)/0")
        func expectLost(_ run: CommandRun, _ code: Int32) {
            #expect(run.code == code && run.errors.contains("a: its old content is lost"), "\(run.errors)")
        }
        for mode in [["--dry-run"], []] {
            expectLost(try scene.run(["snapshot", "restore", "target", "latest~1", "--to", "old"] + mode), 3)
        }
        #expect(try scene.text("old/b") == "b")
        #expect(try scene.run("snapshot", "verify", "target").code == 65)
        expectLost(try scene.run("undo", "target"), 3)
        try scene.run("snapshot", "verify", "target").expect(65, says: "a")
        expectLost(
            try scene.run("snapshot", "restore", "target", "latest~1", "--to", "older", "--dry-run"), 3)
    }

    /// The command is quoted for a shell.
    @Test func ofATargetWithABlankInItsPath() throws {
        let scene = try scene()
        try scene.move("target", to: "my target")
        try Damage.empty.apply(to: scene.path("my target/.fsync-lite/manifest.json"))
        try goOn(scene.run("status", "my target"), in: scene)
        #expect(try scene.run("apply", "source", "my target", "--adopt").code == 0)
    }

    @Test(arguments: [0, 1, 2], ["header.json", "list.json"])
    func ofTheHistoryOnlyWhatIsOlderGoes(number: Int, document: String) throws {
        for damage in Damage.allCases + [.directory] { try ofTheHistory(damage, number, document) }
    }

    private func ofTheHistory(_ damage: Damage, _ number: Int, _ document: String) throws {
        let scene = try scene()
        let record = try scene.names(in: Self.history)[number]
        try damage.apply(to: scene.path("target/.fsync-lite/history/\(record)/\(document)"))
        let run = try scene.run("snapshot", "restore", "target", "initial", "--to", "none")
        #expect(run.code == 65 || run.code == 66)
        #expect(run.errors.contains(document), "\(run.errors)")
        try scene.run("snapshot", "verify", "target").expect(65)
        for command in ["find", "log"] {
            // Readable records are used, unless a newer record is needed for them.
            let found = try scene.run("snapshot", command, "target", "a").expect(65, says: document)
            #expect(found.output.isEmpty == (command == "log" && number == 2), "\(command)")
        }
        let prune = try scene.run("snapshot", "prune", "target", "--damaged").expect(0)
        let ending = prune.lines.last ?? ""
        #expect(
            ending.hasPrefix("removed \(number + 1) snapshot") && ending.hasSuffix("; \(3 - number) kept"))
        #expect(prune.lines[4].contains("initial"))
        #expect(prune.lines[4].contains("to be removed: it cannot be read"))
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
        let left = try scene.run("snapshot", "list", "target", "--json").json().objects("snapshots").count
        #expect(left == 3 - number)
        try scene.append("3", to: "source/a")
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/a") == "012")
    }

    @Test func aDryRunOfThePruningRemovesNothing() throws {
        let scene = try scene()
        let names = try scene.names(in: Self.history)
        try Damage.empty.apply(to: scene.path("target/.fsync-lite/history/\(names[0])/header.json"))
        #expect(try scene.run("snapshot", "prune", "target", "--damaged", "--dry-run").code == 0)
        #expect(try scene.names(in: Self.history) == names)
        let prune = try scene.run("snapshot", "prune", "target", "--keep-last", "1").expect(65)
        try goOn(prune, in: scene)
        #expect(try scene.names(in: Self.history) == Array(names.dropFirst()))
    }

    @Test func ofAJournalWithoutAStage() throws {
        let scene = try scene()
        try Data().write(to: URL(fileURLWithPath: scene.path("target/.fsync-lite/journal")))
        let run = try scene.apply().expect(65)
        try goOn(run, in: scene)
        try scene.mirror()
    }

    @Test(arguments: Damage.allCases) func ofAJournalTheNextApplyBeginsAnew(damage: Damage) throws {
        let scene = try scene()
        try scene.append("3", to: "source/a")
        try scene.append("3", to: "source/b")
        try scene.paused(at: .after("renameat2", number: 4)).kill()
        let journal = scene.path("target/.fsync-lite/journal")
        try #require(FileManager.default.fileExists(atPath: journal))
        try damage.apply(to: journal)
        let run = try scene.run("recover", "target").expect(65)
        try goOn(run, in: scene)
        try scene.mirror()
        #expect(try scene.run("snapshot", "verify", "target").code == 0)
    }

    @Test(arguments: Damage.allCases) func ofThePreparedCommitItIsAbandoned(damage: Damage) throws {
        let scene = try scene()
        try scene.append("3", to: "source/a")
        let id = try scene.apply("--prepare").output.trimmingCharacters(in: .newlines)
        try damage.apply(to: scene.path("target/.fsync-lite/stage/\(id)/prepared.json"))
        let before = try scene.wholeTarget()
        let run = try scene.run("commit", "target", id).expect(65)
        #expect(try scene.wholeTarget().touched(since: before) == [])
        try goOn(run, in: scene)
        try scene.mirror()
    }
}
