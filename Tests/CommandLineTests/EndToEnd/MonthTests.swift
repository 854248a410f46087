import Foundation
import TestNeeds
import TestSupport
import Testing

/// A month of two jobs, as an administrator sees it: the line for Nagios and the metrics of each bad day, and
/// the weekly mail. The days are written in `fixtures/month.txt`, which a person has read.
///
/// Nothing waits. After each night, all recorded runs are made a day older.
@Suite("A month of two jobs")
struct MonthTests {
    private let scene: MirrorScene
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    init() throws {
        scene = try MirrorScene(["a": "one", "b": "two"], inMemory: true)
        try scene.build(["photo": "p"], at: "photos")
        let jobs = [
            #""www": {"source": "\#(scene.source)", "target": "\#(scene.path("disk/www"))"}"#,
            #""photos": {"source": "\#(scene.path("photos"))", "target": "\#(scene.path("disk/photos"))", "keep_last": 60}"#,
        ]
        try scene.build(.file("{\"jobs\": {\(jobs.joined(separator: ", "))}}"), at: "settings.json")
        try scene.build([:], at: "disk")
    }

    private func run(_ words: String..., under tracer: [String] = []) throws -> CommandRun {
        try scene.here(
            words + (words[0] == "snapshot" ? [] : ["--settings", "settings.json"]),
            under: tracer, environment: ["FSYNC_LITE_STATE": scene.path("known"), "TZ": "UTC"])
    }

    /// Makes all recorded runs a day older.
    private func passADay() throws {
        let names = try scene.names(in: "known/attempts")
        for name in names where name.hasSuffix(".json") && !name.hasSuffix(".private.json") {
            let text = try scene.text("known/attempts/\(name)")
            let aged = text.replacing(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)([\d.]*Z)"/) { match in
                let time = try? Date(String(match.1) + "Z", strategy: .iso8601)
                return
                    "\"\((time ?? .now).addingTimeInterval(-86_400).formatted(.iso8601).dropLast())\(match.2)\""
            }
            try aged.write(toFile: scene.path("known/attempts/\(name)"), atomically: true, encoding: .utf8)
        }
    }

    /// The text with days instead of dates, and without the time of day.
    private func settled(_ text: String, on day: Int) -> String {
        let noon = Date.now
        func name(ofDay match: String) -> String {
            let date = (try? Date(match + "T00:00:00Z", strategy: .iso8601)) ?? noon
            let midnight = Date(
                timeIntervalSince1970: (noon.timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
            return "day \(day + Int((date.timeIntervalSince(midnight) / 86_400).rounded()))"
        }
        return text.replacing(scene.directory.path, with: "")
            .replacing(/(\d{4}-\d\d-\d\d)([ T]\d\d:\d\d(:\d\d)?)?/) { name(ofDay: String($0.1)) }
            .replacing(/(today|yesterday) \d\d:\d\d/) { String($0.1) }
            .replacing(
                /\d+\.\d \w+ are needed and \S+ \w+ are free/, with: "SIZE are needed and SIZE are free"
            )
            .replacing(/last good run (\d+) (\w+)( \d+ \w+)? ago/) { "last good run \($0.1) \($0.2) ago" }
            .replacing(/_age=(\d+)s;93\d{3};180\d{3}/) { match in
                "_age=\((Int(match.1) ?? 0) / 86_400) days"
            }
            .replacing(#/ \d{10}(\.\d+)?$/#.anchorsMatchLineEndings(), with: " TIME")
            .replacing(#/  +/#, with: "  ")
    }

    /// The events of a night, without the runs.
    private func prepare(_ day: Int) throws {
        switch day {
        case 8: try scene.move("disk", to: "unplugged")
        case 11: try scene.move("unplugged", to: "disk")
        case 15:
            try scene.move("source", to: "mounted elsewhere")
            try scene.build([:], at: "source")
        case 16:
            try scene.remove("source")
            try scene.move("mounted elsewhere", to: "source")
        case 26:
            let text = try scene.text("settings.json").replacing(
                "\"keep_last\": 60", with: "\"keep_last\": 1")
            try scene.build(.file(text), at: "settings.json")
        default: break
        }
        if day != 15 { try scene.append("\(day)\n", to: "source/a") }
        try scene.append("+", to: "photos/photo")
    }

    private func night(_ day: Int) throws -> CommandRun {
        switch day {
        // A kill during the run.
        case 13:
            _ = try run(
                "run", "www", "--quiet",
                under: Strace.killing(at: "syncfs", number: 1))
            return try run("run", "photos", "--quiet")
        // The disk is full.
        case 20:
            return try run(
                "run", "--all", "--quiet",
                under: Strace.injecting("error=ENOSPC", into: "syncfs"))
        default: return try run("run", "--all", "--quiet")
        }
    }

    @Test(.needs(.strace)) func administratorsAreTold() throws {
        for job in ["www", "photos"] { try #require(try run("run", job, "--create-target").code == 0) }
        var told = ""
        for day in 1...30 {
            try passADay()
            try prepare(day)
            let night = try night(day)
            let nagios = try run("status", "--nagios", "--warn", "26h", "--max-age", "50h")
            if night.code != 0 || nagios.code != 0 || day == 1 {
                let metrics = try run("status", "--prometheus").output.split(separator: "\n").filter {
                    $0.contains("last_attempt_exit_code{") || $0.contains("_up{")
                }
                told += "day \(day): exit code \(night.code)\n\(settled(night.errors, on: day))"
                told += "[\(nagios.code)] \(settled(nagios.output, on: day))"
                told += metrics.map { settled(String($0), on: day) + "\n" }.joined() + "\n"
            }
            if day == 28 {
                let purge = try run("snapshot", "purge", scene.path("disk/photos"), "/photo")
                told += "day 28: purge, exit code \(purge.code)\n\(settled(purge.errors, on: day))\n"
            }
            if day % 7 == 0 {
                let mail = try run("status", "--all", "--since", "7d")
                told += "day \(day): the weekly mail\n\(settled(mail.output, on: day))\n"
            }
        }
        let fixture = root.appendingPathComponent("fixtures/month.txt")
        if ProcessInfo.processInfo.environment["FSYNC_LITE_WRITE_FIXTURES"] != nil {
            try told.write(to: fixture, atomically: true, encoding: .utf8)
        }
        #expect(try told == String(contentsOf: fixture, encoding: .utf8))
    }
}
