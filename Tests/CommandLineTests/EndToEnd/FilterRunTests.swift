import TestNeeds
import TestSupport
import Testing

@Suite("Filters: what is excluded is neither copied nor deleted")
struct FilterRunTests {
    /// Applies with options, and checks the whole content of the target.
    private func apply(
        _ scene: MirrorScene, _ options: [String], leaving paths: [String]? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try scene.run(["apply", "source", "target"] + options).expect(0, sourceLocation: sourceLocation)
        if let paths {
            #expect(
                try TreeSnapshot(scene.target).paths == paths.sorted(), sourceLocation: sourceLocation)
        }
        let again = try scene.run(["apply", "source", "target"] + options)
        #expect(again.output.contains("nothing to do"), "\(again.output)", sourceLocation: sourceLocation)
    }

    private func planned(_ scene: MirrorScene, _ options: String...) throws -> [String] {
        try scene.run(["plan", "source", "target", "--json"] + options).json().actionLinesButTimes
    }

    @Test func excludedIsNeitherCopiedNorDeletedNorCompared() throws {
        let scene = try MirrorScene(["a": "1", "b.o": "2", "d": ["c.o": "3", "e": "4"], "out": ["f": "5"]])
        try scene.build(["theirs.o": "kept", "out": ["g": "kept"]], at: "target")
        try apply(
            scene, ["--exclude", "*.o", "--exclude", "/out", "--adopt"],
            leaving: ["a", "d", "d/e", "out", "out/g", "theirs.o"])
        try scene.append("+", to: "target/theirs.o")
        try scene.remove("source/b.o")
        try apply(
            scene, ["--exclude", "*.o", "--exclude", "/out"],
            leaving: ["a", "d", "d/e", "out", "out/g", "theirs.o"])
        #expect(try scene.text("target/theirs.o") == "kept+")
        // A file is put in place of one that is excluded in the source.
        try scene.build(["c.o": "theirs"], at: "target/d")
        try apply(scene, ["--exclude", "*.o", "--exclude", "/out"])
        #expect(try scene.text("target/d/c.o") == "theirs")
        try scene.mirrorAll()
    }

    @Test func deletedDirectoryWithExcludedContentStays() throws {
        let scene = try MirrorScene(["keep": "k", "d": ["sub": ["x": "x"], "y": "y"], "e": ["z": "z"]])
        try apply(scene, ["--exclude", "*.o"])
        try scene.build(["in.o": "kept"], at: "target/d/sub")
        try scene.remove("source/d")
        try scene.remove("source/e")
        try scene.plan("--exclude", "*.o").expect(says: "excluded")
        try apply(scene, ["--exclude", "*.o"], leaving: ["d", "d/sub", "d/sub/in.o", "keep"])
        let deletions = try planned(scene, "--exclude", "*.o", "--delete-excluded").map {
            $0.split(separator: " (")[0]
        }
        #expect(deletions == ["delete d", "delete d/sub", "delete d/sub/in.o"])
        try apply(scene, ["--exclude", "*.o", "--delete-excluded"], leaving: ["keep"])
        #expect(try scene.historyKeeps("kept"))
    }

    @Test func movedDirectoryTakesItsExcludedContentAlong() throws {
        let scene = try MirrorScene(["d": ["x": "x", "own.o": "o", "sub": ["y": "y"]]])
        try apply(scene, ["--exclude", "*.o"])
        try scene.build(["in.o": "kept"], at: "target/d/sub")
        try scene.move("source/d", to: "source/e")
        #expect(try planned(scene, "--exclude", "*.o").contains("move d -> e (renamed)"))
        try apply(scene, ["--exclude", "*.o"], leaving: ["e", "e/sub", "e/sub/in.o", "e/sub/y", "e/x"])
    }

    /// The manifest has no excluded entries.
    @Test func directoryKeptForItsContentIsNotRecordedWhereItIsExcluded() throws {
        let scene = try MirrorScene(["d": ["x": "x", "sub": ["y": "y"]]])
        try apply(scene, ["--exclude", "*.o"])
        try scene.build(["in.o": "kept"], at: "target/d/sub")
        try scene.move("source/d", to: "source/new")
        try scene.remove("source/new/sub")
        let run = try scene.apply("--exclude", "*.o", "--exclude", "/new/sub", "--max-delete", "unlimited")
        #expect(run.code == 0 && scene.exists("target/new/sub/in.o"), "\(run.errors)")
        #expect(try scene.run("manifest", "list", "target").output == "new\nnew/x\n")
    }

    /// In place of a directory with excluded content, and of an excluded one.
    @Test func typeChangeOverExcludedContentIsRefused() throws {
        let scene = try MirrorScene(["d": ["x": "x"], "a": "1"])
        let filters = ["--exclude", "*.o", "--exclude", "thing/"]
        try apply(scene, filters)
        try scene.build(["d": ["in.o": "kept"], "thing": ["theirs": "kept too"]], at: "target")
        try scene.remove("source/d")
        try scene.build(["d": "a file now", "thing": "a file"], at: "source")
        let before = try scene.wholeTarget()
        try scene.run(["apply", "source", "target"] + filters).expect(
            4, says: "d in the target", "thing in the target", "--delete-excluded")
        #expect(try scene.wholeTarget().touched(since: before) == [])
        try apply(scene, filters + ["--delete-excluded"], leaving: ["a", "d", "thing"])
        for text in ["kept", "kept too"] { #expect(try scene.historyKeeps(text)) }
    }

    @Test func newlyExcludedStaysAndNewlyIncludedIsCopied() throws {
        let scene = try MirrorScene(["a": "1", "b.o": "2", "d": ["c.o": "3"]]).mirrored()
        let plan = try scene.plan("--json", "--exclude", "*.o")
        #expect(try plan.json().actionLines == [])
        #expect(plan.errors.contains("--exclude=*.o"), "\(plan.errors)")
        try apply(scene, ["--exclude", "*.o"], leaving: ["a", "b.o", "d", "d/c.o"])
        #expect(
            try scene.text("target/.fsync-lite/manifest.json").contains("\"filters\":[\"--exclude=*.o\"]"))
        #expect(try scene.run("manifest", "list", "target").output == "a\nd\n")
        // Changed filters are reported once.
        #expect(try !scene.plan("--exclude", "*.o").errors.contains("filters"))
        try scene.append("+", to: "source/b.o")
        try scene.remove("source/d/c.o")
        try scene.plan().expect(says: "filters")
        try scene.mirrorAll()
    }

    @Test func massDeleteByDeleteExcludedMeetsTheGuard() throws {
        let scene = try MirrorScene(["keep": "k"])
        for index in 0..<30 { try scene.build("x", at: "source/\(index).o") }
        try scene.mirror()
        try scene.apply("--exclude", "*.o", "--delete-excluded").expect(4, says: "--max-delete")
        try apply(
            scene, ["--exclude", "*.o", "--delete-excluded", "--max-delete", "unlimited"], leaving: ["keep"])
    }

    @Test func ignoreFilesOfTheSourceDecideForTheTargetToo() throws {
        let scene = try MirrorScene([
            ".keepout": "*.tmp\n!important.tmp\n", "a.tmp": "1", "important.tmp": "2", "b": "3",
            "d": [".keepout": "/local\n", "local": "4", "sub": ["local": "5", "c.tmp": "6"]],
        ])
        let options = ["--ignore-file", ".keepout"]
        try apply(
            scene, options,
            leaving: [
                ".keepout", "b", "d", "d/.keepout", "d/sub", "d/sub/local", "important.tmp",
            ])
        // The target's ignore files have no effect. Files that the source's exclude are not deleted there.
        try scene.build([".keepout": "b\n"], at: "target")
        try scene.build(["theirs.tmp": "kept", "local": "kept"], at: "target/d")
        try scene.append("+", to: "source/b")
        try apply(scene, options)
        #expect(try scene.text("target/b") == "3+")
        #expect(scene.exists("target/d/theirs.tmp") && scene.exists("target/d/local"))
        // A new rule is valid at once, and so is the removal of one.
        try scene.append("b\n", to: "source/.keepout")
        try scene.remove("source/b")
        try apply(scene, options)
        #expect(try scene.text("target/b") == "3+")
        try scene.remove("source/.keepout")
        try scene.remove("source/d/.keepout")
        try apply(scene, options)
        #expect(!scene.exists("target/b") && !scene.exists("target/d/theirs.tmp"))
        try scene.expectMirrored()
    }

    @Test(.needs(.otherUser))
    func unreadableDirectoryIsListedWithAnIgnoreFileToo() throws {
        let scene = try MirrorScene(
            ["closed": ["x": "x", "y": "y"], "a": "1", ".keepout": "*.o\n"], as: .ordinary
        ).mirrored("--ignore-file", ".keepout")
        try scene.setMode(0, of: "source/closed")
        try scene.append("+", to: "source/a")
        let run = try scene.apply("--ignore-file", ".keepout", "--keep-going")
        let text = try scene.text("target/a")
        do {
            run.expect(3, says: "closed: ")
            #expect(text == "1+")
        }
        #expect(scene.exists("target/closed/x"))
    }

    @Test func sizesGoByTheSource() throws {
        let scene = try MirrorScene(["small": "1", "large": "123456789", "d": ["large": "1234567890"]])
        try apply(scene, ["--max-size", "5"], leaving: ["d", "small"])
        // A small file in place of an excluded one, a large one in place of a small one, and the target's
        // own.
        try scene.build(["large": "x", "small": "grown over five", "theirs": "more than five"], at: "target")
        try apply(scene, ["--max-size", "5"], leaving: ["d", "large", "small", "theirs"])
        #expect(try scene.text("target/large") == "x")
        #expect(try scene.text("target/small") == "1")
        // The file becomes larger than the limit.
        try scene.append("23456", to: "source/small")
        try apply(scene, ["--max-size", "5"])
        #expect(try scene.text("target/small") == "1")
        try apply(scene, ["--min-size", "6"])
        #expect(try scene.text("target/small") == "123456")
        try apply(scene, ["--max-size", "5", "--delete-excluded"], leaving: ["d"])
    }

    @Test func contentOfCachesIsLeftOut() throws {
        let tag = "Signature: 8a477f597d28d172789f06886806bc55"
        let scene = try MirrorScene([
            "cache": ["CACHEDIR.TAG": .file(tag + "\n# more"), "x": "x", "sub": ["y": "y"]],
            "fake": ["CACHEDIR.TAG": "Signature: no", "z": "z"],
            "link": ["CACHEDIR.TAG": .symlink("../cache/CACHEDIR.TAG"), "w": "w"],
        ])
        try apply(
            scene, ["--exclude-caches"],
            leaving: [
                "cache", "cache/CACHEDIR.TAG", "fake", "fake/CACHEDIR.TAG", "fake/z", "link",
                "link/CACHEDIR.TAG", "link/w",
            ])
        #expect(
            try scene.run("explain", "target", "cache/sub/y").output.contains("cache is a cache directory"))
        try scene.build(["theirs": "kept"], at: "target/cache")
        try apply(scene, ["--exclude-caches"])
        #expect(scene.exists("target/cache/theirs"))
    }

    @Test(.needs(.mounts))
    func otherFileSystemsAreLeftOut() throws {
        let scene = try MirrorScene(["a": "1", "disk": [:], "d": ["b": "2"]])
        try TestDisk.tmpfs(options: "size=1m").mounted(at: scene.path("source/disk")) {
            try scene.build(["in": "it", "sub": ["x": "x"]], at: "source/disk")
            try apply(scene, ["--one-file-system"], leaving: ["a", "d", "d/b", "disk"])
            #expect(
                try scene.run("explain", "target", "disk/in").output.contains(
                    "disk is on another file system, and --one-file-system is on"))
            // Its old content remains while it is mounted, and so does new content.
            try apply(scene, [], leaving: ["a", "d", "d/b", "disk", "disk/in", "disk/sub", "disk/sub/x"])
            try scene.build(["in": "edited"], at: "source/disk")
            try apply(scene, ["--one-file-system"])
            #expect(try scene.text("target/disk/in") == "it")
        }
    }

    @Test func lastMatchDecidesInTheOrderGiven() throws {
        let scene = try MirrorScene(["a.log": "1", "keep.log": "2", "b": "3", "d": ["keep.log": "4"]])
        try scene.build(["rules": "# a comment\n\n*.log\n!keep.log\n/d/keep.log\n"], at: "lists")
        func left(_ options: String...) throws -> [String] {
            try scene.run(["plan", "source", "nowhere", "--json"] + options).json().objects("actions")
                .compactMap { $0.text("path") }.filter { $0 != "." }.sorted()
        }
        #expect(
            try left("--exclude", "*.log", "--include", "keep.log") == ["b", "d", "d/keep.log", "keep.log"])
        #expect(try left("--include", "keep.log", "--exclude", "*.log") == ["b", "d"])
        #expect(try left("--exclude-from", "lists/rules") == ["b", "d", "keep.log"])
        #expect(
            try left("--exclude-from", "lists/rules", "--include", "a.log") == [
                "a.log", "b", "d", "keep.log",
            ])
        #expect(try left("--include", "a.log", "--exclude-from", "lists/rules") == ["b", "d", "keep.log"])
        #expect(try left("--exclude", "d", "--include", "d/keep.log").contains("d/keep.log") == false)
    }

    @Test func patternsThatMatchNothingAreNamed() throws {
        let scene = try MirrorScene(["a": "1", "f": "2"])
        for (pattern, note) in [
            ("[f", "[f (argument 1) can match nothing\n"),
            ("./f", "./f (argument 1) can match nothing; write it without ./\n"),
            ("a/../f", "a/../f (argument 1) can match nothing\n"),
            (
                "\(scene.source)/f",
                "\(scene.source)/f (argument 1) begins with the path of the source; write /f\n"
            ),
        ] {
            let run = try scene.plan("--exclude", pattern)
            #expect(run.code == 0 && run.errors == "fsync-lite: note: the pattern \(note)", "\(run.errors)")
        }
        #expect(try scene.plan("--exclude", "/f").errors == "")
    }
    /// A file that is excluded by its size replaces a directory of the target.
    @Test(arguments: [[], ["--no-delete"]])
    func leftOutFileInPlaceOfADirectory(options: [String]) throws {
        let scene = try MirrorScene([
            "a": ["x": ["f": "small"]], "l": .symlink("x"), "m": ["b": .symlink("x")],
        ])
        try scene.build(["big": .file(String(repeating: "b", count: 100))], at: "source")
        try scene.mirror()
        let filters = ["--min-size", "50"] + options
        try apply(scene, filters)
        for name in ["a", "l", "m"] { try scene.remove("source/\(name)") }
        try scene.build(["a": "1", "l": "1", "m": "1"], at: "source")
        let kept = ["a", "a/x", "a/x/f", "big"]
        try apply(scene, filters, leaving: options.isEmpty ? kept : kept + ["l", "m", "m/b"])
        try apply(scene, filters + ["--trust-manifest"])
        for name in ["a", "l", "m"] {
            try scene.append(String(repeating: name, count: 60), to: "source/\(name)")
        }
        // Without the option, `a` contains excluded files.
        #expect(try scene.run(["plan", "source", "target"] + filters).code == 4)
        try scene.mirror()
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try TreeSnapshot(scene.target).paths == (options.isEmpty ? kept : kept + ["l", "m", "m/b"]))
    }

    @Test func leftOutLargeFileInPlaceOfADirectory() throws {
        let scene = try MirrorScene(["m": ["b": .symlink("x")], "z": "z"]).mirrored()
        try scene.remove("source/m")
        try scene.build(["m": "12"], at: "source")
        try apply(scene, ["--no-delete", "--max-size", "1"], leaving: ["m", "m/b", "z"])
        try apply(scene, ["--max-size", "1"], leaving: ["z"])
    }

    /// An ext4 knows the projects of its directories, so they are looked up.
    @Test(.needs(.mounts))
    func excludedFileInPlaceOfDirectoriesIsRefusedOnEveryFileSystem() throws {
        let scene = try MirrorScene(["a": "123", "x": "1"])
        try scene.build([:], at: "target")
        try scene.mounted(.ext4(megabytes: 8), at: "target") {
            try scene.remove("target/lost+found")
            try scene.mirror()
            try scene.remove("source/a")
            try scene.build(["a": ["b": [:]]], at: "source")
            let filters = ["--exclude", "*", "--include", "*/", "--include", "x"]
            for verb in ["plan", "apply"] {
                try scene.run([verb, "source", "target"] + filters).expect(4, says: "--delete-excluded")
            }
            #expect(try scene.text("target/a") == "123")
            try scene.run(["apply", "source", "target", "--delete-excluded"] + filters).expect(0)
            #expect(scene.exists("target/a/b"))
        }
    }
}
