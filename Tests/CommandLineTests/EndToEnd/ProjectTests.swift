import Glibc
import TestNeeds
import TestSupport
import Testing

/// The kernel renames only objects of the same project or key into such a directory.
@Suite("Targets with projects and encrypted directories")
struct ProjectTests {
    private static let disks: [TestDisk] = [.xfs, .ext4With(feature: "project,quota")].filter(\.canMount)

    private func on(_ disk: TestDisk, _ body: (MirrorScene) throws -> Void) throws {
        let scene = try MirrorScene([:], inMemory: true)
        try scene.mounted(disk) {
            try scene.build(
                [
                    "sub": ["a": "1", "link": .symlink("a"), "pipe": .fifo()],
                    "dir": ["k": "2", "x": "3"],
                    "top": "4",
                ], at: "source")
            try body(scene)
        }
    }

    private func change(_ scene: MirrorScene) throws {
        try scene.move("source/sub/a", to: "source/a2")
        try scene.append("1", to: "source/a2")
        try scene.build(["b": "new", "deep": ["l": .symlink("x"), "p": .fifo()]], at: "source/sub")
        try scene.remove("source/sub/link")
        try scene.move("source/dir/k", to: "source/sub/k")
        try scene.append("5", to: "source/top")
    }

    // MARK: On a directory of the target

    @Test(
        .needs(.xfs),
        arguments: Self.disks)
    func whatCouldNotComeBackIsRefused(disk: TestDisk) throws {
        try on(disk) { scene in
            try scene.mirror()
            try Project.set(7, on: scene.path("target/sub"), handsDown: true)
            try scene.move("source/sub/a", to: "source/a2")
            try scene.expectRefused(saying: "sub/a", "project 7", "chattr")
            // The named way out.
            try Project.set(7, on: scene.path("target/sub/a"))
            try scene.mirror()
            #expect(try scene.run("undo", "target").code == 0)
            #expect(scene.exists("target/sub/a"))
        }
    }

    @Test(
        .needs(.xfs),
        arguments: Self.disks)
    func whatIsNewInADirectoryGetsItsProject(disk: TestDisk) throws {
        try on(disk) { scene in
            try scene.build(["sub": [:], "dir": [:]], at: "target")
            try Project.set(7, on: scene.path("target/sub"), handsDown: true)
            try Project.set(8, on: scene.path("target/dir"), handsDown: true)
            try scene.mirror("--adopt")
            let old = try TreeSnapshot(scene.target)
            for (name, project) in [("sub/a", 7), ("dir/k", 8), ("top", 0)] as [(String, UInt32)] {
                #expect(try Project.of(scene.path("target/\(name)")) == project, "\(name)")
            }
            // An object that moves into another project is copied.
            try change(scene)
            try scene.mirror()
            for name in ["sub/b", "sub/deep", "sub/k"] {
                #expect(try Project.of(scene.path("target/\(name)")) == 7, "\(name)")
            }
            #expect(try scene.run("undo", "target").code == 0)
            #expect(try TreeSnapshot(scene.target).differences(from: old) == [])
            try scene.mirror()
            try scene.move("source/dir", to: "source/sub/dir")
            try scene.mirror()
            #expect(try Project.of(scene.path("target/sub/dir/x")) == 7)
            try scene.run("snapshot", "restore", "target", "latest~1", "--in-place").expect(0)
            #expect(try scene.mirror().code == 0)
        }
    }

    @Test(.needs(.xfs))
    func directoryIsNotCopiedWhereExcludedContentGoesAlong() throws {
        try on(.xfs) { scene in
            try scene.mirror()
            try scene.build(["own.tmp": "theirs"], at: "target/dir")
            try Project.set(7, on: scene.path("target/sub"), handsDown: true)
            try scene.move("source/dir", to: "source/sub/dir")
            try scene.expectRefused(["source", "target", "--exclude", "*.tmp"], saying: "dir", "project 7")
            #expect(try scene.text("target/dir/own.tmp") == "theirs")
        }
    }

    /// Runs a command for which `file_getattr` is an unknown call, by a seccomp filter.
    private static let olderKernel = """
        import ctypes, os, struct, sys
        code = [(0x20, 0, 0, 0), (0x15, 0, 1, 468), (6, 0, 0, 0x50026), (6, 0, 0, 0x7fff0000)]
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
        filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 4, ctypes.addressof(code)))
        libc = ctypes.CDLL(None)
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter): sys.exit(1)
        os.execvp(sys.argv[1], sys.argv[1:])
        """

