import Foundation
import TestSupport
import Testing

@Suite("What status tells of an apply that runs")
struct ActivityTests {
    private func scene() throws -> MirrorScene {
        let content = String(repeating: "0123456789abcdef", count: 4096)
        return try MirrorScene(["d": .files(0..<100) { _ in content }], inMemory: true)
    }

    /// An apply that takes two minutes, after it has noted its activity.
    private func running(_ scene: MirrorScene) throws -> RunningCommand {
        let command = try RunningCommand(
            ["apply", "--bandwidth", "50K", "source", "target"], in: scene.directory.path)
        while command.isRunning, !scene.exists("target/.fsync-lite/activity") { usleep(10_000) }
        return command
    }

    /// The status after more than these bytes are staged.
    private func status(
        of scene: MirrorScene, _ command: RunningCommand, beyond bytes: Int
    ) throws -> JSONObject {
        while true {
            let status = try scene.run("status", "--json", "target").json()
            if status.number("running_bytes") ?? 0 > bytes || !command.isRunning { return status }
            usleep(50_000)
        }
    }

    @Test func phaseAndProgressAreTold() throws {
        let scene = try scene()
        let command = try running(scene)
        defer { command.kill() }
        let status = try status(of: scene, command, beyond: 0)
        #expect(status.text("state") == "empty" && status.text("running_phase") == "staging")
        #expect(status.number("running_entries_total") == 101)
        #expect(status.number("running_bytes_total") == 100 << 16)
        let done = try #require(status.number("running_bytes"))
        #expect(done > 0 && done < 100 << 16)
        // Times come from the coarse clock, so a short scan may begin and end at the same time.
        #expect((status.text("running_since") ?? "") <= (status.text("running_phase_since") ?? ""))
        let lines = try scene.run("status", "target").output.split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("running ") })
        #expect(
            line.contains(/^running    since 20[-0-9]+ [0-9:]+: staging, [0-9.]+ [kM]B of 6.6 MB, .*\/s$/),
            "\(line)")
        let machine = try FarMachine(has: .target)
        let far = try withExtendedLifetime(machine) {
            try scene.here(["status", "far:\(scene.target)"] + machine.options)
        }
        #expect(
            far.output.contains(
                /\nrunning    since 20[-0-9]+ [0-9:]+: staging, [0-9.]+ [kM]B of 6.6 MB, .*\/s\n/),
            "\(far.output)\(far.errors)")
        // The activity is updated.
        let now = try self.status(of: scene, command, beyond: done).number("running_bytes")
        #expect(now ?? 0 > done)
    }

    @Test func killedRunIsNotToldOf() throws {
        let scene = try scene()
        let command = try running(scene)
        command.kill()
        _ = try command.finish()
        #expect(scene.exists("target/.fsync-lite/activity"))
        func isTold() throws -> Bool { try scene.run("status", "target").output.contains("running") }
        #expect(try !isTold())
        // Also while another run has the lock, but has noted nothing yet.
        let lock = open(scene.target, O_RDONLY | O_CLOEXEC)
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(try !isTold())
        // Closing is not enough: a command that another test starts now may have the descriptor, too.
        #expect(flock(lock, LOCK_UN) == 0)
        close(lock)
        try scene.mirror()
        #expect(!scene.exists("target/.fsync-lite/activity"))
    }

    @Test func interruptedRunTakesItBack() throws {
        let scene = try scene()
        let command = try running(scene)
        command.send(SIGINT)
        #expect(try command.finish().code == 130)
        #expect(!scene.exists("target/.fsync-lite/activity"))
    }

    @Test func damagedDocumentIsNone() throws {
        let scene = try MirrorScene(["a": "1"], inMemory: true).mirrored()
        try Data("{".utf8).write(to: URL(fileURLWithPath: scene.path("target/.fsync-lite/activity")))
        let run = try scene.run("status", "target")
        #expect(run.code == 0 && !run.output.contains("running"), "\(run.errors)")
    }

    @Test func endedRunLeavesNothing() throws {
        let scene = try MirrorScene(["a": .file(String(repeating: "x", count: 300_000))], inMemory: true)
            .mirrored("--bandwidth", "100K")
        #expect(!scene.exists("target/.fsync-lite/activity"))
        #expect(try !scene.run("status", "target").output.contains("running"))
    }
}
