import TestNeeds
import TestSupport
import Testing

/// The connection to a target's machine is lost after `go`.
@Suite("A line that is lost during the commit", .needs(.tool("python3")))
struct LostLineTests {
    /// The other end continues to its end, and its outcome is lost.
    private static let lostAnswer = FarMachine.relay(
        back: """
            if frame[4] in (\(FarMachine.Frame.output), \(FarMachine.Frame.outcome)):
                far.wait()
                os._exit(1)
            """)

    private func scene(_ lines: String) throws -> MirrorScene {
        let scene = try FarMachine(has: .target).scene(["a": "a"])
        try scene.mirror()
        try scene.append("more", to: "source/a")
        scene.far = try FarMachine(FarMachine.firstly(lines), has: .target)
        return scene
    }

    private func expectUnknown(_ run: CommandRun, _ target: String) {
        run.expect(6, says: "Before the next run: fsync-lite recover 'far:\(target)'")
    }

    @Test func howACommitEndedIsNotKnownHere() throws {
        let scene = try scene(Self.lostAnswer)
        expectUnknown(try scene.apply("--log-file", "log"), scene.target)
        #expect(try scene.text("log").contains("apply failed: far:"))
        #expect(try scene.there("recover", "far:target").code == 0)
        #expect(try scene.apply().output.contains("nothing to do"))
        try scene.expectMirrored()
    }

    @Test func itsDocumentSaysSo() throws {
        let run = try scene(Self.lostAnswer).apply("--json").expect(6)
        #expect(try run.json().text("message")?.contains("its result is unknown here") == true)
    }

    @Test func withoutTheWordTheOldTreeStays() throws {
        let scene = try scene(
            FarMachine.relay(there: "if frame[4] == \(FarMachine.Frame.go): os._exit(1)"))
        expectUnknown(try scene.apply(), scene.target)
        #expect(try scene.text("target/a") == "a")
        #expect(try scene.there("recover", "far:target").code == 0)
        try scene.mirror()
    }

    /// The other end is killed at each rename of its commit. The named command ends that commit.
    @Test(.needs(.strace), arguments: 1...7) func aKilledCommitIsEndedByTheNamedCommand(rename: Int) throws {
        let scene = try scene(
            Strace.killing(at: "renameat,renameat2", number: rename).joined(separator: " ")
                + #" sh -c "$far""#)
        let run = try scene.apply()
        if run.code == 69 {
            #expect(run.errors.contains("the target is unchanged"), "\(run.errors)")
            #expect(try scene.text("target/a") == "a")
        } else {
            expectUnknown(run, scene.target)
            #expect(try scene.there("recover", "far:target").code == 0)
        }
        #expect(!scene.exists("target/.fsync-lite/journal"))
        try scene.mirror()
        try scene.expectMirrored()
    }

    @Test func otherCommandsSayItToo() throws {
        let scene = try scene(FarMachine.connection)
        #expect(try scene.apply().code == 0)
        func lose(_ words: [String], _ target: String = "target") throws {
            scene.far = try FarMachine(FarMachine.firstly(Self.lostAnswer), has: .target)
            expectUnknown(try scene.there(words), scene.path(target))
        }
        try lose(["undo", "far:target"])
        #expect(try scene.text("target/a") == "a")
        try lose(["recover", "far:target"])
        try lose(["snapshot", "prune", "far:target", "--keep-last", "1"])
        try lose(["snapshot", "restore", "far:target", "latest", "--to", "far:copy"], "copy")
        #expect(try scene.text("copy/a") == "a")
    }

    @Test func aLineThatIsLostBeforeLeavesTheOldTree() throws {
        let scene = try scene(FarMachine.relay(back: "if frame[4] == \(FarMachine.Frame.ready): os._exit(1)"))
        try scene.apply().expect(69, says: "the target is unchanged")
    }
}
