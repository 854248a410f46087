import Foundation
import TestSupport
import Testing

/// Targets of an earlier version: every tree that it would restore is restored.
struct OldHistoryTests {
    /// An unpacked target, and lines for its trees: `snapshot ID`, then one line for each entry.
    private func target(_ name: String) throws -> (scene: MirrorScene, trees: [(id: String, lines: [String])])
    {
        let fixtures = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../../fixtures/history-v1").standardizedFileURL.path
        let scene = try MirrorScene([:])
        try HostCommand.run(
            "tar", "-x", "-z", "-p", "--no-same-owner", "-f", "\(fixtures)/\(name).tar.gz", "-C",
            scene.path("."))
        // Its mark is left behind.
        #expect(try scene.run("recover", "--claim", "mirror").code == 0)
        var trees: [(id: String, lines: [String])] = []
        let text = try String(contentsOfFile: "\(fixtures)/\(name).trees", encoding: .utf8)
        for line in text.split(separator: "\n") {
            if line.hasPrefix("snapshot ") {
                trees.append((String(line.dropFirst("snapshot ".count)), []))
            } else {
                trees[trees.count - 1].lines.append(String(line))
            }
        }
        return (scene, trees)
    }

    /// The entries below a directory, in the form of the fixtures.
    private func lines(_ directory: String) throws -> [String] {
        try HostCommand.output(
            "LC_ALL=C", "sh", "-c",
            """
            cd "$1" && find . -mindepth 1 -path ./.fsync-lite -prune -o -printf '%P\\n' | sort | while IFS= read -r p; do
              if [ -L "$p" ]; then echo "symlink $p $(readlink "$p")"
              elif [ -d "$p" ]; then echo "directory $(stat -c %04a "$p") $p"
              else echo "file $(stat -c '%04a %h' "$p") $p $(cat "$p")"; fi
            done
            """, "sh", directory
        ).split(separator: "\n").map(String.init)
    }

    @Test(arguments: ["plain", "exchanges", "joined"])
    func everyTreeOfAnEarlierVersionComesBackElsewhere(name: String) throws {
        let (scene, trees) = try target(name)
        #expect(trees.count >= 3)
        for (id, wanted) in trees {
            let run = try scene.run("snapshot", "restore", "--to", "copy", "mirror", id)
            // In one of them, an object was moved by hand and is lost.
            #expect(run.code == 0 || run.code == 3 && name == "plain", "\(id): \(run.errors)")
            #expect(try lines(scene.path("copy")) == wanted, "\(id)")
            try scene.remove("copy")
        }
    }

    @Test func damagedRecordOfAnEarlierVersionEndsTheHistoryThere() throws {
        let (scene, trees) = try target("plain")
        try scene.remove("mirror/.fsync-lite/history/20261127T193651.648903Z-e58e/actions.json")
        try scene.run("snapshot", "verify", "mirror").expect(65, says: "actions.json: it is missing")
        try scene.run("snapshot", "restore", "--to", "copy", "mirror", trees[3].id).expect(
            65, says: "latest~3 and what is older cannot be read, latest to latest~2 can be")
        let run = try scene.run("snapshot", "restore", "--to", "copy", "mirror", trees[1].id)
        #expect([0, 3].contains(run.code), "\(run.errors)")
        #expect(try lines(scene.path("copy")) == trees[1].lines)
    }

    /// A file of the tree may have one more name in the history.
    private func withoutLinkCounts(_ lines: [String]) -> [[Substring]] {
        lines.map { line in
            var words = line.split(separator: " ")
            if words[0] == "file" { words.remove(at: 2) }
            return words
        }
    }

    @Test(arguments: ["plain", "joined"])
    func targetOfAnEarlierVersionGoesBackInPlace(name: String) throws {
        let (scene, trees) = try target(name)
        func expect(_ wanted: [String]) throws {
            #expect(try withoutLinkCounts(lines(scene.path("mirror"))) == withoutLinkCounts(wanted))
        }
        #expect(try scene.run("undo", "mirror").code == 0)
        try expect(trees[1].lines)
        #expect(try scene.run("snapshot", "restore", "--in-place", "mirror", trees[2].id).code == 0)
        try expect(trees[2].lines)
        #expect(try scene.run("undo", "mirror").code == 0)
        try expect(trees[1].lines)
    }
}
