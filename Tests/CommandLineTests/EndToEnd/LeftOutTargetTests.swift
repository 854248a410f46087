import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("A target may lie in a directory of the source that takes no part")
struct LeftOutTargetTests {
    private static let tree: TreeLiteral = ["etc": ["x": "x"], "mnt": ["backup": [:]]]
    private static let mirrored = ["etc", "etc/x", "mnt", "mnt/backup"]

    private func expect(
        _ scene: MirrorScene, _ target: String, _ names: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try FileManager.default.subpathsOfDirectory(atPath: scene.path(target))
            .filter { !$0.hasPrefix(".fsync-lite") && !$0.hasPrefix("other") }
        #expect(found.sorted() == names, sourceLocation: sourceLocation)
    }

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
                try expect(scene, "source/mnt/backup/t", Self.mirrored)
            }
            try scene.remove("source/mnt/backup/t")
            // The disk's own root.
            for _ in 0..<2 {
                try apply(scene, "source", "source/mnt/backup", "--one-file-system").expect(0)
                try expect(scene, "source/mnt/backup", Self.mirrored)
            }
        }
    }

    @Test func byAPattern() throws {
        let scene = try MirrorScene(Self.tree)
        try apply(scene, "source", "source/mnt/backup/t").expect(4, says: "--exclude /mnt/backup/t")
        #expect(try apply(scene, "source", "source/mnt/t", "--exclude", "/etc").code == 4)
        for _ in 0..<2 {
            try apply(scene, "source", "source/mnt/backup/t", "--exclude", "/mnt/backup/t").expect(0)
            try expect(scene, "source/mnt/backup/t", Self.mirrored)
        }
        // The target would contain the source.
        #expect(try apply(scene, "source/etc", "source", "--exclude", "/x", "--adopt").code == 4)
    }

    @Test(.needs(.mounts)) func outOfSightOfABindMount() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        try scene.build([:], at: "bound")
        try TestDisk.bind(scene.source).mounted(at: scene.path("bound")) {
            try TestDisk.tmpfs(options: "size=4m").mounted(at: scene.path("source/mnt/backup")) {
                for _ in 0..<2 {
                    try apply(scene, "bound", "source/mnt/backup/t").expect(0)
                    try expect(scene, "source/mnt/backup/t", Self.mirrored)
                }
            }
            #expect(try apply(scene, "bound", "source/mnt/t").code == 4)
        }
    }

    @Test func oneSourceInAnother() throws {
        let scene = try MirrorScene(["home": ["f": "f", "work": ["w": "w"]]])
        func run(_ options: String...) throws -> CommandRun {
            try Data(
                """
                {"jobs":{"all":{"sources":{"home":"\(scene.source)/home","work":"\(scene.source)/home/work"},
                "target":"\(scene.target)"}}}
                """.utf8
            ).write(to: URL(fileURLWithPath: scene.path("settings.json")))
            return try scene.here(["run", "all", "--settings", "settings.json", "--create-target"] + options)
        }
        try run().expect(4, says: "--exclude /home/work")
        try run("--exclude", "/home/work").expect(0)
        try expect(scene, "target", ["home", "home/f", "work", "work/w"])
    }
}
