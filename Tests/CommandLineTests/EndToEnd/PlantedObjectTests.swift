import Foundation
import Glibc
import TestNeeds
import TestSupport
import Testing

@Suite("What somebody put in the way: nothing outside is touched")
struct PlantedObjectTests {
    /// A file outside, with a time of its own, and what it looks like.
    private func outside(_ scene: MirrorScene) throws -> TreeSnapshot {
        if !scene.exists("outside") {
            try scene.build(
                ["file": .file("{}\n", mode: 0o600, modified: TreeTime(1_500_000_000, 1)), "empty": [:]],
                at: "outside")
        }
        return try TreeSnapshot(scene.path("outside"))
    }

    private static let stateFiles = ["manifest.json", "journal", "mark", "last-run", "settings.json"]

    @Test(arguments: stateFiles)
    func hardLinkInPlaceOfAStateFileIsRefusedOrLeftAlone(name: String) throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.mirror()
        try scene.append("2", to: "source/a")
        _ = try outside(scene)
        let place = "target/.fsync-lite/\(name)"
        if scene.exists(place) { try scene.remove(place) }
        try #require(link(scene.path("outside/file"), scene.path(place)) == 0)
        let before = try outside(scene)
        let run = try scene.apply()
        #expect(run.code == 4, "\(run.errors)")
        #expect(try outside(scene).touched(since: before, except: ["."]) == [])
        #expect(try outside(scene).differences(from: before) == [])
    }

    @Test(arguments: stateFiles + ["stage", "history", "trash"])
    func symlinkInPlaceOfStateIsNotFollowed(name: String) throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.mirror()
        try scene.append("2", to: "source/a")
        let before = try outside(scene)
        let place = "target/.fsync-lite/\(name)"
        if scene.exists(place) { try scene.remove(place) }
        let goal = name.contains(".") || name == "mark" ? "file" : "empty"
        try #require(symlink(scene.path("outside/\(goal)"), scene.path(place)) == 0)
        for arguments in [
            ["plan", "source", "target"], ["status", "target"], ["manifest", "list", "target"],
            ["recover", "target"], ["apply", "source", "target"],
        ] {
            let run = try scene.run(arguments)
            #expect(run.code == 4, "\(arguments): \(run.code) \(run.errors)")
        }
        #expect(try outside(scene).touched(since: before) == [])
    }

    @Test(.needs(.strace))
    func targetThatBecomesASymlinkWhileItIsMadeIsNotFollowed() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]])
        let before = try outside(scene)
        let run = try PausedCommand.run(
            ["apply", "source", "target"], in: scene.directory.path, at: .after("mkdirat", of: "target")
        ) {
            try scene.move("target", to: "was")
            try #require(symlink("outside/empty", scene.target) == 0)
        }
        #expect(run.code != 0)
        #expect(try outside(scene).touched(since: before) == [])
    }
}
