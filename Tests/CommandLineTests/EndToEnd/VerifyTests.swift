import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Verification: what differs from the manifest, what has rotted, and which copy is good")
struct VerifyTests {
    private static let old = TreeTime(1_600_000_000, 1)
    private static let tree: TreeLiteral = [
        "a": .file("before", modified: old), "b": .file("other", modified: old),
        "d": ["c": .file("third", modified: old), "e": ""], "l": .symlink("a"),
    ]

    /// A mirror with digests.
    private func mirrored(_ tree: TreeLiteral = tree, inMemory: Bool = false) throws -> MirrorScene {
        let scene = try MirrorScene(tree, inMemory: inMemory).mirrored("--digest")
        return scene
    }

    private func verify(_ scene: MirrorScene, _ options: String...) throws -> CommandRun {
        try scene.run(["manifest", "verify", "target", "target"] + options)
    }

    /// Such as `rotten a (tree)` and `changed b (mode)`.
    private func found(_ scene: MirrorScene, _ options: String..., code: Int32 = 2) throws -> [String] {
        let run = try scene.run(["manifest", "verify", "target", "target", "--json"] + options).expect(code)
        return try run.json().objects("discrepancies").map { entry in
            let causes = entry.texts("causes")
            let notes = causes.isEmpty ? [entry.text("side") ?? "?"] : causes
            return
                "\(entry.text("kind") ?? "?") \(entry.text("path") ?? "?") (\(notes.joined(separator: ", ")))"
        }
    }

    @Test func aMirrorIsAsItsManifestSays() throws {
        let scene = try mirrored()
        for options in [
            [], ["--digest"], ["--source", "source"], ["--digest", "--source", "source", "--repair"],
        ] {
            let run = try scene.run(["manifest", "verify", "target", "target"] + options)
            #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
            #expect(run.output.contains("0 differ; 6 files and directories"), "\(run.output)")
        }
        // The source agrees with its manifest, too. The manifest may be anywhere.
        #expect(try scene.run("manifest", "verify", "target", "source", "--digest").code == 0)
        #expect(try verify(scene, "--digest").output.contains("4 files read (16 B)"))
    }

