import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite("Targets on portable disks, in user space and in layers")
struct WeakFileSystemTests {
    private static let tree: TreeLiteral = [
        "edited": "one", "gone": ["goes": "2"], "moved": ["with": "three"], "link": .symlink("edited"),
        "pipe": .fifo(mode: 0o644, modified: nil),
    ]

    /// A disk at `target`, with the mirror in `target/m`.
    private func onDisk(_ disk: TestDisk, _ body: (MirrorScene) throws -> Void) throws {
        guard isThere(disk) else { return }
        let scene = try MirrorScene(Self.tree, inMemory: true)
        try scene.mounted(disk, at: "target") { try body(scene) }
    }

    private func apply(_ scene: MirrorScene, _ options: String...) throws -> CommandRun {
        try apply(scene, options)
    }

    private func apply(_ scene: MirrorScene, _ options: [String]) throws -> CommandRun {
        try scene.run(["apply", "source", "target/m", "--weak-commit"] + options)
    }

    /// Edits one file, deletes one, and moves one.
    private func change(_ scene: MirrorScene) throws {
        try scene.append(" more", to: "source/edited")
        try scene.remove("source/gone")
        try scene.move("source/moved", to: "source/elsewhere")
    }

    private func text(_ scene: MirrorScene, _ name: String) -> String? {
        try? scene.text("target/m/\(name)")
    }

