import TestNeeds
import TestSupport
import Testing

@Suite("The manifest's word for what the target holds")
struct TrustManifestTests {
    private func changedScene() throws -> MirrorScene {
        let scene = try MirrorScene(
            [
                "edited": .file("before", modified: TreeTime(1_600_000_000, 1)), "kept": "kept",
                "was": ["x": "x", "in": ["y": "y"]], "gone": ["file": "gone"],
                "one": .file("name", modified: TreeTime(1_600_000_000, 1)),
            ], inMemory: true
        ).mirrored()
        if Need.later.isThere() { try scene.settle() }
        try scene.append(" and after", to: "source/edited")
        try scene.move("source/was", to: "source/moved")
        try scene.remove("source/gone")
        try scene.build(["new": ["in": "it"], "alone": "new"], at: "source")
        return scene
    }

    @Test func changesAreMirroredWithoutAScan() throws {
        let scene = try changedScene()
        let planned = try scene.planned()
        let trusting = try scene.plan("--trust-manifest", "--json")
        #expect(try trusting.json().actionLines == planned.actionLines)
        let run = try scene.mirror("--trust-manifest")
        #expect(run.errors == "")
        #expect(try scene.apply("--trust-manifest").output.contains("nothing to do"))
        #expect(try scene.apply().output.contains("nothing to do"))
    }

