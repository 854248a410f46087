import TestNeeds
import TestSupport
import Testing

@Suite("What a run says, and to which stream")
struct AnswerTests {
    /// Each command line, with the exit code and the format.
    private static let exits: [([String], Int32, String)] = [
        (["apply", "source"], 64, "fsync-lite-error"), (["aply", "source"], 64, "fsync-lite-error"),
        (["apply", "missing", "target"], 66, "fsync-lite-error"),
        (["plan", "missing", "target"], 66, "fsync-lite-error"),
        (["plan", "--job", "j", "--settings", "missing"], 66, "fsync-lite-error"),
        (["status", "missing"], 66, "fsync-lite-error"), (["undo", "source"], 66, "fsync-lite-error"),
        (["manifest", "show", "missing"], 66, "fsync-lite-error"),
        (["plan", "source", "source"], 4, "fsync-lite-plan"),
        (["apply", "source", "source"], 4, "fsync-lite-report"),
        (["apply", "--dry-run", "source", "target"], 0, "fsync-lite-plan"),
        (["explain", "missing", "a"], 66, "fsync-lite-error"),
    ]

    @Test(arguments: exits.indices)
    func jsonIsOneDocumentWhateverHappens(index: Int) throws {
        let (words, code, format) = AnswerTests.exits[index]
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        let run = try scene.run(words + ["--json"]).expect(code)
        let document = try run.json()
        #expect(document.text("format") == format)
        guard format == "fsync-lite-error" else { return }
        #expect(document.number("exit_code").map { Int32($0) } == code)
        #expect(run.errors.contains(document.text("message") ?? "no message"), "\(run.errors)")
        #expect(try scene.run(words).output == "")
    }

