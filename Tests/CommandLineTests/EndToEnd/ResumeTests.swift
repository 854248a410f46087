import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("A run that is interrupted leaves the old tree, and does not start over")
struct ResumeTests {
    private static let files = TreeLiteral.files(0..<1500, named: "file ") {
        String(repeating: "\($0) ", count: 500)
    }

    private let threads = 2

    /// An apply that takes half a minute.
    private func slowApply(_ scene: MirrorScene) throws -> RunningCommand {
        try RunningCommand(
            ["apply", "--threads", "\(threads)", "--bandwidth", "100K", "source", "target"],
            in: scene.directory.path)
    }

    /// Interrupts an apply that has staged some files.
    private func interruptedApply(_ scene: MirrorScene, _ signal: Int32, again: Bool = false) throws
        -> CommandRun
    {
        let running = try slowApply(scene)
        while running.isRunning, stagedCount(scene) < 20 { usleep(1000) }
        running.send(signal)
        if again { running.send(signal) }
        return try running.finish()
    }

    /// The number of files in the present stage. It looks only at names, to be fast.
    private func stagedCount(_ scene: MirrorScene) -> Int {
        let stages = "\(scene.target)/.fsync-lite/stage"
        guard let stage = try? FileManager.default.contentsOfDirectory(atPath: stages).first else { return 0 }
        return (try? FileManager.default.contentsOfDirectory(atPath: "\(stages)/\(stage)/0/0").count) ?? 0
    }

    private func stagedInodes(_ scene: MirrorScene) -> Set<UInt64> {
        inodes(in: "\(scene.target)/.fsync-lite/stage")
    }

    private func inodes(in directory: String) -> Set<UInt64> {
        var found: Set<UInt64> = []
        guard let enumerator = FileManager.default.enumerator(atPath: directory) else { return [] }
        for case let name as String in enumerator {
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFREG { found.insert(UInt64(status.st_ino)) }
        }
        return found
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func whatWasStagedIsUsedAgain(_ signal: Int32, _ code: Int32) throws {
        let scene = try MirrorScene(["d": Self.files], inMemory: true)
        try interruptedApply(scene, signal).expect(code, says: "interrupted; the target is unchanged")
        #expect(try scene.names(in: "target") == [".fsync-lite"])
        let staged = stagedInodes(scene)
        try scene.mirror()
        // Of the twenty files, the last one of each thread may have been incomplete.
        #expect(inodes(in: "\(scene.target)/d").intersection(staged).count >= 20 - threads)
        #expect(!scene.exists("target/.fsync-lite/stage"))
    }

    /// No signal is needed: the staged files are noted every few seconds.
    @Test func whatAKilledRunHasWrittenDownIsUsedAgain() throws {
        let scene = try MirrorScene(["d": Self.files], inMemory: true)
        let running = try slowApply(scene)
        let stages = "\(scene.target)/.fsync-lite/stage"
        func listed() -> Int {
            guard let stage = try? FileManager.default.contentsOfDirectory(atPath: stages).first,
                let log = try? String(contentsOfFile: "\(stages)/\(stage)/log", encoding: .utf8)
            else { return 0 }
            return log.split(separator: "\n").count - 1
        }
        while running.isRunning, listed() <= 0 { usleep(10_000) }
        running.kill()
        #expect(try running.finish().code == -SIGKILL)
        let (staged, count) = (stagedInodes(scene), listed())
        #expect(count > 0)
        try scene.mirror()
        #expect(inodes(in: "\(scene.target)/d").intersection(staged).count == count)
    }

    private static let linked: TreeLiteral = ["a": "1", "b": .file("2"), "c": "3"]

    /// Also a file whose other name is removed with the rest of the old stage, which moves its change time.
    private func expectStagedIsUsed(_ scene: MirrorScene, before staged: Set<UInt64>) throws {
        #expect(staged.count >= 3)
        try scene.mirror()
        for name in ["a", "b", "c"] {
            #expect(try staged.contains(UInt64(scene.status("target/\(name)").st_ino)), "\(name)")
        }
    }

    @Test(.needs(.strace)) func aWholeStageIsUsedAgain() throws {
        let scene = try MirrorScene(Self.linked, inMemory: true)
        try scene.link("source/d", to: "source/a")
        let command = try scene.paused(at: .after("syncfs"))
        command.send(SIGTERM)
        #expect(try command.finish().code == 143)
        try expectStagedIsUsed(scene, before: stagedInodes(scene))
    }

    @Test(.needs(.tool("python3"))) func aWholeStageIsUsedAgainAfterALostLine() throws {
        let lost = FarMachine.relay(
            back: """
                if frame[4] == \(FarMachine.Frame.ready):
                    os.close(far.stdin.fileno())
                    far.wait()
                    os._exit(1)
                """)
        let scene = try FarMachine(FarMachine.firstly(lost), has: .target).scene(Self.linked)
        try scene.link("source/d", to: "source/a")
        #expect(try scene.apply().code == 69)
        try expectStagedIsUsed(scene, before: stagedInodes(scene))
    }

    /// A file that is moved to the next stage is noted in its log before the old log is removed.
    @Test(.needs(.strace)) func aStageThatWasTakenOverSurvivesAKill() throws {
        let scene = try MirrorScene(Self.linked, inMemory: true)
        for call in ["syncfs", "unlinkat"] {
            let command = try scene.paused(at: .after(call, of: call == "unlinkat" ? "log" : nil))
            if call == "syncfs" { command.send(SIGTERM) } else { command.kill() }
            _ = try command.finish()
        }
        try expectStagedIsUsed(scene, before: stagedInodes(scene))
    }

    /// A signal never interrupts a commit.
    @Test(.needs(.strace), arguments: [SIGINT, SIGTERM]) func signalDuringTheCommitLetsItFinish(signal: Int32)
        throws
    {
        let scene = try MirrorScene(["a": "1", "d": ["b": "2"]], inMemory: true).mirrored()
        try scene.build(["new": "n"], at: "source")
        try scene.append("+", to: "source/a")
        let command = try scene.paused(at: .after("renameat2", of: "journal"))
        command.send(signal)
        let run = try command.finish()
        #expect(
            run.code == 128 + signal && run.errors.contains("the new tree is in place"),
            "\(run.code) \(run.errors)")
        try scene.expectMirrored()
        #expect(!scene.exists("target/.fsync-lite/journal"))
    }

