import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Jobs of several sources")
struct SourcesTests {
    /// The place of the target. A job does the same if it is on another machine.
    enum Place: CaseIterable { case here, there }

    /// A job `all` with the sources `etc` and `home`, and more keys. Their trees are `source/etc` and
    /// `source/home`, and the target mirrors all of `source`.
    private func scene(_ place: Place = .here, _ more: String = "") throws -> MirrorScene {
        let scene = try MirrorScene(
            ["etc": ["hosts": "h", "sub": ["x": "x"]], "home": ["joe": ["a": "one", "b": "two"]]],
            inMemory: true)
        scene.far = place == .there ? try FarMachine(has: .target) : nil
        try scene.writeJob(of: ["etc": "source/etc", "home": "source/home"], more)
        return scene
    }

    private func run(_ scene: MirrorScene, _ words: String...) throws -> CommandRun {
        try run(scene, words)
    }

    /// - Returns: the output, with paths as they are for a target here.
    private func run(_ scene: MirrorScene, _ words: [String]) throws -> CommandRun {
        let isOfTarget = ["run", "plan", "status"].contains(words[0])
        let run = try scene.here(
            words + ["--settings", "settings.json"] + (isOfTarget ? scene.far?.options ?? [] : []))
        return try run.saying { try plain($0, scene) }
    }

    private func plain(_ text: String, _ scene: MirrorScene) throws -> String {
        let directory = scene.directory.path
        let host = try HostCommand.output("uname", "-n").trimmingCharacters(in: .whitespacesAndNewlines)
        let options = scene.far?.options.map { " \($0)" }.joined() ?? " --ssh"
        return text.replacingOccurrences(of: "\(host):\(directory)", with: directory)
            .replacingOccurrences(of: "far:\(directory)", with: directory)
            .replacingOccurrences(of: options, with: "")
    }

    @discardableResult
    private func mirror(
        _ scene: MirrorScene, _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandRun {
        let run = try run(scene, ["run", "all"] + options).expect(0, sourceLocation: sourceLocation)
        // The root of the target has its own attributes.
        let differences = try TreeSnapshot(scene.target).differences(from: TreeSnapshot(scene.source))
        #expect(differences.filter { !$0.hasPrefix(".") } == [], sourceLocation: sourceLocation)
        return run
    }

    private func expectRefused(
        _ scene: MirrorScene, _ option: String?, saying text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try TreeSnapshot(scene.target, withState: true)
        for words in [["run", "all"], ["plan", "--job", "all"]] {
            let command = words.joined(separator: " ")
            let run = try run(scene, words).expect(
                4, says: "all: refused: \(text)", sourceLocation: sourceLocation)
            if let option {
                #expect(
                    run.errors.contains("fsync-lite \(command) \(option) --settings"), "\(run.errors)",
                    sourceLocation: sourceLocation)
            }
        }
        let after = try TreeSnapshot(scene.target, withState: true)
        #expect(after.touched(since: before) == [], sourceLocation: sourceLocation)
    }

    // MARK: Mirroring

