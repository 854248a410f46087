import Foundation
import TestNeeds
import TestSupport
import Testing

/// As cron and systemd run it: with a minimal environment, without a terminal, and nobody to ask.
@Suite("Scheduled runs")
struct ScheduledRunTests {
    private static let cron = [
        "env", "-i", "FSYNC_LITE_STATE=", "HOME=/root", "SHELL=/bin/sh", "PATH=/usr/bin:/bin",
    ]

    private func scene() throws -> MirrorScene {
        // A job does not begin its target.
        let scene = try MirrorScene([:], inMemory: true).mirrored()
        try scene.build(["a": "one", "d": ["x": "x"]], at: "source")
        try HostCommand.run("touch", "-r", scene.target, scene.source)
        try scene.writeJob("photos", #", "log_file": "\#(scene.path("log"))""#)
        return scene
    }

    private func run(_ scene: MirrorScene) throws -> CommandRun {
        try RunningCommand(
            ["run", "--all", "--settings", scene.path("settings.json"), "--quiet"], in: "/",
            under: ScheduledRunTests.cron
        ).finish()
    }

    @Test(.needs(.strace))
    func secondRunOnOneTargetIs75() throws {
        let scene = try scene()
        try scene.paused(["run", "photos", "--settings", "settings.json", "--quiet"], at: .after("syncfs")) {
            let second = try run(scene).expect(75)
            #expect(
                second.errors
                    == "fsync-lite: photos: \(scene.target): another fsync-lite is writing to this target\n")
        }.expect(0)
        try scene.expectMirrored()
        let log = try scene.text("log").split(separator: "\n")
        #expect(log.count == 2, "\(log)")
    }

    /// The mount point exists and is empty.
    @Test func unmountedSourceIs4AndNothingIsDamaged() throws {
        let scene = try scene()
        // So many files that their deletion alone would be refused.
        for number in 1...12 { try scene.build("content", at: "source/\(number)") }
        // It prints nothing.
        let good = try self.run(scene).expect(0)
        #expect(good.output == "" && good.errors == "")
        try scene.move("source", to: "away")
        try scene.build([:], at: "source")
        let before = try scene.wholeTarget()
        let run = try run(scene).expect(4)
        #expect(
            run.errors == """
                fsync-lite: photos: refused: the source is empty, and the target has 15 files and directories. Is a disk missing?
                fsync-lite: photos: if a disk is missing: mount it, and run the same again
                fsync-lite: photos: next: fsync-lite run photos --quiet --allow-empty-source --settings \(scene.path("settings.json"))

                """)
        #expect(try scene.wholeTarget().touched(since: before) == [])
        #expect(try scene.text("log").contains("photos: run refused (4): the source is empty"))
        // The printed command works. A limit that somebody gave is still valid.
        let words = ["run", "photos", "--settings", scene.path("settings.json"), "--allow-empty-source"]
        #expect(try scene.run(words + ["--max-delete", "5"]).code == 4)
        #expect(try scene.run(words).code == 0)
    }

    @Test func logsOfRunsThatOverlapDoNotMix() throws {
        let scene = try MirrorScene(["a": "one"], inMemory: true)
        let jobs = (0..<8).map {
            #""\#($0)": {"source": "\#(scene.source)", "target": "\#(scene.path("t\($0)"))"}"#
        }
        try scene.build(.file("{\"jobs\": {\(jobs.joined(separator: ", "))}}"), at: "settings.json")
        let runs = try (0..<8).map { number in
            try RunningCommand(
                ["run", "\(number)", "--create-target", "--settings", "settings.json", "--log-file", "log"],
                in: scene.directory.path)
        }
        for run in runs { #expect(try run.finish().code == 0) }
        let lines = try scene.text("log").split(separator: "\n")
        #expect(lines.count == 8)
        for line in lines {
            #expect(
                line.wholeMatch(
                    of: /\S+T[0-9:]{8}\+00:00 \d: run committed: 1 created; 0 unchanged; 3 B copied/) != nil,
                "\(line)")
        }
    }

    // MARK: Bandwidth

    /// A copy that would take a day.
    @Test func limitedCopyCanBeStopped() throws {
        let scene = try MirrorScene(["a": .file(String(repeating: "x", count: 100_000))], inMemory: true)
        let running = try RunningCommand(
            ["apply", "source", "target", "--bandwidth", "1"], in: scene.directory.path)
        for text in ["0", "fast", "-1"] { #expect(try scene.apply("--bandwidth=\(text)").code == 64) }
        // The staged file grows byte by byte.
        while running.isRunning, try stagedBytes(scene) == 0 { usleep(1000) }
        #expect(try (1..<100_000).contains(stagedBytes(scene)))
        running.send(SIGTERM)
        try running.finish().expect(143)
        #expect(!scene.exists("target/a"))
    }

    private func stagedBytes(_ scene: MirrorScene) throws -> Int {
        let stage = scene.path("target/.fsync-lite/stage")
        let names = FileManager.default.enumerator(atPath: stage)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix("/0/0") }.reduce(0) { total, name in
            var status = stat()
            return lstat("\(stage)/\(name)", &status) == 0 ? total + Int(status.st_size) : total
        }
    }

    // MARK: Files for cron and systemd

    private static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../scripts").standardizedFileURL.path

    /// The line of the repository's crontab, run as cron does.
    @Test func crontabWorks() throws {
        let scene = try scene()
        let lines = try String(contentsOfFile: "\(ScheduledRunTests.scripts)/crontab", encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.hasPrefix("PATH=") }
        let fields = try #require(lines.first).split(separator: " ", omittingEmptySubsequences: true)
        #expect(lines.count == 1 && fields[5] == "root")
        let command = fields.dropFirst(6).joined(separator: " ")
            .replacing("/etc/fsync-lite/settings.json", with: scene.path("settings.json"))
            .replacing("/var/log/fsync-lite.log", with: scene.path("cron.log"))
        let binaries = URL(fileURLWithPath: try BuiltCommand.path()).deletingLastPathComponent().path
        try HostCommand.run(
            "env", "-i", "FSYNC_LITE_STATE=", "HOME=/root", "PATH=\(binaries):/usr/bin:/bin", "sh", "-c",
            command)
        try scene.expectMirrored()
        #expect(try scene.text("cron.log").contains("photos: run committed"))
    }

    @Test(.needs(.tool("systemd-analyze", package: "systemd")))
    func unitsAreValid() throws {
        let scene = try scene()
        let units = [
            "fsync-lite@.service": "fsync-lite@photos.service",
            "fsync-lite@.timer": "fsync-lite@photos.timer",
            "fsync-lite-mount@.service": "fsync-lite-mount@srv-backup.service",
        ]
        for (unit, name) in units {
            let text = try String(
                contentsOfFile: "\(ScheduledRunTests.scripts)/systemd/\(unit)", encoding: .utf8
            )
            .replacing("/usr/local/bin/fsync-lite", with: try BuiltCommand.path())
            .replacing("Documentation=man:fsync-lite(1)\n", with: "")
            try scene.build(.file(text), at: name)
        }
        for name in units.values { try HostCommand.run("systemd-analyze", "verify", scene.path(name)) }
    }
}
