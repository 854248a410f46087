import TestSupport
import Testing

/// Sources and targets that are the same directory, or one inside the other.
struct OverlapTests {
    private func scene() throws -> MirrorScene {
        let scene = try MirrorScene(["a": "a", "sub": ["b": "b"]])
        try scene.build(["other": ["c": "c"], "to other": .symlink("other"), "way": [:]], at: ".")
        try scene.build(["in": .symlink("../source/sub"), "back": .symlink("../source")], at: "way")
        return scene
    }

    /// Another name of a host may lead to this machine.
    @Test(arguments: [nil, FarMachine.Side.source, .target])
    func throughSymlinks(side: FarMachine.Side?) throws {
        let scene = try scene()
        if let side { scene.far = try FarMachine(has: side) }
        let before = try TreeSnapshot(scene.source, withState: true)
        for (source, target, text) in [
            ("source", "source", "are the same directory"),
            ("source", "./source/../source/", "are the same directory"),
            ("source", "way/back", "are the same directory"),
            ("way/back", "source", "are the same directory"),
            ("source", "source/sub", "the target lies inside the source"),
            ("source", "source/new", "the target lies inside the source"),
            ("source", "source/x/y/z", "the target lies inside the source"),
            ("source", "way/in", "the target lies inside the source"),
            ("source", "way/in/new", "the target lies inside the source"),
            ("source", "way/back/new", "the target lies inside the source"),
            ("source", ".", "the source lies inside the target"),
            ("source/sub", "source", "the source lies inside the target"),
            ("way/in", "source", "the source lies inside the target"),
            ("way/in/../sub", "way/back", "the source lies inside the target"),
        ] {
            for command in ["plan", "apply"] {
                try scene.run(
                    command, source, target, "--adopt", "--create-parents", "--max-delete", "unlimited"
                ).expect(4, says: text)
            }
        }
        #expect(try TreeSnapshot(scene.source, withState: true) == before)
    }

    /// A name that begins like another one, or a path through the source, is not an overlap.
    @Test func neighboursDoNotOverlap() throws {
        let scene = try scene()
        for target in ["source2", "sour", "source/../beside", "source/sub/../../next", "way/back/../after"] {
            try scene.run("apply", "source", target).expect(0)
        }
        #expect(try scene.run("apply", "source/sub", "of sub").code == 0)
    }

    private func runJob(_ scene: MirrorScene, _ sources: KeyValuePairs<String, String>) throws -> CommandRun {
        try scene.writeJob(of: sources)
        let options = ["--settings", "settings.json", "--create-target", "--adopt", "--change-source"]
        return try scene.run(["run", "all"] + options + (scene.far?.options ?? []))
    }

    /// Each of several sources is checked, in any order of names.
    @Test(arguments: ["a", "z"], [false, true])
    func eachOfSeveralSources(name: String, isFar: Bool) throws {
        let scene = try scene()
        scene.far = isFar ? try FarMachine(has: .target) : nil
        try runJob(scene, [name: ".", "m": "other"]).expect(
            4, says: "all: refused: ", "the target lies inside the source \"\(name)\"")
        #expect(!scene.exists("target"))
        try scene.build(["in": [:]], at: "target")
        try runJob(scene, [name: "target/in", "m": "other"]).expect(
            4, says: "the source \"\(name)\" lies inside the target")
        try runJob(scene, [name: "target", "m": "other"]).expect(
            4, says: "the source \"\(name)\" and the target are the same directory")
        try runJob(scene, [name: "to other", "m": "other"]).expect(4, says: ", or is the same")
        try runJob(scene, [name: "way/in", "m": "source"]).expect(
            4, says: "\"\(name)\" lies inside the source \"m\"")
        try runJob(scene, [name: "source", "m": "source/sub"]).expect(
            4, says: "\"m\" lies inside the source \"\(name)\"")
        #expect(try TreeSnapshot(scene.target).paths == ["in"])
        try runJob(scene, [name: "source/sub", "m": "other"]).expect(0)
    }
}
