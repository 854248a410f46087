import Foundation
import TestNeeds
import TestSupport
import Testing

/// Commands that read or write on another machine, compared with the same commands here.
@Suite("Commands about another machine")
struct FarCommandTests {
    private func scene(_ tree: TreeLiteral = ["a": "a", "b": ["c": "c"]]) throws -> MirrorScene {
        let scene = try FarMachine(has: .target).scene(tree)
        try scene.mirror("--digest")
        try scene.append("more", to: "source/a")
        try scene.mirror("--digest")
        try scene.move("source/b/c", to: "source/b/d")
        try scene.append("most", to: "source/a")
        return scene
    }

    /// Compares a command with the same one with paths here.
    ///
    /// - Returns: the run with paths here.
    @discardableResult
    private func expectSame(
        _ scene: MirrorScene, _ words: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandRun {
        func plain(_ run: CommandRun) -> String {
            run.output.replacing(/\d+ s ago/, with: "ago")
                .replacing("far:\(scene.target)", with: scene.target)
        }
        let far = try scene.there(words)
        let here = try scene.here(
            words.map { $0.hasPrefix("far:") ? scene.path(String($0.dropFirst(4))) : $0 })
        #expect(far.code == here.code, "\(words): \(far.errors)", sourceLocation: sourceLocation)
        #expect(plain(far) == plain(here), "\(words)", sourceLocation: sourceLocation)
        #expect(far.errors == here.errors, "\(words)", sourceLocation: sourceLocation)
        #expect(here.code != 64, "\(words): \(here.errors)", sourceLocation: sourceLocation)
        return here
    }

    @Test func everyCommandThatNamesATargetWorksThere() throws {
        let scene = try scene()
        for words in [
            ["status"], ["status", "--json"], ["snapshot", "list"], ["snapshot", "list", "--json"],
            ["snapshot", "list", "--ids"], ["snapshot", "verify"], ["manifest", "show"],
            ["manifest", "list"], ["manifest", "list", "--null"],
            ["manifest", "export", "--format", "manifest"], ["recover"], ["snapshot", "prune"],
        ] { try expectSame(scene, words + ["far:target"]) }
        let restore = ["snapshot", "restore", "far:target"]
        try scene.there(restore + ["latest~1", "--to", "far:copy"]).expect(0)
        #expect(try scene.text("copy/a") == "a" && scene.text("copy/b/c") == "c")
        try scene.there(restore + ["latest", "a", "--to", "far:copy", "--overwrite"]).expect(0)
        #expect(try scene.text("copy/a") == "amore")
        try expectSame(scene, ["snapshot", "show", "far:target", "latest"])
        try expectSame(scene, ["snapshot", "diff", "far:target", "latest~1", "latest"])
        try expectSame(scene, ["snapshot", "log", "far:target", "a"])
        try expectSame(scene, ["snapshot", "find", "far:target", "c"])
        try expectSame(scene, ["snapshot", "create", "far:target", "--label", "now"])
        try scene.there("undo", "far:target", "-v").expect(0, prints: "~ a")
        #expect(try scene.text("target/a") == "a")
        try scene.there(restore + ["latest~1", "--in-place"]).expect(0)
        #expect(try scene.text("target/a") == "amore")
    }

    // MARK: Manifests

    @Test(arguments: [
        ["far:target", "source"], ["source", "far:target"], ["far:target@latest~1", "source"],
        ["far:target@latest~1", "target"], ["far:source", "target"], ["far:target", "far:source"],
        ["far:target@latest~1", "far:target"], ["far:target", "target"],
    ])
    func manifestsAreComparedAcrossMachines(trees: [String]) throws {
        try expectSame(scene(), ["manifest", "diff"] + trees)
    }

    @Test func aDirectoryIsVerifiedByAManifestOfAnotherMachine() throws {
        let scene = try scene()
        for words in [
            ["far:target", "source"], ["far:target", "target"], ["far:target@latest~1", "target"],
            ["far:target", "far:target"], ["far:target@latest~1", "far:target"],
        ] { try expectSame(scene, ["manifest", "verify", "--digest"] + words) }
        try scene.rot("target/a", "AMORE")
        try scene.there("manifest", "verify", "--digest", "far:target", "far:target").expect(
            2, prints: "rotten a")
        try scene.there("manifest", "verify", "target", "far:target").expect(
            64, says: "can only be read there")
        try scene.there(
            "manifest", "verify", "--source", "source", "--repair", "far:target", "target"
        ).expect(64, says: "--repair and a manifest of another machine")
    }

    /// A mirror with digests. `x` is rotten in the target, `y` in the source, and `z` in both.
    private func rotten() throws -> MirrorScene {
        let scene = try FarMachine(has: .target).scene([
            "d": ["x": "one", "y": "two"], "z": "three", "w": "four", "gone": "five",
        ])
        try scene.mirror("--digest")
        try scene.rot("target/d/x", "ONE")
        try scene.rot("source/d/y", "TWO")
        for side in ["source", "target"] { try scene.rot("\(side)/z", "THREE") }
        for side in ["source", "target"] { try scene.editInSecret("\(side)/w", "FOUR") }
        try scene.remove("source/gone")
        return scene
    }

    @Test(arguments: [
        ["far:target", "far:target", "--source", "source"], ["target", "target", "--source", "far:source"],
        ["far:target", "target", "--source", "far:source"], ["far:target", "target", "--source", "source"],
    ])
    func theGoodCopyIsFoundAcrossMachines(words: [String]) throws {
        let scene = try rotten()
        for options in [[], ["--part", "1/2"]] {
            try expectSame(scene, ["manifest", "verify"] + words + options)
        }
        try scene.there(["manifest", "verify"] + words).expect(
            2, prints: "4 differ", "rotten d/x  (in the tree, the source has the recorded content)",
            "edited w  (in the tree and in the source)")
    }

    /// A verification asks another machine only for digests.
    @Test func aVerificationCopiesNothing() throws {
        let scene = try rotten()
        let recording = try WireRecording(has: .target)
        scene.far = recording.far
        try scene.there("manifest", "verify", "far:target", "far:target", "--source", "source").expect(2)
        #expect(try recording.last().requests == ["open", "scan", "digest"])
    }

    @Test(
        .needs(.tool("python3")),
        arguments: [
            // A digest becomes the whole content. The scan becomes the rules, with the text of ignore files.
            "frame[6] == 5: frame = frame[:6] + bytes([7]) + frame[7:] + bytes([0])",
            "frame[6] == 3: frame = frame[:6] + bytes([2])",
        ])
    func aVerificationGivesNoContent(change: String) throws {
        let scene = try rotten()
        scene.far = try FarMachine(
            FarMachine.relay(
                back: """
                    if frame[4] == 2 and \(change)
                    return struct.pack("<I", len(frame) - 5) + frame[4:]
                    """), has: .target)
        try scene.there("manifest", "verify", "far:target", "far:target", "--source", "source").expect(
            4, says: "a verification gets digests only")
    }

    /// Files in an unlisted directory of the source are not treated as unchanged, because they were not read.
    @Test(.needs(.root, .otherUser)) func whatCannotBeListedThereIsUnreadable() throws {
        let scene = try MirrorScene(["d": ["x": "one"], "e": "two"]).mirrored("--digest")
        try scene.setMode(0, of: "source/d")
        OrdinaryUser.own(scene.source)
        let tool = scene.path("tool")
        try HostCommand.run("install", "-m", "755", BuiltCommand.path(), tool)
        scene.far = try FarMachine(
            "exec \(OrdinaryUser.prefix.joined(separator: " ")) '\(tool)' serve", has: .target)
        try scene.there("manifest", "verify", "target", "target", "--source", "far:source").expect(
            2, prints: "unreadable d/x  (in the source, the tree has the recorded content, Permission denied)"
        )
    }

    @Test func whatRottedHereIsRepairedFromAnotherMachine() throws {
        let scene = try rotten()
        let verify = ["manifest", "verify", "--repair", "--source"]
        try scene.there(verify + ["source", "far:target", "far:target"]).expect(
            64, says: "fsync-lite apply --checksum DIR")
        #expect(try scene.text("target/d/x") == "ONE")
        try scene.there(verify + ["far:source", "target", "target"]).expect(
            2, prints: "1 repaired, 3 differ", "a copy on another machine is not repaired from here")
        #expect(try scene.text("target/d/x") == "one" && scene.text("source/d/y") == "TWO")
    }

    /// The target asks for a file that was not sent, because the filters exclude it by its size.
    @Test(.needs(.tool("python3"))) func whatIsTooLargeIsNotGivenToATarget() throws {
        let scene = try MirrorScene(["small": "small", "large": "secret", "other": "other"])
        scene.far = try FarMachine(
            FarMachine.relay(
                back: """
                    if frame[4] == 2 and frame[6] == 7:
                        return frame.replace(b"small", b"large")
                    """), has: .target)
        let run = try scene.apply("--max-size", "5")
        #expect([0, 1, 3].contains(run.code), "\(run.code) \(run.errors)")
        let given = try scene.exists("target") ? scene.wholeTarget().entries.values.compactMap(\.content) : []
        #expect(!given.contains(Array("secret".utf8)), "\(run.output)\(run.errors)")
        #expect(run.code != 0 || !given.isEmpty)
    }

    @Test func anExportedManifestIsTheTree() throws {
        let scene = try scene()
        let export = try scene.there(
            "manifest", "export", "--format", "manifest", "far:target@latest~1"
        ).expect(0)
        try scene.build(["old.json": .file(export.output)], at: "there")
        try scene.here(["manifest", "diff", "there/old.json", "target@latest~1"]).expect(0)
        try scene.there("manifest", "diff", "far:nowhere", "source").expect(66, says: "nowhere")
        // The colon of a time does not end the name of a host.
        try scene.here(["manifest", "diff", "target@2099-01-01T00:00", "target"]).expect(0)
    }

    @Test(.needs(.tool("python3"))) func aFetchedManifestIsCheckedLikeAnyOther() throws {
        let scene = try scene()
        scene.far = try FarMachine(
            FarMachine.relay(back: #"if frame[4] == 11: return frame.replace(b"0644", b"0755")"#),
            has: .target)
        try scene.there("manifest", "diff", "far:target", "source").expect(65, says: "far:")
    }

    // MARK: Keys

    @Test func aRestrictedKeyCopiesOnlyBeneath() throws {
        let scene = try scene()
        try scene.build(.directory([], mode: 0o700, modified: nil), at: "in")
        scene.far = try FarMachine(serving: "--restrict \"\(scene.path("in"))\"", in: "/")
        try scene.remove("target")
        #expect(try scene.there("apply", "source", "far:in/target").code == 0)
        try scene.there(
            "snapshot", "restore", "far:in/target", "latest", "--to", "far:copy"
        ).expect(4, says: "outside of the served directory")
        let beneath = try scene.there(
            "snapshot", "restore", "far:in/target", "latest", "--to", "far:in/copy")
        #expect(beneath.code == 0 && scene.exists("in/copy/a"), "\(beneath.errors)")
        #expect(try scene.there("manifest", "diff", "far:in/target", "far:in/copy").code == 0)
        try scene.there("manifest", "verify", "far:in/target", "far:source").expect(4)
    }

    // MARK: Status

    @Test func targetsOfSeveralMachinesAreOneTable() throws {
        let scene = try scene()
        let settings = #"""
            {"jobs": {
              "here": {"source": "\#(scene.source)", "target": "\#(scene.target)"},
              "nas": {"source": "\#(scene.source)", "target": "far:\#(scene.target)"},
              "none": {"source": "\#(scene.source)", "target": "far:\#(scene.path("none"))"}}}
            """#
        try scene.build(["settings.json": .file(settings)], at: "etc")
        func status(_ words: String...) throws -> CommandRun {
            try scene.there(["status"] + words + ["--settings", "etc/settings.json"])
        }
        func cells(_ line: Substring?) -> [Substring] {
            Array((line ?? "").split(separator: " ", omittingEmptySubsequences: true).dropFirst())
        }
        let all = try status("--all")
        let lines = all.output.split(separator: "\n")
        #expect(lines.count == 4, "\(all.output)\(all.errors)")
        #expect(all.code == 66 && cells(lines[1]) == cells(lines[2]), "\(all.output)")
        #expect(lines[3].contains("fsync-lite run none --create-target"), "\(lines[3])")
        #expect(
            all.errors.contains("none: far:\(scene.path("none")): the target does not exist"), "\(all.errors)"
        )
        let json = try status("--all", "--json").json().objects("targets")
        #expect(json[0].text("manifest") == json[1].text("manifest"))
        #expect(json[0].text("last_run") == json[1].text("last_run"))
        #expect(json[1].text("source") == json[0].text("source"))
        let metrics = try status("--prometheus").output
        #expect(metrics.contains(#"fsync_lite_up{job="nas",target="far:\#(scene.target)"} 1"#), "\(metrics)")
        #expect(metrics.contains(#"fsync_lite_up{job="none",target="far:\#(scene.path("none"))"} 0"#))
        try status("target", "far:\(scene.target)").expect(0)
        try status("nas").expect(0, prints: "history    ")
        try status("--all", "--max-age", "1s").expect(prints: "fsync-lite run")
        let lost = try scene.here(["status", "--all", "--settings", "etc/settings.json", "--ssh", "false"])
        #expect(
            lost.code == 69 && lost.output.contains(#/here  (today|yesterday) /#),
            "\(lost.output)\(lost.errors)")
    }

    /// The record of runs is on this machine. The rest is asked from the other one.
    @Test func runsOnATargetOfAnotherMachineAreShown() throws {
        let scene = try FarMachine(has: .target).scene(["a": "a", "b": ["c": "c"]])
        let (far, target) = (try #require(scene.far), "far:\(scene.target)")
        func run(_ words: String...) throws -> CommandRun {
            try scene.here(words + far.options, environment: ["FSYNC_LITE_STATE": scene.path("known")])
        }
        #expect(try run("apply", "source", target).code == 0)
        let good = try run("status", target).output.split(separator: "\n")
        #expect(good[0].hasSuffix(" s ago, 3 changes, 2 B copied"), "\(good)")
        #expect(good.contains("target     \(target)"), "\(good)")
        try scene.move("source", to: "away")
        try scene.build([:], at: "source")
        #expect(try run("apply", "source", target).code == 4)
        let status = try run("status", target)
        #expect(
            status.code == 0
                && status.output.contains(/\nlast attempt    \S+ \S+   refused: the source is empty/),
            "\(status.output)\(status.errors)")
        let document = try run("status", "--json", target).json()
        #expect(document.text("last_attempt_reason") == "empty_source")
        #expect(document.number("last_good_run_changes") == 3)
        #expect(document.text("target") == target && document.text("state") == "committed")
        let period = try run("status", "--since", "7d", target).output.split(separator: "\n")
        #expect(period.count == 4 && period[1].contains("  1          1         3        2 B"), "\(period)")
        try run("status", "--nagios", target).expect(1, prints: "refused: the source is empty")
        try scene.move("target", to: "gone")
        let missing = try run("status", "--json", target).expect(66)
        #expect(try missing.json().text("last_attempt_result") == "refused")
    }

    @Test func aCommitThatHasNotEndedThereIsSeen() throws {
        let scene = try scene()
        try scene.build(["journal": "{}"], at: "target/.fsync-lite")
        try scene.there("status", "far:target", "source").expect(6, prints: "fsync-lite recover")
        // The printed command works on this machine.
        for words in [
            ["status", "far:target"], ["plan", "source", "far:target"], ["undo", "--dry-run", "far:target"],
            ["snapshot", "list", "far:target"], ["abandon", "far:target", "x"],
            ["commit", "--dry-run", "far:target", "x"],
        ] {
            let run = try scene.there(words)
            #expect(
                run.code == 6
                    && run.errors.replacingOccurrences(of: "'", with: "")
                        .contains("fsync-lite recover far:\(scene.target)"),
                "\(words): \(run.code) \(run.errors)")
        }
    }
}