    private func expectHoldsFiles(_ scene: MirrorScene, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        for name in try FileManager.default.subpathsOfDirectory(atPath: scene.source) {
            var status = stat()
            guard lstat("\(scene.source)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                continue
            }
            #expect(
                try text(scene, name) == scene.text("source/\(name)"), "\(name)",
                sourceLocation: sourceLocation)
        }
    }

    /// Every available disk has the same tests.
    private func isThere(_ disk: TestDisk) -> Bool {
        switch disk {
        case .exfat: Need.exfat.isThere()
        case .ntfs: Need.ntfs.isThere()
        case .bindfs: Need.bindfs.isThere()
        default: Need.overlay.isThere()
        }
    }

    /// The owner and permissions of a mount are tried, not looked up: the type of this one is `fuse`.
    @Test(.needs(.ntfs, .tool("ntfs-3g"))) func anImageThatIsMountedWithoutADevice() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        try scene.build([:], at: "target")
        let image = scene.path("image")
        #expect(
            FileManager.default.createFile(atPath: image, contents: nil) && truncate(image, 64 << 20) == 0)
        try HostCommand.run("mkntfs", "-Q", "-F", "-q", image)
        try HostCommand.run("ntfs-3g", image, scene.target)
        defer { _ = HostCommand.works("umount", scene.target) }
        for code in [0, 0] as [Int32] {
            try apply(scene).expect(code)
        }
        try expectHoldsFiles(scene)
    }

    @Test(.needs(.bindfs)) func aMountThatShowsAnotherOwner() throws {
        let scene = try MirrorScene(Self.tree, inMemory: true)
        try scene.build(["d": [:]], at: "back")
        try scene.build([:], at: "target")
        try HostCommand.run("bindfs", "--force-user=nobody", scene.path("back"), scene.target)
        defer { _ = HostCommand.works("umount", "--lazy", scene.target) }
        try apply(scene).expect(0)
        try scene.append("+", to: "source/edited")
        #expect(try apply(scene).code == 0)
        try expectHoldsFiles(scene)
        // The owner behind the mount is unknown. Other users may not write to it.
        try HostCommand.run("chmod", "777", scene.path("back/m/.fsync-lite"))
        try apply(scene).expect(4, says: "other users may write to it")
    }

    @Test(.needs(.root), arguments: TestDisk.weak)
    func mirrorsAndSecondRunHasNothingToDo(disk: TestDisk) throws {
        try onDisk(disk) { scene in
            let name =
                switch disk {
                case .exfat: "exfat"
                case .ntfs: "ntfs-3g"
                case .bindfs: "fuse"
                default: "overlay"
                }
            for command in ["plan", "apply"] {
                try scene.run(command, "source", "target/m").expect(
                    4, says: "the target's file system, \(name), cannot promise all or nothing", "It lacks ",
                    "--weak-commit")
            }
            #expect(!scene.exists("target/m"))
            #expect(try apply(scene).code == 0)
            try expectHoldsFiles(scene)
            try apply(scene, "--exchange").expect(
                4, says: "cannot swap the target and the new tree in one step")
            let again = try apply(scene)
            #expect(again.code == 0 && again.output.hasPrefix("nothing to do"), "\(again.output)")
            try change(scene)
            let plan = try scene.run("plan", "source", "target/m", "--weak-commit", "--json").json()
            #expect(plan.object("file_system")?.text("commit") == "weak")
            #expect(plan.objects("actions").contains { $0.text("action") == "move" })
            #expect(try apply(scene).code == 0)
            try expectHoldsFiles(scene)
            #expect(text(scene, "gone/goes") == nil)
            #expect(try apply(scene).output.hasPrefix("nothing to do"))
            #expect(try scene.run("manifest", "verify", "target/m", "target/m").code == 0)
            #expect(try scene.run("status", "target/m").output.contains("commit     after a kill"))
            // As another machine reports it.
            let (path, far) = (scene.path("target/m"), try FarMachine(has: .target))
            for options in [[], ["--json"]] {
                func status(_ words: [String]) throws -> String {
                    try scene.here(
                        ["status"] + options + words,
                        environment: ["FSYNC_LITE_STATE": ""]
                    ).output.replacing(/\d+ s ago/, with: "ago").replacing("far:", with: "")
                }
                let there = try withExtendedLifetime(far) { try status(["far:\(path)"] + far.options) }
                let here = try status([path])
                #expect(there == here, "\(there)\(here)")
            }
        }
    }

    @Test(.needs(.root), arguments: TestDisk.weak)
    func historyAndRestoresWork(disk: TestDisk) throws {
        try onDisk(disk) { scene in
            #expect(try apply(scene).code == 0)
            try change(scene)
            #expect(try apply(scene).code == 0)
            try scene.run("snapshot", "restore", "target/m", "latest~1", "--to", "back").expect(0)
            #expect(try scene.text("back/edited") == "one" && scene.text("back/gone/goes") == "2")
            try scene.run("undo", "target/m").expect(0)
            #expect(text(scene, "edited") == "one" && text(scene, "moved/with") == "three")
            #expect(text(scene, "gone/goes") == "2" && text(scene, "elsewhere/with") == nil)
            #expect(try scene.run("snapshot", "verify", "target/m").code == 0)
            // A second undo brings it back, and so on.
            for content in ["one more", "one"] {
                try scene.run("undo", "target/m").expect(0)
                #expect(text(scene, "edited") == content)
                #expect((text(scene, "moved/with") == nil) == (content == "one more"))
                #expect(try scene.run("manifest", "verify", "target/m", "target/m").code == 0)
            }
            // Also as a source.
            #expect(try scene.run("apply", "target/m", "third").code == 0)
            #expect(try scene.text("third/edited") == "one")
        }
    }

    @Test(.needs(.exfat)) func whatTheKindCannotHoldIsOneNote() throws {
        try onDisk(.exfat) { scene in
            try scene.setMode(0o600, of: "source/edited")
            let first = try apply(scene).expect(0)
            let notes = first.errors.split(separator: "\n").filter { $0.contains("exfat has no") }
            #expect(notes.count == 1)
            #expect(notes.first?.contains("no symlinks (1 left out), no FIFOs (1 left out)") == true)
            try scene.setMode(0o640, of: "source/edited")
            #expect(try apply(scene).output.hasPrefix("nothing to do"))
            // A copy to another file system omits the same.
            #expect(try scene.run("apply", "source", "strong").code == 0)
            try scene.run("snapshot", "restore", "strong", "latest", "--to", "target/copy").expect(
                0, says: "no symlinks (1 left out)")
            #expect(try scene.text("target/copy/edited") == "one")
        }
    }

    @Test(.needs(.exfat)) func namesThatCollideOrCannotBeTakenAreFoundByPlan() throws {
        try onDisk(.exfat) { scene in
            try scene.build("x", at: "source/what?")
            let plan = try scene.run("plan", "source", "target/m", "--weak-commit")
            #expect(plan.errors.contains("what?: exfat takes no name with '?' (unsupported)"))
            #expect(try apply(scene).code == 1 && !scene.exists("target/m"))
            let rest = try apply(scene, "--keep-going")
            #expect(rest.code == 3 && text(scene, "edited") == "one")
            try apply(scene, "--keep-going").expect(prints: "5 unchanged, 1 not mirrored")
            try scene.build("x", at: "source/EDITED")
            try scene.run("plan", "source", "target/m", "--weak-commit").expect(
                4, says: "the target can have only one of EDITED and edited")
        }
    }

    /// A second apply, after it has changed one name.
    private func pausedInItsCommit(_ scene: MirrorScene) throws -> PausedCommand {
        #expect(try apply(scene).code == 0)
        try scene.append(" more", to: "source/edited")
        let run = try scene.paused(
            ["apply", "source", "target/m", "--weak-commit"], at: .after("renameat2", of: "edited"))
        return run
    }

    @Test(.needs(.root), arguments: TestDisk.weak)
    func preparedAndCommittedLater(disk: TestDisk) throws {
        try onDisk(disk) { scene in
            #expect(try apply(scene).code == 0)
            try change(scene)
            func prepare() throws -> String {
                try apply(scene, "--prepare").output.trimmingCharacters(in: .newlines)
            }
            func commit(_ id: String) throws -> CommandRun {
                try scene.run("commit", "--trust-state", "target/m", id)
            }
            let stale = try prepare()
            try scene.append("theirs", to: "target/m/gone/goes")
            try commit(stale).expect(5, says: "gone/goes")
            #expect(text(scene, "edited") == "one")
            try commit(prepare()).expect(0)
            try expectHoldsFiles(scene)
            #expect(text(scene, "gone/goes") == nil)
            #expect(try apply(scene).output.hasPrefix("nothing to do"))
        }
    }

    /// On the same machine, the lock of a killed run stops nobody.
    @Test(.needs(.overlay, .strace)) func killedRunIsGoneOnFromAtOnce() throws {
        try onDisk(.overlay) { scene in
            let run = try pausedInItsCommit(scene)
            try apply(scene).expect(75)
            run.kill()
            #expect(scene.exists("target/m/.fsync-lite/lock"))
            #expect(try scene.run("plan", "source", "target/m", "--weak-commit").code == 6)
            #expect(try scene.run("recover", "target/m").code == 0)
            #expect(text(scene, "edited") == "one more")
            #expect(try apply(scene).output.hasPrefix("nothing to do"))
        }
    }

    @Test(.needs(.overlay, .strace)) func whatReadsTheTargetDuringACommitSaysSo() throws {
        try onDisk(.overlay) { scene in
            let run = try pausedInItsCommit(scene)
            for command in [
                ["manifest", "verify", "target/m", "target/m"],
                ["manifest", "list", "target/m"], ["snapshot", "list", "target/m"],
            ] {
                try scene.run(command).expect(75, says: "another fsync-lite is writing to this target")
            }
            #expect(try run.finish().code == 0)
        }
    }

    /// Attributes that the disk cannot store are lost with the mount.
    @Test(.needs(.root, .overlay)) func directoryOfALowerLayerThatMustMoveNamesTheOption() throws {
        let scene = try MirrorScene(["d": ["f": "1"]], inMemory: true)
        try scene.build(["lower": ["m": [:]], "upper": [:], "work": [:], "target": [:]], at: ".")
        let layers = ["lowerdir=lower", "upperdir=upper", "workdir=work"].map {
            $0.replacingOccurrences(of: "=", with: "=\(scene.directory.path)/")
        }
        #expect(try scene.run("apply", "source", "lower/m").code == 0)
        try scene.move("source/d", to: "source/e")
        try HostCommand.run(
            "mount", "-t", "overlay", "-o", layers.joined(separator: ","), "none", scene.target)
        defer { _ = try? HostCommand.run("umount", scene.target) }
        try apply(scene).expect(1, says: "taken back", "redirect_dir=on")
        #expect(try scene.text("target/m/d/f") == "1")
    }

    @Test(.needs(.root, .ntfs)) func whatIsNotUTF8IsListedOneByOne() throws {
        try onDisk(.ntfs) { scene in
            try HostCommand.run("ln", "-s", "to", "\(scene.source)/other")
            try HostCommand.run("sh", "-c", #"ln -s "$(printf 'x\377')" "$0/odd""#, scene.source)
            try scene.run("plan", "source", "target/m", "--weak-commit").expect(
                1, says: "odd: ntfs-3g stores only symlinks in UTF-8")
            #expect(try apply(scene, "--keep-going").code == 3)
            #expect(scene.exists("target/m/edited"))
        }
    }

    @Test(.needs(.root, .ntfs)) func planOfADiskThatIsReadOnlyHasNoAttributes() throws {
        try onDisk(.ntfs) { scene in
            #expect(try apply(scene).code == 0)
            try HostCommand.run("mount", "-o", "remount,bind,ro", scene.target)
            let run = try scene.run("plan", "source", "target/m", "--weak-commit", "--detailed-exit-code")
            #expect(!run.output.contains("mode"), "\(run.output)")
        }
    }

    /// An apply continues in spite of these problems, so its plan does not fail.
    @Test(.needs(.exfat)) func timesThatTheDiskCannotHoldAreListed() throws {
        try onDisk(.exfat) { scene in
            try scene.setTime(TreeTime(-300_000_000), of: "source/edited")
            let options = ["--exclude", "/link", "--exclude", "/pipe"]
            let plan = ["plan", "source", "target/m", "--weak-commit"] + options
            try scene.run(plan).expect(0)
            try apply(scene, options).expect(3, says: "edited")
            try scene.run(plan).expect(0)
            #expect(try scene.status("target/m/edited").st_mtim.tv_sec == 315_619_200)
            try apply(scene, options).expect(prints: "nothing to do")
        }
    }

    @Test(.needs(.exfat)) func digestsAreRecordedLater() throws {
        try onDisk(.exfat) { scene in
            try scene.setTime(TreeTime(1_700_000_000), of: "source/edited")
            #expect(try apply(scene).code == 0)
            ClockTick.pass()
            let run = try apply(scene, "--digest")
            #expect(run.code == 0 && !run.errors.contains("no digest"), "\(run.errors)")
            let verified = try scene.run("manifest", "verify", "--digest", "target/m", "target/m")
            #expect(verified.code == 0 && !verified.errors.contains("no digest"), "\(verified.errors)")
        }
    }

    @Test(.needs(.exfat)) func fullDiskIsPruned() throws {
        try onDisk(.exfat) { scene in
            #expect(try apply(scene).code == 0)
            try scene.append(String(repeating: "x", count: 5_000_000), to: "source/edited")
            #expect(try apply(scene).code == 0)
            try scene.append(" end", to: "source/edited")
            #expect(try apply(scene).code == 0)
            try? HostCommand.run("sh", "-c", "cat /dev/zero >'\(scene.path("target/full"))' 2>&1")
            let pruned = try scene.run("snapshot", "prune", "--keep-last", "1", "target/m").expect(0)
            #expect(!scene.exists("target/m/.fsync-lite/lock"))
            #expect(
                pruned.output.contains(#/removed 2 snapshots \(.*\), .* are free; 2 kept/#),
                "\(pruned.output)")
        }
    }

    @Test(.needs(.exfat, .strace)) func rootTrustsNoJournalThatAnybodyMayWrite() throws {
        try onDisk(.exfat) { scene in
            let run = try pausedInItsCommit(scene)
            run.kill()
            for command in [["apply", "source", "target/m", "--weak-commit"], ["recover", "target/m"]] {
                try scene.run(command).expect(6, says: "--trust-state")
            }
            #expect(try scene.run("recover", "--trust-state", "target/m").code == 0)
            #expect(text(scene, "edited") == "one more")
        }
    }
}