    @Test func everythingThatDiffersIsNamed() throws {
        let scene = try mirrored()
        try scene.remove("target/a")
        try scene.setMode(0o600, of: "target/b")
        try scene.append("!", to: "target/d/c")
        try scene.build(["new": "x"], at: "target/d")
        try scene.remove("target/l")
        try scene.build(["l": .symlink("b")], at: "target")
        let all = try found(scene, "--digest")
        #expect(
            all.filter { !$0.hasPrefix("changed d (") }
                == [
                    "missing a (tree)", "changed b (mode)", "changed d/c (size, modified)",
                    "added d/new (tree)",
                    "changed l (modified, destination)",
                ])
        try verify(scene).expect(prints: "changed d/c  (size, modified)")
    }

    @Test func rotIsToldFromChangeAndFoundOnlyByReading() throws {
        let scene = try mirrored()
        try scene.rot("target/a", "rotten")
        #expect(try verify(scene).code == 0)
        #expect(try found(scene, "--digest") == ["rotten a (tree)"])
        try scene.editInSecret("target/a", "edited")
        #expect(try found(scene, "--digest") == ["edited a (tree)"])
        try scene.append("!", to: "target/a")
        #expect(try found(scene, "--digest") == ["changed a (size, modified)"])
    }

    // MARK: Two copies

    @Test func theSourceTellsWhichCopyIsGood() throws {
        let scene = try mirrored()
        try scene.rot("target/a", "rotten")
        try scene.rot("source/b", "ROTTE")
        try scene.rot("source/d/c", "ROTTE")
        try scene.rot("target/d/c", "rotte")
        #expect(
            try found(scene, "--source", "source") == [
                "rotten a (tree)", "rotten b (source)", "rotten d/c (both)",
            ])
        try verify(scene, "--source", "source").expect(
            prints: "rotten b  (in the source, the tree has the recorded content)")
    }

    @Test func repairPutsTheGoodCopyInPlaceAndKeepsTheRottenOfTheTarget() throws {
        let scene = try mirrored()
        try scene.setMode(0o640, of: "source/b")
        try scene.mirror()
        try scene.rot("target/a", "rotten")
        try scene.rot("source/b", "ROTTE")
        try verify(scene, "--source", "source", "--repair").expect(0, prints: "2 repaired, 0 differ")
        try scene.expectMirrored()
        #expect(try scene.text("target/a") == "before")
        #expect(try scene.text("source/b") == "other")
        #expect(try scene.historyKeeps("rotten"))
        #expect(try found(scene, "--source", "source", code: 0) == [])
        #expect(try scene.mirror("--digest", "--checksum").output.contains("nothing to do"))
    }

    /// A run that only replaced rotten files is no step.
    @Test func noSnapshotHasTheRotAndNoUndoBringsItBack() throws {
        let scene = try MirrorScene(Self.tree)
        try scene.link("source/d/z", to: "source/a")
        try scene.mirror("--digest")
        try scene.append("!", to: "source/b")
        try scene.mirror()
        try scene.rot("target/a", "rotten", alsoCalled: "target/d/z")
        try verify(scene, "--source", "source", "--repair").expect(0)
        try scene.expectMirrored()
        for snapshot in ["latest~1", "latest~2"] {
            try scene.run("snapshot", "restore", "target", snapshot, "--to", snapshot).expect(0)
            for name in ["a", "d/z"] { #expect(try scene.text("\(snapshot)/\(name)") == "before") }
        }
        // All names of a file are repaired in the target, and none in the source.
        try scene.rot("source/a", "rotten", alsoCalled: "source/d/z")
        try verify(scene, "--source", "source", "--repair").expect(
            2, prints: "it has other names; copy it by hand")
        try scene.run("undo", "target").expect(0)
        for name in ["a", "d/z"] { #expect(try scene.text("target/\(name)") == "before") }
        #expect(try scene.text("target/b") == "other")
        #expect(try found(scene, code: 0) == [])
    }

    @Test func repairDoesNothingElseAndForgetsNothing() throws {
        let scene = try mirrored()
        try scene.build(["hidden": .file("third", modified: Self.old)], at: "source")
        try scene.mirror("--digest=none")
        try scene.rot("target/a", "rotten")
        try scene.build(["new": "new"], at: "source")
        try scene.remove("source/d/e")
        try scene.setMode(0o600, of: "source/b")
        // The next apply must find a hidden edit, as if nothing had been repaired.
        try scene.editInSecret("source/hidden", "THIRD")
        #expect(try verify(scene, "--source", "source", "--repair").code == 0)
        #expect(try scene.text("target/a") == "before")
        #expect(!scene.exists("target/new") && scene.exists("target/d/e"))
        #expect(try scene.text("target/hidden") == "third")
        try scene.mirror()
        #expect(try scene.text("target/hidden") == "THIRD")
    }

    // MARK: Edits that put the time back

    /// A bad disk moves no change time.
    @Test(arguments: ["", "later"]) func anEditIsNoRot(_ moment: String) throws {
        let scene = try mirrored()
        // Then the manifest has the change times of the target, and no commit explains them.
        if moment == "later" {
            try scene.build(["new": "new"], at: "source")
            try scene.mirror()
            #expect(try scene.text("target/.fsync-lite/manifest.json").contains("target_changed"))
        }
        try scene.editInSecret("target/a", "edited")
        try scene.editInSecret("source/b", "EDITE")
        #expect(
            try found(scene, "--source", "source") == ["edited a (tree)", "edited b (source)"])
        #expect(try found(scene, "--digest") == ["edited a (tree)"])
        let run = try verify(scene, "--source", "source")
        #expect(run.output.contains("edited b  (in the source)"), "\(run.output)")
        #expect(
            try scene.run("manifest", "verify", "target", "source", "--digest").output.contains("edited b"))
    }

    @Test func anEditIsNeverRepairedAndSaysSo() throws {
        let scene = try mirrored()
        try scene.editInSecret("target/a", "edited")
        try scene.editInSecret("source/b", "EDITE")
        try scene.rot("target/d/c", "ROTTE")
        let (target, source) = (try scene.wholeTarget(), try TreeSnapshot(scene.source))
        let run = try scene.run(
            "manifest", "verify", "target", "target", "--source", "source", "--repair", "--json"
        ).expect(2)
        let found = try run.json().objects("discrepancies")
        #expect(
            found.map { "\($0.text("kind") ?? "") \($0.text("path") ?? "") \($0.text("repair") ?? "")" }
                == ["edited a none", "edited b none", "rotten d/c done"])
        for (index, way) in ["apply copies the source's file over it", "apply --trust-source mirrors it"]
            .enumerated()
        {
            let message = try #require(found[index].text("message"))
            #expect(message.hasPrefix("not repaired, as it was changed") && message.contains(way))
        }
        #expect(try scene.text("target/a") == "edited" && scene.text("target/d/c") == "third")
        #expect(try scene.wholeTarget().touched(since: target).allSatisfy { !$0.hasPrefix("a: ") })
        #expect(try TreeSnapshot(scene.source) == source)
        // Both ways out work.
        try scene.mirror("--trust-source")
        #expect(try scene.text("target/a") == "before" && scene.text("target/b") == "EDITE")
        #expect(try scene.historyKeeps("edited"))
    }

    @Test func twoCopiesThatAreWrongInTwoWaysAreTwoFindings() throws {
        let scene = try mirrored()
        try scene.rot("target/a", "rotten")
        try scene.editInSecret("source/a", "edited")
        for side in ["source", "target"] { try scene.editInSecret("\(side)/b", "EDITE") }
        #expect(
            try found(scene, "--source", "source", "--repair")
                == ["rotten a (tree)", "edited a (source)", "edited b (both)"])
        #expect(try scene.text("target/a") == "rotten" && scene.text("source/a") == "edited")
    }

    /// A different object with the time of the old one: `cp -p` over it, or an editor.
    @Test(arguments: ["target", "source"]) func aFileThatWasReplacedIsEdited(side: String) throws {
        let scene = try mirrored()
        try scene.build(["new": .file("edited", modified: Self.old)], at: ".")
        try scene.move("new", to: "\(side)/a")
        let name = side == "target" ? "tree" : "source"
        #expect(try found(scene, "--source", "source", "--repair") == ["edited a (\(name))"])
        #expect(try scene.text("\(side)/a") == "edited")
    }

    /// A copy of both, as on another disk. All change times differ, so they show nothing.
    @Test func inACopyNothingShowsAnEdit() throws {
        let scene = try mirrored()
        try HostCommand.run("cp", "-a", scene.source, scene.path("source copy"))
        try HostCommand.run("cp", "-a", scene.target, scene.path("copy"))
        try scene.editInSecret("copy/a", "rotten")
        try scene.editInSecret("source copy/b", "ROTTE")
        try scene.run(
            "manifest", "verify", "copy", "copy", "--source", "source copy", "--repair"
        ).expect(0, prints: "2 repaired")
        #expect(try scene.text("copy/a") == "before" && scene.text("source copy/b") == "other")
    }

    @Test func repairNeedsASourceAndATarget() throws {
        let scene = try mirrored()
        #expect(try verify(scene, "--digest", "--repair").code == 64)
        try scene.run("manifest", "create", "--digest", "source", "-o", "m").expect(0)
        try scene.build(["a": .file("rotten", modified: Self.old)], at: "copy")
        try scene.run("manifest", "verify", "m", "copy", "--source", "source", "--repair").expect(
            4, says: "only a target of fsync-lite can be repaired")
    }

    // MARK: In an apply

    @Test func rotIsNeverCopiedOverAGoodCopy() throws {
        let scene = try mirrored()
        try scene.editInSecret("source/a", "rotten")
        let before = try scene.wholeTarget()
        try scene.apply().expect(
            4, says: "the content of a changed in the source, but its size and time did not",
            "to find the good copy: fsync-lite manifest verify --source source target target",
            "--trust-source"
        )
        #expect(try scene.wholeTarget().touched(since: before) == [])
        #expect(try scene.plan().code == 4)
        try scene.mirror("--trust-source")
        #expect(try scene.text("target/a") == "rotten")
    }

    @Test func rotThatMovesNoTimeIsFoundByChecksumAndNotCopied() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        let source = try MappedFile(scene.path("source/a"))
        try scene.mirror("--digest")
        source.store("rotten")
        #expect(try scene.apply("--checksum").code == 4)
        #expect(try scene.text("target/a") == "before")
        #expect(try verify(scene, "--source", "source", "--repair").code == 0)
        #expect(try scene.text("source/a") == "before")
        try scene.mirror("--checksum")
    }

    @Test func verifyReadsBackWhatWasWritten() throws {
        let scene = try MirrorScene(Self.tree).mirrored("--verify")
        #expect(try verify(scene, "--digest").output.contains("4 files read"))
    }

    @Test(.needs(.strace))
    func whatReadsBackOtherwiseIsNotCommitted() throws {
        let scene = try MirrorScene(["d": ["e": ["a": .file("before", modified: Self.old)]]])
        try scene.paused(["apply", "source", "target", "--verify"], at: .after("syncfs")) {
            let stage = try scene.names(in: "target/.fsync-lite/stage")
            try scene.editInSecret("target/.fsync-lite/stage/\(stage[0])/0/0/e/a", "rotten")
        }.expect(1, says: "d/e/a: its copy has other content than was written")
        #expect(!scene.exists("target"))
    }

    // MARK: Below the file system

    @Test(
        .needs(.mounts),
        .needs(.later), arguments: ["source", "target"])
    func aByteThatFlipsOnTheDisk(rotten: String) throws {
        let scene = try MirrorScene([:])
        try scene.build([:], at: "target")
        let good = rotten == "source" ? "target" : "source"
        let content = "a file whose bytes are found on the disk \(UUID().uuidString)"
        let image = scene.path("image")
        try TestDisk.makeImage(image, megabytes: 8)
        let copy =
            rotten == "source" ? ["apply", "source", "target"] : ["apply", "source", "target", "--adopt"]
        try TestDisk.image(image).mounted(at: scene.path(rotten)) {
            try scene.build(["a": .file(content, modified: Self.old)], at: "source")
            try scene.run(copy + ["--digest", "--exclude", "lost+found"]).expect(0)
            try scene.settle("--exclude", "lost+found")
            try HostCommand.run("sync", "-f", scene.path(rotten))
        }
        var disk = try Data(contentsOf: URL(fileURLWithPath: image))
        var place = try #require(disk.range(of: Data(content.utf8)))
        repeat {
            disk[place.lowerBound] ^= 1
            place = disk.range(of: Data(content.utf8)) ?? 0..<0
        } while !place.isEmpty
        try disk.write(to: URL(fileURLWithPath: image))
        try TestDisk.image(image).mounted(at: scene.path(rotten)) {
            #expect(try scene.text("\(rotten)/a") != content)
            let sides = try found(scene, "--source", "source").filter { $0.contains("rotten") }
            #expect(sides == ["rotten a (\(rotten == "source" ? "source" : "tree"))"])
            // No time shows it, so nothing is copied. If the file is read, the run is refused. The young
            // files of a disk that was away are read.
            let next = try scene.apply("--exclude", "lost+found")
            #expect(
                rotten == "source" ? next.code == 4 : next.output.contains("nothing to do"),
                "\(next.output)\(next.errors)")
            let checked = try scene.apply("--exclude", "lost+found", "--checksum")
            #expect(checked.code == (rotten == "source" ? 4 : 0), "\(checked.errors)")
            #expect(try scene.text("\(good)/a") == content)
            _ = try verify(scene, "--source", "source", "--repair")
            #expect(try scene.text("\(rotten)/a") == content)
            #expect(try scene.text("\(good)/a") == content)
        }
    }
}