    /// The document of an apply, with the name of the job.
    @Test func jobsHaveADocumentEach() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        try scene.build(
            .file(
                #"{"jobs": {"j": {"source": "\#(scene.path("no"))", "target": "\#(scene.target)", "report": "json", "#
                    + #""on_failure": ["sh", "-c", "cat > \#(scene.path("report"))"]}, "#
                    + #""k": {"source": "\#(scene.source)", "target": "\#(scene.target)"}}}"#
            ), at: "settings.json")
        for (options, format) in [(["--dry-run"], "fsync-lite-plan"), ([], "fsync-lite-report")] {
            let run = try scene.run(["run", "--all", "--json", "--settings", "settings.json"] + options)
                .expect(66)
            let documents = try run.output.split(separator: "{\"format\":").map {
                try JSONObject(text: "{\"format\":\($0)")
            }
            #expect(documents.map { $0.text("format") } == ["fsync-lite-error", format])
            #expect(documents.map { $0.text("job") } == ["j", "k"])
            #expect(documents.first?.number("exit_code") == 66)
        }
        let report = try JSONObject(text: scene.text("report"))
        #expect(report.text("outcome") == "failed" && report.text("job") == "j")
    }

    @Test func quietPlanIsQuietAndRefusalsAreNot() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        let plan = try scene.plan("-q")
        #expect(plan.code == 0 && plan.output == "" && plan.errors == "")
        try scene.build(["theirs": "1"], at: "target")
        let refused = try scene.plan("-q")
        #expect(refused.code == 4 && refused.output == "" && refused.errors.contains("--adopt"))
        // Settings silence only runs that nobody asked for.
        try scene.build(.file(#"{"defaults": {"quiet": true}}"#), at: "settings.json")
        #expect(try scene.plan("--settings", "settings.json").output.contains("+ a"))
    }

    @Test func quietAndVerboseExcludeEachOther() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        #expect(try scene.apply("-q", "-v").code == 64)
        try scene.build(.file(#"{"defaults": {"quiet": true}}"#), at: "settings.json")
        #expect(try scene.apply("-v", "--settings", "settings.json").output == "+ a  1 B  (new)\n")
    }

    @Test func aBandwidthOfAFewBytesIsNamed() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        let note = "fsync-lite: note: the bandwidth is 50 B a second; 50M is 50 MiB\n"
        #expect(try scene.plan("--bandwidth", "50").errors == note)
        #expect(try scene.plan("--bandwidth", "50k").errors == "")
        #expect(try scene.plan("--bandwidth", "50", "-q").errors == "")
    }

    @Test func dryRunOfAnApplyIsThePlan() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        let (plan, dry) = (try scene.plan(), try scene.apply("--dry-run"))
        #expect(dry.code == 0 && dry.output == plan.output && !scene.exists("target"))
        #expect(try scene.plan("--out", "saved").code == 0)
        #expect(try scene.run("apply", "--dry-run", "--plan", "saved").code == 64)
    }

    /// On a terminal both streams are one.
    @Test func refusalsComeAfterALongList() throws {
        let scene = try MirrorScene(
            .files(0..<100, named: "f") { _ in "1" },
            inMemory: true)
        try scene.build(["theirs": "1"], at: "target")
        let run = try scene.here(
            ["plan", "source", "target"], under: ["sh", "-c", "exec \"$@\" 2>&1", "sh"])
        let lines = run.output.split(separator: "\n")
        // The times of the roots may differ, which is one more line.
        try #require([104, 105].contains(lines.count), "\(lines.count)")
        let last = Array(lines.suffix(2))
        #expect(last[0].contains("refused: ") && last[1].contains("next: "), "\(lines.suffix(3))")
    }

    @Test func driftThatIsTakenBackIsTold() throws {
        let scene = try MirrorScene(["a": "1", "b": "2", "d": ["x": "x"]], inMemory: true).mirrored()
        try scene.append("!", to: "target/a")
        let run = try scene.mirror()
        #expect(
            run.errors.contains(
                "note: 1 change made in the target since the last run is taken back; the history keeps the changed files"
            ),
            "\(run.errors)")
        try scene.append("!", to: "target/a")
        try scene.remove("target/d/x")
        #expect(try scene.mirror().errors.contains("note: 2 changes made in the target"))
        // There is no file that the history could keep.
        try scene.remove("target/d/x")
        try scene.mirror().expect(says: "since the last run is taken back\n")
        try scene.remove("target/b")
        try scene.build(["b": .symlink("a")], at: "target")
        try scene.mirror("--verbose").expect(
            says: "note: 1 change made in the target", prints: "~ b  1 B  (type, drift)")
        try scene.append("!", to: "source/a")
        #expect(try !scene.mirror().errors.contains("taken back"))
        try scene.append("!", to: "target/a")
        #expect(try scene.mirror("--quiet").errors == "")
    }

    @Test(.needs(.otherUser))
    func whatCannotBeReadIsNotUnchanged() throws {
        let scene = try MirrorScene(["a": "1", "b": "2", "c": "3", "d": ["x": "x"]], as: .ordinary).mirrored()
        for name in ["a", "b"] { try scene.append("!", to: "source/\(name)") }
        for name in ["a", "d"] { try scene.setMode(0, of: "source/\(name)") }
        let plan = try scene.plan("--keep-going")
        #expect(
            plan.output.hasSuffix("1 to update; 1 unchanged, 2 not mirrored; 2 B to copy\n"), "\(plan.output)"
        )
        let summary = try scene.apply("--keep-going", "--json").json().object("summary")
        #expect(summary?.number("unchanged") == 1 && summary?.number("not_mirrored") == 2)
    }

    @Test(.needs(.mounts))
    func spaceIsShownInUnitsAndInBytes() throws {
        let scene = try MirrorScene(["a": .file(String(repeating: "x", count: 2 << 20))], inMemory: true)
        try scene.mounted(.tmpfs(options: "size=1m"), at: "target") {
            let run = try scene.plan("--json").expect(4, says: "2.2 MB are needed and 1.0 MB are free")
            let refusal = try run.json().objects("refusals").first
            #expect(
                (refusal?.number("bytes_needed") ?? 0) > 2 << 20 && refusal?.number("bytes_free") == 1 << 20)
        }
    }
}
