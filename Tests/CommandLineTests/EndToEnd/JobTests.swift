import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Jobs: their targets, their plans, how they stand")
struct JobTests {
    /// A job `photos` with more keys, and other jobs.
    private func scene(_ more: String = "", _ others: String = "") throws -> MirrorScene {
        let scene = try MirrorScene(["a": "one", "d": ["x": "x"]], inMemory: true)
        try scene.build(
            .file(
                """
                {"jobs": {"photos": {"source": "\(scene.source)", "target": "\(scene.target)"\(more)}\(others)}}
                """.replacing("HERE", with: scene.directory.path)), at: "settings.json")
        return scene
    }

    private func run(_ scene: MirrorScene, _ words: String...) throws -> CommandRun {
        try scene.run(words + ["--settings", "settings.json"])
    }

    private func expectRefused(
        _ scene: MirrorScene, _ option: String, saying text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try TreeSnapshot(scene.directory.path, withState: true)
        for (words, hint) in [
            (["run", "photos"], "run photos"), (["run", "--all"], "run photos"),
            (["run", "--dry-run", "photos"], "run photos --dry-run"),
            (["plan", "--job", "photos"], "plan --job photos"),
        ] {
            let run = try scene.run(words + ["--settings", "settings.json"]).expect(
                4, sourceLocation: sourceLocation)
            #expect(run.output == "", sourceLocation: sourceLocation)
            #expect(
                run.errors.contains("photos: refused: the target \(scene.target) \(text)"), "\(run.errors)",
                sourceLocation: sourceLocation)
            #expect(
                run.errors.contains(
                    "next: fsync-lite \(hint) \(option) --settings settings.json\n"),
                "\(run.errors)", sourceLocation: sourceLocation)
        }
        let after = try TreeSnapshot(scene.directory.path, withState: true)
        #expect(after.touched(since: before) == [], sourceLocation: sourceLocation)
    }

    // MARK: Names

    @Test func whereAJobIsMissingTheErrorListsThem() throws {
        let scene = try scene("", #", "sys": {"source": "/etc", "target": "/nowhere/etc"}"#)
        let list =
            "the jobs are: photos, sys\nfor all of them: fsync-lite run --all --settings settings.json, "
            + "fsync-lite status --all --settings settings.json\n"
        for (words, message) in [
            (["run"], "'run' is missing JOB"), (["status"], "'status' is missing TARGET"),
            (["run", "all"], "no job 'all' in settings.json"),
            (["plan", "--job", "all"], "no job 'all' in settings.json"),
            (["settings", "show", "all"], "no job 'all' in settings.json"),
            (["status", "all"], "no job 'all' in settings.json, and no directory of this name here"),
            (["run", "phtos"], "no job 'phtos' in settings.json\ndid you mean 'photos'?"),
        ] {
            let run = try scene.run(words + ["--settings", "settings.json"])
            #expect(run.code == 64 && run.output == "", "\(words)")
            let said = run.errors.replacing("fsync-lite: ", with: "")
            #expect(said == "\(message)\n\(list)", "\(words): \(said)")
        }
        // A path is not a job, and without jobs there is nothing to list.
        #expect(try run(scene, "status", "./all").code == 66)
        try scene.build("{}", at: "settings.json")
        #expect(try run(scene, "status", "all").code == 66)
        #expect(try run(scene, "run").errors.contains("settings.json has no jobs"))
    }

    @Test func hooksGetTheNameOfTheirJob() throws {
        let scene = try scene(
            #", "before": ["sh", "-c", "echo before $FSYNC_LITE_JOB >> HERE/said"]"#
                + #", "after": ["sh", "-c", "env | grep -c ^FSYNC_LITE_JOB= >> HERE/said"]"#)
        try scene.here(
            ["run", "photos", "--create-target", "--settings", "settings.json"],
            environment: ["FSYNC_LITE_JOB": "other"]
        ).expect(0, prints: "photos: 3 created; 0 unchanged; 4 B copied\n")
        #expect(try scene.text("said") == "before photos\n1\n")
    }

    /// A mail for people, even if much was not done, with the safe way before the override.
    @Test func commandsGetTextAndVariables() throws {
        let script =
            "{ cat; echo; env | grep ^FSYNC_LITE_ | grep -v STATE | sort; } > HERE/mail".replacing(
                "\"", with: "\\\"")
        let scene = try scene(
            #", "after": ["sh", "-c", "\#(script)"], "on_failure": ["sh", "-c", "\#(script)"]"#)
        for number in 0..<40 { try scene.build("x", at: "source/file\(number)") }
        #expect(try run(scene, "run", "photos", "--create-target").code == 0)
        #expect(
            try scene.text("mail") == """
                The job photos was mirrored (exit code 0).
                Target: \(scene.target)

                43 created; 0 unchanged; 44 B copied

                FSYNC_LITE_EXIT_CODE=0
                FSYNC_LITE_JOB=photos
                FSYNC_LITE_MESSAGE=
                FSYNC_LITE_OUTCOME=committed
                FSYNC_LITE_TARGET=\(scene.target)

                """)
        try scene.move("source", to: "away")
        try scene.build([:], at: "source")
        let refused = try run(scene, "run", "photos")
        let reasons = "the source is empty, and the target has 43 files and directories. Is a disk missing?"
        let mail = try scene.text("mail").split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        #expect(
            mail.prefix(4) == [
                "The job photos was not mirrored: the run was refused (exit code 4).",
                "Target: \(scene.target)", "", reasons,
            ], "\(mail)")
        let advice = try #require(mail.firstIndex { $0.hasPrefix("next: ") })
        #expect(mail[..<advice].contains("if a disk is missing: mount it, and run the same again"), "\(mail)")
        #expect(mail.count { $0.hasPrefix("- ") } == 9 && mail.contains("... and 34 more"), "\(mail)")
        #expect(
            mail.contains("FSYNC_LITE_MESSAGE=\(reasons)") && mail.contains("FSYNC_LITE_OUTCOME=refused"),
            "\(mail)")
        // A person at a terminal reads the same.
        let said = refused.errors.split(separator: "\n").map(String.init)
        #expect(said.dropLast().last?.hasSuffix("mount it, and run the same again") ?? false, "\(said)")
        // The JSON also has ten examples of the omitted actions, and their number.
        let report = try run(scene, "run", "photos", "--json").json()
        #expect(report.objects("actions").count == 10 && report.number("actions_left_out") == 34)
    }

    /// The mirror is complete, but the run is not. Mail, variables and report agree.
    @Test(arguments: ["text", "json"]) func aFailedCommandAfterTheRunIsTold(format: String) throws {
        let scene = try scene(
            #", "after": ["sh", "-c", "exit 9"], "report": "\#(format)""#
                + #", "on_failure": ["sh", "-c", "cat > HERE/mail; env > HERE/env"]"#)
        for (option, word) in [("--create-target", "committed"), ("--quiet", "unchanged")] {
            try run(scene, "run", "photos", option).expect(3, says: "photos: after: sh: exit code 9")
            try scene.expectMirrored()
            let mail = try scene.text("mail")
            if format == "text" {
                let start = "The job photos was mirrored, but a command of it failed (exit code 3).\n"
                #expect(
                    mail.hasPrefix("\(start)Target: \(scene.target)\n\nafter: sh: exit code 9\n"), "\(mail)")
                #expect(!mail.contains("Not done"), "\(mail)")
            } else {
                let report = try JSONObject(text: mail)
                #expect(report.text("outcome") == word && report.number("exit_code") == 3)
                #expect(report.text("failed_command") == "after: sh: exit code 9")
            }
            let variables = try scene.text("env").split(separator: "\n")
            for line in ["EXIT_CODE=3", "MESSAGE=after: sh: exit code 9", "OUTCOME=\(word)"] {
                #expect(variables.contains("FSYNC_LITE_\(line)"), "\(line)")
            }
        }
    }

    @Test func aRunWithNothingToDoIsToldAsOne() throws {
        let scene = try scene(#", "after": ["sh", "-c", "cat > HERE/mail"]"#)
        #expect(try run(scene, "run", "photos", "--create-target").code == 0)
        #expect(try run(scene, "run", "photos").code == 0)
        #expect(
            try scene.text("mail") == """
                The job photos was up to date (exit code 0).
                Target: \(scene.target)

                nothing to do; 3 unchanged

                """)
    }

    // MARK: Targets

    @Test func noJobBeginsItsTargetUnasked() throws {
        let scene = try scene()
        try expectRefused(scene, "--create-target", saying: "does not exist")
        // The directory below a mount point.
        try scene.build([:], at: "target")
        try expectRefused(scene, "--create-target", saying: "was never written by fsync-lite")
        #expect(try run(scene, "run", "photos", "--create-target").code == 0)
        try scene.expectMirrored()
        for words in [["run", "photos"], ["run", "--all"], ["plan", "--job", "photos"]] {
            #expect(try scene.run(words + ["--settings", "settings.json"]).code == 0)
        }
        // An apply names the target that it begins.
        #expect(try scene.run("apply", "source", "other").code == 0)
    }

    @Test(.needs(.mounts))
    func noJobWritesToAnotherFileSystemThanLastTime() throws {
        let scene = try scene()
        #expect(try run(scene, "run", "photos", "--create-target").code == 0)
        try HostCommand.run("cp", "-a", scene.target, scene.path("copy"))
        try TestDisk.tmpfs(options: "size=8m").mounted(at: scene.target) {
            try HostCommand.run("cp", "-a", scene.path("copy/."), scene.target)
            try expectRefused(scene, "--change-target", saying: "is on another file system than last time")
            try run(scene, "status", "--all").expect(
                prints: "mount its disk; if it was moved: fsync-lite run photos --change-target")
            #expect(try run(scene, "run", "photos", "--change-target").code == 0)
            #expect(try run(scene, "run", "photos").code == 0)
        }
        #expect(try run(scene, "run", "photos").code == 0)
    }

    @Test func onlyTheCommandLineBeginsATargetAndOnlyOne() throws {
        let scene = try scene("", #", "b": {"source": "HERE/source", "target": "HERE/t2"}"#)
        for words in [["--all"], ["photos", "b"]] {
            for option in ["--create-target", "--change-target"] {
                try scene.run(["run", option, "--settings", "settings.json"] + words).expect(
                    64, says: "next: fsync-lite run JOB \(option)")
            }
        }
        #expect(!scene.exists("target") && !scene.exists("t2"))
        #expect(try scene.run("plan", "source", "target", "--create-target").code == 64)
        let setting = try self.scene(#", "create_target": true"#)
        #expect(try run(setting, "run", "photos").code == 65)
    }

    // MARK: Plans

    @Test func planOfAJobIsWhatItDoesAndRunsNothing() throws {
        let hook =
            #", "exclude": ["d"], "quiet": true, "before": ["touch", "HERE/hook"], "on_failure": ["touch", "HERE/hook"]"#
        let scene = try scene(hook)
        for words in [["plan", "--job", "photos"], ["run", "--dry-run", "photos"]] {
            let plan = try scene.run(words + ["--create-target", "--settings", "settings.json"]).expect(0)
            #expect(plan.output == "+ a  3 B  (new)\nphotos: 1 to create; 0 unchanged; 3 B to copy\n")
        }
        #expect(!scene.exists("target") && !scene.exists("hook"))
        #expect(try run(scene, "plan", "--job", "photos", "--create-target", "-q").output == "")
        let document = try run(scene, "run", "--dry-run", "--json", "photos", "--create-target").json()
        #expect(document.text("format") == "fsync-lite-plan" && document.actionLines == ["create a (new)"])
        #expect(try run(scene, "plan", "--job", "nobody").code == 64)
        #expect(try run(scene, "plan", "--job", "photos", "source").code == 64)
        try scene.run("plan", "photos").expect(64, says: "for a job: fsync-lite plan --job photos; usage: ")
        #expect(try run(scene, "plan", "--job", "photos", "--create-target", "--exit-code").code == 2)
    }

    // MARK: Standing

    @Test func allJobsAreOneTable() throws {
        let scene = try scene("", #", "b": {"source": "HERE/source", "target": "HERE/t2"}"#)
        #expect(try run(scene, "run", "photos", "--create-target").code == 0)
        let all = try run(scene, "status", "--all").expect(
            66, says: "b: \(scene.path("t2")): the target does not exist")
        let lines = all.output.split(separator: "\n")
        try #require(lines.count == 3)
        #expect(lines[0].wholeMatch(of: /job     last good run  last attempt  size  next/) != nil, "\(lines)")
        let first = "mount its disk; to begin it: fsync-lite run b --create-target --settings settings.json"
        #expect(lines[1].hasSuffix("  -     \(first)"), "\(lines)")
        #expect(lines[2].wholeMatch(of: /photos  \S+ \S+ +the same      4 B   -/) != nil, "\(lines)")
        try scene.noteLastRun(daysAgo: 3, problems: 2)
        let late = try run(scene, "status", "--all", "--max-age", "1d").output
        #expect(
            late.contains("2 not mirrored  4 B   fsync-lite plan --job photos --settings"), "\(late)")
        try scene.noteLastRun(daysAgo: 3)
        #expect(
            try run(scene, "status", "--all", "--max-age", "1d").output.contains(
                "fsync-lite run photos --settings"))

        let targets = try run(scene, "status", "--all", "--json").json().objects("targets")
        try #require(targets.map { $0.text("job") } == ["b", "photos"])
        #expect(targets.map { $0.text("state") } == ["unknown", "committed"])
        #expect(targets[0].text("next") == first && targets[1].object("summary")?.number("bytes") == 4)
    }

    @Test func statusTellsADirectoryFromAJobOfItsName() throws {
        let scene = try scene()
        try scene.build([:], at: "photos")
        #expect(try run(scene, "run", "photos", "--create-target").code == 0)
        let job = try run(scene, "status", "photos").expect(
            0, prints: "target     \(scene.target)\n", "holds      2 files, 1 directory, 0 symlinks")
        #expect(job.errors == "")
        #expect(try run(scene, "status", "./photos").code == 66)
        #expect(try run(scene, "status", "photos", "--json").json().text("target") == scene.target)
        // A target of that name remains unchanged.
        #expect(try scene.run("apply", "source/d", "photos").code == 0)
        try run(scene, "status", "photos").expect(
            0, says: "fsync-lite status \(scene.target)", prints: "target     photos\n",
            "holds      1 file, 0 directories")
        #expect(try run(scene, "status", "./photos").errors == "")
        // For a directory, settings with an error do not matter.
        try scene.build(.file("{", mode: 0o600), at: "broken.json")
        #expect(try scene.run("status", "photos", "--settings", "broken.json").code == 0)
    }

    @Test func theNameOfAJobMeansItsTarget() throws {
        let scene = try scene()
        try #require(try run(scene, "run", "photos", "--create-target").code == 0)
        try scene.append("!", to: "source/a")
        try #require(try run(scene, "run", "photos").code == 0)
        try scene.build([:], at: "fsync-lite")
        try scene.move("settings.json", to: "fsync-lite/settings.json")
        func named(_ words: String...) throws -> CommandRun {
            try scene.here(words, environment: ["XDG_CONFIG_HOME": scene.directory.path])
        }
        try named("snapshot", "list", "photos").expect(0, prints: "initial")
        let text = try String(contentsOfFile: scene.path("fsync-lite/settings.json"), encoding: .utf8)
        try text.replacing(#""source""#, with: #""keep_last": 30, "source""#).replacing(
            #"{"jobs""#, with: #"{"defaults": {"keep_last": 1}, "jobs""#
        ).write(toFile: scene.path("fsync-lite/settings.json"), atomically: true, encoding: .utf8)
        try named("snapshot", "prune", "photos").expect(0, prints: "keep_last 30")
        try named("undo", "photos").expect(0)
        #expect(try scene.text("target/a") == "one")
        try named("undo", "fotos").expect(64, says: "no job 'fotos' in")
        // A target of that name is preferred.
        #expect(try scene.run("apply", "source/d", "photos").code == 0)
        try named("undo", "photos").expect(0, says: "is the target in this directory, not the job")
        #expect(try scene.text("target/a") == "one" && !scene.exists("photos/x"))
    }

    // MARK: Metrics

    @Test func metricsAreWhatACollectorReads() throws {
        let scene = try scene("", #", "b \"\\ü": {"source": "HERE/source", "target": "HERE/t\n2"}"#)
        #expect(try run(scene, "run", "photos", "--create-target").code == 0)
        try scene.noteLastRun(daysAgo: 3, problems: 2)
        let run = try run(scene, "status", "--prometheus")
        #expect(run.code == 0 && run.errors == "")
        var families: [String: [Substring]] = [:]
        var family = ""
        for line in run.output.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            if line.hasPrefix("# HELP ") {
                family = String(words[2])
                #expect(families[family] == nil, "\(family) begins twice")
                families[family] = []
            } else if line.hasPrefix("# TYPE ") {
                #expect(line == "# TYPE \(family) gauge" && families[family] == [])
            } else {
                #expect(line.hasPrefix("\(family){"))
                families[family]?.append(line)
            }
        }
        let target = #"{job="photos",target="\#(scene.target)"}"#
        func sample(_ name: String) -> Double? {
            families["fsync_lite_\(name)"]?.first { $0.hasPrefix("fsync_lite_\(name)\(target) ") }
                .flatMap { $0.split(separator: " ").last.flatMap { Double($0) } }
        }
        let now = Date().timeIntervalSince1970
        #expect(sample("up") == 1 && sample("entries") == 3 && sample("bytes") == 4)
        #expect(sample("last_run_result") == 3 && sample("last_run_problems") == 2)
        #expect(sample("last_run_duration_seconds") == 0)
        #expect(abs((sample("last_run_timestamp_seconds") ?? 0) - now + 3 * 86_400) < 600)
        #expect(abs((sample("last_run_age_seconds") ?? 0) - 3 * 86_400) < 600)
        #expect(
            families["fsync_lite_up"]?.first
                == #"fsync_lite_up{job="b \"\\ü",target="\#(scene.directory.path)/t\n2"} 0"#)
        #expect(try scene.run("status", "--prometheus", "target").output.contains(#"{target="target"}"#))
        #expect(try scene.run("status", "--prometheus", "--json", "target").code == 64)
    }

    @Test(arguments: [
        (#""source": "/a", "sources": {"b": "/b"}"#, "has \"source\" or \"sources\", not both"),
        (#""sources": {}"#, "An object is needed"), (#""sources": ["/a"]"#, "An object is needed"),
        (#""sources": {"a/b": "/b"}"#, "A name of a source is one component of a path"),
        (#""sources": {"..": "/b"}"#, "A name of a source is one component of a path"),
        (#""sources": {".fsync-lite": "/b"}"#, "This name is reserved"),
        (
            #""sources": {"\#(String(repeating: "n", count: 256))": "/b"}"#,
            "A name of a source has at most 255 bytes"
        ),
        (#""sources": {"a": "/a", "a": "/b"}"#, "twice"),
        (#""sources": {"a": "nas:/a", "b": "/b"}"#, "make a job of each that is on another one"),
        (#""sources": {"a": "b"}"#, "A path from / or ~/"),
        (#""source": "nas:""#, "This names another machine, but a path is missing after the host"),
        (#""source": "ssh://nas:ssh/a""#, "This names another machine, but the port is not a number"),
        (#""sources": {"a": "-nas:/a"}"#, "This names another machine, but the host begins with -"),
        (#""source": "/a", "report": "xml""#, #"give "text" or "json""#),
    ])
    func invalidKeysOfAJobAreErrorsWithTheirLocation(_ keys: String, _ text: String) throws {
        let scene = try MirrorScene([:], inMemory: true)
        try scene.build(.file(#"{"jobs": {"all": {"target": "/t", \#(keys)}}}"#), at: "settings.json")
        try scene.run("run", "all", "--settings", "settings.json").expect(
            65, says: text, "settings.json: line 1, column ")
    }
}
