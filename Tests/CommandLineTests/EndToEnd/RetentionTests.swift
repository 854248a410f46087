import Foundation
import TestNeeds
import TestSupport
import Testing

/// Which snapshots are removed, when, and by which rule.
struct RetentionTests {
    /// A mirror after some applies. Each of them changes a file.
    private func scene(_ applies: Int, _ options: String...) throws -> MirrorScene {
        let scene = try MirrorScene(["a": "a", "b": "b"], inMemory: true)
        for _ in 0..<applies { try change(scene, options) }
        return scene
    }

    private func change(_ scene: MirrorScene, _ options: [String] = []) throws {
        try scene.append("+", to: "source/a")
        try scene.run(["apply", "source", "target"] + options).expect(0)
    }

    private func list(_ scene: MirrorScene) throws -> JSONObject {
        try scene.run("snapshot", "list", "target", "--json").json()
    }

    private func count(_ scene: MirrorScene) throws -> Int { try list(scene).objects("snapshots").count }

    private func rules(_ scene: MirrorScene) throws -> String {
        let list = try list(scene)
        return "\(list.text("rules") ?? "-") (\(list.text("rules_from") ?? "-"))"
    }

    private func settings(_ text: String, _ scene: MirrorScene) throws {
        try scene.build(.file(text, mode: 0o600), at: "target/.fsync-lite/settings.json")
    }

    private static let everyRule: [(rule: String, value: String)] = [
        ("last", "2"), ("hourly", "3"), ("daily", "4"), ("weekly", "5"), ("monthly", "6"), ("yearly", "7"),
        ("within", "30d"), ("label", "x"), ("within-hourly", "2d"), ("within-daily", "1mo"),
        ("within-weekly", "9w"), ("within-monthly", "1y"), ("within-yearly", "10y"),
    ]

    @Test(arguments: everyRule)
    func rulesStayWithTheTarget(rule: String, value: String) throws {
        let scene = try scene(1, "--keep-\(rule)", value)
        let key = "keep_\(rule.replacing("-", with: "_"))"
        #expect(try rules(scene).hasPrefix("\(key) \(value) ("))
        try change(scene)
        #expect(try rules(scene).hasPrefix("\(key) \(value) ("))
        try scene.run(
            "snapshot", "prune", "target", "--keep-\(rule)", value, "--dry-run", "--json"
        ).expect(0)
    }

    /// The label of the present tree is in the record that leads to it, which is kept.
    @Test func aLabelOutlivesTheHistory() throws {
        let scene = try scene(1)
        #expect(try scene.run("snapshot", "create", "target", "--label", "golden").code == 0)
        #expect(try scene.run("snapshot", "prune", "target", "--keep-last", "0").code == 0)
        #expect(try scene.apply("--keep-last", "0").code == 0)
        #expect(try scene.run("snapshot", "list", "target").output.contains("\"golden\""))
        try change(scene)
        #expect(try scene.run("snapshot", "restore", "target", "golden", "--to", "copy").code == 0)
        #expect(try scene.text("copy/a") == "a+")
    }

