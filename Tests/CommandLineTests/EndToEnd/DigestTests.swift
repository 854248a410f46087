import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Digests in the manifest, and what they save")
struct DigestTests {
    private let time = TreeTime(1_600_000_000, 1)

    /// The digests by path, of the files that have one.
    private func digests(_ scene: MirrorScene) throws -> [String: String] {
        let entries = try JSONObject(text: scene.text("target/.fsync-lite/manifest.json")).objects("entries")
        return Dictionary(
            uniqueKeysWithValues: entries.compactMap { entry in
                entry.text("digest").map { (entry.text("path") ?? "?", $0) }
            })
    }

    private func expectDigests(
        _ scene: MirrorScene, of names: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try digests(scene)
        #expect(found.keys.sorted() == names.sorted(), sourceLocation: sourceLocation)
        for (name, digest) in found {
            let sum = try HostCommand.output("sha256sum", scene.path("target/\(name)")).prefix(64)
            #expect(digest == "sha256:\(sum)", sourceLocation: sourceLocation)
        }
    }

    @Test func recordsWhatSha256sumPrintsOfEveryCopy() throws {
        let scene = try MirrorScene([
            "a": "one", "d": ["b": .file(String(repeating: "x", count: 300_000)), "empty": ""],
            "l": .symlink("a"),
        ])
        try scene.link("source/other", to: "source/a")
        try scene.mirror("--digest")
        try expectDigests(scene, of: "a", "d/b", "d/empty", "other")
    }

    @Test func keepsThoseOfWhatDoesNotChangeAndDropsTheOthers() throws {
        let scene = try MirrorScene([
            "same": "one", "edited": "two", "moved": "three", "mode": "four", "d": ["x": "five"],
        ]).mirrored("--digest")
        try scene.append("!", to: "source/edited")
        try scene.move("source/moved", to: "source/elsewhere")
        try scene.move("source/d", to: "source/e")
        try scene.setMode(0o600, of: "source/mode")
        try scene.build(["new": "six"], at: "source")
        try scene.mirror("--digest=none")
        try expectDigests(scene, of: "same", "elsewhere", "mode", "e/x")
        try scene.mirror("--digest")
        try expectDigests(scene, of: "same", "elsewhere", "mode", "e/x", "edited", "new")
        #expect(try scene.mirror("--digest").output.contains("nothing to do"))
    }

    @Test func recordsThoseOfFilesThatWereMirroredWithout() throws {
        let scene = try MirrorScene(["a": "one", "d": ["b": "two"]]).mirrored()
        #expect(try digests(scene).isEmpty)
        try scene.move("source/d", to: "source/e")
        // A file that changed in the tick in which the scan begins gets no digest.
        ClockTick.pass()
        try scene.mirror("--digest")
        try expectDigests(scene, of: "a", "e/b")
        let inode = try HostCommand.output("stat", "-c", "%i", scene.path("target/.fsync-lite/manifest.json"))
        try scene.mirror("--digest")
        #expect(
            try HostCommand.output("stat", "-c", "%i", scene.path("target/.fsync-lite/manifest.json"))
                == inode)
    }

    /// A side that is damaged by then must not be the reference for the other side.
    @Test(.needs(.later))
    func recordsNoneOfContentThatSourceAndTargetDoNotAgreeOn() throws {
        let scene = try MirrorScene(["a": .file("before", modified: time), "b": "b"], inMemory: true)
            .mirrored()
        let target = try MappedFile(scene.path("target/a"))
        try scene.settle()
        target.store("rotten")
        try scene.apply("--digest").expect(0, says: "a: it differs from the source's")
        try expectDigests(scene, of: "b")
    }

    @Test(.needs(.later))
    func checksumReadsTheSourceAndTakesTheTargetsDigest() throws {
        let scene = try MirrorScene(["a": .file("before", modified: time)], inMemory: true)
        let source = try MappedFile(scene.path("source/a"))
        try scene.mirror("--digest")
        let target = try MappedFile(scene.path("target/a"))
        #expect(try scene.mirror("--checksum").output.contains("nothing to do"))
        try scene.settle()
        source.store("after.")
        #expect(try scene.planned().actionLines == [])
        #expect(try scene.plan("--checksum", "--json").json().actionLines == ["update a (content)"])
        // The target is not read, so damage below it is found only by `manifest verify`.
        source.store("before")
        target.store("rotten")
        #expect(try scene.plan("--checksum", "--json").json().actionLines == [])
        // Its change time moves, so it is read again.
        try scene.setMode(0o600, of: "target/a")
        try scene.setMode(0o644, of: "target/a")
        #expect(try scene.planned().actionLines == ["update a (content)"])
    }

    @Test func manifestsOfEqualSizesAndTimesDifferByDigest() throws {
        let scene = try MirrorScene(["a": .file("before", modified: time)])
        #expect(try scene.run("manifest", "create", "--digest", "source", "-o", "old").code == 0)
        try scene.editInSecret("source/a", "after.")
        #expect(try scene.run("manifest", "create", "--digest", "source", "-o", "new").code == 0)
        let run = try scene.run("manifest", "diff", "--json", "old", "new").expect(2)
        #expect(try run.json().actionLines == ["update a (content)"])
        #expect(try scene.run("manifest", "diff", "new", "new").code == 0)
    }
}
