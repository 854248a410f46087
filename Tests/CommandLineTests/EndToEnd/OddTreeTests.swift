import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Odd names, shapes and places")
struct OddTreeTests {
    /// A file system on either side whose listings have no types (`DT_UNKNOWN`).
    @Test(.needs(.mounts)) func aFileSystemThatListsNoTypes() throws {
        let scene = try MirrorScene([:], inMemory: true)
        let disk = scene.path("disk")
        try scene.build([:], at: "disk")
        try TestDisk.ext4With(feature: "^filetype").mounted(at: disk) {
            try scene.build(
                ["d": ["f": "f", "e": [:], "l": .symlink("f")], "p": .fifo()], at: "disk/source")
            for target in ["disk/target", "target"] {
                #expect(try scene.run("apply", "disk/source", target).code == 0)
                #expect(
                    HostCommand.works(
                        "diff", "-r", "--no-dereference", "-x", ".fsync-lite", "-x", "p",
                        scene.path("disk/source"), scene.path(target)))
                #expect(try scene.run("apply", "disk/source", target).output.contains("nothing to do"))
            }
            try scene.move("disk/source/d/e", to: "disk/source/e")
            try scene.remove("disk/source/p")
            #expect(try scene.run("apply", "disk/source", "disk/target", "--exchange").code == 0)
            #expect(scene.exists("disk/target/e") && !scene.exists("disk/target/p"))
            #expect(try scene.run("undo", "disk/target").code == 0)
            #expect(scene.exists("disk/target/d/e") && scene.exists("disk/target/p"))
        }
    }

    // MARK: Names

    /// NFC and NFD, case, invalid UTF-8, controls, the longest name, and names that break shells and
    /// terminals.
    private static let names: [[UInt8]] =
        [
            "\u{E9}", "e\u{301}", "\u{1E9B}\u{323}", "\u{1E69}", "README", "readme", "ReadMe", "new\nline",
            "tab\t", "\u{1B}[31mred", "\u{7F}", "quote\"'`", "back\\slash", "\\n", " lead and trail ", "-rf",
            "--help", "*", "?[a]", "$HOME", "~", "#", "!", "con:", "a:b", "\u{202E}gnp", "\u{FEFF}", "...",
            ". ",
            "\u{1F468}\u{200D}\u{1F469}",
        ].map { Array($0.utf8) } + [
            [0xFF], [0x80, 0xC0, 0xAF], [0xED, 0xA0, 0x80], [0x61, 0xCC], [1], [0x0D],
            Array(repeating: UInt8(ascii: "n"), count: 255), Array(repeating: 0xFE, count: 255),
        ]

    private func namedTree(_ content: String) -> TreeLiteral {
        .directory(
            Self.names.map { (TreeName($0), TreeLiteral.file("\(content) \($0)")) } + [
                (
                    "d",
                    .directory(
                        Self.names.map { name in
                            (
                                TreeName(name),
                                .directory(
                                    [(TreeName(name), .symlink(name, modified: nil))], mode: 0o755,
                                    modified: nil)
                            )
                        }, mode: 0o755, modified: nil)
                )
            ], mode: 0o755, modified: nil)
    }

    @Test func everyNameIsMirroredMovedAndDeleted() throws {
        let scene = try MirrorScene(namedTree("one"))
        try scene.mirrorAll()
        try scene.build(namedTree("another").withoutDirectories, at: "source")
        try scene.move("source/d", to: "source/moved\n\u{E9}")
        let plan = try scene.plan("--all")
        // One line for each, and no name has broken one.
        #expect(plan.output.utf8.allSatisfy { $0 == UInt8(ascii: "\n") || ($0 >= 0x20 && $0 != 0x7F) })
        #expect(plan.output.contains("new\\nline"))
        #expect(plan.output.split(separator: "\n").count == Self.names.count + 3)
        try scene.mirrorAll()
        for name in Self.names {
            unlink((Array("\(scene.source)/".utf8) + name + [0]).map { CChar(bitPattern: $0) })
        }
        try scene.mirrorAll("--max-delete", "unlimited")
    }

    // MARK: Shapes

    private static let longName = String(repeating: "n", count: 255)

    /// So many of them have 8,191 bytes.
    private static let mostLong = 32

    /// A chain of directories that is too deep, with files on the way.
    private func tooDeep(_ depth: Int = 40) throws -> MirrorScene {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        try DeepTree.make(at: scene.source, depth: depth, name: Self.longName)
        try DeepTree.edit("in reach", at: scene.source, depth: 20, name: Self.longName)
        // The rest of the directory with the problem is mirrored.
        try DeepTree.edit("too long", at: scene.source, depth: Self.mostLong, name: Self.longName)
        try DeepTree.walk(scene.source, Self.mostLong - 1, Self.longName) { _ in
        } end: {
            try TreeLiteral.file("short").build(at: "/proc/self/fd/\($0)/m")
        }
        return scene
    }

    private func removeDeep(_ scene: MirrorScene) {
        _ = HostCommand.works("rm", "-rf", scene.path("source"), scene.target)
    }

    /// The problem is listed once, at the highest directory, and everything else is mirrored.
    @Test func pathsBeyondTheLimitAreOneProblem() throws {
        let scene = try tooDeep()
        defer { removeDeep(scene) }
        let directory = Array(repeating: Self.longName, count: Self.mostLong).joined(separator: "/")
        let plan = try scene.plan("--json").json()
        let problems = plan.objects("problems")
        #expect(problems.map { $0.text("path") } == [directory])
        #expect(problems.first?.text("code") == "too_long")
        #expect(problems.first?.text("message")?.contains("8192 bytes") == true)
        #expect(plan.object("summary")?.number("create") == Self.mostLong + 3)
        for _ in 0..<2 {
            try scene.apply().expect(3, says: "8192 bytes")
            #expect(DeepTree.depth(at: scene.target, name: Self.longName) == Self.mostLong)
            #expect(try DeepTree.text(at: scene.target, depth: 20, name: Self.longName) == "in reach")
        }
        #expect(try scene.apply().output.contains("nothing to do"))
        // The remaining tree is that of the manifest.
        #expect(try scene.run("manifest", "verify", "target", "target").code == 0)
        #expect(try scene.run("manifest", "create", "source", "-o", "m.json").code == 3)
        try scene.run("manifest", "diff", "m.json", "target").expect(0)
        // If it is excluded, it is not a problem.
        try scene.apply("--exclude", "/\(Self.longName)", "--max-delete", "unlimited").expect(0)
    }

    /// On another machine, and with several sources, whose names are a part of the paths.
    @Test func pathsBeyondTheLimitOfASourceElsewhere() throws {
        let scene = try tooDeep()
        defer { removeDeep(scene) }
        scene.far = try FarMachine()
        for _ in 0..<2 {
            try scene.apply().expect(3, says: "8192 bytes")
            #expect(DeepTree.depth(at: scene.target, name: Self.longName) == Self.mostLong)
        }
        scene.far = nil
        try scene.writeJob(
            source: #""sources": {"x": "\#(scene.source)"}"#, target: scene.path("several"))
        try scene.run("run", "j", "--settings", "settings.json", "--create-target").expect(3)
        defer { _ = HostCommand.works("rm", "-rf", scene.path("several")) }
        #expect(DeepTree.depth(at: scene.path("several/x"), name: Self.longName) == Self.mostLong - 1)
    }

    /// Entries that an earlier version mirrored there remain, and are forgotten. After that, nothing is to
    /// do.
    @Test(arguments: [[], ["--trust-manifest"]])
    func targetWithPathsBeyondTheLimitSettles(options: [String]) throws {
        let scene = try tooDeep()
        defer { removeDeep(scene) }
        #expect(try scene.apply().code == 3)
        try DeepTree.walk(scene.target, Self.mostLong, Self.longName) { _ in
        } end: {
            let inner: TreeLiteral = ["file": "old"]
            try inner.build(at: "/proc/self/fd/\($0)/\(Self.longName)")
        }
        try addToManifest(of: scene, depth: Self.mostLong + 1)
        for isFirst in [true, false] {
            let run = try scene.run(["apply", "source", "target"] + options)
            #expect(run.code == 3 && !run.errors.contains("drift"), "\(run.code) \(run.errors)")
            #expect(isFirst || run.output.contains("nothing to do"), "\(run.output)")
            #expect(
                try DeepTree.text(at: scene.target, depth: Self.mostLong + 1, name: Self.longName) == "old")
        }
        let longest = Array(repeating: Self.longName, count: Self.mostLong + 1).joined(separator: "/")
        #expect(try !scene.text("target/.fsync-lite/manifest.json").contains(longest))
        try scene.run("manifest", "verify", "target", "target").expect(2, prints: "8192 bytes")
        // It leaves and comes back with its directory.
        try scene.move("source/\(Self.longName)", to: "gone")
        try scene.apply("--max-delete", "unlimited").expect(3)
        #expect(DeepTree.depth(at: scene.target, name: Self.longName) == 0)
        try scene.run("undo", "target").expect(0)
        #expect(DeepTree.depth(at: scene.target, name: Self.longName) == Self.mostLong + 1)
        // Entries deeper than the limit are removed as before.
        try scene.apply("--max-delete", "unlimited", "--keep-last", "0").expect(3)
        #expect(try HostCommand.output("find", scene.target, "-name", "n*").isEmpty)
        #expect(try scene.apply("--max-delete", "unlimited").code == 0)
        _ = HostCommand.works("rm", "-rf", scene.path("gone"))
    }

    /// Records a directory and a file in it after all others, as an earlier version would.
    private func addToManifest(of scene: MirrorScene, depth: Int) throws {
        let path = "target/.fsync-lite/manifest.json"
        let text = try scene.text(path)
        let end = try #require(text.range(of: "\n],\n\"summary\":"))
        let lines = text[..<end.lowerBound].split(separator: "\n")
        func names(_ count: Int) -> String {
            Array(repeating: Self.longName, count: count).joined(separator: "/")
        }
        let directory = try #require(lines.last).replacing(
            "\"\(names(depth - 1))\"", with: "\"\(names(depth))\"")
        let file = try #require(lines.first { $0.hasPrefix("{\"path\":\"a\"") }).dropLast()
            .replacing("\"a\"", with: "\"\(names(depth))/file\"")
        var summary = String(text[end.lowerBound...].prefix { $0 != "}" }) + "},\"checksum\":"
        for key in ["files", "directories", "bytes"] {
            let old = try #require(
                summary.firstMatch(of: try Regex("\"\(key)\":([0-9]+)", as: (Substring, Substring).self)))
            let number = try #require(Int(old.output.1))
            summary.replace(old.output.0, with: "\"\(key)\":\(number + 1)")
        }
        let start = "\(text[..<end.lowerBound]),\n\(directory),\n\(file)\(summary)"
        try Data(ManifestText.sealed(Array(start.utf8))).write(to: URL(fileURLWithPath: scene.path(path)))
    }

    /// A deep tree within the limit works like any other. It has more levels than handles are kept open.
    @Test func deepestTree() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        defer { removeDeep(scene) }
        // The file's path has 8,190 bytes.
        let depth = 4093
        try DeepTree.make(at: scene.source, depth: depth)
        try scene.mirrorDeep(depth)
        // Its outermost directory moves, then its innermost one changes.
        try scene.move("source/d", to: "source/e")
        let run = try scene.apply("--json").expect(0)
        #expect(try run.json().object("summary")?.number("move") == 1)
        try scene.move("source/e", to: "source/d")
        try scene.mirrorDeep(depth)
        try DeepTree.edit("deepest", at: scene.source, depth: depth)
        try scene.mirrorDeep(depth)
        #expect(try DeepTree.text(at: scene.target, depth: depth) == "deepest")
        #expect(try scene.run("undo", "target").code == 0)
        #expect(try DeepTree.text(at: scene.target, depth: depth) == "deep")
        #expect(try scene.run("snapshot", "restore", "target", "latest", "--to", "copy").code == 0)
        #expect(DeepTree.depth(at: scene.path("copy")) == depth)
        try scene.move("source/d", to: "gone")
        #expect(try scene.apply("--max-delete", "unlimited", "--keep-last", "0").code == 0)
        #expect(try TreeSnapshot(scene.target).paths == ["a"])
        #expect(try HostCommand.output("find", scene.target, "-name", "d").isEmpty)
        _ = HostCommand.works("rm", "-rf", scene.path("gone"), scene.path("copy"))
    }

    /// The memory once grew with the square of the depth. A plan of this took 6 GB, for the path of each
    /// level.
    @Test(.needs(.tool("prlimit", package: "util-linux")))
    func depthCostsNoMemory() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true)
        defer { removeDeep(scene) }
        let name = String(repeating: "n", count: 200)
        for tree in ["source", "target"] {
            try scene.build([:], at: tree)
            try DeepTree.make(at: scene.path(tree), depth: 4000, name: name)
        }
        for verb in [["plan", "source", "target", "--adopt"], ["apply", "source", "target", "--adopt"]] {
            let run = try scene.here(verb, under: ["prlimit", "--data=\(400 << 20)"])
            #expect(run.code == (verb[0] == "plan" ? 0 : 3), "\(run.code) \(run.errors)")
        }
    }

    /// More entries than one directory of slots can have.
    @Test func moreNewEntriesThanADirectoryOfSlots() throws {
        let scene = try MirrorScene(["d": [:]], inMemory: true).mirrored()
        let count = 10_001
        // Symlinks are made and copied fast.
        for index in 0..<count {
            try #require(symlink("x", scene.path("source/d/\(index)")) == 0)
        }
        #expect(try scene.apply().code == 0)
        #expect(try scene.plan().output.contains("\(count + 1) unchanged"))
        #expect(try RawPath.names(in: Array("\(scene.target)/d".utf8)).count == count)
    }

    @Test func emptyTreeEmptyDirectoriesAndAnEmptiedOne() throws {
        let scene = try MirrorScene([:])
        try scene.mirrorAll()
        try scene.build(["a": [:], "b": ["c": [:]], "f": ""], at: "source")
        try scene.mirrorAll()
        for name in ["a", "b", "f"] { try scene.remove("source/\(name)") }
        try scene.expectRefused(hint: "--allow-empty-source")
        try scene.mirrorAll("--allow-empty-source")
        try scene.mirrorAll()
    }

    // MARK: Times

    @Test(arguments: [
        TreeTime(0), TreeTime(-1, 999_999_999), TreeTime(-2_147_483_648), TreeTime(2_147_483_648, 1),
        TreeTime(4_294_967_296, 1), TreeTime(15_032_385_535, 0), TreeTime(4_102_444_800, 123_456_789),
    ])
    func timesFarFromNow(time: TreeTime) throws {
        let scene = try MirrorScene([
            "f": .file("f", modified: time), "d": .directory(["x": "x"], modified: time),
            "l": .symlink("f", modified: time),
        ])
        try scene.setTime(time, of: "source")
        try scene.mirrorAll()
        try scene.editInSecret("source/f", "g")
        try scene.mirrorAll()
    }

    // MARK: Sizes

    /// Other layouts of holes: `HoleTests` and `FileCopierTests`.
    @Test func holesAreWrittenOnlyIfThatIsWanted() throws {
        let scene = try MirrorScene(["large": ""])
        try #require(truncate(scene.path("source/large"), 1 << 20) == 0)
        try scene.mirrorAll()
        #expect(try scene.status("target/large").st_blocks <= 16)
        try scene.append("x", to: "source/large")
        try scene.mirrorAll("--no-sparse")
        #expect(try scene.status("target/large").st_blocks >= 2048)
        try scene.mirrorAll()
    }

    // MARK: Places

    @Test func trailingSlashesDotsAndSymlinksMeanTheSame() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]]).mirrored()
        try #require(symlink("source", scene.path("to source")) == 0)
        try #require(symlink("target", scene.path("to target")) == 0)
        for (source, target) in [
            ("source/", "target/"), ("./source/.", "target/."), ("source//", "d/../target"),
            ("to source", "to target"), ("to source/", "to target/"), (scene.source, scene.target),
        ] {
            try scene.build([:], at: "d")
            let before = try scene.text("source/a")
            try scene.append("+", to: "source/a")
            try scene.run("apply", source, target).expect(0)
            #expect(try scene.text("target/a") == before + "+")
            try scene.expectMirrored()
            #expect(try scene.run("apply", source, target).output.contains("nothing to do"))
        }
        #expect(try scene.status("to target").st_mode & S_IFMT == S_IFLNK)
        for (directory, arguments) in [
            ("source", [".", "../target"]), ("target", ["../source", "."]),
            ("source/d", ["..", "../../target/"]),
        ] {
            try scene.append("+", to: "source/d/b")
            try CommandRun(["apply"] + arguments, in: scene.path(directory)).expect(0)
            try scene.expectMirrored()
        }
        // Not another machine.
        try scene.run("apply", "source", "./host:dir").expect(0)
        #expect(scene.exists("host:dir/a"))
    }

    @Test func sourceWithAStateOfItsOwnIsMirroredWithoutIt() throws {
        let scene = try MirrorScene(["a": "1", "d": [".fsync-lite": ["b": "2"]]]).mirrored()
        // A chain: the mirror is the source of another one.
        for round in 0..<2 {
            let run = try scene.run("apply", "target", "second").expect(0)
            #expect(run.errors.contains(".fsync-lite") == (round == 0), "\(run.errors)")
            try scene.expectSame("second", as: "source")
            try scene.append("+", to: "source/a")
            try scene.mirror()
        }
        try scene.run("apply", "target", "second").expect(0)
        #expect(try scene.run("apply", "target", "second").output.contains("nothing to do"))
    }

    // MARK: What cannot be read

    @Test(.needs(.otherUser))
    func directoryThatWasUnreadableAndIsRenamedThen() throws {
        let scene = try MirrorScene(
            ["shut": ["x": "x", "deep": ["y": "y"]], "a": "1"], as: .ordinary
        ).mirrored()
        try scene.setMode(0, of: "source/shut")
        try scene.append("+", to: "source/a")
        #expect(try scene.apply("--keep-going").code == 3)
        try scene.move("source/shut", to: "source/renamed")
        let run = try scene.apply("--keep-going")
        // It is unknown whether the target's part of it should be removed.
        #expect([1, 3].contains(run.code), "\(run.errors)")
        #expect(
            try TreeSnapshot(scene.target).paths.filter { $0.hasSuffix("deep/y") }.count == 1)
        try scene.setMode(0o755, of: "source/renamed")
        try scene.mirrorAll()
    }

    @Test(.needs(.otherUser))
    func attributesOfOthersFilesAreListedNotFatal() throws {
        let scene = try MirrorScene(["a": "1", "b": "2"], as: .ordinary)
        try scene.setAttribute("user.x", "1", of: "source/a")
        try scene.mirror()
        if geteuid() == 0 {
            // The user can read it, but cannot set its attributes.
            try scene.setOwner(0, 0, of: "source/b")
            try scene.setAttribute("trusted.t", "t", of: "source/b")
            try scene.setAttribute(
                "security.capability", [1, 0, 0, 2, 0, 0x20] + Array(repeating: 0, count: 14), of: "source/b")
        }
        try scene.setAttribute("user.x", "2", of: "source/a")
        try scene.apply().expect(0)
        #expect(
            try AttributeSnapshot(scene.target)["a"]?.attributes == [Array("user.x".utf8): Array("2".utf8)])
        #expect(try scene.apply().output.contains("nothing to do"))
    }

    @Test(.needs(.otherUser))
    func xattrsOfAFileThatMayNotBeReadAreNoReasonToStopWithoutAChange() throws {
        let scene = try MirrorScene(["a": "1", "secret": "2"], as: .ordinary).mirrored()
        try scene.setMode(0o200, of: "source/secret")
        let run = try scene.apply("--keep-going")
        #expect([0, 3].contains(run.code), "\(run.errors)")
        #expect(try scene.text("target/a") == "1")
        try scene.setMode(0o644, of: "source/secret")
        try scene.mirrorAll()
    }
}

extension TreeLiteral {
    /// Without the directories at the top.
    fileprivate var withoutDirectories: TreeLiteral {
        guard case .directory(let children, let mode, let modified) = self else { return self }
        let rest = children.filter { if case .directory = $0.node { false } else { true } }
        return .directory(rest, mode: mode, modified: modified)
    }
}

extension MirrorScene {
    /// Applies. The target must then have so many levels, and a second run nothing to do.
    fileprivate func mirrorDeep(_ depth: Int) throws {
        try apply().expect(0)
        #expect(try apply().output.contains("nothing to do; \(depth + 2) unchanged"))
        #expect(try DeepTree.text(at: target, depth: depth) == DeepTree.text(at: source, depth: depth))
    }
}