    /// A label that a rule misspells keeps nothing. Even a quiet run names it and the removed snapshots.
    @Test func aMisspeltLabelIsNamed() throws {
        let scene = try scene(2)
        #expect(try scene.run("snapshot", "create", "target", "--label", "golden").code == 0)
        try change(scene)
        #expect(
            try scene.apply("--keep-last", "9", "--keep-label", "godlen").errors.contains(
                "keep_label names godlen, but no snapshot has that label"))
        try change(scene)
        let run = try scene.apply("--keep-last", "0", "--keep-label", "godlen", "--quiet")
        #expect(run.errors == "fsync-lite: removed the snapshot 'golden': no rule keeps its label\n")
        #expect(try !scene.run("snapshot", "list", "target").output.contains("golden"))
    }

    // MARK: What prunes

    @Test func goingBackPrunesNothing() throws {
        let scene = try scene(7, "--keep-last", "30")
        try settings("{\"keep_last\": 1}", scene)
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try count(scene) == 9)
        #expect(try scene.run("snapshot", "restore", "target", "latest~4", "--in-place").code == 0)
        #expect(try count(scene) == 10)
        #expect(try scene.run("recover", "target").code == 0)
        #expect(try scene.run("snapshot", "create", "target", "--label", "x").code == 0)
        #expect(try count(scene) == 10)
        // An apply does.
        #expect(try scene.apply().code == 0)
        #expect(try count(scene) == 2)
    }

    /// After a kill, every listed snapshot is unchanged. Snapshots are removed only from the old end.
    @Test(.needs(.strace), arguments: 1...4) func pruneThatIsKilledLeavesWhatIsTrue(renames: Int) throws {
        let scene = try scene(1, "--keep-last", "30")
        func ids() throws -> [String] { try list(scene).objects("snapshots").compactMap { $0.text("id") } }
        var trees: [String: TreeSnapshot] = [:]
        for _ in 0..<4 {
            try change(scene)
            trees[try #require(try ids().first)] = try TreeSnapshot(scene.target)
        }
        let command = try PausedCommand(
            ["snapshot", "prune", "target", "--keep-last", "0"], in: scene.directory.path,
            at: .after("renameat2", number: renames))
        if try command.waitForPause() { command.kill() } else { _ = try command.finish() }
        for (number, id) in try ids().enumerated() {
            guard let tree = trees[id] else { continue }
            try scene.run("snapshot", "restore", "target", id, "--to", "copy\(number)").expect(0)
            #expect(try TreeSnapshot(scene.path("copy\(number)")).differences(from: tree) == [])
        }
        #expect(try scene.run("snapshot", "prune", "target", "--keep-last", "0").code == 0)
        #expect(try count(scene) == 1)
    }

    /// It is unknown which objects a damaged record still needs.
    @Test(arguments: [(2, false), (2, true), (4, false), (4, true)])
    func besideARecordThatIsDamagedNothingGoes(number: Int, isLost: Bool) throws {
        let scene = try scene(5, "--keep-last", "30")
        let history = scene.path("target/.fsync-lite/history")
        let names = try FileManager.default.contentsOfDirectory(atPath: history).sorted()
        #expect(names.count == 5)
        let header = URL(fileURLWithPath: "\(history)/\(names[number])/header.json")
        if isLost {
            try FileManager.default.removeItem(at: header)
        } else {
            try Data("{}".utf8).write(to: header)
        }
        try scene.run("snapshot", "verify", "target").expect(
            65, says: "\(names[number])/header.json: it is ")
        let undo = try scene.run("undo", "target", "--dry-run")
        #expect(undo.code == (number == 4 ? 65 : 0), "\(undo.errors)")
        #expect(number < 4 || undo.errors.contains("next: fsync-lite snapshot prune --damaged target"))
        #expect(try scene.run("snapshot", "list", "target").code == 65)
        _ = try scene.run("snapshot", "prune", "target", "--keep-last", "0")
        try change(scene, ["--keep-last", "1"])
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: history)).isSuperset(of: names))
    }

    /// The same for the list of a record. Only a look at all lists finds it, so a run says why nothing goes.
    @Test(arguments: 0..<5) func besideAListThatIsDamagedNothingGoes(number: Int) throws {
        let scene = try scene(5, "--keep-last", "30")
        let record = try scene.names(in: "target/.fsync-lite/history")[number]
        let list = "\(record)/list.json"
        try Data("{}".utf8).write(to: URL(fileURLWithPath: scene.path("target/.fsync-lite/history/\(list)")))
        let before = try scene.snapshots()
        for words in [["remove", "target", "latest~2"], ["prune", "target", "--keep-last", "1"]] {
            try scene.run(["snapshot"] + words).expect(65, says: list, "snapshot prune --damaged target")
            #expect(try scene.snapshots() == before, "\(words)")
        }
        try scene.append("+", to: "source/a")
        try scene.apply("--keep-last", "1").expect(0, says: "the state could not be tidied", list)
        #expect(try scene.snapshots().count == before.count + 1)
        try scene.run("snapshot", "prune", "--damaged", "target").expect(0)
        try scene.run("snapshot", "verify", "target").expect(0)
    }

    @Test func aRepairPrunesNothing() throws {
        let scene = try scene(4, "--digest")
        try settings("{\"keep_last\": 1}", scene)
        try scene.rot("target/b", "x")
        let run = try scene.run(
            "manifest", "verify", "--digest", "--repair", "--source", "source", "target", "target")
        #expect(try scene.text("target/b") == "b", "\(run.errors)")
        #expect(try count(scene) >= 5)
    }

    @Test(
        .needs(.strace))
    func recoveryPrunesNothing() throws {
        let scene = try scene(4)
        try settings("{\"keep_last\": 0}", scene)
        try scene.append("+", to: "source/a")
        try scene.paused(at: .after("renameat2", of: "journal")).kill()
        #expect(try scene.run("recover", "target").code == 0)
        #expect(try count(scene) == 6)
    }

    // MARK: Where rules stand

    /// They are recorded even if nothing else changes, and that is no step to undo.
    @Test func rulesAlone() throws {
        let scene = try scene(3)
        let before = try count(scene)
        let whole = try scene.wholeTarget()
        try scene.plan("--keep-last", "2").expect(
            says: "stored with the target, for later runs that have none: keep_last 2")
        #expect(try scene.wholeTarget().touched(since: whole) == [])
        #expect(try rules(scene) == "keep_last 3, keep_within 7d (built in)")
        let run = try scene.apply("--keep-daily", "2", "--keep-last", "9", "--keep-label", "a b")
        #expect(run.output == "nothing to do; 2 unchanged\n")
        #expect(
            run.errors.contains(
                "stored with the target, for later runs that have none: keep_last 9, keep_daily 2, keep_label a b\n"
            ))
        #expect(try rules(scene) == "keep_last 9, keep_daily 2, keep_label a b (kept with the target)")
        #expect(try count(scene) == before)
        #expect(try scene.apply("--keep-daily", "2", "--keep-last", "9", "--keep-label", "a b").errors == "")
        #expect(try scene.apply().errors == "")
        #expect(try rules(scene) == "keep_last 9, keep_daily 2, keep_label a b (kept with the target)")
        #expect(try scene.apply("--retention", "default").code == 0)
        #expect(try rules(scene) == "keep_last 3, keep_within 7d (built in)")
        #expect(try count(scene) == before)
    }

    @Test func theTargetsSettingsGoBeforeWhatIsKept() throws {
        let scene = try scene(4, "--keep-last", "9")
        try settings("{\"keep_last\": 2}", scene)
        #expect(try rules(scene) == "keep_last 2 (in the target's settings)")
        try change(scene)
        #expect(try count(scene) == 3)
        // The command line has priority over both.
        try change(scene, ["--keep-last", "8"])
        #expect(try count(scene) == 4)
        try settings("{\"defaults\": {\"keep_weekly\": 5}}", scene)
        #expect(try rules(scene) == "keep_weekly 5 (in the target's settings)")
        try settings("{\"defaults\": {\"keep_daily\": 2, \"keep_label\": []}}", scene)
        #expect(try rules(scene) == "keep_daily 2, no labels (in the target's settings)")
        try scene.remove("target/.fsync-lite/settings.json")
        #expect(try rules(scene) == "keep_last 8 (kept with the target)")
    }

    @Test func aJobsRulesAreKeptAndYourDefaultsAreNot() throws {
        let scene = try scene(4)
        let job =
            "{\"source\": \"\(scene.source)\", \"target\": \"\(scene.target)\", \"keep_monthly\": 4}"
        try scene.build(
            .file("{\"defaults\": {\"keep_last\": 2, \"keep_daily\": 9}, \"jobs\": {\"j\": \(job)}}"),
            at: "settings.json")
        let own = ["--settings", "settings.json"]
        let shown = try scene.run(["snapshot", "list", "target"] + own).output
        #expect(shown.contains("rules: keep_last 2, keep_daily 9 (in your defaults)\n"))
        let before = try count(scene)
        #expect(
            try scene.run(["snapshot", "prune", "target", "--dry-run"] + own).output.contains(
                "would remove 1 "))
        #expect(try count(scene) == before)
        try scene.append("+", to: "source/a")
        #expect(try scene.run(["apply", "source", "target"] + own).code == 0)
        #expect(try rules(scene) == "keep_last 3, keep_within 7d (built in)")
        #expect(try count(scene) == 4)
        #expect(try scene.run(["run", "j"] + own).code == 0)
        #expect(try rules(scene) == "keep_monthly 4 (kept with the target)")
        // Rules are not joined: of today's trees, one of each month, the one before it, and the oldest are
        // kept.
        #expect(
            try list(scene).objects("snapshots").map { $0.texts("kept") } == [
                ["present", "monthly"], ["before the present"], ["oldest monthly"],
            ])
        let settings = try scene.run(["settings", "show", "j", "--all"] + own).lines
        #expect(settings.contains { $0.hasPrefix("keep_monthly ") && $0.contains(" 4 ") })
        #expect(settings.contains { $0.hasPrefix("keep_last ") && $0.contains(" - ") })
    }

    @Test func pruneWithoutRulesGoesByThoseInForce() throws {
        let scene = try scene(5, "--keep-last", "9")
        let before = try count(scene)
        #expect(
            try scene.run("snapshot", "prune", "target").output.hasSuffix(
                "nothing to remove; \(before) kept\n"))
        #expect(try scene.run("snapshot", "prune", "target", "--keep-last", "2").code == 0)
        #expect(try count(scene) == 3)
        // Its own rule is not recorded, and an undo leaves the given one.
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try rules(scene) == "keep_last 9 (kept with the target)")
    }

    @Test func contradictions() throws {
        let scene = try scene(1)
        #expect(try scene.apply("--retention", "default", "--keep-last", "2").code == 64)
        #expect(try scene.apply("--retention", "none").code == 64)
        #expect(try scene.apply("--keep-within", "soon").code == 64)
        try scene.build(
            .file("{\"defaults\": {\"retention\": \"default\", \"keep_last\": 2}}"), at: "settings.json")
        try scene.run("apply", "source", "target", "--settings", "settings.json").expect(
            65, says: "settings.json: line 1, column 2: defaults: --retention default excludes other")
    }

    // MARK: What is built in

    @Test func aWeekAndThreeStepsAtLeast() throws {
        let scene = try scene(7)
        #expect(try count(scene) == 8)
        try setTimes(scene) { "2026-0\(9 - $0)-01T12:00:00Z" }
        #expect(try scene.apply().code == 0)
        let kept = try list(scene).objects("snapshots").map { $0.texts("kept") }
        #expect(kept == [["present", "within 7d"], ["last"], ["last"], ["last"]])
    }

    // MARK: Clocks

    /// Gives the snapshots other times by their position. The present tree is 0.
    private func setTimes(_ scene: MirrorScene, _ time: (Int) -> String) throws {
        let ids = try list(scene).objects("snapshots").compactMap { $0.text("id") }
        for (index, id) in ids.enumerated() {
            let file = URL(fileURLWithPath: scene.path("target/.fsync-lite/history/\(id)/header.json"))
            guard let data = try? Data(contentsOf: file),
                var header = try JSONSerialization.jsonObject(with: data) as? [String: Any]
            else { continue }
            header["created"] = time(index)
            if header["previous_created"] != nil { header["previous_created"] = time(index + 1) }
            try JSONSerialization.data(withJSONObject: header).write(to: file)
        }
    }

    @Test func aClockAYearAheadEmptiesNothing() throws {
        let scene = try scene(6, "--keep-within", "7d")
        // As if this run's clock were ahead: the snapshots are of last year, days apart.
        try setTimes(scene) { "2025-11-2\(6 - $0)T12:00:00Z" }
        let before = try count(scene)
        try change(scene)
        #expect(try count(scene) == before + 1)
    }

    @Test func aRunThatIsOlderThanWhatIsThereLetsGoOfNothing() throws {
        let scene = try scene(6, "--keep-last", "9")
        try setTimes(scene) { $0 == 0 ? "2999-01-01T12:00:00Z" : "2026-11-1\(9 - $0)T12:00:00Z" }
        let before = try count(scene)
        try change(scene, ["--keep-last", "1", "--keep-within", "1d"])
        #expect(try count(scene) == before + 1)
        // The next run measures ages from that one.
        try change(scene)
        #expect(
            try list(scene).objects("snapshots").map { $0.texts("kept").last } == [
                "within 1d", "within 1d", "within 1d",
            ])
    }

    @Test func anUndoGoesPastNothingThatWasPruned() throws {
        let scene = try MirrorScene(["a": "0"])
        for step in 0..<4 {
            try scene.append("\(step)", to: "source/a")
            try scene.mirror()
            if step == 0 { _ = try scene.run("snapshot", "create", "target", "--label", "kept") }
        }
        #expect(try !scene.run("undo", "target", "--dry-run").errors.contains("pruned"))
        #expect(try scene.run("snapshot", "prune", "target", "--keep-last", "0").code == 0)
        for options in [["--dry-run"], []] {
            try scene.run(["undo", "target"] + options).expect(
                4, says: "the snapshot before the last run was removed",
                "fsync-lite snapshot restore --in-place --dry-run target ")
        }
        try scene.expectMirrored()
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(try scene.text("target/a") == "00")
    }

    @Test func theZoneOfTheRunDecidesAboutItsDay() throws {
        let scene = try MirrorScene(["a": "0"])
        try scene.here(["apply", "source", "target"], environment: ["TZ": "AAA-13"]).expect(0)
        let records = scene.path("target/.fsync-lite/history")
        let record = try #require(try FileManager.default.contentsOfDirectory(atPath: records).first)
        #expect(
            try scene.text("target/.fsync-lite/history/\(record)/header.json").contains(
                "\"utc_offset\" : 46800"))
    }

    /// A label keeps a snapshot in `prune`, too, unless its rules name labels.
    @Test func pruningKeepsWhatHasALabel() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        #expect(try scene.run("snapshot", "create", "target", "--label", "kept").code == 0)
        for _ in 0..<2 {
            try scene.append("1", to: "source/a")
            try scene.mirror()
        }
        #expect(try scene.run("snapshot", "prune", "target", "--keep-last", "0").code == 0)
        // As a shell gives an unset variable.
        #expect(try scene.run("snapshot", "prune", "target", "--keep-label", "").code == 64)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "copy").code == 0)
        #expect(try scene.text("copy/a") == "1")
        #expect(try scene.run("snapshot", "prune", "target", "--keep-label", "other").code == 0)
        #expect(try scene.run("snapshot", "list", "target", "--json").json().objects("snapshots").count == 2)
    }
}
