import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

/// The files that are removed after a run, and those that remain because the run did not look at them.
struct TidyingTests {
    private let directory: TemporaryDirectory

    /// After an exchange: the old tree is there, and its files have two names.
    init() throws {
        directory = try TemporaryDirectory(inMemory: true)
        let time = TreeTime(1_600_000_000, 5)
        let tree: TreeLiteral = [
            "same": .file("same", modified: time), "mode": .file("mode", modified: time), "edited": "one",
            "d": ["deep": "two"],
        ]
        try tree.build(at: path("source"))
        try apply()
        try Data("two".utf8).write(to: URL(fileURLWithPath: path("source/edited")))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("source/mode"))
        // A file changed in the tick in which the exchange begins is protected: it may be another user's.
        ClockTick.pass()
        try apply("--exchange")
        #expect(try names("trees").count == 1)
    }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    private func apply(_ options: String...) throws {
        let run = try CommandRun(["apply", "source", "target"] + options, in: directory.path)
        #expect(run.code == 0, "\(run.errors)")
    }

    private func names(_ name: String) throws -> [String] {
        let path = path(".target.fsync-lite/\(name)")
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// As after a run that began so many seconds from now.
    private func tidy(
        _ target: String = "target", after seconds: Int64, _ change: (inout Tidying) -> Void = { _ in }
    ) throws -> Report {
        let root = try TargetRoot(Array(path(target).utf8))
        let state = try #require(root.state)
        var report = Report(.unchanged, Plan(Difference(), root: nil))
        var tidying = Tidying(
            scanned: Timestamp.now.advanced(bySeconds: seconds),
            RetentionOptions().rules(stored: nil, RetentionPolicy()))
        change(&tidying)
        try tidying.run(root, state, &report)
        return report
    }

    private func links(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path("target/\(name)"))[.referenceCount] as? Int
    }

    @Test func anOldTreeStaysForAMinuteAndGoesWithoutATrace() throws {
        let before = try TreeSnapshot(path("target"))
        #expect(try tidy(after: 0).notes == [])
        #expect(try tidy(after: RetiredTree.gracePeriod - 10).notes == [])
        #expect(try names("trees").count == 1)
        #expect(try links("same") == 2)
        #expect(try links("mode") == 1)
        #expect(try tidy(after: RetiredTree.gracePeriod + 10).notes == [])
        #expect(try names("trees") == [])
        #expect(try TreeSnapshot(path("target")) == before)
        #expect(try links("same") == 1)
    }

    /// Removing a name moves the change time of the file. A run that compared the file knows that. A run that
    /// trusted the manifest, or committed a prepared transaction, must not: it would hide an edit forever.
    @Test(.needs(.later), arguments: [true, false])
    func anEditIsAccountedForOnlyByARunThatLooked(hasLooked: Bool) throws {
        // Nothing is racy any more.
        let settled = try CommandRun(
            ["apply", "source", "target", "--exchange"], in: directory.path,
            under: LaterRun.prefix(minutes: 10))
        #expect(settled.output.contains("nothing to do"), "\(settled.errors)")
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path("target/same")))
        try handle.write(contentsOf: Data("SAME".utf8))
        try handle.close()
        try TreeTime(1_600_000_000, 5).set(on: path("target/same"))
        ClockTick.pass()
        #expect(try tidy(after: RetiredTree.gracePeriod + 10) { $0.hasLooked = hasLooked }.notes == [])
        #expect(try names("trees") == [])
        let plan = try CommandRun(["plan", "source", "target"], in: directory.path)
        #expect(plan.output.contains("nothing to do") == hasLooked)
    }

    @Test func aPreparedCommitHasNotLooked() {
        #expect(!Tidying(scanned: .now, RetentionRules(given: RetentionPolicy())).hasLooked)
    }

    /// A file whose last name is in the old tree may be another user's.
    @Test func whatHasNoOtherNameIsKeptAndNoted() throws {
        let tree = try #require(try names("trees").first)
        ClockTick.pass()
        let late = path(".target.fsync-lite/trees/\(tree)/d/late")
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: late))
        let notes = try tidy(after: RetiredTree.gracePeriod + 10).notes
        let text = "a file appeared in the target during the commit; it was moved to: "
        let place = try #require(notes.first?.split(separator: text).last.map(String.init))
        #expect(notes == [text + place] && place.contains("history/\(tree)/conflicts"))
        #expect(try String(contentsOfFile: "\(place)/d/late", encoding: .utf8) == "theirs")
        #expect(try TreeSnapshot(place).paths == ["d", "d/late"])
        #expect(try names("trees") == [])
    }

    /// An undo, a restoration and a repair remove no snapshot.
    @Test func withoutRulesNoSnapshotGoes() throws {
        for number in 1...6 {
            try Data("\(number)".utf8).write(to: URL(fileURLWithPath: path("source/edited")))
            try apply("--keep-last", "9", "--exchange")
        }
        let history = try names("history")
        let one = RetentionRules(given: with(RetentionPolicy()) { $0.keepLast = 1 })
        _ = try tidy(after: 0) { $0.rules = nil }
        #expect(try names("history") == history)
        _ = try tidy(after: 0) { $0.rules = one }
        #expect(try names("history").count < history.count)
    }

    /// Only an apply is treated as a look at the source.
    @Test func onlyAnApplyCountsAsARun() throws {
        func lastRun() throws -> String {
            try String(contentsOfFile: path(".target.fsync-lite/last-run"), encoding: .utf8)
        }
        let before = try lastRun()
        _ = try tidy(after: 0) { $0.isOfSource = false }
        #expect(try lastRun() == before)
        _ = try tidy(after: 0)
        #expect(try lastRun() != before)
    }

    /// A copy of an earlier tree is no target.
    @Test func aCopyGetsNoState() throws {
        let run = try CommandRun(["apply", "source", "copy"], in: directory.path)
        #expect(run.code == 0, "\(run.errors)")
        _ = try tidy("copy", after: 0) { $0.isCopy = true }
        #expect(
            try TreeSnapshot(path("copy"), withState: true).paths
                == ["d", "d/deep", "edited", "mode", "same"])
    }
}
