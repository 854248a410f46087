import TestNeeds
import TestSupport
import Testing

/// What must be durable before the next step, checked by the order of system calls.
@Suite("Order of syncs", .needs(.strace))
struct SyncOrderTests {
    /// The calls on the state's own names and the syncs, in order, such as `fsync`, `renameat2 journal`.
    private func calls(_ arguments: [String], in scene: MirrorScene) throws -> [String] {
        let log = scene.path("calls")
        try scene.here(
            arguments,
            under: [
                "strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,syncfs,renameat2,unlinkat", "-o", log,
            ]
        ).expect(0)
        return try scene.text("calls").split(separator: "\n").compactMap { line in
            let call = line.drop { !$0.isLetter }.prefix { $0 != "(" }
            if call.hasSuffix("sync") || call == "syncfs" { return String(call) }
            let names = line.split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
            guard let name = names.last, name.hasPrefix("journal") else { return nil }
            return "\(call) \(name)"
        }
    }

    @Test func theJournalIsDurableBeforeAndItsEndAfterTheCommit() throws {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]]).mirrored()
        try scene.append("2", to: "source/a")
        let calls = try calls(["apply", "source", "target"], in: scene)
        let begin = try #require(calls.firstIndex(of: "renameat2 journal"))
        let end = try #require(calls.firstIndex(of: "unlinkat journal"))
        // First the stage and the journal's content, then its name, then the tree, then the journal's end.
        #expect(calls[..<begin].contains("syncfs") && calls[begin - 1].hasSuffix("sync"))
        #expect(calls[begin + 1] == "fsync")
        #expect(calls[begin + 2..<end].contains("syncfs"))
        #expect(calls[(end + 1)...].first == "fsync")
    }

    @Test func theTurnIsDurableBeforeAnythingIsTakenBack() throws {
        let scene = try MirrorScene(["a": "1"]).mirrored()
        try scene.append("2", to: "source/a")
        try scene.paused(at: .after("renameat2", of: "journal")).kill()
        let calls = try calls(["recover", "--back", "target"], in: scene)
        let turn = try #require(calls.firstIndex(of: "renameat2 journal.back"))
        #expect(calls[turn + 1] == "fsync")
        let end = try #require(calls.firstIndex(of: "unlinkat journal.back"))
        #expect(calls[turn + 2..<end].contains("syncfs") && calls[end + 1] == "fsync")
        #expect(try scene.text("target/a") == "1")
    }

    /// Files in the log of a stage are durable, because the next run uses them without reading them.
    @Test func whatIsStagedIsSyncedBeforeTheLogTellsOfIt() throws {
        let scene = try MirrorScene(["d": .files(0..<200) { "content of \($0)" }])
        let log = scene.path("calls")
        try scene.here(
            ["apply", "source", "target"],
            under: [
                "strace", "-f", "-y", "-qq", "-o", log,
                "-e", "trace=write,pwrite64,copy_file_range,ioctl,syncfs,fsync,utimensat",
                "-e", "inject=utimensat:signal=INT:when=20",
            ]
        ).expect(130)
        let calls = try scene.text("calls").split(separator: "\n").map { $0.drop { !$0.isLetter } }
        func isOnLog(_ call: Substring) -> Bool {
            call.contains("/.fsync-lite/stage/") && call.contains("/log>")
        }
        let listed = try #require(calls.firstIndex { $0.hasPrefix("write(") && isOnLog($0) })
        let sync = try #require(calls[..<listed].lastIndex { $0.hasPrefix("syncfs(") })
        #expect(
            !calls[sync..<listed].contains { call in
                ["write(", "pwrite64(", "copy_file_range(", "ioctl("].contains { call.hasPrefix($0) }
                    && call.contains("/.fsync-lite/stage/")
            })
        #expect(calls[(listed + 1)...].contains { $0.hasPrefix("fsync(") && isOnLog($0) })
        try scene.mirror()
    }
}
