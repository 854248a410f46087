import Foundation
import Glibc
import TestNeeds
import TestSupport
import Testing

/// The line to a target's machine is lost after the word to commit, and the client asks what became of it.
@Suite("A line that is lost during the commit", .needs(.tool("python3")))
struct LostLineTests {
    /// Types of frames.
    private enum Frame {
        static let output = 11, ready = 12, outcome = 13, go = 15
    }

    /// The far end goes on to its end, and what it says then is lost.
    private static let lostAnswer = FarMachine.relay(
        back: """
            if frame[4] in (\(Frame.output), \(Frame.outcome)):
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

    private func there(_ scene: MirrorScene, _ words: String...) throws -> CommandRun {
        let words = words.map { $0 == "target" ? "far:\(scene.target)" : $0 }
        return try CommandRun(words + #require(scene.far).options, in: scene.directory.path)
    }

    @Test func aCommitThatHasEndedIsOne() throws {
        let scene = try scene(Self.lostAnswer)
        let run = try scene.apply("--log-file", "log")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.errors.contains("the commit has ended there: the new tree is there"), "\(run.errors)")
        #expect(try scene.text("log").contains("apply committed: far:"))
        try scene.expectMirrored()
    }

    @Test func itsDocumentSaysSo() throws {
        let scene = try scene(Self.lostAnswer)
        let run = try scene.apply("--json")
        #expect(run.code == 0, "\(run.errors)")
        let report = try run.json()
        #expect(report.text("outcome") == "committed")
        #expect(report.text("error")?.contains("the new tree is there") == true)
    }

    /// What was left out is known before the commit.
    @Test func whatWasNotMirroredShowsInTheExitCode() throws {
        let scene = try scene(
            FarMachine.relay(
                back: """
                    if frame[4] == \(Frame.ready): return frame[:-1] + bytes([2])
                    if frame[4] in (\(Frame.output), \(Frame.outcome)):
                        far.wait()
                        os._exit(1)
                    """))
        let run = try scene.apply()
        #expect(run.code == 3 && run.errors.contains("without 2 entries"), "\(run.errors)")
    }

    @Test func aJobGoesOnWithItsCommands() throws {
        let scene = try scene(Self.lostAnswer)
        let settings = #"""
            {"jobs": {"nas": {"source": "\#(scene.source)", "target": "far:\#(scene.target)",
              "after": ["sh", "-c", "cat > \#(scene.path("after"))"]}}}
            """#
        try scene.build(["settings.json": .file(settings)], at: "etc")
        let run = try there(scene, "run", "nas", "--settings", "etc/settings.json")
        #expect(run.code == 0 && run.errors.contains("nas: far:"), "\(run.errors)")
        #expect(try scene.text("after").contains(#""outcome":"committed""#))
    }

    @Test func withoutTheWordTheOldTreeStays() throws {
        let scene = try scene(
            FarMachine.relay(there: "if frame[4] == \(Frame.go): os._exit(1)"))
        let run = try scene.apply()
        #expect(run.code == 1, "\(run.errors)")
        #expect(
            run.errors.contains("the commit did not take place: the target is unchanged"), "\(run.errors)")
        #expect(try scene.text("target/a") == "a")
        try scene.mirror()
    }

    /// The far end has the word and is stopped until it is asked about.
    @Test func aCommitThatStillRunsIsWaitedFor() throws {
        let scene = try scene("")
        let process = scene.path("process")
        let stopped = FarMachine.relay(
            back: """
                if frame[4] == \(Frame.ready):
                    open("\(process)", "w").write(str(far.pid))
                    os.kill(far.pid, signal.SIGSTOP)
                """,
            there: """
                if frame[4] == \(Frame.go):
                    os.write(far.stdin.fileno(), frame)
                    os._exit(1)
                """)
        let asked = FarMachine.relay(
            back: "if frame[4] == \(Frame.outcome): assert passed[16].is_set()",
            there: """
                if frame[4] == 16:
                    os.write(far.stdin.fileno(), frame)
                    os.kill(int(open("\(process)").read()), signal.SIGCONT)
                    passed[16].set()
                    threading.Event().wait()
                """)
        scene.far = try FarMachine(FarMachine.firstly(stopped, then: asked), has: .target)
        let run = try scene.apply()
        #expect(run.code == 0 && run.errors.contains("the new tree is there"), "\(run.errors)")
        try scene.expectMirrored()
    }

    /// Killed at each rename of its commit, the far end leaves what the client says.
    @Test(.needs(.strace), arguments: 1...7) func aKilledCommitIsToldOf(rename: Int) throws {
        let scene = try scene(
            "strace -f -qq -o /dev/null -e trace=renameat,renameat2 -e inject=renameat,renameat2:signal=KILL:when=\(rename) "
                + #"sh -c "$far""#)
        let run = try scene.apply()
        let isPending = scene.exists("target/.fsync-lite/journal")
        switch run.code {
        case 0:
            try scene.expectMirrored()
            #expect(!isPending)
        case 1, 69:
            #expect(!isPending)
            #expect(run.errors.contains("the target is unchanged"), "\(run.errors)")
            #expect(try scene.text("target/a") == "a")
        default:
            #expect(run.code == 6 && isPending, "\(run.code) \(run.errors)")
            #expect(
                run.errors.contains("run: fsync-lite recover 'far:\(scene.target)'"), "\(run.errors)")
            #expect(try there(scene, "recover", "target").code == 0)
            try scene.expectMirrored()
        }
        try scene.mirror()
    }

    @Test func withoutAnAnswerTheOutcomeIsUnknown() throws {
        let scene = try scene("")
        scene.far = try FarMachine(
            FarMachine.firstly(Self.lostAnswer, then: "echo 'no route to host' >&2; exit 255"), has: .target)
        let run = try scene.apply()
        #expect(run.code == 7, "\(run.errors)")
        #expect(
            run.errors.contains("could not be asked again (ssh could not connect: no route to host."),
            "\(run.errors)")
        #expect(run.errors.contains("To find out: fsync-lite status 'far:"), "\(run.errors)")
        try scene.expectMirrored()
    }

    @Test func otherCommandsSayItToo() throws {
        let scene = try scene(FarMachine.connection)
        #expect(try scene.apply().code == 0)
        func lose() throws { scene.far = try FarMachine(FarMachine.firstly(Self.lostAnswer), has: .target) }
        try lose()
        let undo = try there(scene, "undo", "target")
        #expect(undo.code == 0 && undo.errors.contains("the new tree is there"), "\(undo.errors)")
        #expect(try scene.text("target/a") == "a")
        try lose()
        let recover = try there(scene, "recover", "target")
        #expect(recover.code == 0 && recover.errors.contains("no commit is pending"), "\(recover.errors)")
        try lose()
        let prune = try there(scene, "snapshot", "prune", "target", "--keep-last", "1")
        #expect(prune.code == 7 && prune.errors.contains("Run it again"), "\(prune.errors)")
        try lose()
        let copy = try there(
            scene, "snapshot", "restore", "target", "latest", "--to", "far:\(scene.path("copy"))")
        #expect(copy.code == 7 && copy.errors.contains("the same command once more"), "\(copy.errors)")
        #expect(try scene.text("copy/a") == "a")
    }

    /// Without the word nothing is asked.
    @Test func aLineThatIsLostBeforeIsNotAskedAbout() throws {
        let scene = try scene("")
        scene.far = try FarMachine(
            FarMachine.firstly(
                FarMachine.relay(back: "if frame[4] == \(Frame.ready): os._exit(1)"),
                then: "touch \(scene.path("asked"))"), has: .target)
        let run = try scene.apply()
        #expect(run.code == 69 && run.errors.contains("the target is unchanged"), "\(run.errors)")
        #expect(!scene.exists("asked"))
    }
}
