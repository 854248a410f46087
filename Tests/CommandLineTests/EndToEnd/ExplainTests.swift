import TestNeeds
import TestSupport
import Testing

@Suite("Why a file is in the mirror, or is not")
struct ExplainTests {
    private static let tree: TreeLiteral = [
        "x.log": "1", "y.bak": "2", "big": "more than ten bytes", "link": .symlink("d"), "pipe": .fifo(),
        "d": [
            ".keepout": "# no\n*.log\nshut/\n!keep.log\n", "y.log": "2", "keep.log": "k", "z": "3",
            "shut": ["in": "i"],
        ],
    ]

    /// A job `j` with the scene's source and target, and filters of each kind.
    private func scene(target: String? = nil, source: String? = nil) throws -> MirrorScene {
        let scene = try MirrorScene(ExplainTests.tree, inMemory: true)
        try scene.build(["rules": "\n*.tmp\n!x.log\n"], at: "lists")
        let job = #"""
            {"jobs": {"j": {"source": "\#(source ?? scene.source)", "target": "\#(target ?? scene.target)",
              "exclude": ["*.bak"], "exclude_from": ["\#(scene.path("lists/rules"))"],
              "ignore_file": ".keepout", "max_size": "10"}}}
            """#
        try scene.build(.file(job), at: "settings.json")
        return scene
    }

    private func explain(
        _ scene: MirrorScene, _ target: String, _ path: String, _ options: String...
    ) throws -> CommandRun {
        try scene.here(["explain", target, path, "--settings", "settings.json"] + options)
    }

    private func expect(
        _ scene: MirrorScene, _ target: String, _ path: String, _ code: Int32, _ text: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let run = try explain(scene, target, path)
        #expect(
            run.code == code && run.output.hasSuffix(": \(text)\n"), "\(run.code) \(run.output)\(run.errors)",
            sourceLocation: sourceLocation)
    }

    private func mirror(_ scene: MirrorScene) throws {
        try scene.run("run", "j", "--create-target", "--settings", "settings.json").expect(0)
    }

    /// The filters of a job are named as they are written; those of a target's last run, by their patterns.
    @Test func theRuleThatDecidesIsNamed() throws {
        let scene = try scene()
        let place = scene.path("target")
        try expect(scene, "j", "d/z", 2, "the target \(place) does not exist. Is its disk mounted?")
        try mirror(scene)
        try scene.build("new", at: "source/later")
        try expect(scene, "j", "later", 2, "the target does not have it yet; the next run copies it")
        try scene.remove("source/later")
        let tmp = "it is not in the source; "
        for (path, code, text, ofTarget) in [
            ("y.bak", 2, "the pattern *.bak excludes it", nil),
            (
                "d/a.tmp", 2, "\(tmp)\(scene.path("lists/rules")):2 excludes it: *.tmp",
                "\(tmp)the pattern *.tmp excludes it"
            ),
            (
                "x.log", 0,
                "it is mirrored, and the copy is up to date; \(scene.path("lists/rules")):3 includes it: !x.log",
                "it is mirrored, and the copy is up to date; the pattern !x.log includes it"
            ),
            ("d/y.log", 2, "d/.keepout:2 excludes it: *.log", nil),
            ("d/shut/in", 2, "d/.keepout:3 excludes the directory d/shut: shut/", nil),
            ("d/z", 0, "it is mirrored, and the copy is up to date", nil),
            ("d", 0, "it is mirrored, and the copy is up to date", nil),
            ("link", 0, "it is mirrored, and the copy is up to date", nil),
            ("pipe", 0, "it is mirrored, and the copy is up to date", nil),
            ("big", 2, "it is larger than 10 B, the --max-size", nil),
            ("nothere", 2, "it is not in the source", nil),
            ("link/z", 2, "it is not in the source: link is a symlink, and is copied as one", nil),
            (".fsync-lite", 2, "the name .fsync-lite is reserved, and is always left out", nil),
            (".fsync-lite/manifest.json", 2, "the name .fsync-lite is reserved, and is always left out", nil),
        ] as [(String, Int32, String, String?)] {
            try expect(scene, "j", path, code, text)
            try expect(scene, "target", path, code, ofTarget ?? text)
        }
        #expect(try explain(scene, "j", "../x").code == 64)
        let long = Array(repeating: "n", count: 4200).joined(separator: "/")
        try expect(scene, "j", long, 2, "its path is longer than 8192 bytes")
    }

    @Test func theCopyIsComparedWithTheSourceAndTheManifest() throws {
        let scene = try scene()
        try mirror(scene)
        for name in ["source/d/z", "target/x.log"] { try scene.append("+", to: name) }
        for name in ["target/d/keep.log", "source/pipe"] { try scene.remove(name) }
        try scene.build("by hand", at: "target/other")
        try scene.build("by hand", at: "source/other")
        try HostSocket.make(at: scene.path("source/socket"))
        for (path, code, text) in [
            ("d/z", 0, "it is mirrored, and has changed since: the copy is from "),
            (
                "x.log", 0,
                "it is mirrored, but the copy was changed in the target since; the next run brings it back; the pattern !x.log includes it\n"
            ),
            (
                "d/keep.log", 2,
                "it was mirrored, and its copy was removed by hand; the next run copies it again\n"
            ),
            ("other", 2, "no run has mirrored it yet, and the target has something else of this name\n"),
            ("socket", 2, "it is a socket; sockets are not copied\n"),
            ("pipe", 2, "it is not in the source; the copy in the target is from "),
        ] as [(String, Int32, String)] {
            try explain(scene, "target", path).expect(code, prints: ": \(text)")
        }
        let stale = try explain(scene, "j", "d/z", "--json").json()
        #expect(stale.text("format") == "fsync-lite-explanation" && stale.text("verdict") == "mirrored")
        #expect(
            stale.text("job") == "j" && stale.text("path") == "d/z" && stale.text("target") == scene.target)
        #expect(stale.number("copy_size") == 1 && stale.text("up_to_date") == nil)
        #expect(stale.text("copy_modified") != nil)
        // The filters are new, and the copy is older.
        try scene.build(.file("*"), at: "source/d/.keepout")
        let copy = try explain(scene, "target", "d/z").output
        #expect(copy.contains("d/.keepout:1 excludes it: *; the copy in the target is from 20"), "\(copy)")
    }

    /// As in a plan: also by attributes, and by change times if size and time are the same.
    @Test func editsOfTheCopyThatKeepItsTimeAreSeen() throws {
        let scene = try MirrorScene(
            ["a": "aaa", "b": "b", "c": "c", "d": ["e": "e"], "l": .symlink("a"), "n": "n", "o": "o"])
            .mirrored()
        try scene.editInSecret("target/a", "zzz")
        try scene.setMode(0o600, of: "target/b")
        try scene.setAttribute("user.x", "y", of: "target/c")
        try scene.setMode(0o700, of: "target/d")
        try scene.setMode(0o640, of: "source/n")
        // Only the change time has moved.
        try scene.link("target/p", to: "target/o")
        try scene.remove("target/p")
        let plan = try scene.plan("--all").output
        let edited =
            "it is mirrored, but the copy was changed in the target since; the next run brings it back\n"
        for (path, text) in [
            ("a", edited), ("b", edited), ("c", edited), ("d", edited),
            ("n", "it is mirrored, and has changed since: the copy is from "),
            ("d/e", "it is mirrored, and the copy is up to date\n"),
            ("l", "it is mirrored, and the copy is up to date\n"),
            ("o", "it is mirrored, and the copy is up to date\n"),
        ] {
            let run = try scene.run("explain", "target", path)
            #expect(run.code == 0 && run.output.hasPrefix("\(path): \(text)"), "\(run.output)\(run.errors)")
            let isPlanned = plan.contains(" \(path)  ") || plan.contains(" \(path)/  ")
            #expect(isPlanned != text.contains("up to date"), "\(path): \(plan)")
        }
        let document = try scene.run("explain", "target", "a", "--json").json()
        #expect(document.text("verdict") == "mirrored" && document.text("up_to_date") == nil)
        try scene.mirror()
        #expect(
            try scene.run("explain", "target", "a").output
                == "a: it is mirrored, and the copy is up to date\n")
    }

    @Test(.needs(.otherUser)) func whatCannotBeReadSaysWhy() throws {
        let scene = try MirrorScene(["a": "a", "shut": ["b": "b"]], as: .ordinary).mirrored()
        for name in ["a", "shut"] { try scene.setMode(0, of: "source/\(name)") }
        for path in ["a", "shut", "shut/b", "shut/no"] {
            let run = try scene.run("explain", "target", path)
            #expect(
                run.code == 2 && run.output.hasPrefix("\(path): it cannot be read (Permission denied)"),
                "\(run.output)\(run.errors)")
            #expect(run.output.contains("; the copy in the target is from 20") == (path != "shut/no"))
        }
    }

    @Test func absolutePathsAreInTheSourceOrInTheTarget() throws {
        let scene = try scene()
        try mirror(scene)
        for target in ["j", "target"] {
            for path in [scene.source, scene.target] {
                let run = try explain(scene, target, "\(path)/d/z")
                #expect(run.code == 0 && run.output.hasPrefix("d/z: it is mirrored"), "\(run.errors)")
            }
        }
        // A source that is a symlink has two paths. The same is true for a target.
        try scene.move("source", to: "real")
        try scene.build(["source": .symlink("real"), "named": .symlink("target")], at: ".")
        for (target, path) in [
            ("target", "source"), ("target", "real"), ("j", "real"), ("named", "named"), ("named", "target"),
        ] {
            let run = try explain(scene, target, "\(scene.path(path))/d/z")
            #expect(run.code == 0 && run.output.hasPrefix("d/z: it is mirrored"), "\(path): \(run.errors)")
        }
        try explain(scene, "j", "/etc/passwd").expect(
            64, says: "'/etc/passwd' is not below the source or the target")
        try explain(scene, "j", scene.source).expect(64)
    }

    @Test func aNameIsATargetHereOrElseAJob() throws {
        let scene = try scene()
        try mirror(scene)
        #expect(try scene.run("apply", "lists", "j").code == 0)
        try explain(scene, "j", "rules").expect(
            0,
            says:
                "'j' is the target in this directory, not the job of this name. For the job: fsync-lite explain"
        )
        for (name, code, text) in [
            ("none", 64, "and no directory of this name here"),
            ("source", 66, "this is not a target of fsync-lite"),
        ] as [(String, Int32, String)] {
            try explain(scene, name, "d/z").expect(code, says: text)
            try scene.run("verify", name, "--settings", "settings.json").expect(code, says: text)
        }
        try scene.remove("source")
        try explain(scene, "target", "d/z").expect(66, says: "the source does not exist")
    }

    /// It looks at the source, so the source must be here.
    @Test func otherMachines() throws {
        let far = try FarMachine(has: .target)
        let pushed = try scene()
        try pushed.build(
            .file(
                try pushed.text("settings.json").replacing(
                    "\"\(pushed.target)\"", with: "\"far:\(pushed.target)\"")), at: "settings.json")
        #expect(
            try pushed.run(["run", "j", "--create-target", "--settings", "settings.json"] + far.options).code
                == 0)
        let run = try pushed.run(["explain", "j", "d/z", "--settings", "settings.json"] + far.options)
        #expect(
            run.code == 0 && run.output == "d/z: it is mirrored, and the copy is up to date\n",
            "\(run.errors)")
        let direct = try explain(pushed, "far:target", "d/z")
        #expect(
            direct.code == 64 && direct.errors.contains("next: ") == false
                && direct.errors.contains("give the job that mirrors to it, on the machine of the source"),
            "\(direct.errors)")
        let pulled = try scene(source: "far:/srv/p")
        try explain(pulled, "j", "d/z").expect(
            64, says: "ssh far fsync-lite explain j d/z", "fsync-lite plan --job j")
    }
}