    /// Its own commit moves the change time of the directory, which would hide the change.
    @Test func attributesOfADirectoryThatItChangesAreFoundByTheNextFullRun() throws {
        let scene = try MirrorScene(["d": ["x": "x"], "e": ["y": "y"]]).mirrored()
        if Need.later.isThere() { try scene.settle() }
        for name in ["d", "e"] {
            try RawPath.setAttribute("user.note", Array("note".utf8), on: scene.path("target/\(name)"))
        }
        try scene.append("!", to: "source/d/x")
        try scene.mirror("--trust-manifest")
        let found = try scene.planned().actionLines
        #expect(
            found.count { $0.hasPrefix("attributes d ") || $0.hasPrefix("attributes e ") } == 2, "\(found)")
        try scene.mirror()
        #expect(try scene.planned().actionLines == [])
    }

    /// This is the purpose of the option. A run that did not look does not show that the file is unchanged.
    @Test(.needs(.later))
    func changesInTheTargetAreFoundByTheNextFullRun() throws {
        let scene = try changedScene()
        try scene.editInSecret("target/kept", "KEPT")
        try scene.editInSecret("target/one", "NAME")
        try scene.build(["stranger": "theirs"], at: "target")
        let run = try scene.apply("--trust-manifest")
        #expect(run.code == 0 && run.errors == "", "\(run.errors)")
        #expect(try scene.apply("--trust-manifest").output.contains("nothing to do"))
        #expect(try scene.text("target/kept") == "KEPT")
        try scene.mirror()
    }

    /// No manifest has the excluded entries.
    @Test func whatIsExcludedIsDeletedAllTheSame() throws {
        let scene = try MirrorScene(["a": "a", "b.o": "b"]).mirrored()
        #expect(try scene.apply("--exclude", "*.o").code == 0)
        #expect(try scene.apply("--exclude", "*.o", "--trust-manifest", "--delete-excluded").code == 0)
        #expect(!scene.exists("target/b.o"))
    }

    struct Hazard: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (MirrorScene) throws -> Void
    }

    private static let hazards = [
        Hazard(testDescription: "a file to be replaced was edited") {
            try $0.append("theirs", to: "target/edited")
        },
        Hazard(testDescription: "a file to be replaced is gone") { try $0.remove("target/edited") },
        Hazard(testDescription: "a directory to be deleted holds what nobody knows of") {
            try $0.build(["theirs": "theirs"], at: "target/gone")
        },
        Hazard(testDescription: "the same, and its time was put back") {
            let time = try TreeTime($0.status("target/gone").st_mtim)
            try $0.build(["theirs": "theirs"], at: "target/gone")
            try $0.setTime(time, of: "target/gone")
        },
        Hazard(testDescription: "a directory to be moved holds what nobody knows of") {
            try $0.build(["theirs": "theirs"], at: "target/was/in")
        },
        Hazard(testDescription: "a file in a directory to be moved was edited") {
            try $0.append("theirs", to: "target/was/in/y")
        },
        Hazard(testDescription: "something stands where a file will be created") {
            try $0.build(["alone": "theirs"], at: "target")
        },
        Hazard(testDescription: "something stands where a directory will be moved") {
            try $0.build(["moved": ["theirs": "theirs"]], at: "target")
        },
        Hazard(testDescription: "a directory to be deleted is a symlink now") {
            try $0.remove("target/gone")
            try $0.build(["gone": .symlink("kept")], at: "target")
        },
    ]

    @Test(arguments: hazards)
    func whatAPlanTouchesIsLookedAt(hazard: Hazard) throws {
        let scene = try changedScene()
        try hazard.make(scene)
        let plan = try scene.plan("--trust-manifest", "--json")
        #expect(try plan.json().actionLines == scene.planned().actionLines)
        try scene.mirror("--trust-manifest").expect(
            says: "the target was scanned, because it differs from its manifest")
        #expect(try scene.apply().output.contains("nothing to do"))
    }

    /// A mount or a locked entry in the way of a plan is refused, as in a run that scans.
    @Test(
        .needs(.mounts, .immutableFiles),
        arguments: [
            "tmpfs on gone", "other on gone", "itself on gone", "tmpfs on was/in", "i edited", "a edited",
            "i gone",
        ])
    func whatIsMountedOrLockedIsSeen(obstacle: String) throws {
        let scene = try changedScene()
        let words = obstacle.split(separator: " ")
        let place = "target/\(words[words.count - 1])"
        func expectRefusal() throws {
            let before = try scene.wholeTarget()
            let runs = try ["--trust-manifest", "--json"].map { try scene.apply($0) }
            for run in runs {
                #expect(run.code == 4 && run.errors.contains(String(words[words.count - 1])), "\(run.errors)")
            }
            #expect(try scene.wholeTarget().differences(from: before) == [])
        }
        if words[1] == "on" {
            // One of the two is of the same file system.
            let disks: [Substring: TestDisk] = [
                "other": .bind(scene.path("aside")), "itself": .bind(scene.path(place)),
            ]
            let disk = disks[words[0]] ?? .tmpfs(options: "size=1m")
            try scene.build([:], at: "aside")
            try disk.mounted(at: scene.path(place)) { try expectRefusal() }
        } else {
            try HostCommand.run("chattr", "+\(words[0])", scene.path(place))
            defer { _ = HostCommand.works("chattr", "-\(words[0])", scene.path(place)) }
            try expectRefusal()
        }
    }

    /// Whatever happened to the target, a run that trusts the manifest succeeds. If the manifest is wrong
    /// about an object of the run, it scans. The argument of a failed case is its seed.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func randomChangesInTheTargetNeverStopIt(seed: UInt64) throws {
        let scene = try MirrorScene([:], inMemory: true)
        var tree = try DiskTree(scene.source, seed: seed)
        try tree.grow(Int(seed % 20) + 3)
        try scene.mirror()
        try tree.change(3)
        var drifted = try DiskTree(scene.target, seed: seed + 1000)
        try drifted.change(3)
        let options = ["--max-delete", "unlimited", "--allow-empty-source"]
        try scene.run(["apply", "source", "target", "--trust-manifest"] + options).expect(0)
        // A full run finds the differences that it did not touch.
        try scene.run(["apply", "source", "target"] + options).expect(0)
        try scene.expectMirrored()
    }

    @Test func otherFiltersNeedAScan() throws {
        let scene = try changedScene()
        try scene.apply("--trust-manifest", "--exclude", "kept").expect(0, says: "the target was scanned")
    }

    /// The argument of a failed case is its seed.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func randomChangesAreMirrored(seed: UInt64) throws {
        let scene = try MirrorScene([:], inMemory: true)
        var tree = try DiskTree(scene.source, seed: seed)
        try tree.grow(Int(seed % 40) + 3)
        try scene.mirror()
        let options = ["--trust-manifest", "--max-delete", "unlimited", "--allow-empty-source"]
        for _ in 0..<2 {
            try tree.change(Int(seed % 9) + 1)
            let run = try scene.run(["apply", "source", "target"] + options)
            #expect(run.code == 0 && run.errors == "", "\(run.errors)")
            try scene.expectMirrored()
        }
        #expect(try scene.apply().output.contains("nothing to do"))
    }

    /// The source's young file is compared by its digest. The target's digest is taken from the manifest.
    @Test func anEditThatOnlyItsChangeTimeTellsOfIsNotVouchedFor() throws {
        let scene = try MirrorScene(["a": "one"]).mirrored("--digest")
        try scene.editInSecret("target/a", "two")
        // A commit explains change times from the tick on in which it was named.
        ClockTick.pass()
        try scene.build(["b": ""], at: "source")
        #expect(try scene.apply("--trust-manifest", "--digest").code == 0)
        try scene.mirror()
        #expect(try scene.text("target/a") == "one")
    }

    /// It links files that it does not look at. The links move the change times that show edits.
    @Test(arguments: [["apply", "source", "target", "--exchange", "--trust-manifest"], ["undo", "target"]])
    func anExchangeVouchesForNoEditThatItDidNotLookAt(words: [String]) throws {
        let scene = try MirrorScene(["a": "one", "b": "b", "d": ["x": "x"]])
        for text in ["1", "2"] {
            try scene.append(text, to: "source/b")
            try scene.mirror("--exchange")
        }
        try scene.editInSecret("target/a", "two")
        // After all recorded entries.
        try scene.build(["late": "late", "later": "later"], at: "target")
        for name in ["target/d", "target/d/x"] {
            try RawPath.setAttribute("user.note", [1], on: scene.path(name))
        }
        ClockTick.pass()
        try scene.append("3", to: "source/b")
        #expect(try scene.run(words).code == 0)
        try scene.mirror()
        #expect(try scene.text("target/a") == "one")
        for name in ["target/d", "target/d/x"] {
            #expect(try RawPath.attributes(of: Array(scene.path(name).utf8)).isEmpty)
        }
    }
}
