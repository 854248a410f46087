import Foundation
import TestNeeds
import TestSupport
import Testing

/// A name of the source that cannot be looked at: a mount whose process is dead.
@Suite(.needs(.root, .bindfs))
struct UnseenNameTests {
    /// A scene in which `source/home/fm` was mirrored, and is dead now.
    private func withDeadMount(
        far side: FarMachine.Side? = nil, _ body: (MirrorScene) throws -> Void
    ) throws {
        let scene = try MirrorScene([
            "home": ["file": "one", "fm": ["kept": "kept"], "z": "z"], "back": ["in": "in"], "other": "o",
        ])
        if let side { scene.far = try FarMachine(has: side) }
        try scene.mirror()
        let mount = scene.path("source/home/fm")
        try HostCommand.run(
            "bindfs", "-o", "nonempty,attr_timeout=0,entry_timeout=0", scene.path("source/back"), mount)
        defer { _ = HostCommand.works("umount", "--lazy", mount) }
        try HostCommand.run("pkill", "-KILL", "-f", "^bindfs .*\(mount)$")
        var status = stat()
        while lstat(mount, &status) == 0 {}
        try scene.append(" and more", to: "source/home/file")
        try body(scene)
    }

    private func expectRestMirrored(
        _ scene: MirrorScene, _ run: CommandRun, code: Int32,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(run.code == code, "\(run.errors)", sourceLocation: sourceLocation)
        #expect(try scene.text("target/home/file") == "one and more", sourceLocation: sourceLocation)
        #expect(try scene.text("target/home/z") == "z", sourceLocation: sourceLocation)
        #expect(try scene.text("target/home/fm/kept") == "kept", sourceLocation: sourceLocation)
    }

    @Test(arguments: [nil, FarMachine.Side.source])
    func onlyTheNameIsLeftOut(_ side: FarMachine.Side?) throws {
        try withDeadMount(far: side) { scene in
            let refused = try scene.apply().expect(
                1, says: "home/fm: Transport endpoint is not connected (unreadable)")
            #expect(!refused.errors.contains("home: "))
            try expectRestMirrored(scene, scene.apply("--keep-going"), code: 3)
            // The next run only repeats the message.
            let again = try scene.apply("--keep-going")
            try expectRestMirrored(scene, again, code: 3)
            #expect(again.errors.contains("home/fm: Transport endpoint"))
            // A new target does not get the name.
            try scene.run("apply", "source", "new", "--keep-going").expect(3)
            #expect(try scene.text("new/home/file") == "one and more")
            #expect(!scene.exists("new/home/fm"))
        }
    }

    @Test(arguments: ["--exclude=/home/fm", "--exclude=fm/", "--one-file-system"])
    func aFilterThatLeavesItOutMakesTheRunClean(_ option: String) throws {
        for side in [nil, FarMachine.Side.source] {
            try withDeadMount(far: side) { scene in
                let run = try scene.apply(option)
                try expectRestMirrored(scene, run, code: 0)
                #expect(!run.errors.contains("home/fm: "))
            }
        }
    }

    @Test func whatTheTargetHasMovesWithItsDirectory() throws {
        try withDeadMount { scene in
            try scene.move("source/home", to: "source/house")
            defer { _ = HostCommand.works("umount", "--lazy", scene.path("source/house/fm")) }
            try scene.apply("--keep-going").expect(3, says: "house/fm: ")
            #expect(try scene.text("target/house/file") == "one and more")
            #expect(try scene.text("target/house/fm/kept") == "kept")
            #expect(!scene.exists("target/home"))
        }
    }

    @Test func manifestsTellItAlone() throws {
        try withDeadMount { scene in
            try scene.run("manifest", "create", "source", "-o", "now.json").expect(
                3, says: "home/fm: Transport endpoint")
            let list = try scene.run("manifest", "list", "now.json").output
            #expect(list.contains("home/file") && !list.contains("home/fm"))
            let found = try scene.run("manifest", "verify", "target", "source").output
            #expect(found.contains("unreadable home/fm"), "\(found)")
            #expect(!found.contains("kept"), "\(found)")
        }
    }

    @Test func aSourceOfSeveralPartsLosesTheNameOnly() throws {
        try withDeadMount { scene in
            let names = ["a": "source/home", "b": "source/back"]
            let sources = names.map { "\"\($0)\": \"\(scene.path($1))\"" }.joined(separator: ", ")
            try scene.writeJob("all", source: "\"sources\": {\(sources)}", target: scene.path("joined"))
            try scene.run(
                "run", "all", "--settings", "settings.json", "--keep-going", "--create-target"
            ).expect(3, says: "a/fm: Transport endpoint")
            #expect(try scene.text("joined/a/file") == "one and more")
        }
    }
}
