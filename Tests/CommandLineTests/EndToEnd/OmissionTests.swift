import TestNeeds
import TestSupport
import Testing

@Suite(
    "What a target cannot hold is listed, and is no change for ever",
    .needs(.mounts))
struct OmissionTests {
    private static let late = TreeTime(20_000_000_000, 5)
    private static let early = TreeTime(-9_000_000_000, 5)

    /// A source with everything, and an ext4 as its target.
    private func onSmallDisk(_ tree: TreeLiteral, _ body: (MirrorScene) throws -> Void) throws {
        let scene = try MirrorScene([:])
        try scene.build([:], at: "target")
        try scene.mounted(.tmpfs(options: "size=16m"), at: "source") {
            try TestDisk.ext4(megabytes: 8).mounted(at: scene.target) {
                try scene.remove("target/lost+found")
                try scene.build(tree, at: "source")
                try body(scene)
            }
        }
    }

    /// Applies. Something is omitted and listed, and the next run has nothing to do.
    private func expectOmission(
        _ scene: MirrorScene, of paths: [String]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let run = try scene.apply("--json").expect(3, sourceLocation: sourceLocation)
        let report = try run.json()
        #expect(report.text("outcome") == "committed", sourceLocation: sourceLocation)
        #expect(
            report.objects("problems").allSatisfy { $0.text("code") == "attribute" },
            sourceLocation: sourceLocation)
        if let paths {
            #expect(
                report.objects("problems").compactMap { $0.text("path") } == paths,
                sourceLocation: sourceLocation)
        }
        let again = try scene.apply("--json").json()
        #expect(again.text("outcome") == "unchanged", "\(again)", sourceLocation: sourceLocation)
    }

    // MARK: Times

    @Test func timesOutsideTheRangeAreListedOnce() throws {
        try onSmallDisk([
            "early": .file("e", modified: Self.early), "late": .file("l", modified: Self.late),
            "dir": .directory(["x": "x"], modified: Self.late), "link": .symlink("x", modified: Self.early),
            "in range": .file("r", modified: TreeTime(15_000_000_000, 7)),
        ]) { scene in
            try expectOmission(scene, of: ["dir"])
            #expect(try scene.status("target/in range").st_mtim.tv_sec == 15_000_000_000)
            // A change of another attribute.
            try scene.setMode(0o600, of: "source/early")
            try scene.build(["new": "n"], at: "source")
            // And a new entry, which moves the time in the target.
            try scene.build(["y": "y"], at: "source/dir")
            try scene.setTime(Self.late, of: "source/dir")
            try expectOmission(scene)
            #expect(try scene.status("target/early").st_mode & 0o777 == 0o600)
            // And back in range.
            for name in ["early", "late", "dir", "link"] {
                try scene.setTime(TreeTime(7, 7), of: "source/\(name)")
            }
            try scene.mirrorAll()
        }
    }

    @Test func rootWithSuchATimeFollowsOnceItIsInRange() throws {
        try onSmallDisk(["a": "a"]) { scene in
            try scene.setTime(Self.late, of: "source")
            try expectOmission(scene)
            try scene.setTime(TreeTime(1_000_000_000, 7), of: "source")
            try scene.mirrorAll()
        }
    }

    // MARK: Symlinks

    /// On ext4 a symlink has at most one block, here 1 KiB.
    @Test func aSymlinkThatIsTooLongIsListedAndTheRestIsMirrored() throws {
        let long = TreeLiteral.symlink(TreeName([UInt8](repeating: 121, count: 3000)))
        try onSmallDisk(["a": "a", "long": long]) { scene in
            try scene.apply().expect(1, says: "long: the target's file system")
            for outcome in ["committed", "unchanged", "unchanged"] {
                let run = try scene.apply("--keep-going", "--json")
                let report = try run.json()
                #expect(run.code == 3, "\(run.errors)")
                #expect(report.text("outcome") == outcome, "\(report)")
                #expect(report.objects("problems").compactMap { $0.text("path") } == ["long"])
            }
            #expect(!scene.exists("target/.fsync-lite/stage"))
            // Such a run is no step. The last run with changes is the one to undo.
            #expect(try scene.run("undo", "target").code == 0)
            #expect(!scene.exists("target/a"))
            try scene.remove("source/long")
            try scene.build(["long": .symlink("short")], at: "source")
            try scene.mirrorAll()
        }
    }

    // MARK: Extended attributes

    private static let tooLarge = [UInt8](repeating: 7, count: 5000)

    @Test func xattrThatDoesNotFitIsListedOnceAndTheOthersAreSet() throws {
        try onSmallDisk(["a": "a", "d": ["b": "b"]]) { scene in
            for name in ["source/a", "source/d"] {
                try scene.setAttribute("user.large", Self.tooLarge, of: name)
                try scene.setAttribute("user.small", "s", of: name)
            }
            try expectOmission(scene, of: ["a"])
            let held = try AttributeSnapshot(scene.target)
            for name in ["a", "d"] {
                #expect(held[name]?.attributes == [Array("user.small".utf8): Array("s".utf8)])
            }
            try scene.setAttribute("user.small", "other", of: "source/a")
            try expectOmission(scene)
            #expect(
                try AttributeSnapshot(scene.target)["a"]?.attributes[Array("user.small".utf8)]
                    == Array("other".utf8))
            for name in ["source/a", "source/d"] { try scene.setAttribute("user.large", "not", of: name) }
            try scene.mirrorAll()
        }
    }

    @Test func xattrThatDoesNotFitOnWhatIsThereAlready() throws {
        try onSmallDisk(["a": "a", "d": ["b": "b"], "p": .fifo()]) { scene in
            try scene.mirrorAll()
            for name in ["a", "d"] {
                try scene.setAttribute("user.large", Self.tooLarge, of: "source/\(name)")
            }
            try scene.setAttribute("trusted.large", Self.tooLarge, of: "source/p")
            try expectOmission(scene)
            // There is space, but not enough of it.
            try scene.setAttribute("user.medium", Array(repeating: 1, count: 3500), of: "source/a")
            try expectOmission(scene)
        }
    }

    @Test(arguments: [false, true]) func xattrOfASymlinkThatDoesNotFit(isNew: Bool) throws {
        try onSmallDisk(["l": .symlink("a")]) { scene in
            if !isNew { try scene.mirrorAll() }
            try scene.setAttribute("trusted.large", Self.tooLarge, of: "source/l")
            try expectOmission(scene)
        }
    }

    @Test func xattrOfTheRootThatDoesNotFitHidesNoOther() throws {
        try onSmallDisk(["a": "a"]) { scene in
            try scene.setAttribute("user.large", Self.tooLarge, of: "source")
            try expectOmission(scene)
            try scene.setAttribute("user.small", "s", of: "source")
            try expectOmission(scene)
            #expect(
                try AttributeSnapshot(scene.target)["."]?.attributes[Array("user.small".utf8)]
                    == Array("s".utf8))
        }
    }

    @Test func largestValueThatLinuxKnowsIsMirroredWhereItFits() throws {
        let scene = try MirrorScene(["a": "a"], inMemory: true)
        let value = [UInt8](repeating: 1, count: 65_536)
        let isTaken = (try? scene.setAttribute("user.largest", value, of: "source/a")) != nil
        guard Need.attribute("an attribute of 64 KiB", isTaken).isThere() else { return }
        try scene.mirrorAll()
    }

    // MARK: Others

    /// The kernel removes setgid if the group is not one of the user's.
    @Test(.needs(.otherUser))
    func setgidWithAForeignGroupIsListedOnce() throws {
        let scene = try MirrorScene(
            ["tool": .file("t", mode: 0o755), "dir": .directory(["x": "x"], mode: 0o755)], as: .ordinary)
        try scene.build([:], at: "target")
        // New objects in it get its group.
        try scene.setOwner(65534, 4321, of: "target")
        try scene.setMode(0o2755, of: "target")
        try scene.setMode(0o2755, of: "source")
        #expect(try scene.apply().code <= 3)
        let report = try scene.apply("--json").json()
        #expect(report.text("outcome") == "unchanged", "\(report)")
        try scene.setMode(0o2755, of: "source/tool")
        try scene.setMode(0o2755, of: "source/dir")
        try expectOmission(scene)
        try scene.append("+", to: "source/tool")
        try scene.setMode(0o2755, of: "source/tool")
        try expectOmission(scene)
        try scene.setMode(0o700, of: "source/tool")
        try scene.setMode(0o700, of: "source/dir")
        #expect([0, 3].contains(try scene.apply().code))
        #expect(try scene.status("target/tool").st_mode & 0o7777 == 0o700)
    }
}
