import Foundation
import TestSupport
import Testing

@Suite("Settings and jobs")
struct SettingsTests {
    /// Two trees, with a settings file beside them.
    private func scene(_ settings: String, name: String = "settings.json") throws -> MirrorScene {
        let scene = try MirrorScene(["a": "1", "b.tmp": "2", "c.log": "3"], inMemory: true)
        try write(settings, to: scene, name)
        return scene
    }

    /// `SOURCE` and `TARGET` are replaced by the paths.
    private func write(_ settings: String, to scene: MirrorScene, _ name: String = "settings.json") throws {
        let text = settings.replacing("SOURCE", with: scene.source).replacing("TARGET", with: scene.target)
            .replacing("HERE", with: scene.directory.path)
        try scene.build(.file(text), at: name)
    }

    private func job(_ more: String) -> String {
        #"{"jobs": {"photos": {"source": "SOURCE", "target": "TARGET"\#(more)}}}"#
    }

    private func run(_ scene: MirrorScene, _ arguments: String...) throws -> CommandRun {
        try scene.run(["run", "--settings", "settings.json"] + arguments)
    }

    // MARK: Jobs

    @Test func flagsBeatJobWhichBeatsTargetWhichBeatsDefaults() throws {
        let scene = try scene(
            #"{"defaults": {"max_size": 1, "no_delete": true, "keep_last": 9, "exclude": ["*.tmp"]}, "jobs": {"#
                + #""photos": {"source": "SOURCE", "target": "TARGET", "keep_last": 7, "exclude": ["*.log"]}}}"#
        )
        try scene.mirror()
        try scene.build(
            .file(#"{"defaults": {"no_delete": false, "keep_last": 8}}"#, mode: 0o600),
            at: "target/.fsync-lite/settings.json")
        let options = ["--settings", "settings.json"]
        let shown = try scene.run(["settings", "show", "photos", "--all"] + options).output
        func line(_ key: String) -> [String] {
            shown.split(separator: "\n").filter { $0.hasPrefix("\(key) ") }
                .map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
        }
        #expect(line("keep_last") == ["7 settings.json:1"])
        #expect(line("no_delete") == ["false \(scene.target)/.fsync-lite/settings.json:1"])
        #expect(line("max_size") == ["1 settings.json:1"])
        #expect(line("exclude") == ["'*.tmp' settings.json:1", "'*.log' settings.json:1"])
        #expect(line("adopt") == ["false default"])
        // Without --all, unset keys are left out, and everything else is the same.
        let set = shown.split(separator: "\n").filter { !$0.hasSuffix(" default") }
        #expect(set.count < 12 && set.contains { $0.hasPrefix("no_delete ") })
        #expect(try scene.run(["settings", "show", "photos"] + options).lines == set.map(String.init))
        // The run agrees with it: a larger file and excluded ones are omitted, and files are deleted.
        try scene.build("large", at: "source/large")
        try scene.build("k", at: "source/k")
        try scene.remove("source/a")
        try scene.append("+", to: "source/c.log")
        try run(scene, "photos").expect(0)
        #expect(!scene.exists("target/large") && !scene.exists("target/a") && scene.exists("target/k"))
        #expect(try scene.text("target/c.log") == "3")
        #expect(try run(scene, "photos", "--max-size", "1k", "--include", "c.log").code == 0)
        #expect(scene.exists("target/large"))
        #expect(try scene.text("target/c.log") == "3+")
    }

    @Test func tildeIsTheHomeDirectory() throws {
        let scene = try scene(
            #"{"jobs": {"photos": {"source": "~/source", "target": "~/target", "log_file": "~/log"}}}"#)
        let job = ["run", "photos", "--create-target", "--settings", "settings.json"]
        try RunningCommand(
            job, in: scene.directory.path, environment: ["HOME": scene.directory.path]
        ).finish().expect(0)
        try scene.expectMirrored()
        #expect(try scene.text("log").contains("photos: run committed"))
        let homeless = try RunningCommand(job, in: scene.directory.path, environment: ["HOME": ""]).finish()
        // The home is then that of the password database, without such a source.
        #expect(homeless.code == 66)
        let home = String(cString: getpwuid(getuid()).pointee.pw_dir)
        #expect(homeless.errors.contains("\(home)/source: the source does not exist"), "\(homeless.errors)")
    }

    /// Settings of an earlier version.
    @Test func keysOfRemovedOptionsChangeNothing() throws {
        let scene = try scene(
            #"{"defaults": {"ignore_change_time": true},"# + "\n"
                + #""jobs": {"photos": {"source": "SOURCE", "target": "TARGET","# + "\n"
                + #""reflink": true}}}"#)
        let run = try run(scene, "photos", "--create-target").expect(0)
        let notes = run.errors.split(separator: "\n")
        #expect(notes.count == 2, "\(notes)")
        #expect(
            notes[0].hasPrefix(
                #"fsync-lite: note: settings.json:1: remove "ignore_change_time", which changes nothing: "#)
                && notes[1].hasPrefix(#"fsync-lite: note: settings.json:3: remove "reflink", "#),
            "\(notes)")
        #expect(try self.run(scene, "--quiet", "photos").errors == "")
        try scene.build(
            .file(#"{"defaults": {"reflink": false}}"#, mode: 0o600), at: "target/.fsync-lite/settings.json")
        try scene.run("apply", "source", "target").expect(0, says: "settings.json:1: remove ")
    }

    @Test func allGoesOnAndGivesTheFirstCodeThatIsNotZero() throws {
        let scene = try scene(
            #"{"jobs": {"1": {"source": "HERE/missing", "target": "HERE/t1"}, "#
                + #""2": {"source": "SOURCE", "target": "HERE/no/t2"}, "3": {"source": "SOURCE", "target": "TARGET"}}}"#
        )
        try scene.mirror()
        try scene.append("+", to: "source/a")
        try run(scene, "--all").expect(
            66, says: "1: \(scene.path("missing")): the source does not exist", "2: refused: ")
        try scene.expectMirrored()
        #expect(try self.run(scene, "3", "2").code == 4)
    }

    // MARK: Hooks

    @Test func hooksRunInOrderWithTheReport() throws {
        let scene = try scene(
            job(
                #", "before": ["sh", "-c", "echo before >> HERE/log; cat >> HERE/log"], "#
                    + #""after": ["sh", "-c", "cat > HERE/report; echo after >> HERE/log; echo said"], "on_failure": "false", "report": "json""#
            ))
        let run = try run(scene, "photos", "--json", "--create-target").expect(0)
        #expect(try scene.text("log") == "before\nafter\n")
        #expect(try JSONObject(text: scene.text("report")).text("outcome") == "committed")
        #expect(try run.json().text("outcome") == "committed")
        #expect(run.errors == "said\n")
    }

    @Test func failedBeforeMeansNoApply() throws {
        let scene = try scene(
            job(
                #", "before": ["sh", "-c", "exit 7"], "after": ["touch", "HERE/after"], "#
                    + #""on_failure": ["sh", "-c", "cat > HERE/report"], "log_file": "HERE/log", "report": "json""#
            ))
        let run = try run(scene, "photos").expect(1)
        #expect(run.errors == "fsync-lite: photos: before: sh: exit code 7; nothing was applied\n")
        #expect(!scene.exists("target") && !scene.exists("after"))
        #expect(try JSONObject(text: scene.text("report")).text("outcome") == "failed")
        #expect(try scene.text("log").contains("before: sh: exit code 7"))
    }

    @Test func commandThatIsNotThereNamesThePath() throws {
        let scene = try scene(job(#", "before": "no-such-command""#))
        try scene.here(
            ["run", "photos", "--settings", "settings.json"],
            under: ["env", "-i", "PATH=/usr/bin:/one/more"]
        ).expect(1, says: "before: no-such-command: there is no such command in the PATH, /usr/bin:/one/more")
        // A path may contain spaces. A line may begin with one.
        try write(job(#", "before": "/bin/echo words""#), to: scene)
        try self.run(scene, "photos").expect(1, says: #"["sh", "-c", "LINE"]"#)
    }

    @Test func onFailureRunsForWhatWasRefusedAndMissing() throws {
        let scene = try scene(job(#", "report": "json", "on_failure": ["sh", "-c", "cat >> HERE/report"]"#))
        try scene.build(["theirs": "1"], at: "target")
        #expect(try run(scene, "photos").code == 4)
        #expect(try JSONObject(text: scene.text("report")).text("outcome") == "refused")
        try scene.move("source", to: "away")
        try scene.remove("report")
        #expect(try run(scene, "photos").code == 66)
        #expect(try scene.text("report").contains("the source does not exist"))
    }

    // MARK: Strictness

    /// Each with the texts that the message must have.
    private static let wrong: [(String, [String])] = [
        ("{\n\"default\": {}}", ["line 2", "default", "unknown"]),
        ("{\"defaults\": {\n\"exlude\": []}}", ["line 2", "defaults.exlude", "did you mean exclude"]),
        ("{\"defaults\": {\"quiet\": true,\n\n\"quiet\": false}}", ["line 3", "defaults.quiet", "twice"]),
        ("{\"defaults\": {\n\"quiet\": 1}}", ["line 2", "defaults.quiet", "true or false"]),
        ("{\"defaults\": {\n\"exclude\": \"x\"}}", ["line 2", "defaults.exclude", "list of texts"]),
        ("{\"defaults\": {\n\"exclude\": [7]}}", ["line 2", "defaults.exclude", "list of texts"]),
        ("{\"defaults\": {\n\"max_size\": true}}", ["line 2", "defaults.max_size", "text or a number"]),
        ("{\"defaults\": {\n\"max_delete\": \"lots\"}}", ["line 2", "defaults.max_delete", "lots"]),
        ("{\"defaults\": {\n\"max_delete\": 1.5}}", ["line 2", "defaults.max_delete"]),
        ("{\"defaults\": {\n\"log_file\": \"here.log\"}}", ["line 2", "defaults.log_file", "from /"]),
        ("{\"defaults\": {\n\"before\": \"x\"}}", ["line 2", "defaults.before", "unknown"]),
        (
            "{\"jobs\": {\n\"Photos\": {\"source\": \"/s\"}}}",
            ["line 2", "jobs.Photos", "\"target\" is missing"]
        ),
        ("{\"jobs\": {\"p\": {\"target\": \"/t\",\n\"source\": \"s\"}}}", ["line 2", "jobs.p.source"]),
        (
            "{\"jobs\": {\"p\": {\"target\": \"/t\", \"source\": \"/s\",\n\"after\": []}}}",
            ["line 2", "jobs.p.after", #"["sh", "-c", "LINE"]"#]
        ),
        (
            "{\"jobs\": {\"p\": {\"target\": \"/t\", \"source\": \"/s\",\n \"before\": \"mount /mnt && date\"}}}",
            ["line 2, column 2: jobs.p.before", "is a line, not a command", #"["sh", "-c", "LINE"]"#]
        ),
        (
            "{\"jobs\": {\"p\": {\"target\": \"/t\", \"source\": \"/s\",\n\"disabled\": 1}}}",
            ["line 2", "jobs.p.disabled", "true or false"]
        ),
        ("{\"jobs\": {\"p\": 1,\n\"p\": 2}}", ["line 2", "jobs.p", "twice"]),
        ("{\"jobs\": {},\n}", ["line 2"]), ("{\n\"jobs\": {}", ["line 3", "ends early"]),
        ("[]", ["line 1, column 1: An object is needed."]),
        ("\nnull", ["line 2, column 1: An object is needed"]),
        ("{\"jobs\":\n{\"j\": null}}", ["line 2, column 2: jobs.j: An object is needed, not null."]),
        ("{\n\"jobs\": null}", ["line 2, column 1: jobs: An object is needed, not null."]),
        ("{\n\"defaults\": null}", ["line 2, column 1: defaults: An object is needed, not null."]),
        ("{\n\"jobs\": [1]}", ["line 2, column 1: jobs: An object is needed."]),
        (
            "{\"jobs\": {\"p\": {\"target\": \"/t\\u0000\",\n\"source\": \"/s\"}}}",
            ["line 1, column 17: jobs.p.target: A path without NUL is needed."]
        ),
        (
            "{\"jobs\": {\"p\": {\"target\": \"/t\",\n\"source\": \"/s\\u0000\"}}}",
            ["line 2, column 1: jobs.p.source: A path without NUL is needed."]
        ),
        ("{\"defaults\": {\n\"log_file\": \"/l\\u0000\"}}", ["line 2, column 1: defaults.log_file", "NUL"]),
        (
            "{\"defaults\": {\n\"exclude\": [\"a\", \"\"]}}",
            ["line 2, column 1: defaults.exclude", "is empty"]
        ),
        (
            "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict><key>defaults</key><dict>\n<key>quiet</key><true/>\n"
                + "<!-- <key>quiet</key> -->\n<key>quiet</key><false/></dict></dict></plist>",
            ["line 5", "defaults.quiet", "twice"]
        ),
        (
            "<plist version=\"1.0\"><dict><key>defaults</key><dict>\n<key>quite</key><true/></dict></dict></plist>",
            ["line 2", "defaults.quite", "did you mean quiet"]
        ),
        (
            "<plist version=\"1.0\"><dict><key>defaults</key><dict>\n<key>quiet</key><integer>1</integer></dict></dict></plist>",
            ["line 2", "defaults.quiet", "true or false"]
        ),
    ]

    @Test(arguments: wrong.indices)
    func mistakesNameFileLineAndKey(index: Int) throws {
        let (text, mentioned) = SettingsTests.wrong[index]
        let name = text.hasPrefix("<") ? "settings.plist" : "settings.json"
        let scene = try scene(text, name: name)
        for arguments in [["run", "--all"], ["settings", "show"]] {
            let run = try scene.run(arguments + ["--settings", name]).expect(65)
            for word in [name] + mentioned { #expect(run.errors.contains(word), "\(word): \(run.errors)") }
        }
    }

    @Test func targetsSettingsHoldNoHooksAndNameTheLine() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true).mirrored()
        try scene.append("2", to: "source/a")
        for (text, mentioned) in [
            ("{\"defaults\": {\n\"before\": \"x\"}}", ": line 2, column 1: defaults.before: "),
            ("{\"keep_last\": 1,\n\"keep_last\": 2}", ": line 2, column 1: keep_last: "),
            ("{\n  \"jobs\": {}}", ": line 2, column 3: jobs: "),
            ("{\n\"keep_last\": \"7\"}", ": line 2, column 1: keep_last: "),
            ("{", ": line 2, column 1: the JSON ends early"),
            ("[]", ": line 1, column 1: An object is needed"),
            ("{\"retention\":7}", ": line 1, column 2: retention: "),
            ("\u{0}", ": line 1, column 1: this is no JSON value"),
        ] {
            try scene.build(.file(text, mode: 0o600), at: "target/.fsync-lite/settings.json")
            let before = try scene.wholeTarget()
            for command in ["plan", "apply"] {
                try scene.run(command, "source", "target").expect(65, says: "settings.json\(mentioned)")
            }
            #expect(try scene.wholeTarget().touched(since: before) == [])
        }
    }

    @Test func byteOrderMarkAtTheBeginningIsAccepted() throws {
        let scene = try scene("\u{FEFF}" + job(""))
        #expect(try run(scene, "photos", "--create-target").code == 0)
        try write("\u{FEFF}{\"jobs\": {}, \"jobs\": {}}", to: scene)
        #expect(try run(scene, "photos").errors.contains("line 1, column 14: jobs: The key is there twice"))
    }

    // MARK: Files

    @Test func settingsLieWhereXDGAndHomeSay() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        for (place, environment) in [
            ("x/fsync-lite", ["XDG_CONFIG_HOME=HERE/x", "HOME=HERE/h"]),
            ("h/.config/fsync-lite", ["HOME=HERE/h"]),
            ("h/.config/fsync-lite", ["XDG_CONFIG_HOME=relative", "HOME=HERE/h"]),
        ] {
            try scene.build(
                ["settings.json": .file(#"{"defaults": {"exclude": ["\#(place)"]}}"#)], at: "made")
            let parent = scene.path(place)
            try FileManager.default.createDirectory(
                atPath: (parent as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try scene.move("made", to: place)
            let run = try scene.here(
                ["settings", "show"],
                under: ["env", "-i"] + environment.map { $0.replacing("HERE", with: scene.directory.path) })
            #expect(run.output.contains("\(place)/settings.json:1"), "\(run.output)\(run.errors)")
            try scene.remove(place)
        }
    }

    @Test func withoutSettingsThereAreDefaultsAndAMissingOneIs66() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        for environment in [[], ["HOME=/dev/null"], ["HOME="]] {
            try scene.here(["apply", "source", "target"], under: ["env", "-i"] + environment).expect(0)
        }
        for words in [
            ["run", "photos"], ["run", "--all"], ["plan", "--job", "photos"], ["settings", "show", "photos"],
            ["status", "--all"],
        ] {
            try scene.here(words, environment: ["HOME": scene.path("home"), "XDG_CONFIG_HOME": ""]).expect(
                64, says: "there are no settings in \(scene.path("home"))/.config/fsync-lite")
        }
        try scene.apply("--settings", "settings.json").expect(66, says: "settings.json")
    }

    @Test(arguments: [[], ["--plist"]])
    func initWritesWhatIsReadAndNeverOverwrites(options: [String]) throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        func run(_ arguments: [String]) throws -> CommandRun {
            try scene.here(arguments, under: ["env", "-i", "HOME=\(scene.directory.path)"])
        }
        #expect(try run(["settings", "init"] + options).code == 0)
        let name = options.isEmpty ? "settings.json" : "settings.plist"
        let written = try scene.text(".config/fsync-lite/\(name)")
        for again in [[], ["--plist"]] {
            try run(["settings", "init"] + again).expect(4, says: name)
        }
        #expect(try scene.text(".config/fsync-lite/\(name)") == written)
        try run(["settings", "show"]).expect(0, prints: "/\(name):", " (disabled)\n")
        #expect(try run(["apply", "source", "target"]).code == 0)
        // The sample shows a job that works, and nothing runs before it is changed.
        for word in ["source", "target", "exclude", "keep_daily", "before", "on_failure", "comment"] {
            #expect(written.contains(word))
        }
        #expect(try run(["settings", "show", "documents"]).output.contains("keep_daily           14 "))
        #expect(try run(["run", "--all"]).code == 0)
        try run(["run", "documents"]).expect(4, says: "/\(name):")
        #expect(try run(["help", "settings", "init"]).output.contains("on_failure"))
    }

    @Test func propertyListSaysTheSame() throws {
        let scene = try MirrorScene(["a": "1", "b.tmp": "2"], inMemory: true)
        try write(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>jobs</key><dict><key>photos</key><dict>
              <!-- <key>source</key> --> <key>source</key><string>SOURCE</string> <key>target</key><string>TARGET</string>
              <key>exclude</key><array><string>*.tmp</string></array> <key>keep_last</key><integer>2</integer>
            </dict></dict></dict></plist>
            """, to: scene, "settings.plist")
        #expect(try scene.run("run", "photos", "--create-target", "--settings", "settings.plist").code == 0)
        #expect(scene.exists("target/a") && !scene.exists("target/b.tmp"))
        // The target's own settings, with keys of two words.
        try scene.build(
            .file(
                "<plist version=\"1.0\"><dict><key>keep_last</key><integer>0</integer></dict></plist>",
                mode: 0o600),
            at: "target/.fsync-lite/settings.plist")
        try scene.append("+", to: "source/a")
        #expect(try scene.apply().code == 0)
        #expect(try scene.run("status", "target", "--json").json().objects("history").isEmpty)
        try scene.build(.file("{}", mode: 0o600), at: "target/.fsync-lite/settings.json")
        try scene.apply().expect(65, says: "remove one of them")
    }

    @Test(arguments: ["-x", "--all", ""]) func nameOfAJobIsNoOption(name: String) throws {
        let scene = try scene(#"{"jobs": {"\#(name)": {"source": "SOURCE", "target": "TARGET"}}}"#)
        try run(scene, "--all").expect(65, says: "does not begin with -")
    }

    @Test func whereNoJobCanRunTheErrorSaysWhy() throws {
        let scene = try scene("{}")
        for words in [["run", "--all"], ["status", "--all"]] {
            try scene.run(words + ["--settings", "settings.json"]).expect(
                64, says: "settings.json has no jobs")
        }
        try scene.remove("settings.json")
        #expect(try scene.run("settings", "init", "--settings", "settings.json").code == 0)
        for words in [["run", "--all"], ["status", "--all"]] {
            let run = try scene.run(words + ["--settings", "settings.json"]).expect(
                0, says: "note: every job in ")
            #expect(
                run.errors.contains("Remove \"disabled\" from a job") && !run.errors.contains("settings init")
            )
        }
        let quiet = try scene.run("run", "--all", "--quiet", "--settings", "settings.json")
        #expect(quiet.code == 0 && quiet.errors == "")
    }

    @Test func refusedJobSaysSoInJSON() throws {
        let scene = try scene(job(#", "exchange": true"#))
        try run(scene, "photos", "--create-target").expect(0)
        try scene.append("1", to: "source/a")
        try run(scene, "photos").expect(0)
        try scene.remove("target")
        let run = try run(scene, "photos", "--json").expect(4)
        #expect(try run.json().text("code") == "refused")
    }
}
