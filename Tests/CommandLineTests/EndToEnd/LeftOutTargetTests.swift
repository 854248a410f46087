import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("A target may lie in a directory of the source that takes no part")
struct LeftOutTargetTests {
    private static let tree: TreeLiteral = ["etc": ["x": "x"], "mnt": ["backup": [:]]]
    private static let mirrored = ["etc", "etc/x", "mnt", "mnt/backup"]

    private func apply(_ scene: MirrorScene, _ source: String, _ target: String, _ options: String...) throws
        -> CommandRun
    {
        try scene.here(["apply", source, target] + options)
    }

    @Test(.needs(.mounts)) func onADiskThatIsMountedInTheSource() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        try TestDisk.tmpfs(options: "size=4m").mounted(at: scene.path("source/mnt/backup")) {
            try apply(scene, "source", "source/mnt/backup/t").expect(
                4, says: "source/mnt/backup/t --one-file-system")
            #expect(!scene.exists("source/mnt/backup/t"))
            for _ in 0..<2 {
                try apply(scene, "source", "source/mnt/backup/t", "--one-file-system").expect(0)
                #expect(try TreeSnapshot(scene.path("source/mnt/backup/t")).paths == Self.mirrored)
            }
            try scene.remove("source/mnt/backup/t")
            // The disk's own root.
            for _ in 0..<2 {
                try apply(scene, "source", "source/mnt/backup", "--one-file-system").expect(0)
                #expect(try TreeSnapshot(scene.path("source/mnt/backup")).paths == Self.mirrored)
            }
        }
    }

    @Test func byAPattern() throws {
        let scene = try MirrorScene(Self.tree)
        try apply(scene, "source", "source/mnt/backup/t").expect(4, says: "--exclude /mnt/backup/t")
        #expect(try apply(scene, "source", "source/mnt/t", "--exclude", "/etc").code == 4)
        for _ in 0..<2 {
            try apply(scene, "source", "source/mnt/backup/t", "--exclude", "/mnt/backup/t").expect(0)
            #expect(try TreeSnapshot(scene.path("source/mnt/backup/t")).paths == Self.mirrored)
        }
        // The target would contain the source.
        #expect(try apply(scene, "source/etc", "source", "--exclude", "/x", "--adopt").code == 4)
    }

    @Test(.needs(.mounts)) func outOfSightOfABindMount() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        try scene.mounted(.bind(scene.source), at: "bound") {
            try TestDisk.tmpfs(options: "size=4m").mounted(at: scene.path("source/mnt/backup")) {
                for _ in 0..<2 {
                    try apply(scene, "bound", "source/mnt/backup/t").expect(0)
                    #expect(try TreeSnapshot(scene.path("source/mnt/backup/t")).paths == Self.mirrored)
                }
            }
            #expect(try apply(scene, "bound", "source/mnt/t").code == 4)
        }
    }

    @Test func oneSourceInAnother() throws {
        let scene = try MirrorScene(["home": ["f": "f", "work": ["w": "w"]]])
        func run(_ options: String...) throws -> CommandRun {
            let sources = #"{"home": "\#(scene.source)/home", "work": "\#(scene.source)/home/work"}"#
            try scene.writeJob("all", source: "\"sources\": \(sources)")
            return try scene.here(["run", "all", "--settings", "settings.json", "--create-target"] + options)
        }
        try run().expect(4, says: "--exclude /home/work")
        try run("--exclude", "/home/work").expect(0)
        #expect(try TreeSnapshot(scene.path("target")).paths == ["home", "home/f", "work", "work/w"])
    }
}
