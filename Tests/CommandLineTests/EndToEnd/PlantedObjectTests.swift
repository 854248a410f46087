import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("What somebody put in the way: nothing outside is touched")
struct PlantedObjectTests {
    /// A file outside with its own time, and a snapshot of it.
    private func outside(_ scene: MirrorScene) throws -> TreeSnapshot {
        if !scene.exists("outside") {
            try scene.build(
                ["file": .file("{}\n", mode: 0o600, modified: TreeTime(1_500_000_000, 1)), "empty": [:]],
                at: "outside")
        }
        return try TreeSnapshot(scene.path("outside"))
    }

    @Test(.needs(.strace))
    func targetThatBecomesASymlinkWhileItIsMadeIsNotFollowed() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]])
        let before = try outside(scene)
        let run = try scene.paused(at: .after("mkdirat", of: "target")) {
            try scene.move("target", to: "was")
            try #require(symlink("outside/empty", scene.target) == 0)
        }
        #expect(run.code != 0)
        #expect(try outside(scene).touched(since: before) == [])
    }

    private static let files = [
        "manifest.json", "journal", "mark", "last-run", "settings.json", "journal.back", "sync-failed",
    ]

    @Test(arguments: files) func hardLinkInPlaceOfAStateFileIsRefused(name: String) throws {
        try expectRefused("hard link", inPlaceOf: name)
    }

    @Test(arguments: files + ["stage", "history", "trash"], ["symlink", "FIFO", "socket", "other"])
    func anotherKindInPlaceOfStateIsRefused(name: String, kind: String) throws {
        try expectRefused(kind, inPlaceOf: name)
    }

    private func expectRefused(_ kind: String, inPlaceOf name: String) throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true).mirrored()
        try scene.append("2", to: "source/a")
        _ = try outside(scene)
        let isDirectory = ["stage", "history", "trash"].contains(name)
        let place = "target/.fsync-lite/\(name)"
        if scene.exists(place) { try scene.remove(place) }
        switch kind {
        case "hard link": try scene.link(place, to: "outside/file")
        case "symlink":
            try #require(
                symlink(scene.path("outside/\(isDirectory ? "empty" : "file")"), scene.path(place)) == 0)
        case "FIFO": try #require(mkfifo(scene.path(place), 0o600) == 0)
        case "socket": try HostSocket.make(at: scene.path(place))
        default: try scene.build(isDirectory ? "a file" : ["a": "directory"], at: place)
        }
        if !kind.hasSuffix("link") { try scene.setMode(isDirectory ? 0o600 : 0o700, of: place) }
        let (before, untouched) = (try scene.wholeTarget(), try outside(scene))
        try scene.apply().expect(4, says: name)
        #expect(try scene.plan().code == 4)
        if kind == "symlink", !["journal.back", "sync-failed"].contains(name) {
            for arguments in [["status"], ["manifest", "list"], ["recover"]] {
                try scene.run(arguments + ["target"]).expect(4)
            }
        }
        #expect(try scene.wholeTarget().touched(since: before) == [])
        #expect(try outside(scene).touched(since: untouched) == [])
    }

    @Test func foreignNamesInTheHistoryDoNotPushOutTheLastApply() throws {
        let scene = try MirrorScene(["a": "one"]).mirrored()
        for name in ["99999999T999999.999999Z", "zzz", "20991231T000000.000000Z-ffff"] {
            try scene.build(["theirs": "kept"], at: "target/.fsync-lite/history/\(name)")
        }
        try scene.append(" two", to: "source/a")
        try scene.mirror()
        #expect(try scene.historyKeeps("one"))
        #expect(try scene.historyKeeps("kept"))
    }
}

enum HostSocket {
    /// Leaves a socket at a path, to which nothing is bound any more.
    static func make(at path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < 108, "\(path)")
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound)
    }
}
