import Foundation
import TestNeeds
import TestSupport
import Testing

/// The machine that runs a job records its runs, however they ended, and reports them to the monitoring.
@Suite("Recorded runs, and what status and Nagios are told of them")
struct RecordedRunTests {
    private let scene: MirrorScene

    init() throws {
        scene = try MirrorScene(["a": "one", "b": "two"], inMemory: true)
        let jobs = ["sys": "t", "home": "h"].map { name, target in
            #""\#(name)": {"source": "\#(scene.path("source"))", "target": "\#(scene.path(target))"}"#
        }
        try scene.build(.file(#"{"jobs": {\#(jobs.joined(separator: ", "))}}"#), at: "settings.json")
    }

    private func run(_ words: String..., under tracer: [String] = []) throws -> CommandRun {
        try run(words, under: tracer)
    }

    private func run(_ words: [String], under tracer: [String] = []) throws -> CommandRun {
        try CommandRun(
            words + (words[0] == "apply" ? [] : ["--settings", scene.path("settings.json")]),
            in: scene.directory.path, under: tracer,
            environment: ["FSYNC_LITE_STATE": scene.path("known")])
    }

    private func begin() throws {
        for job in ["sys", "home"] { try #require(try run("run", job, "--create-target").code == 0) }
    }

    /// Adds a key to the job `sys`.
    private func addKey(_ key: String) throws {
        let target = "\(scene.path("t"))\""
        let text = try scene.text("settings.json").replacing(target, with: "\(target), \(key)")
        try scene.build(.file(text), at: "settings.json")
    }

    /// The run ends while status has the record open.
    @Test(.needs(.strace)) func aRunThatEndsMeanwhileIsNotCutOff() throws {
        try #require(try run("run", "sys", "--create-target").code == 0)
        let record = try documents(".json")[0]
        try scene.append("more", to: "source/a")
        let environment = ["FSYNC_LITE_STATE": scene.path("known")]
        let words = ["--settings", scene.path("settings.json")]
        let run = try PausedCommand(
            ["run", "sys"] + words, in: scene.directory.path, at: .after("openat", of: "manifest.json"),
            environment: environment)
        #expect(try run.waitForPause())
        let status = try PausedCommand(
            ["status", "--nagios", "sys"] + words, in: scene.directory.path, at: .after("openat", of: record),
            environment: environment)
        #expect(try status.waitForPause())
        try run.finish().expect(0)
        try status.finish().expect(0, prints: "FSYNC-LITE OK")
    }

    private func emptySource() throws {
        try scene.move("source", to: "away")
        try scene.build([:], at: "source")
    }

    private func refuseARun() throws {
        try emptySource()
        #expect(try run("run", "sys").code == 4)
    }

    private func documents(_ ending: String) throws -> [String] {
        try scene.names(in: "known/attempts")
            .filter { $0.hasSuffix(ending) && (ending != ".json" || !$0.hasSuffix(".private.json")) }
    }

    private func texts() throws -> [String] {
        try documents(".json").map { try scene.text("known/attempts/\($0)") }
    }

    /// Makes all runs older by so many days.
    private func age(byDays days: Int) throws {
        for name in try documents(".json") {
            let path = scene.path("known/attempts/\(name)")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let aged = text.replacing(/"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/) { match in
                let time = try? Date(String(match.1.prefix(19)) + "Z", strategy: .iso8601)
                return "\"" + (time ?? .now).addingTimeInterval(-86_400 * Double(days)).formatted(.iso8601)
                    + "\""
            }
            try aged.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    // MARK: Last night failed

    @Test func refusedRunIsToldBesideTheLastGoodOne() throws {
        try begin()
        try refuseARun()
        let lines = try run("status", "sys").output.split(separator: "\n")
        #expect(
            lines[0].wholeMatch(of: /last good run   \S+ \S+   \d s ago, 2 changes, 6 B copied/) != nil,
            "\(lines)")
        #expect(
            lines[1].wholeMatch(of: /last attempt    \S+ \S+   refused: the source is empty, and .*/) != nil,
            "\(lines)")
        let table = try run("status", "--all").output.split(separator: "\n").map(String.init)
        #expect(table[0] == "job   last good run  last attempt          size  next")
        #expect(table[1].contains("  the same              6 B   -"), "\(table)")
        #expect(
            table[2].contains(", refused  6 B   see: fsync-lite status sys --settings "), "\(table)")
        let document = try run("status", "--json", "sys").json()
        #expect(document.text("last_attempt_result") == "refused")
        #expect(document.number("last_attempt_exit_code") == 4)
        #expect(document.text("last_attempt_reason") == "empty_source")
        #expect((document.text("last_good_run") ?? "") < (document.text("last_attempt") ?? ""))
        #expect(document.number("last_good_run_changes") == 2)
        #expect(document.number("last_good_run_bytes_copied") == 6)
        #expect(document.number("last_attempt_changes") == 0)
        #expect(document.number("last_attempt_bytes_copied") == 0)
        let metrics = try run("status", "--prometheus").output
        #expect(metrics.contains("fsync_lite_last_attempt_exit_code{job=\"sys\""), "\(metrics)")
        #expect(metrics.contains(/last_attempt_exit_code\{job="sys",[^}]*\} 4\n/), "\(metrics)")
        // The next good run is the last one.
        try scene.remove("source")
        try scene.move("away", to: "source")
        #expect(try run("run", "sys").code == 0)
        #expect(try !run("status", "sys").output.contains("last attempt"))
    }

    /// Its target is missing and cannot report anything.
    @Test func runsOnAMissingTargetAreTold() throws {
        try begin()
        try scene.move("t", to: "gone")
        #expect(try run("run", "sys").code == 4)
        try run("status", "sys").expect(66, prints: "last good run   ", "   refused: ")
        let asked = try run("status", "sys", "--json")
        let document = try asked.json()
        #expect(asked.code == 66 && asked.errors.contains("does not exist"), "\(asked.errors)")
        #expect(document.text("format") == "fsync-lite-error")
        #expect(document.text("code") == "input_missing" && document.number("exit_code") == 66)
        #expect(document.text("job") == "sys" && document.text("target") == scene.path("t"))
        #expect((document.text("last_good_run") ?? "") < (document.text("last_attempt") ?? ""))
        #expect(document.number("last_good_run_changes") == 2)
        #expect(document.text("last_attempt_result") == "refused", "\(asked.output)")
    }

    @Test(.needs(.strace)) func killedRunDidNotEnd() throws {
        let killed = try run(
            "apply", "source", "t",
            under: Strace.killing(at: "renameat2", number: 7))
        #expect(killed.code != 0)
        #expect(try run("status", "t").output.contains("   did not end\n"))
        #expect(try run("apply", "source", "t").code == 0)
        #expect(try run("status", "t").output.hasPrefix("last good run   "))
    }

    /// The lock refuses a second run of the job. That is no failure of the first.
    @Test(.needs(.strace)) func runsBesideALongOneAreNoFailures() throws {
        try begin()
        try scene.append("!", to: "source/a")
        let long = try PausedCommand(
            ["run", "sys", "--settings", scene.path("settings.json")], in: scene.directory.path,
            at: .after("renameat2"), environment: ["FSYNC_LITE_STATE": scene.path("known")])
        #expect(try long.waitForPause())
        #expect(try run("run", "sys").code == 75)
        let during = try run("status", "--all")
        #expect(during.output.contains(/sys .* runs since today/), "\(during.output)")
        #expect(try nagios("--warn", "26h").code == 0)
        try long.finish().expect(0)
        #expect(try run("status", "--all").output.contains(/sys .* the same/))
        #expect(try nagios("--warn", "26h").code == 0)
    }

    /// The job is found by its name even after a run by hand.
    @Test func aRunByHandIsOneOfTheJobsTarget() throws {
        try begin()
        try emptySource()
        #expect(try run("apply", "source", "t").code == 4)
        #expect(try run("status", "sys").output.contains("   refused: "))
        try scene.remove("settings.json")
        #expect(
            try scene.here(
                ["status", "--nagios", "sys"],
                environment: ["FSYNC_LITE_STATE": scene.path("known")]
            ).output.contains("sys: last good run "))
    }

    @Test func plainApplyAndFailuresCount() throws {
        #expect(try run("apply", "source", "t").code == 0)
        #expect(try run("apply", "nothing", "t").code == 66)
        let lines = try run("status", "./t/").output.split(separator: "\n")
        #expect(lines[1].contains("   failed: ") && lines[1].contains("does not exist"), "\(lines)")
        // Looking is not a run.
        let before = try texts()
        for words in [["plan", "source", "t"], ["apply", "--dry-run", "source", "t"]] {
            _ = try scene.here(words, environment: ["FSYNC_LITE_STATE": scene.path("known")])
        }
        #expect(try texts() == before)
    }

    /// The target was mirrored, but the run is not complete.
    @Test func aFailedCommandAfterTheRunIsItsReason() throws {
        try addKey(#""after": ["sh", "-c", "exit 9"]"#)
        for option in ["--create-target", "--quiet"] {
            #expect(try run("run", "sys", option).code == 3)
            let status = try run("status", "sys", "--json").json()
            #expect(status.number("last_attempt_exit_code") == 3)
            #expect(status.text("last_attempt_result") == "incomplete")
            #expect(status.text("last_attempt_reason") == "command")
            #expect(status.text("last_attempt_message") == "after: sh: exit code 9")
            #expect(try run("status", "sys").output.contains(", after: sh: exit code 9\n"))
        }
    }

    // MARK: The record

    /// No document that everybody may read has names of files.
    @Test func messagesAreForTheOwnerAlone() throws {
        try begin()
        try refuseARun()
        #expect(try documents(".json").count == 2)
        #expect(try documents(".private.json").count == 1)
        #expect(try texts().allSatisfy { !$0.contains("/") })
        for (ending, mode) in [(".json", 0o644), (".private.json", 0o600)] as [(String, UInt32)] {
            for name in try documents(ending) {
                #expect(try scene.status("known/attempts/\(name)").st_mode & 0o777 == mode)
            }
        }
    }

    @Test(arguments: ["", "{", "[]", #"{"version":1,"runs":[{"id":"x","began":"?"}]}"#])
    func damagedRecordStopsNoRun(text: String) throws {
        try begin()
        for name in try documents("") where name != "lock" {
            try text.write(toFile: scene.path("known/attempts/\(name)"), atomically: true, encoding: .utf8)
        }
        #expect(try run("status", "sys").code == 0)
        let again = try run("run", "sys")
        #expect(again.code == 0 && !again.errors.contains("recorded"), "\(again.errors)")
        #expect(try run("status", "sys").output.hasPrefix("last good run   "))
    }

    @Test func recordThatCannotBeWrittenStopsNoRun() throws {
        try scene.build("a file", at: "known")
        try run("apply", "source", "t").expect(0, says: "note: this run is not recorded for 'status': ")
        for words in [["apply", "--json", "source", "t"], ["run", "--json", "home", "--create-target"]] {
            let document = try self.run(words)
            #expect(
                document.output.contains(#""notes":["this run is not recorded for 'status': "#),
                "\(document.output)")
            #expect(document.errors.components(separatedBy: "not recorded").count == 2)
        }
        let quiet = try self.run("apply", "--quiet", "source", "t")
        #expect(quiet.code == 0 && quiet.errors.isEmpty, "\(quiet.errors)")
    }

    /// No run waits for a record.
    @Test func recordThatIsLockedStopsNoRun() throws {
        try begin()
        let lock = open(scene.path("known/attempts/lock"), O_RDWR)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        defer { close(lock) }
        let began = ContinuousClock.now
        let run = try run("run", "sys")
        #expect(run.code == 0 && ContinuousClock.now - began < .seconds(20), "\(run.errors)")
        #expect(
            run.errors.contains("note: this run is not recorded for 'status': ")
                && run.errors.contains("known/attempts/lock: another process has had this lock"),
            "\(run.errors)")
        flock(lock, LOCK_UN)
        #expect(try !self.run("run", "sys").errors.contains("recorded"))
    }

    @Test func recordIsBoundedAndKeepsTheLastGoodRun() throws {
        try begin()
        try emptySource()
        for _ in 0..<101 { #expect(try run("run", "sys").code == 4) }
        #expect(try run("status", "sys").output.hasPrefix("last good run   "))
        let sizes = try documents("").map { try scene.status("known/attempts/\($0)").st_size }
        #expect(sizes.max() ?? 0 < 40_000, "\(sizes)")
    }

    @Test func runsAtTheSameTimeAreAllRecorded() throws {
        try begin()
        let together = try (0..<4).map { number in
            try scene.build([:], at: "t\(number)")
            return try RunningCommand(
                ["apply", "source", "t\(number)"], in: scene.directory.path,
                environment: ["FSYNC_LITE_STATE": scene.path("known")])
        }
        for command in together { #expect(try command.finish().code == 0) }
        for number in 0..<4 { #expect(try run("status", "t\(number)").output.hasPrefix("last good run   ")) }
    }

    // MARK: Nagios

    private func nagios(_ words: String...) throws -> CommandRun { try nagios(words) }

    /// Its output is one line, and begins with the name of the service.
    private func nagios(_ words: [String]) throws -> CommandRun {
        let run = try scene.here(
            ["status", "--nagios", "--settings", scene.path("settings.json")] + words,
            environment: ["FSYNC_LITE_STATE": scene.path("known")])
        #expect(run.output.count { $0 == "\n" } == 1 && run.errors.isEmpty, "\(run)")
        #expect(run.output.hasPrefix("FSYNC-LITE "), "\(run)")
        return run
    }

    @Test func oneLineTellsTheWorst() throws {
        try nagios().expect(prints: "FSYNC-LITE UNKNOWN: ")
        try begin()
        let limits = ["--warn", "26h", "--max-age", "50h"]
        let good = try nagios(limits).expect(0)
        #expect(
            good.output.wholeMatch(
                of: /FSYNC-LITE OK: 2 jobs, .* \| home_age=\ds;93600;180000 sys_age=\ds;93600;180000\n/)
                != nil,
            "\(good)")
        try refuseARun()
        let refused = try nagios(limits).expect(1, prints: "FSYNC-LITE WARNING: sys: last good run ")
        #expect(refused.output.contains(/; today \d\d:\d\d refused: the source is empty/), "\(refused)")
        try nagios("home").expect(0)
        try age(byDays: 2)
        try nagios(limits).expect(1, prints: "home: last good run 2 d ago")
        try age(byDays: 1)
        let old = try nagios(limits + ["home", "sys"]).expect(2, prints: "FSYNC-LITE CRITICAL: ")
        #expect(old.output.contains(/home_age=2592\d\ds;93600;180000/), "\(old)")
        // A wrong clock must not make a run good forever.
        try age(byDays: -30)
        try nagios("--max-age", "50h").expect(3, prints: "in the future: is the clock right?")
    }

    /// Faults in spite of a good run: a failed command after it, an interrupted commit, and rot.
    @Test func oneLineTellsWhatAGoodRunDoesNot() throws {
        try begin()
        let settings = try scene.text("settings.json")
        try scene.build(
            .file(
                settings.replacing(
                    "\"home\": {", with: "\"home\": {\"after\": [\"sh\", \"-c\", \"exit 9\"], ")),
            at: "settings.json")
        #expect(try run("run", "home").code == 3)
        try nagios().expect(1, prints: "; today ")
        #expect(try run("status", "--all").output.contains(", incomplete"))
        try scene.build(.file(settings), at: "settings.json")
        #expect(try run("run", "home").code == 0)
        #expect(try nagios().code == 0)
        let state = "h/.fsync-lite"
        try scene.build(.file(""), at: "\(state)/journal")
        try nagios("home").expect(2, prints: "a commit was interrupted")
        try scene.remove("\(state)/journal")
        try scene.build(
            .file(
                "{\"ended\": \"2026-01-01T00:00:00Z\", \"part\": 1, \"parts\": 1, \"files_read\": 1, "
                    + "\"files_without_digest\": 0, \"rotten\": 1, \"other_differences\": 0, \"damaged_snapshots\": 0}"
            ),
            at: "\(state)/last-check")
        try nagios().expect(2, prints: "home: ", "1 rotten")
        #expect(try run("status", "--all").output.contains("see: fsync-lite status home"))
    }

    /// Jobs of other or older settings have no effect on the state of these jobs.
    @Test func onlyTheJobsOfTheSettingsAreJudged() throws {
        try begin()
        try refuseARun()
        #expect(try nagios().code == 1)
        let settings = try scene.text("settings.json")
        let home = try #require(settings.firstMatch(of: /"home": \{[^}]*\}/)).output
        try scene.build(.file("{\"jobs\": {\(home)}}"), at: "settings.json")
        #expect(try !nagios().expect(0).output.contains("sys"))
    }

    /// The clock was a year ahead, and is right again.
    @Test func laterRunsTakeThePlaceOfOneFromTheFuture() throws {
        try begin()
        try age(byDays: -365)
        #expect(try nagios("--max-age", "50h").code == 3)
        for _ in 1...2 { #expect(try run("run", "--all").code == 0) }
        #expect(try nagios("--max-age", "50h").code == 0)
        let year = Date.now.formatted(.iso8601).prefix(4)
        #expect(try run("status", "sys").output.hasPrefix("last good run   \(year)-"))
        #expect(try run("status", "sys", "--json").json().text("last_good_run")?.hasPrefix(year) == true)
        // A bad run is the last attempt, too.
        try age(byDays: -365)
        try refuseARun()
        #expect(try run("status", "sys").output.contains("\nlast attempt    \(year)-"))
        try nagios("sys").expect(prints: " refused: the source is empty")
    }

    /// The run of another machine is newer than a record whose clock was ahead.
    @Test func aTargetsRunTakesThePlaceOfARecordFromTheFuture() throws {
        try begin()
        try age(byDays: -365)
        let status = try run("status", "sys", "--max-age", "1h")
        #expect(status.code == 0 && status.output.hasPrefix("last good run   "), "\(status.errors)")
        #expect(status.output.contains(" s ago"), "\(status.output)")
    }

    @Test func noErrorHasAnotherExitCode() throws {
        try begin()
        for words in [
            ["nobody"], ["--warn", "soon"], ["--json"], ["--prometheus"], ["--since", "7d"], ["--bogus"],
            ["--all", "sys"], ["--warn"],
        ] {
            try nagios(words).expect(3, prints: "FSYNC-LITE UNKNOWN: ")
        }
        for words in [["--since", "7d", "--prometheus"], ["--json", "--prometheus", "sys"]] {
            #expect(try run(["status"] + words).code == 64, "\(words)")
        }
    }

    /// Jobs of damaged settings are unknown, even if their runs are recorded.
    @Test func settingsWithAnErrorAreUnknown() throws {
        try begin()
        for text in ["{", nil] {
            try scene.remove("settings.json")
            if let text { try scene.build(.file(text), at: "settings.json") }
            for words in [[], ["sys"]] {
                try nagios(words).expect(3, prints: "FSYNC-LITE UNKNOWN: ", "settings.json")
            }
        }
    }

    /// As in `status`, with the same note.
    @Test func aNameOfAJobAndATargetIsTheTarget() throws {
        try begin()
        #expect(try run("apply", "source", "sys").code == 0)
        try refuseARun()
        let asked = try run("status", "--nagios", "sys")
        #expect(asked.code == 0 && asked.output.hasPrefix("FSYNC-LITE OK: "), "\(asked.output)")
        #expect(
            asked.errors.contains("note: 'sys' is the target in this directory, not the job of this name"))
        #expect(try run("status", "sys").errors == asked.errors.replacing(" --nagios", with: ""))
    }

    /// Everybody may see ages and results, but not messages.
    @Test(.needs(.root)) func anotherUserMayAsk() throws {
        try begin()
        try refuseARun()
        try scene.remove("settings.json")
        for path in [scene.directory.path, scene.path("known"), scene.path("known/attempts")] {
            chmod(path, 0o755)
        }
        let run = try CommandRun(
            ["status", "--nagios"], as: .ordinary, in: scene.directory.path,
            environment: ["FSYNC_LITE_STATE": scene.path("known")]
        ).expect(1)
        #expect(
            run.output.contains(/sys: last good run .* refused: empty source \| home_age=/), "\(run.output)")
    }

    @Test func jobThatIsPausedIsShown() throws {
        try begin()
        try addKey(#""disabled": true"#)
        #expect(try run("status", "--all").output.contains(/sys   .*  paused +6 B   -\n/))
        #expect(try run("status", "--prometheus").output.contains(/job_disabled\{job="sys",[^}]*\} 1\n/))
        try age(byDays: 9)
        #expect(try nagios("--max-age", "1d", "sys").code == 0)
    }

    @Test func pausedJobsAreCountedApart() throws {
        try addKey(#""disabled": true"#)
        #expect(try nagios("sys").expect(0).output == "FSYNC-LITE OK: 1 job is paused\n")
        #expect(try run("plan", "--job", "sys", "--create-target").code == 0 && !scene.exists("t"))
        #expect(try run("run", "home", "--create-target").code == 0)
        for (limits, text) in [
            ([], "no last run failed"), (["--warn", "1d"], "no last good run is too old"),
        ] {
            try nagios(limits + ["sys", "home"]).expect(
                0, prints: "FSYNC-LITE OK: 1 job, \(text); 1 job is paused |")
        }
        #expect(try nagios("--warn", "2d", "--max-age", "1d", "home").code == 3)
    }
}