    /// Before Linux 6.17 no call shows the project of a symlink, so the kernel's answer is tried.
    @Test(
        .needs(
            .xfs, .tool("python3"),
            .attribute("filters of seccomp", HostCommand.works("python3", "-c", Self.olderKernel, "true"))),
        arguments: [false, true])
    func symlinkWhoseProjectTheKernelDoesNotTell(isStrange: Bool) throws {
        try on(.xfs) { scene in
            if !isStrange { try scene.build(["sub": [:]], at: "target") }
            if isStrange { try scene.mirror() }
            try Project.set(7, on: scene.path("target/sub"), handsDown: true)
            if !isStrange { try scene.mirror("--adopt") }
            try scene.remove("source/sub/link")
            try scene.remove("source/sub/pipe")
            let run = try scene.here(
                ["apply", "source", "target"],
                under: ["python3", "-c", Self.olderKernel])
            #expect(run.code == (isStrange ? 4 : 0), "\(run.errors)")
            #expect(scene.exists("target/sub/link") == isStrange)
            if isStrange { #expect(run.errors.contains("sub/link") && run.errors.contains("project 7")) }
            // XFS accepts FIFOs without a project.
            if isStrange { try scene.build(["link": .symlink("a")], at: "source/sub") }
            try Project.set(7, on: scene.path("target/sub/a"), handsDown: false)
            try scene.mirror()
            #expect(!scene.exists("target/sub/pipe"))
        }
    }

    // MARK: On the whole target

    @Test(
        .needs(.xfs),
        arguments: Self.disks)
    func wholeTargetOfAProject(disk: TestDisk) throws {
        try on(disk) { scene in
            try scene.build([:], at: "target")
            try Project.set(7, on: scene.target, handsDown: true)
            try scene.mirror()
            let old = try TreeSnapshot(scene.target)
            try change(scene)
            try scene.mirror()
            #expect(try Project.of(scene.path("target/sub/deep")) == 7)
            #expect(try scene.run("undo", "target").code == 0)
            #expect(try TreeSnapshot(scene.target).differences(from: old) == [])
            for option in ["--exchange", "--no-owner", "--exchange"] {
                try scene.append("6", to: "source/top")
                try scene.mirror(option)
            }
            for name in ["", "/sub", "/sub/b", "/top"] {
                #expect(try Project.of(scene.path("target\(name)")) == 7, "\(name)")
            }
            // Made in the exchanged tree.
            try scene.build(["later": "l"], at: "target/sub")
            #expect(try Project.of(scene.path("target/sub/later")) == 7)
        }
    }

    /// Then neither the state nor the directory for old objects has the project.
    @Test(.needs(.xfs))
    func projectThatTheTargetGotLater() throws {
        try on(.xfs) { scene in
            try scene.mirror()
            try Project.set(7, on: scene.target, handsDown: true)
            try scene.build(["new": "n"], at: "source")
            try scene.mirror()
            #expect(try Project.of(scene.path("target/new")) == 7)
            try scene.append("5", to: "source/top")
            try scene.expectRefused(saying: "top", "project 7")
            try Project.set(7, on: scene.path("target/top"))
            try scene.mirror()
        }
    }

    @Test(.needs(.xfs))
    func targetThatIsMadeInAProject() throws {
        try on(.xfs) { scene in
            try Project.set(7, on: scene.directory.path, handsDown: true)
            try scene.mirror()
            #expect(try Project.of(scene.path("target/sub/a")) == 7)
            try scene.append("5", to: "source/top")
            try scene.mirror("--exchange")
        }
    }

    @Test(.needs(.xfs))
    func exchangeIntoADirectoryOfAnotherProjectIsRefused() throws {
        try on(.xfs) { scene in
            try scene.mirror()
            try Project.set(7, on: scene.directory.path, handsDown: true)
            try scene.append("5", to: "source/top")
            try scene.expectRefused(["source", "target", "--exchange"], saying: "project 7")
            try scene.mirror()
        }
    }

    // MARK: Cut short

    @Test(
        .needs(.xfs, .strace),
        arguments: [[], ["--back"]])
    func commitThatWasCutShortGoesOnAndBack(options: [String]) throws {
        for number in [3, 6, 9] {
            try on(.xfs) { scene in
                try scene.build(["sub": [:]], at: "target")
                try Project.set(7, on: scene.path("target/sub"), handsDown: true)
                try scene.mirror("--adopt")
                let old = try TreeSnapshot(scene.target)
                try change(scene)
                let command = try PausedCommand(
                    ["apply", "source", "target"], in: scene.directory.path,
                    at: .after("renameat2", number: number))
                guard try command.waitForPause() else { return }
                command.kill()
                try scene.unlocked(["recover", "target"] + options).expect(0, of: "\(number)")
                if !options.isEmpty { #expect(try TreeSnapshot(scene.target).differences(from: old) == []) }
                try scene.mirror()
            }
        }
    }

    // MARK: Encryption

    private static let encrypted = TestDisk.ext4With(feature: "encrypt")

    private func onEncrypted(_ directory: String, _ body: (MirrorScene) throws -> Void) throws {
        try on(Self.encrypted) { scene in
            try scene.build(directory == "target" ? [:] : ["sub": [:]], at: "target")
            try Project.encrypt(scene.path(directory))
            try body(scene)
        }
    }

    @Test(.needs(.encryption))
    func directoryThatIsEncryptedIsRefused() throws {
        try onEncrypted("target/sub") { scene in
            try scene.expectRefused(["source", "target", "--adopt"], saying: "sub", "encrypted")
            try scene.remove("source/sub/a")
            try scene.remove("source/sub/link")
            // A FIFO is never encrypted, but an unencrypted object would be refused later.
            #expect(try scene.apply("--adopt", "--exclude", "/sub").code == 0)
        }
    }

    @Test(.needs(.encryption))
    func wholeTargetThatIsEncrypted() throws {
        try onEncrypted("target") { scene in
            try scene.mirror()
            try change(scene)
            try scene.mirror()
            #expect(try scene.run("undo", "target").code == 0)
            try scene.mirror()
            try scene.append("6", to: "source/top")
            try scene.mirror("--exchange")
            try scene.append("7", to: "source/top")
            try scene.mirror()
        }
    }
}