    @Test func secondSignalChangesNothing() throws {
        let scene = try MirrorScene(["d": Self.files], inMemory: true)
        #expect(try interruptedApply(scene, SIGINT, again: true).code == 130)
        try scene.mirror()
    }

    /// A program in user space that no longer answers.
    @Test(.needs(.bindfs)) func secondSignalEndsAReadThatHangs() throws {
        let scene = try MirrorScene(["a": "a", "fm": [:]], inMemory: true)
        try scene.build(["x": "x"], at: "back")
        let mount = scene.path("source/fm")
        let server = try SpawnedProcess(["bindfs", "-f", scene.path("back"), mount])
        defer {
            server.send(SIGCONT)
            _ = HostCommand.works("umount", mount)
            _ = server.wait()
        }
        while !HostCommand.works("mountpoint", "-q", mount) {}
        server.send(SIGSTOP)
        let command = try RunningCommand(["apply", "source", "target"], in: scene.directory.path)
        let hung = "cat /proc/\(command.identifier)/task/*/wchan 2>&1 | grep -q 'request_wait\\|fuse'"
        while command.isRunning, !HostCommand.works("sh", "-c", hung) {}
        command.send(SIGTERM)
        while HostCommand.works(
            "grep", "-Eq", "^(ShdPnd|SigPnd):.*[^0\t]", "/proc/\(command.identifier)/status")
        {}
        command.send(SIGTERM)
        try command.finish().expect(143, says: "the target is unchanged")
        #expect(!scene.exists("target/a"))
    }

    @Test func whatChangedMeanwhileIsCopiedAnew() throws {
        let scene = try MirrorScene(["d": Self.files], inMemory: true)
        _ = try interruptedApply(scene, SIGINT)
        // The same sizes and times with other content. The first files are those that were staged.
        for number in [0, 1, 10, 100] {
            let path = scene.path("source/d/file \(number)")
            var status = stat()
            #expect(lstat(path, &status) == 0)
            let size = Int(status.st_size)
            try Data(repeating: 0x2A, count: size).write(to: URL(fileURLWithPath: path))
            var times = [status.st_atim, status.st_mtim]
            #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        }
        try scene.mirror()
    }

    @Test(.needs(.mounts, .strace))
    func stageOfAKilledRunDoesNotFillTheDiskForTheNext() throws {
        let scene = try MirrorScene(["large": .file(String(repeating: "x", count: 3_000_000))])
        try scene.mounted(.tmpfs(options: "size=5m"), at: "target") {
            for content in ["y", "z"] {
                try scene.paused(at: .after("syncfs")).kill()
                // It is a different file now, so its staged copy is useless.
                try scene.editInSecret("source/large", String(repeating: content, count: 3_000_000))
            }
            try scene.unlocked(["apply", "source", "target"]).expect(0)
            try scene.expectMirrored()
        }
    }
}
