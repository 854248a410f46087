import TestNeeds
import TestSupport
import Testing

/// What has to be durable before the next thing may begin, told by the order of system calls.
@Suite("Order of syncs", .needs(.strace))
struct SyncOrderTests {
    /// The calls on the state's own names and the syncs, in order, such as `fsync`, `renameat2 journal`.
    private func calls(_ arguments: [String], in scene: MirrorScene) throws -> [String] {
        let log = scene.path("calls")
        let run = try CommandRun(
            arguments, in: scene.directory.path,
            under: [
                "strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,syncfs,renameat2,unlinkat", "-o", log,
            ])
        #expect(run.code == 0, "\(run.errors)")
        return try scene.text("calls").split(separator: "\n").compactMap { line in
            let call = line.drop { !$0.isLetter }.prefix { $0 != "(" }
            if call.hasSuffix("sync") || call == "syncfs" { return String(call) }
            let names = line.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            guard let name = names.last, name.hasPrefix("journal") else { return nil }
            return "\(call) \(name)"
        }
    }

    @Test func theJournalIsDurableBeforeAndItsEndAfterTheCommit() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]])
        try scene.mirror()
        try scene.append("2", to: "source/a")
        let calls = try calls(["apply", "source", "target"], in: scene)
        let begin = try #require(calls.firstIndex(of: "renameat2 journal"))
        let end = try #require(calls.firstIndex(of: "unlinkat journal"))
        // The stage and the journal's content; its name; the tree; the journal's end.
        #expect(calls[..<begin].contains("syncfs") && calls[begin - 1].hasSuffix("sync"))
        #expect(calls[begin + 1] == "fsync")
        #expect(calls[begin + 2..<end].contains("syncfs"))
        #expect(calls[(end + 1)...].first == "fsync")
    }

    @Test func theTurnIsDurableBeforeAnythingIsTakenBack() throws {
        let scene = try MirrorScene(["a": "1"])
        try scene.mirror()
        try scene.append("2", to: "source/a")
        let command = try PausedCommand(
            ["apply", "source", "target"], in: scene.directory.path, at: .after("renameat2", of: "journal"))
        #expect(try command.waitForPause())
        command.kill()
        let calls = try calls(["recover", "--back", "target"], in: scene)
        let turn = try #require(calls.firstIndex(of: "renameat2 journal.back"))
        #expect(calls[turn + 1] == "fsync")
        let end = try #require(calls.firstIndex(of: "unlinkat journal.back"))
        #expect(calls[turn + 2..<end].contains("syncfs") && calls[end + 1] == "fsync")
        #expect(try scene.text("target/a") == "1")
    }
}