    @Test(arguments: Place.allCases) func eachSourceIsADirectoryOfTheTargetInOneTransaction(place: Place)
        throws
    {
        let scene = try scene(place, #", "keep_last": 5"#)
        try run(scene, "plan", "--job", "all", "--create-target").expect(0, prints: "+ etc/hosts")
        try mirror(scene, "--create-target")
        #expect(try mirror(scene).output.contains("nothing to do"))
        try scene.setMode(0o750, of: "target")
        try scene.append("!", to: "source/etc/hosts")
        try scene.remove("source/home/joe/b")
        #expect(try mirror(scene).output.hasPrefix("all: 1 updated, 1 with new attributes, 1 deleted"))
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/etc/hosts") == "h" && scene.text("target/home/joe/b") == "two")
        #expect(try scene.text("source/etc/hosts") == "h!")
        try mirror(scene)
        #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").code == 0)
        #expect(try scene.text("target/etc/hosts") == "h")
        #expect(try scene.run("snapshot", "restore", "target", "latest", "home/joe", "--to", "out").code == 0)
        #expect(try scene.text("out/home/joe/a") == "one")
        try mirror(scene)
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
    }

    @Test(arguments: Place.allCases) func theManifestAndTheCommandsNameTheSources(place: Place) throws {
        let scene = try scene(place)
        try mirror(scene, "--create-target")
        let manifest = try plain(scene.text("target/.fsync-lite/manifest.json"), scene)
        #expect(manifest.contains(#""sources":[{"name":"etc","path":"\#(scene.source)/etc","inode":"#))
        for words in [["status", "all"], ["status", "target"]] {
            let status = try run(scene, words).output
            #expect(
                status.contains(
                    "source     etc: \(scene.source)/etc\nsource     home: \(scene.source)/home\n"))
        }
        #expect(try run(scene, "status", "--all").code == 0)
        for words in [
            ["status", "--json", "target"], ["run", "all", "--json"], ["plan", "--json", "--job", "all"],
        ] {
            let document = try run(scene, words).json()
            #expect(document.objects("sources").map { $0.text("name") } == ["etc", "home"], "\(words)")
            #expect(document.text("source") == nil)
        }
        let shown = try run(scene, "settings", "show", "all").output
        #expect(shown.contains("source       etc: \(scene.source)/etc\n"))
        #expect(
            try run(scene, "settings", "show").output.contains(
                "all: \(scene.source)/etc, \(scene.source)/home to \(scene.target)"))
        let summary = try plain(scene.run("manifest", "show", "target").output, scene)
        #expect(summary.contains("home: \(scene.source)/home"))
        #expect(try run(scene, "plan", "--job", "all", "--out", "saved").code == 64)
        try scene.run("snapshot", "restore", "target", "latest", "home/joe/a", "--to-source").saying {
            try plain($0, scene)
        }.expect(4, says: "several sources, etc (\(scene.source)/etc), home")
    }

    /// Patterns are relative to the target's tree, so they can name a source. An ignore file is for its
    /// directory.
    @Test(arguments: Place.allCases) func patternsBeginAtTheTarget(place: Place) throws {
        let scene = try scene(
            place, #", "exclude": ["/home/joe/a", "/hosts", "*.tmp"], "ignore_file": ".skip""#)
        try scene.build(["c.tmp": "c", "b": "b", ".skip": "/b\n"], at: "source/home")
        try run(scene, "run", "all", "--create-target").expect(0)
        #expect(scene.exists("target/etc/hosts") && scene.exists("target/home/joe/b"))
        for name in ["joe/a", "c.tmp", "b"] { #expect(!scene.exists("target/home/\(name)")) }
        guard place == .here else { return }
        let explained = try self.run(scene, "explain", "all", "home/b")
        #expect(explained.output == "home/b: home/.skip:1 excludes it: /b\n", "\(explained.errors)")
        let absolute = try self.run(scene, "explain", scene.target, "\(scene.source)/home/joe/b")
        #expect(absolute.output == "home/joe/b: it is mirrored, and the copy is up to date\n")
        for path in [".fsync-lite/x", "home/.fsync-lite"] {
            try self.run(scene, "explain", "all", path).expect(prints: "is reserved, and is always left out")
        }
    }

    @Test(arguments: Place.allCases) func reservedNamesInASourcesRootAreLeftOut(place: Place) throws {
        let scene = try scene(place)
        try scene.build(["manifest.json": "x"], at: "source/etc/.fsync-lite")
        try scene.build(["deep": "x"], at: "source/etc/sub/.fsync-lite")
        try run(scene, "run", "all", "--create-target").expect(
            0, says: "own .fsync-lite is left out", "so its history is not copied; cp -a copies it")
        #expect(try !self.run(scene, "run", "all").errors.contains("left out"), "told once")
        #expect(!scene.exists("target/etc/.fsync-lite") && scene.exists("target/etc/sub/.fsync-lite/deep"))
    }

    // MARK: Identities

    @Test(arguments: Place.allCases) func whatMovesBetweenSourcesOfOneFileSystemIsNotCopied(place: Place)
        throws
    {
        let scene = try scene(place)
        try scene.build(["stays": "here"], at: "source/home")
        try mirror(scene, "--create-target")
        try scene.move("source/home/joe", to: "source/etc/joe")
        try run(scene, "run", "all", "-v").expect(0, prints: "> home/joe -> etc/joe")
        try mirror(scene)
    }

    /// A copied file system has the same inodes, birth times and number.
    @Test(.needs(.mounts), arguments: Place.allCases)
    func equalInodesOfTwoFileSystemsAreTwoObjects(place: Place) throws {
        let scene = try scene(place)
        try HostCommand.run("truncate", "-s", "16M", scene.path("one.img"))
        try HostCommand.run("mkfs.ext4", "-q", scene.path("one.img"))
        for name in ["etc", "home"] {
            try scene.remove("source/\(name)")
            try scene.build([:], at: "source/\(name)")
        }
        let (one, two) = (scene.path("source/etc"), scene.path("source/home"))
        try HostCommand.run("mount", "-o", "loop", scene.path("one.img"), one)
        try scene.build(["a": "one", "b": "two"], at: "source/etc/d")
        try HostCommand.run("umount", one)
        try HostCommand.run("cp", scene.path("one.img"), scene.path("two.img"))
        try HostCommand.run("mount", "-o", "loop", scene.path("one.img"), one)
        defer { _ = try? HostCommand.run("umount", one) }
        try HostCommand.run("mount", "-o", "loop", scene.path("two.img"), two)
        defer { _ = try? HostCommand.run("umount", two) }
        try scene.editInSecret("source/home/d/a", "ONE")
        try scene.build(["stays": "here"], at: "source/etc")
        #expect(try run(scene, "run", "all", "--create-target").code == 0)
        #expect(!scene.exists("target/etc/lost+found"))
        // The same identity leaves one source and appears in the other.
        try scene.move("source/home/d", to: "source/home/e")
        try scene.remove("source/etc/d")
        try run(scene, "run", "all", "-v", "--max-delete", "unlimited").expect(
            0, prints: "> home/d -> home/e")
        #expect(try scene.text("target/home/e/a") == "ONE")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try scene.text("target/home/d/a") == "ONE" && scene.text("target/etc/d/a") == "one")
    }

    // MARK: Guards

    @Test(arguments: Place.allCases) func aMissingSourceEndsAllOfIt(place: Place) throws {
        let scene = try scene(place)
        try mirror(scene, "--create-target")
        try scene.append("!", to: "source/etc/hosts")
        try scene.move("source/home", to: "gone")
        try run(scene, "run", "all").expect(
            66, says: "the source \"home\" does not exist", "\(scene.source)/home")
        #expect(try scene.text("target/etc/hosts") == "h")
        // The directory below a mount point.
        try scene.move("gone", to: "source/home")
        try scene.remove("source/home/joe")
        try expectRefused(
            scene, "--allow-empty-source",
            saying:
                "the source \"home\" is empty, and the target has 3 files and directories of it. Is a disk missing?"
        )
        #expect(try scene.text("target/etc/hosts") == "h")
        try mirror(scene, "--allow-empty-source")
        #expect(!scene.exists("target/home/joe"))
    }

    @Test(arguments: Place.allCases) func deletionsCountForEachSource(place: Place) throws {
        let scene = try scene(place)
        for number in 1...20 { try scene.build(.file("\(number)"), at: "source/etc/f\(number)") }
        for number in 1...200 { try scene.build(.file("\(number)"), at: "source/home/g\(number)") }
        try mirror(scene, "--create-target")
        for number in 1...15 { try scene.remove("source/etc/f\(number)") }
        try expectRefused(
            scene, "--max-delete 15",
            saying: "15 of the target's 24 files and directories of the source \"etc\" would be deleted")
        try mirror(scene, "--max-delete", "15")
    }

    @Test(.needs(.mounts), arguments: Place.allCases)
    func aSourceOfAnotherFileSystemIsRefused(place: Place) throws {
        let scene = try scene(place)
        try mirror(scene, "--create-target")
        try HostCommand.run("cp", "-a", scene.path("source/home"), scene.path("copy"))
        try TestDisk.tmpfs(options: "size=8m").mounted(at: scene.path("source/home")) {
            try HostCommand.run("cp", "-a", scene.path("copy/joe"), scene.path("source/home"))
            try expectRefused(
                scene, "--change-source",
                saying: "the source \"home\" is another directory, on another file system, than last time")
            try mirror(scene, "--change-source")
            try mirror(scene)
        }
    }

    @Test(arguments: Place.allCases) func theListOfSourcesMayChange(place: Place) throws {
        let scene = try scene(place)
        try mirror(scene, "--create-target")
        try scene.build(["v": "v"], at: "source/var")
        try scene.writeJob(of: ["etc": "source/etc", "home": "source/home", "var": "source/var"])
        try mirror(scene)
        try scene.writeJob(of: ["etc": "source/etc", "home": "source/home"])
        try expectRefused(
            scene, "--change-source",
            saying:
                "the source \"var\" (\(scene.source)/var) is no longer mirrored here, so the target's copy of it would be deleted"
        )
        try scene.move("source/var", to: "var")
        try mirror(scene, "--change-source")
        #expect(!scene.exists("target/var"))
        // A different directory with the same name.
        try scene.build(["joe": ["z": "z"]], at: "other")
        try scene.writeJob(of: ["etc": "source/etc", "home": "other"])
        try expectRefused(
            scene, "--change-source",
            saying: "the source \"home\" is another directory than last time (\(scene.source)/home)")
        // The same directory under another name is moved.
        try scene.writeJob(of: ["etc": "source/etc", "users": "source/home"])
        for _ in 0..<2 {
            try run(scene, "run", "all", "-v").expect(0, prints: "> home -> users")
            // The sources have their old names again, too.
            #expect(try scene.run("undo", "target").code == 0)
        }
        // One source with everything.
        try scene.writeJob(from: #""source": "\#(scene.source)""#)
        try expectRefused(scene, nil, saying: "the source \"etc\"")
    }

    @Test(arguments: Place.allCases) func oneSourceMayHaveAName(place: Place) throws {
        let scene = try scene(place)
        try scene.remove("source/home")
        try scene.writeJob(of: ["etc": "source/etc"])
        try mirror(scene, "--create-target")
        try scene.append("+", to: "source/etc/sub/x")
        try mirror(scene)
        #expect(try run(scene, "run", "all").errors.isEmpty)
        // It is not called several.
        try scene.run("snapshot", "restore", "target", "latest", "--to-source").saying {
            try plain($0, scene)
        }.expect(4, says: "the mirror of a source with a name, etc (\(scene.source)/etc), and")
        try run(scene, "plan", "--job", "all", "--out", "saved").expect(
            64, says: "a plan of sources with names cannot be saved")
    }

    @Test func rotIsFoundInATargetOnAnotherMachine() throws {
        let scene = try scene(.there, #", "digest": true"#)
        try mirror(scene, "--create-target")
        try scene.rot("target/home/joe/a", "ONE")
        try scene.here(
            [
                "manifest", "verify", "far:\(scene.target)", "far:\(scene.target)", "--source",
                "etc=source/etc", "--source", "home=source/home",
            ] + #require(scene.far).options
        ).expect(2, prints: "rotten home/joe/a  (in the tree, the source")
    }

    @Test func rotIsFoundAndMendedInEachSource() throws {
        let scene = try scene(.here, #", "digest": true"#)
        try mirror(scene, "--create-target")
        let sources = ["etc=\(scene.source)/etc", "home=\(scene.source)/home"].flatMap { ["--source", $0] }
        let verify = ["manifest", "verify", "target", "target", "--digest", "--repair"]
        #expect(try scene.run(verify + sources).code == 0)
        try scene.rot("target/home/joe/a", "ONE")
        try scene.rot("source/etc/hosts", "H")
        try scene.run(verify + sources).expect(0, prints: "2 repaired")
        #expect(try scene.text("target/home/joe/a") == "one" && scene.text("source/etc/hosts") == "h")
        try scene.editInSecret("source/home/joe/b", "TWO")
        try scene.run(verify + sources).expect(2, prints: "edited home/joe/b  (in the source")
        for given in [["--source", scene.source], ["--source", "etc=\(scene.source)/etc"]] {
            try scene.run(verify + given).expect(64, says: "--source etc=DIR --source home=DIR")
        }
    }

    /// A name may contain a `=`, and begin like another one.
    @Test func sourcesOfAVerificationMayHaveEqualsSigns() throws {
        let scene = try scene()
        try scene.build(["a": "a"], at: "e=q")
        try scene.writeJob(of: ["e": "source/etc", "e=q": "e=q"], #", "digest": true"#)
        #expect(try run(scene, "run", "all", "--create-target").code == 0)
        try scene.rot("target/e=q/a", "A")
        try scene.run(
            "manifest", "verify", "target", "target", "--repair", "--source", "e=q=\(scene.path("e=q"))",
            "--source", "e=\(scene.source)/etc"
        ).expect(0, prints: "1 repaired")
    }

    // MARK: Another machine

    @Test func thereAreBoundsToWhatGoesOver() throws {
        let scene = try scene(.there)
        let list = (0...4096).map { "\"n\($0)\": \"/nowhere\"" }.joined(separator: ", ")
        try scene.writeJob(from: "\"sources\": {\(list)}")
        try run(scene, "run", "all").expect(64, says: "more than 4096 sources")
    }

    /// After each change, a push makes the same tree and the same output as a run here.
    @Test(arguments: 1...4) func treesAndOutputAreTheSameAsHere(seed: UInt64) throws {
        let scene = try MirrorScene([:], inMemory: true)
        let far = try FarMachine(has: .target)
        var trees: [DiskTree] = []
        for (number, name) in ["a", "b", "c"].enumerated() {
            var tree = try DiskTree("\(scene.source)/\(name)", seed: seed * 10 + UInt64(number))
            try tree.grow(12)
            trees.append(tree)
        }
        let sources = ["a", "b", "c"].map { "\"\($0)\": \"\(scene.source)/\($0)\"" }.joined(separator: ", ")
        let jobs = ["there": "far:\(scene.path("there"))", "here": scene.path("here")].map {
            #""\#($0)": {"sources": {\#(sources)}, "target": "\#($1)"}"#
        }
        try scene.build(.file("{\"jobs\": {\(jobs.joined(separator: ", "))}}"), at: "settings.json")
        for round in 0..<3 {
            for words in [["plan", "--job"], ["plan", "--json", "--job"], ["run", "-v"], ["run"]] {
                let runs = try ["there", "here"].map { place in
                    scene.far = place == "there" ? far : nil
                    let words = words.first == "run" ? ["run", place] + words.dropFirst() : words + [place]
                    let limits = ["--create-target", "--max-delete", "unlimited", "--allow-empty-source"]
                    return try run(scene, words + limits).saying {
                        $0.replacingOccurrences(of: scene.path(place), with: "TARGET")
                            .replacingOccurrences(of: "\(place): ", with: "")
                            .replacingOccurrences(of: "\"job\":\"\(place)\"", with: "")
                    }
                }
                #expect(runs[0].code == runs[1].code, "seed \(seed), round \(round), \(words)")
                #expect(runs[0].output == runs[1].output, "seed \(seed), round \(round), \(words)")
                #expect(runs[0].errors == runs[1].errors, "seed \(seed), round \(round), \(words)")
            }
            let made = try ["there", "here"].map { try TreeSnapshot(scene.path($0)) }
            #expect(made[0].differences(from: made[1]).filter { !$0.hasPrefix(".") } == [], "seed \(seed)")
            for index in trees.indices { try trees[index].change(5) }
        }
    }
}

extension MirrorScene {
    /// Writes `settings.json` with a job `all` of sources with names. If `far` is set, the target is there.
    func writeJob(of sources: KeyValuePairs<String, String>, _ more: String = "") throws {
        let list = sources.map { "\"\($0.key)\": \"\(path($0.value))\"" }.joined(separator: ", ")
        try writeJob(from: #""sources": {\#(list)}"#, more)
    }

    /// - Parameters:
    ///   - sources: the key and its value.
    ///   - more: other keys, after a comma.
    func writeJob(from sources: String, _ more: String = "") throws {
        let place = (far == nil ? "" : "far:") + target
        try build(
            .file(#"{"jobs": {"all": {\#(sources), "target": "\#(place)"\#(more)}}}"#), at: "settings.json")
    }
}
