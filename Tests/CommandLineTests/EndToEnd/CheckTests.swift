import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("A check of a target, and what the target remembers of it")
struct CheckTests {
    private static let tree: TreeLiteral = [
        "a": "before", "b": "other", "d": ["c": "third", "e": "4", "f": "5", "g": "6"], "l": .symlink("a"),
    ]

    /// Three snapshots with digests, and a job `j`.
    private func scene(as identity: CommandRun.Identity = .current, target: String = "") throws -> MirrorScene
    {
        let scene = try MirrorScene(CheckTests.tree, as: identity).mirrored("--digest")
        try scene.editInSecret("source/b", "OTHER")
        try scene.append("!", to: "source/b")
        try scene.mirror()
        try scene.writeJob(target: target + scene.target)
        return scene
    }

    private func verify(_ scene: MirrorScene, _ words: String...) throws -> CommandRun {
        try scene.run(["verify"] + words + ["--settings", "settings.json"])
    }

    private func lastCheck(_ scene: MirrorScene) throws -> JSONObject {
        try #require(try scene.run("status", "target", "--json").json().object("last_check"))
    }

    private func statusLine(_ scene: MirrorScene) throws -> String {
        let lines = try scene.run("status", "target").output.split(separator: "\n")
        return lines.first { $0.hasPrefix("last check ") }.map { String($0.dropFirst(38)) } ?? ""
    }

    // MARK: Reading

