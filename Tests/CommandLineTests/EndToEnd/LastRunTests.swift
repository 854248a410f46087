import Foundation
import TestSupport
import Testing

@Suite("What a target tells of its last run")
struct LastRunTests {
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(["a": "one", "d": ["b": "two"]], inMemory: true).mirrored()
        return scene
    }

    private func lastRun(_ scene: MirrorScene) throws -> String {
        let lines = try scene.run("status", "target").output.split(separator: "\n")
        return lines.first { $0.hasPrefix("last good run ") }.map { String($0) } ?? ""
    }

    @Test func completeOneIsToldWithItsTimes() throws {
        let scene = try scene()
        let told = try lastRun(scene)
        #expect(
            told.wholeMatch(of: /last good run   [-\d]{10} [:\d]{8}   \d s ago/) != nil, "\(told)")
        let status = try scene.run("status", "--json", "target").json()
        #expect(status.number("last_run_result") == 0 && status.number("last_run_problems") == 0)
        let (began, ended) = (status.text("last_run") ?? "", status.text("last_run_ended") ?? "")
        #expect(began == status.text("created") && ended >= began)
        // A run without changes is a run, too.
        try scene.mirror()
        #expect(try (scene.run("status", "--json", "target").json().text("last_run") ?? "") > began)
    }

    @Test func oneThatCouldNotMirrorEverythingCountsAndSaysSo() throws {
        let scene = try MirrorScene(["a": "one", "b": "two"], as: .ordinary).mirrored()
        try scene.noteLastRun(daysAgo: 3)
        for name in ["a", "b"] {
            try scene.append("!", to: "source/\(name)")
            try scene.setMode(0, of: "source/\(name)")
        }
        // It mirrors nothing.
        #expect(try scene.apply().code == 1)
        #expect(try scene.run("status", "--max-age", "2d", "target").code == 2)
        #expect(try scene.apply("--keep-going").code == 3)
        try scene.run("status", "--max-age", "2d", "target").expect(
            0, prints: " ago, 2 files and directories could not be mirrored\n")
        let document = try scene.run("status", "--json", "target").json()
        #expect(document.number("last_run_result") == 3 && document.number("last_run_problems") == 2)
        try scene.noteLastRun(daysAgo: 3, problems: 1)
        try scene.run("status", "--max-age", "2d", "target").expect(
            2, says: "the last run began 3 d ago", "(incomplete: 1 file or directory could not be mirrored)")
        for name in ["a", "b"] { try scene.setMode(0o644, of: "source/\(name)") }
        try scene.mirror()
        #expect(try lastRun(scene).hasSuffix(" s ago"))
    }

    /// A wrong clock must not make a target young forever.
    @Test func oneFromTheFutureIsNotYoung() throws {
        let scene = try scene()
        try scene.noteLastRun(daysAgo: -365)
        try scene.run("status", "--max-age", "1h", "target").expect(
            2, says: "the last run began in the future, at ", "(complete). Is the clock right?\n",
            prints: "in the future: is the clock right?")
        #expect(try scene.run("status", "target").code == 0)
        let metrics = try scene.run("status", "--prometheus", "target").output
        #expect(metrics.contains("fsync_lite_last_run_age_seconds{target=\"target\"} +Inf\n"), "\(metrics)")
        try scene.run("status", "--max-age", "1h", "target", "./target").expect(
            2, prints: "fsync-lite apply SOURCE")
        // Clocks of two machines differ.
        try scene.mirror()
        #expect(try scene.run("status", "--max-age", "1h", "target").code == 0)
    }

    /// Before it was a document, it was an empty file.
    @Test func emptyFileOfTheOldFormatIsRead() throws {
        let scene = try scene()
        try scene.build("", at: "target/.fsync-lite/last-run")
        try TreeTime(1_700_000_000, 5).set(on: scene.path("target/.fsync-lite/last-run"))
        #expect(try lastRun(scene).hasPrefix("last good run   2023-11-14 22:13:20   "))
        #expect(try scene.run("status", "--max-age", "1d", "target").code == 2)
        // The later one of two.
        try scene.build("", at: "target/.fsync-lite/trusting-run")
        try TreeTime(1_700_000_001, 5).set(on: scene.path("target/.fsync-lite/trusting-run"))
        #expect(try lastRun(scene).hasPrefix("last good run   2023-11-14 22:13:21   "))
        try scene.mirror()
        #expect(try lastRun(scene) > "last good run   2026")
    }

    @Test(arguments: [
        "{",
        #"{"version": 2, "began": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:00:00Z", "result": 0, "problems": 0}"#,
        #"{"version": 1, "began": "yesterday", "ended": "2026-01-01T00:00:00Z", "result": 0, "problems": 0}"#,
        #"{"version": 1, "began": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:00:00Z", "result": 0, "problems": 2}"#,
        #"{"version": 1, "began": "2026-01-01T00:00:00Z", "ended": "2026-01-01T00:00:00Z", "result": 3, "problems": -1}"#,
    ])
    func damagedOneIsAnErrorOfStatusAndOfNoApply(text: String) throws {
        let scene = try scene()
        try scene.build(.file(text), at: "target/.fsync-lite/last-run")
        try scene.run("status", "target").expect(65, says: "last-run", "the next run writes it again")
        try scene.mirror()
        #expect(try lastRun(scene).hasSuffix(" s ago"))
    }
}

extension MirrorScene {
    /// Writes the time of the last run to the target.
    func noteLastRun(daysAgo days: Int, problems: Int = 0) throws {
        let time = Date(timeIntervalSinceNow: -86_400 * Double(days)).formatted(.iso8601)
        try build(
            .file(
                #"{"version": 1, "began": "\#(time)", "ended": "\#(time)", "#
                    + #""result": \#(problems == 0 ? 0 : 3), "problems": \#(problems)}"#),
            at: "target/.fsync-lite/last-run")
    }
}