    @Test(arguments: ["target", "j"]) func theTreeAndTheHistoryAreRead(name: String) throws {
        let scene = try scene()
        #expect(try statusLine(scene) == "")
        func metrics() throws -> String { try scene.run("status", "--prometheus", "target").output }
        #expect(try !metrics().contains("last_check"))
        let run = try verify(scene, name)
        #expect(
            run.code == 0 && run.errors == ""
                && run.output
                    == "0 differ; 8 files and directories checked, 6 files read (20 B)\n3 snapshots are whole\n",
            "\(run.output)\(run.errors)")
        #expect(try statusLine(scene) == "all files read, 0 rotten")
        #expect(try verify(scene, name, "--quiet").output == "")
        try scene.rot("target/a", "rotten")
        try scene.append("!", to: "target/d/c")
        for options in [[], ["-q"]] {
            try scene.run(["verify", name, "--settings", "settings.json"] + options).expect(
                2, prints: "rotten a  (in the tree)\n")
        }
        #expect(try statusLine(scene) == "all files read, 1 rotten, 1 other difference")
        #expect(try metrics().contains("fsync_lite_last_check_rotten{target=\"target\"} 1\n"))
        #expect(try metrics().contains("fsync_lite_last_check_timestamp_seconds{"))
    }

    @Test func whatRottedInTheHistoryIsFound() throws {
        let scene = try scene()
        let held = try #require(try scene.wholeTarget().paths.first { $0.contains("/0/") })
        try scene.editInSecret("target/\(held)", "rotte")
        let run = try verify(scene, "target", "--json").expect(65)
        let document = try run.json()
        #expect(document.text("format") == "fsync-lite-verification")
        #expect(document.objects("discrepancies").isEmpty)
        #expect(document.object("summary")?.number("snapshots") == 3)
        let damaged = try #require(document.objects("damaged_snapshots").first)
        #expect(damaged.text("message")?.contains("damaged: an old version of") == true)
        #expect(try lastCheck(scene).number("damaged_snapshots") == 1)
        #expect(try statusLine(scene) == "all files read, 0 rotten, 1 damaged snapshot")
        try scene.run("undo", "--dry-run", "target").expect(
            0, says: "note: the last check found damaged old versions in ")
    }

    @Test(arguments: ["target", "j"]) func repairTakesTheSourceFromTheJobOrTheManifest(name: String) throws {
        let scene = try scene()
        try scene.rot("target/a", "rotten")
        try scene.rot("source/d/c", "THIRD")
        try verify(scene, name, "--repair").expect(0, prints: "2 repaired, 0 differ")
        try scene.expectMirrored()
        #expect(try scene.text("source/d/c") == "third")
        // Later runs record digests, too.
        #expect(try statusLine(scene) == "all files read, 0 rotten")
        try scene.build("new", at: "source/new")
        try scene.mirror()
        #expect(try verify(scene, name).errors == "")
    }

    // MARK: Parts

    /// Each run reads the part after the last one that was read completely.
    @Test func partsFollowOneAnother() throws {
        let scene = try scene()
        var read = 0
        for part in [1, 2, 3] {
            #expect(try verify(scene, "j", "--part", "auto/3").code == 0)
            let check = try lastCheck(scene)
            #expect(check.number("part") == part && check.number("parts") == 3)
            #expect(try statusLine(scene) == "part \(part) of 3 read, 0 rotten")
            read += check.number("files_read") ?? 0
        }
        #expect(read == 6)
        #expect(try verify(scene, "target", "--part", "auto/3").code == 0)
        #expect(try lastCheck(scene).number("part") == 1)
        // A check of another part, or one that fails, does not change the order.
        #expect(try verify(scene, "target", "--part", "3/3").code == 0)
        let manifest = scene.path("target/.fsync-lite/manifest.json")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: manifest))
        try bytes.dropLast(20).write(to: URL(fileURLWithPath: manifest))
        #expect(try verify(scene, "target", "--part", "auto/3").code == 65)
        try bytes.write(to: URL(fileURLWithPath: manifest))
        #expect(try verify(scene, "target", "--part", "auto/3").code == 0)
        #expect(try lastCheck(scene).number("part") == 2)
        for _ in 1...2 { #expect(try verify(scene, "target", "--part", "auto").code == 0) }
        #expect(try lastCheck(scene).number("part") == 2 && lastCheck(scene).number("parts") == 31)
        try scene.build("{}", at: "target/.fsync-lite/last-check")
        #expect(try statusLine(scene) == "" && scene.run("status", "target").code == 0)
        #expect(try verify(scene, "target", "--part", "auto").code == 0)
        #expect(try lastCheck(scene).number("part") == 1)
    }

    /// A good part shows nothing about the others.
    @Test func whatWasFoundInAPartStaysUntilItIsReadAgain() throws {
        let scene = try scene()
        let held = try #require(try scene.wholeTarget().paths.first { $0.contains("/0/") })
        try scene.editInSecret("target/\(held)", "rotte")
        var bad: Int?
        for part in [1, 2, 3] {
            let run = try verify(scene, "target", "--part", "auto/3")
            #expect(
                run.output.contains(" read (") && run.output.contains("), part \(part) of 3\n"),
                "\(run.output)")
            #expect(!run.output.contains("whole"), "\(run.output)")
            if run.code == 65 {
                bad = part
            } else {
                #expect(
                    run.output.contains("\n3 snapshots: no damage in part \(part) of 3\n"), "\(run.output)")
            }
        }
        let part = try #require(bad)
        let other = part % 3 + 1
        try scene.rot("target/a", "rotten")
        #expect(try verify(scene, "target", "--part", "\(other)/3").code != 65)
        let found = try statusLine(scene)
        #expect(
            found.hasPrefix("part \(other) of 3 read, ") && found.contains(", 1 damaged snapshot"), "\(found)"
        )
        #expect(found.contains("; found in part \(part) of 3"), "\(found)")
        #expect(try lastCheck(scene).number("damaged_snapshots") == 1)
        let finding = try #require(lastCheck(scene).objects("findings").first)
        #expect(finding.number("part") == part && finding.number("parts") == 3)
        // Also if the next check divides the tree differently, or reads everything.
        try scene.editInSecret("target/\(held)", "other")
        for options in [["--part", "\(part)/3"], ["--part", "1/2"], ["--part", "2/2"]] {
            _ = try scene.run(["verify", "target"] + options)
        }
        #expect(try statusLine(scene).contains("damaged") == false)
        #expect(try !statusLine(scene).contains(", 0 rotten"))
        try scene.editInSecret("target/a", "before")
        try scene.mirror()
        #expect(try verify(scene, "target").code == 0)
        #expect(try statusLine(scene) == "all files read, 0 rotten")
        #expect(
            try verify(scene, "target", "--json", "--part", "2/3").json().object("summary")?.number("parts")
                == 3)
    }

    @Test func partsAreNamedWithOrWithoutZeros() throws {
        let scene = try scene()
        for (zeros, plain) in [("01/4", "1/4"), ("003/0004", "3/4")] {
            let words = ["manifest", "verify", "target", "target", "--digest", "--part"]
            #expect(try scene.run(words + [zeros]).output == scene.run(words + [plain]).output)
            #expect(
                try verify(scene, "target", "--part", zeros).output
                    == verify(scene, "target", "--part", plain).output)
        }
        for part in ["auto/0", "auto/", "auto/x", "auto/-1", "0/4", "5/4", "autos", "1", "+1/4", "1/4/"] {
            #expect(try verify(scene, "target", "--part", part).code == 64, "\(part)")
        }
    }

    // MARK: Digests

    private func digests(_ scene: MirrorScene) throws -> Int {
        try scene.run("manifest", "list", "target", "--json").output.split(separator: "\n").count {
            $0.contains("\"digest\"")
        }
    }

    @Test func theTargetRemembersDigests() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true).mirrored()
        // A file that changed in the tick in which a run begins gets no digest from it.
        ClockTick.pass()
        let begun = try scene.mirror("--digest")
        #expect(
            begun.errors
                == "fsync-lite: note: later runs will record digests, too; --digest=none ends that\n",
            "\(begun.errors)")
        try scene.build("2", at: "source/b")
        #expect(try scene.mirror().errors == "")
        #expect(try digests(scene) == 2)
        // A run without changes can end the recording.
        let ended = try scene.mirror("--digest=none")
        #expect(
            ended.output.contains("nothing to do")
                && ended.errors == "fsync-lite: note: later runs will record no digests\n",
            "\(ended.errors)")
        try scene.build("3", at: "source/c")
        try scene.mirror()
        #expect(try digests(scene) == 2)
        try scene.run("verify", "target").expect(0, says: "1 file has no digest")
        #expect(try statusLine(scene) == "2 files read, 0 rotten, 1 file has no digest")
        // A job may set it, too. With true, c and d are read as well; with none, not e; with all, all.
        for (word, name, count) in [("true", "d", 4), ("\"none\"", "e", 4), ("\"all\"", "f", 6)] {
            try scene.build("4", at: "source/\(name)")
            try scene.writeJob("j", #", "digest": \#(word)"#)
            try scene.run("run", "j", "--settings", "settings.json").expect(0)
            #expect(try digests(scene) == count, "\(word)")
        }
        #expect(try scene.text("target/.fsync-lite/manifest.json").contains("\"digests\":\"all\""))
    }

    // MARK: Noting

    @Test(.needs(.otherUser)) func aCheckGoesOnWhereItCannotNoteItsResult() throws {
        let scene = try scene(as: .ordinary)
        try scene.setMode(0o500, of: "target/.fsync-lite")
        try verify(scene, "target", "--part", "auto").expect(0, says: "note: the result could not be stored")
        try scene.setMode(0o700, of: "target/.fsync-lite")
        #expect(try statusLine(scene) == "")
    }

    // MARK: Another machine

    @Test func aTargetOfAnotherMachineIsReadThere() throws {
        let scene = try scene(target: "far:")
        let far = try FarMachine(has: .target)
        func there(_ name: String, _ words: String..., by far: FarMachine) throws -> CommandRun {
            try scene.here(["verify", name, "--settings", "settings.json"] + words + far.options)
        }
        for name in ["j", "far:\(scene.target)"] {
            try there(name, "--part", "auto", by: far).expect(
                0, prints: " of 31\n3 snapshots: no damage in part ")
            try there(name, "--repair", by: far).expect(64, says: "--repair is not possible for")
        }
        #expect(try lastCheck(scene).number("part") == 2)
        try scene.here(["status", "far:\(scene.target)"] + far.options).expect(
            prints: "   part 2 of 31 read, 0 rotten\n")
        // A key that may only read leaves no note.
        let before = try scene.text("target/.fsync-lite/last-check")
        let reading = try FarMachine(#"exec sh -c "$far --read-only""#, has: .target)
        try there("j", "--part", "auto", by: reading).expect(0, says: "this key is read-only")
        #expect(try scene.text("target/.fsync-lite/last-check") == before)
    }
}
