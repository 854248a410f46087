import FileSystem
import Foundation
import TestNeeds
import TestSupport
import Testing

/// A running `snapshot mount` of `target` on `old`.
private final class Mounted {
    let scene: MirrorScene
    let running: RunningCommand

    init(_ scene: MirrorScene, _ options: [String] = [], under tracer: [String] = []) throws {
        self.scene = scene
        // One that is there may have a dead mount, into which no call gets.
        if mkdir(scene.path("old"), 0o755) == 0 {
            if case .ordinary = scene.identity { OrdinaryUser.own(scene.path("old")) }
        }
        running = try RunningCommand(
            ["snapshot", "mount", "target", "old"] + options, as: scene.identity, in: scene.directory.path,
            under: tracer)
        try #require(wait { isMounted || !running.isRunning })
    }

    deinit {
        // Another file system may be mounted there now.
        guard running.isRunning else { return }
        running.kill()
        if isMounted { _ = umount2(scene.path("old"), Int32(MNT_DETACH)) }
    }

    /// Also true if its server is dead.
    var isMounted: Bool { (try? FuseConnection.isOurs(Array(scene.path("old").utf8))) ?? false }

    /// Ends it, and returns its output.
    func end(_ signal: Int32 = SIGTERM) throws -> CommandRun {
        running.send(signal)
        return try running.finish()
    }

    /// The names of the directories of snapshots, the oldest first.
    func dates() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scene.path("old")).filter { $0.hasPrefix("20") }
            .sorted()
    }
}

/// Waits until a condition is true. The kernel may cache for a second.
private func wait(_ holds: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<10_000 {
        if try holds() { return true }
        usleep(1000)
    }
    return false
}

/// The error of opening and reading a file; 0 for none.
private func failure(of path: String) -> Int32 {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return errno }
    defer { close(file) }
    var byte: UInt8 = 0
    return read(file, &byte, 1) < 0 ? errno : 0
}

/// Opens a file on another thread, which gets a signal until that ends.
private final class InterruptedOpen: @unchecked Sendable {
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let seen = DispatchSemaphore(value: 0)
    // The semaphores order what the threads do with them.
    private var thread: pthread_t?
    private var error: Int32 = 0

    init(of path: String) {
        Thread.detachNewThread { [self] in
            // What runs the tests may have blocked it.
            var wanted = sigset_t()
            sigemptyset(&wanted)
            sigaddset(&wanted, SIGUSR1)
            pthread_sigmask(SIG_UNBLOCK, &wanted, nil)
            thread = pthread_self()
            begun.signal()
            error = failure(of: path)
            ended.signal()
            // A signal must find the thread.
            seen.wait()
        }
        begun.wait()
    }

    /// - Returns: the error.
    func end() -> Int32 {
        while ended.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
            if let thread { pthread_kill(thread, SIGUSR1) }
        }
        seen.signal()
        return error
    }
}

@Suite("Snapshots as a file system")
struct SnapshotMountTests {
    /// Three snapshots in different seconds, and `initial`.
    private func scene(_ tree: TreeLiteral = ["a": "one", "d": ["f": "f", "g": "g"]]) throws -> MirrorScene {
        let scene = try MirrorScene(tree)
        try scene.mirror("--keep-last", "9")
        return scene
    }

    private func directory(_ names: [String]) -> TreeLiteral {
        .directory(names.map { (TreeName(Array($0.utf8)), "x") }, mode: 0o755, modified: nil)
    }

    /// An apply in a later second than the last.
    private func applyLater(_ scene: MirrorScene, _ options: [String] = []) throws {
        let second = time(nil)
        while time(nil) == second { usleep(1000) }
        try scene.run(["apply", "source", "target"] + options).expect(0)
    }

    /// Every kind of entry, with every attribute.
    private static let hardTree = """
        set -e
        cd "$1"
        mkdir -p d/e/f empty moved/in; echo one >d/e/f/file; : >zero; printf x >moved/in/x; ln -s d/e link; ln -s nowhere 'dangling
        link'; mkfifo fifo; mknod null c 1 3; mknod block b 7 300; ln d/e/f/file hard; ln d/e/f/file d/hard2; ln fifo fifo2
        truncate -s 10M sparse; printf end >>sparse; printf 1 >suid; chmod 4755 suid; chown 1000:1001 zero; chmod 0 d/e/f/file
        mkdir sticky; chmod 1777 sticky; chmod 2750 empty; chown 12:34 empty; chown -h 7:8 link
        setfattr -n user.note -v 'a value' zero; setfattr -n trusted.note -v secret d; setfacl -m u:1000:rw,g:1001:- suid
        setfacl -m d:u:1000:rwx empty; printf n >"$(printf 'n\\377\\001')"; printf n >"$(printf 'd\\001')"
        printf n >"$(printf '%0255d' 1)"; touch -d '1969-01-01 12:00:00.123456789' zero
        touch -h -d '2001-02-03 04:05:06.7' link; touch -d '2038-01-20' d/e/f; printf e >'e\u{301}'; printf e >'\u{E9}'; mkdir -- '-d d'
        """

    private static let edits = """
        set -e
        cd "$1"
        mv moved gone; printf y >gone/in/y; rm hard; chmod 644 suid; rm fifo2; echo two >d/e/f/new; rm link; mkdir link; printf l >link/l
        setfacl -b empty; setfattr -x user.note zero; ln d/hard2 again; rm null; truncate -s 5 sparse
        """

    @Test(
        .needs(.fuse, .tool("setfacl", package: "acl"), .tool("setfattr", package: "attr")),
        arguments: [[], ["--exchange"]])
    func aTreeIsWhatRestoreMakesOfIt(options: [String]) throws {
        let scene = try MirrorScene([:])
        try HostCommand.run("sh", "-c", Self.hardTree, "sh", scene.source)
        try scene.run(["apply", "source", "target", "--keep-last", "9"] + options).expect(0)
        try HostCommand.run("sh", "-c", Self.edits, "sh", scene.source)
        try applyLater(scene, options)
        let mounted = try Mounted(scene)
        let dates = try mounted.dates()
        #expect(dates.count == 2)
        for (name, date) in zip(["latest~1", "latest"], dates) {
            try scene.run("snapshot", "restore", "target", name, "--to", "restored").expect(0)
            try HostCommand.run("cp", "-a", scene.path("old/\(date)"), scene.path("copied"))
            try scene.expectSame("copied", as: "restored")
            let (copied, restored) = (scene.path("copied"), scene.path("restored"))
            #expect(
                try AttributeSnapshot(copied).differences(from: AttributeSnapshot(restored)) == [], "\(name)")
            for name in ["d/hard2", "d/e/f/file"] {
                #expect(
                    try scene.status("copied/\(name)").st_nlink == scene.status("restored/\(name)").st_nlink)
            }
            // The same, looked up name by name without a list.
            for path in try FileManager.default.subpathsOfDirectory(atPath: restored)
            where scene.exists("restored/\(path)") {
                let (there, here) = (
                    try scene.status("old/\(date)/\(path)"), try scene.status("restored/\(path)")
                )
                #expect(there.st_mode == here.st_mode && there.st_rdev == here.st_rdev, "\(path)")
                if there.st_mode & S_IFMT != S_IFDIR { #expect(there.st_nlink == here.st_nlink, "\(path)") }
            }
            try scene.remove("copied")
            try scene.remove("restored")
        }
        try mounted.end().expect(0)
    }

    @Test(.needs(.fuse)) func holesStayHolesInACopy() throws {
        let scene = try MirrorScene(["file": ""])
        try HostCommand.run("truncate", "-s", "9M", scene.path("source/file"))
        try scene.append("the end", to: "source/file")
        try scene.run("apply", "source", "target").expect(0)
        let mounted = try Mounted(scene)
        try HostCommand.run("cp", "-a", scene.path("old/latest/file"), scene.path("copy"))
        try HostCommand.run("cmp", scene.path("source/file"), scene.path("copy"))
        #expect(try scene.status("copy").st_blocks < 1000)
        try mounted.end().expect(0)
    }

    /// A name that came or went later does not count.
    @Test(.needs(.fuse)) func namesOfAFileAreThoseOfItsSnapshot() throws {
        let scene = try scene(["a": "a", "b": "b"])
        try scene.link("source/c", to: "source/a")
        try applyLater(scene)
        try scene.link("source/d", to: "source/b")
        try scene.remove("source/c")
        try applyLater(scene)
        let mounted = try Mounted(scene)
        for (date, counts) in zip(
            try mounted.dates(), [["a": 1, "b": 1], ["a": 2, "b": 1, "c": 2], ["a": 1, "b": 2]])
        {
            for (name, count) in counts {
                #expect(try scene.status("old/\(date)/\(name)").st_nlink == count, "\(date) \(name)")
            }
        }
        try mounted.end().expect(0)
    }

    @Test(.needs(.fuse)) func theOnlySnapshotThatIsRemovedDisappears() throws {
        let scene = try scene()
        for _ in 0..<3 {
            try scene.append("+", to: "source/a")
            try applyLater(scene)
        }
        let mounted = try Mounted(scene, ["--snapshot", "latest~2"])
        #expect(try mounted.dates().count == 1)
        try scene.run("snapshot", "remove", "target", "latest~2").expect(0)
        #expect(try wait { try mounted.dates().isEmpty })
        #expect(try mounted.end().expect(0).errors == "")
    }

    @Test(.needs(.fuse)) func datesLabelsAndIDs() throws {
        let scene = try scene()
        try scene.run("snapshot", "create", "target", "--label", "before").expect(0)
        let mounted = try Mounted(scene)
        let first = try #require(try mounted.dates().first)
        #expect(try scene.text("old/before/a") == "one")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: scene.path("old/latest")) == first)
        let id = try #require(try scene.run("snapshot", "list", "target", "--ids").lines.first)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: scene.path("old/ids/\(id)"))
                == "../\(first)")
        // A new snapshot appears.
        try scene.append("!", to: "source/a")
        try applyLater(scene)
        #expect(try wait { try mounted.dates().count == 2 })
        #expect(wait { (try? scene.text("old/latest/a")) == "one!" })
        #expect(try scene.text("old/\(first)/a") == "one")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.path("old/initial")) == [])
        // A label that would hide another directory.
        try scene.run("snapshot", "create", "target", "--label", "ids").expect(0)
        #expect(
            try wait {
                try FileManager.default.contentsOfDirectory(atPath: scene.path("old/ids")).contains("ids")
            })
        #expect(try scene.text("old/ids/ids/a") == "one!")
        try mounted.end().expect(0)
        let alone = try Mounted(scene, ["--snapshot", "latest~1"])
        #expect(try alone.dates() == [first] && !scene.exists("old/latest"))
    }

    @Test(.needs(.fuse)) func nothingIsWritten() throws {
        let scene = try scene()
        let mounted = try Mounted(scene)
        for words in [
            ["touch", "old/latest/new"], ["rm", "old/latest/a"], ["mkdir", "old/d"],
            ["chmod", "1", "old/latest/a"],
        ] {
            let code = try SpawnedProcess(words, in: scene.directory.path).wait()
            #expect(code != 0, "\(words)")
        }
        #expect(failure(of: scene.path("old/latest/none")) == ENOENT)
        #expect(
            try HostCommand.output("findmnt", "-no", "OPTIONS", scene.path("old")).contains("ro,nosuid,nodev")
        )
        try mounted.end().expect(0)
        try scene.expectMirrored()
    }

    // MARK: Rights

    @Test(.needs(.fuse, .otherUser, .tool("setfacl", package: "acl"))) func othersSeeWhatTheyMayRead() throws
    {
        let scene = try MirrorScene(["own": "own", "other": "other", "shut": "shut", "all": "all"])
        try HostCommand.run("chmod", "755", scene.directory.path)
        try HostCommand.run(
            "sh", "-c",
            "cd \"$1\"; chmod 755 .; chown 1000 own; chown 1001 other; chmod 600 own other; chgrp 1002 shut; chmod 640 shut; setfacl -m u:1003:r,g::-,m::r shut; chmod 644 all",
            "sh", scene.source)
        try scene.run("apply", "source", "target").expect(0)
        func reads(_ user: Int, _ group: Int, _ name: String) -> Bool {
            HostCommand.works(
                "setpriv", "--reuid", "\(user)", "--regid", "\(group)", "--clear-groups", "cat",
                scene.path("old/latest/\(name)"))
        }
        var mounted: Mounted? = try Mounted(scene)
        #expect(!reads(1000, 1000, "all"))
        try mounted?.end().expect(0)
        mounted = try Mounted(scene, ["--allow-other"])
        #expect(reads(1000, 1000, "own") && !reads(1000, 1000, "other") && reads(1000, 1000, "all"))
        #expect(!reads(1001, 1001, "own") && reads(1001, 1001, "other"))
        // The mode alone, which shows the mask, would allow the group to read.
        #expect(!reads(1000, 1002, "shut") && reads(1003, 1003, "shut") && !reads(1000, 1000, "shut"))
        try mounted?.end().expect(0)
    }

    /// The kernel asks for the ACL of a file before it lets another user than the owner read it.
    @Test(.needs(.fuse, .otherUser, .tool("setfacl", package: "acl"))) func withoutACLsTheModesCount() throws
    {
        let scene = try MirrorScene(["d": ["a": "one"]])
        try HostCommand.run("chown", "-R", "1000", scene.source)
        try HostCommand.run("chmod", "-R", "u=rwX,go=rX", scene.directory.path)
        try scene.run("apply", "source", "target").expect(0)
        let mounted = try Mounted(scene, ["--allow-other"])
        let file = scene.path("old/latest/d/a")
        #expect(try scene.text("old/latest/d/a") == "one")
        #expect(HostCommand.works(OrdinaryUser.prefix + ["cat", file]))
        // Without ACLs in the first lists, the kernel checks none later. Their files are for their owners.
        try HostCommand.run("setfacl", "-m", "u:1001:-", scene.path("source/d/a"))
        try applyLater(scene)
        #expect(wait { !HostCommand.works(OrdinaryUser.prefix + ["cat", file]) })
        let owner = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups"]
        #expect(HostCommand.works(owner + ["cat", file]))
        #expect(!HostCommand.works(owner.map { $0 == "1000" ? "1001" : $0 } + ["cat", file]))
        try mounted.end().expect(0, says: "files with ACLs")
    }

    @Test(.needs(.fuseOfUsers)) func asAnotherUser() throws {
        let scene = try MirrorScene(["a": "one"], as: .ordinary)
        try scene.run("apply", "source", "target").expect(0)
        let refused = try RunningCommand(
            ["snapshot", "mount", "target", "source", "--allow-other"], as: .ordinary,
            in: scene.directory.path
        ).finish()
        refused.expect(4, says: "not empty")
        let mounted = try Mounted(scene)
        let read = try HostCommand.output(OrdinaryUser.prefix + ["cat", scene.path("old/latest/a")])
        #expect(read == "one")
        try mounted.end().expect(0, prints: "is mounted on \(scene.path("old"))")
        #expect(!mounted.isMounted)
    }

    // MARK: Ends

    @Test(.needs(.fuse), arguments: ["TERM", "INT", "HUP", "umount", "KILL"]) func anEnd(_ way: String) throws
    {
        let scene = try scene()
        let mounted = try Mounted(scene)
        #expect(try scene.text("old/latest/a") == "one")
        switch way {
        case "umount":
            try HostCommand.run("umount", scene.path("old"))
            try mounted.running.finish().expect(0)
        case "KILL":
            mounted.running.kill()
            #expect(wait { failure(of: scene.path("old")) == ENOTCONN })
            let again = try Mounted(scene)
            #expect(wait { (try? scene.text("old/latest/a")) == "one" })
            try again.end().expect(0, says: "a server was killed")
        default: try mounted.end(["INT": SIGINT, "HUP": SIGHUP][way] ?? SIGTERM).expect(0)
        }
        #expect(!mounted.isMounted && scene.exists("old"))
    }

    /// Nothing waits for a server that is gone.
    @Test(.needs(.fuse, .strace)) func anErrorOfTheDeviceEndsIt() throws {
        let scene = try scene()
        try scene.build([:], at: "old")
        try scene.here(
            ["snapshot", "mount", "target", "old"],
            under: Strace.injecting("error=EIO:when=1", into: "read", of: ["/dev/fuse"])
        ).expect(1, says: "/dev/fuse: Input/output error")
        #expect(failure(of: scene.path("old")) == EISDIR)
    }

    /// The server does not answer, and the client does not wait for it.
    @Test(.needs(.fuse)) func aKilledClient() throws {
        let scene = try scene()
        let mounted = try Mounted(scene)
        // The kernel and the server have agreed on the protocol.
        #expect(scene.exists("old/latest"))
        mounted.running.send(SIGSTOP)
        // It stops a moment after the signal.
        let status = "/proc/\(mounted.running.identifier)/status"
        #expect(
            wait { (try? String(contentsOfFile: status, encoding: .utf8))?.contains("State:\tT") ?? false })
        let client = try SpawnedProcess(["cat", scene.path("old/latest/a")], in: scene.directory.path)
        #expect(
            wait {
                let place = try? String(
                    contentsOfFile: "/proc/\(client.identifier)/wchan", encoding: .utf8)
                return place?.contains("request_wait") ?? false
            })
        client.send(SIGKILL)
        #expect(client.wait() == -SIGKILL)
        mounted.running.send(SIGCONT)
        #expect(try scene.text("old/latest/a") == "one")
        try mounted.end().expect(0)
    }

    /// The server waits for a run that may be moving the file.
    @Test(.needs(.fuse)) func anInterruptedClientDoesNotWait() throws {
        let scene = try scene()
        let mounted = try Mounted(scene)
        #expect(try scene.text("old/latest/d/f") == "f")
        try scene.remove("target/a")
        try scene.build(["journal": ""], at: "journals")
        try scene.move("journals/journal", to: "target/.fsync-lite/journal")
        signal(SIGUSR1) { _ in }
        defer { signal(SIGUSR1, SIG_DFL) }
        #expect(InterruptedOpen(of: scene.path("old/latest/a")).end() == EINTR)
        try scene.remove("target/.fsync-lite/journal")
        #expect(failure(of: scene.path("old/latest/a")) == EIO)
        try mounted.end().expect(0)
    }

    // MARK: Content

    /// Size and time are those of the record.
    @Test(.needs(.fuse), arguments: ["replaced", "grown", "gone", "symlink"])
    func contentOfAnotherVersionIsNotServed(_ change: String) throws {
        let scene = try scene()
        let mounted = try Mounted(scene)
        switch change {
        case "replaced":
            try HostCommand.run("cp", "-p", scene.path("target/a"), scene.path("other"))
            try scene.editInSecret("other", "two")
            try scene.move("other", to: "target/a")
        case "grown": try scene.append("!", to: "target/a")
        case "gone": try scene.remove("target/a")
        default:
            try scene.remove("target/a")
            try scene.build(.symlink("d/f"), at: "target/a")
        }
        #expect(failure(of: scene.path("old/latest/a")) == EIO)
        #expect(failure(of: scene.path("old/latest/d/f")) == 0)
        let run = try mounted.end()
        run.expect(0, says: "a: its old content is lost")
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    /// Only the change time shows it, and the digest decides. A new name moves the change time, too.
    @Test(.needs(.fuse)) func anEditInSecretShowsInTheDigest() throws {
        let scene = try MirrorScene(["a": "one", "b": "two"])
        try scene.mirror("--digest")
        let mounted = try Mounted(scene)
        try scene.editInSecret("target/a", "ONE")
        try scene.directory.makeHardLink("another", to: "target/b")
        #expect(failure(of: scene.path("old/latest/a")) == EIO)
        #expect(try scene.text("old/latest/b") == "two")
        try mounted.end().expect(0, says: "a: its old content is lost")
    }

    // MARK: Other commands meanwhile

    @Test(.needs(.fuse)) func anApplyMovesWhatIsShown() throws {
        let scene = try scene(["a": "one", "d": ["f": "f"], "e": ["g": "g", "h": ["i": "i"]], "same": "s"])
        let mounted = try Mounted(scene)
        let date = try #require(try mounted.dates().first)
        let held = open(scene.path("old/\(date)/d/f"), O_RDONLY)
        defer { close(held) }
        let tree = try TreeSnapshot(scene.path("old/\(date)"))
        try scene.remove("source/a")
        try scene.append("2", to: "source/d/f")
        try scene.move("source/e", to: "source/moved")
        try scene.move("source/moved/h", to: "source/h")
        try applyLater(scene)
        #expect(try TreeSnapshot(scene.path("old/\(date)")).differences(from: tree) == [])
        try scene.remove("source/moved")
        try applyLater(scene)
        #expect(try TreeSnapshot(scene.path("old/\(date)")).differences(from: tree) == [])
        try scene.run("undo", "target").expect(0)
        #expect(try TreeSnapshot(scene.path("old/\(date)")).differences(from: tree) == [])
        var byte: UInt8 = 0
        #expect(read(held, &byte, 1) == 1 && byte == UInt8(ascii: "f"))
        try mounted.end().expect(0)
    }

    /// Then `ls -l` asks only once for a label, not for each file.
    @Test(.needs(.fuse, .tool("getfattr", package: "attr"))) func noFileHasALabel() throws {
        let scene = try scene()
        let mounted = try Mounted(scene)
        func answer(_ name: String) throws -> String {
            try HostCommand.output(
                "sh", "-c", "getfattr -n \(name) '\(scene.path("old/latest/d/f"))' 2>&1 || :")
        }
        #expect(try answer("security.selinux").contains("Operation not supported"))
        #expect(try answer("user.other").contains("No such attribute"))
        try mounted.end().expect(0)
    }

    /// Edits that a run finds are in the list that it found, not in the one that was shown before.
    @Test(.needs(.fuse)) func handEditsBelongToTheRunThatFindsThem() throws {
        let scene = try scene()
        let mounted = try Mounted(scene)
        let date = try #require(try mounted.dates().first)
        #expect(try scene.text("old/\(date)/a") == "one")
        try scene.append(" by hand", to: "target/a")
        try applyLater(scene)
        #expect(wait { (try? scene.text("old/\(date)/a")) == "one by hand" })
        #expect(wait { (try? scene.text("old/latest/a")) == "one" })
        try mounted.end().expect(0)
    }

    @Test(.needs(.fuse)) func whatIsPrunedGoes() throws {
        let scene = try scene()
        try scene.append("2", to: "source/a")
        try applyLater(scene)
        try scene.append("3", to: "source/a")
        try applyLater(scene)
        let mounted = try Mounted(scene)
        let dates = try mounted.dates()
        #expect(try scene.text("old/\(dates[0])/a") == "one")
        let directory = open(scene.path("old/\(dates[0])/d"), O_RDONLY | O_DIRECTORY)
        defer { close(directory) }
        try scene.run("snapshot", "prune", "target", "--keep-last", "1").expect(0)
        #expect(try wait { try mounted.dates() == Array(dates.dropFirst()) })
        #expect(wait { failure(of: scene.path("old/\(dates[0])/a")) == ENOENT })
        #expect(wait { openat(directory, "f", O_RDONLY) < 0 && errno == ESTALE })
        #expect(try scene.text("old/\(dates[1])/a") == "one2")
        try mounted.end().expect(0)
    }

    /// The directory of a removed record stays, because it has a file that an older snapshot needs.
    @Test(.needs(.fuse)) func joinedRecords() throws {
        let scene = try scene(["a": "a", "b": "b", "c": "c", "d": "d"])
        try scene.run("snapshot", "create", "target", "--label", "keep").expect(0)
        for name in ["a", "b", "c", "d"] {
            try scene.append("!", to: "source/\(name)")
            try applyLater(scene)
        }
        // Without initial.
        try scene.run("snapshot", "prune", "target", "--keep-last", "3").expect(0)
        let mounted = try Mounted(scene)
        #expect(try scene.text("old/latest/a") == "a!")
        let dates = try mounted.dates()
        try scene.run("snapshot", "prune", "target", "--keep-last", "2").expect(0)
        #expect(try scene.text("old/keep/a") == "a")
        #expect(try wait { try mounted.dates() == [dates[0]] + dates[2...] })
        try mounted.end().expect(0)
    }

    @Test(.needs(.fuse)) func whatIsPurgedCannotBeOpened() throws {
        let scene = try scene()
        try scene.remove("source/a")
        try applyLater(scene)
        let mounted = try Mounted(scene)
        let date = try #require(try mounted.dates().first)
        #expect(try scene.text("old/\(date)/a") == "one")
        try scene.run("snapshot", "purge", "target", "a").expect(0)
        #expect(wait { failure(of: scene.path("old/\(date)/a")) == EIO })
        try mounted.end().expect(0, says: "purged")
    }

    /// The kernel has a part of a directory, and asks for the rest after a run.
    @Test(.needs(.fuse)) func aListGoesOnAfterARun() throws {
        let names = (0..<3000).map { "a file of some length, with the number \($0)" }
        let scene = try scene(
            ["b": "b", "many": directory(names)])
        let mounted = try Mounted(scene)
        let date = try #require(try mounted.dates().first)
        let directory = try #require(opendir(scene.path("old/\(date)/many")))
        defer { closedir(directory) }
        var found: [String] = []
        func read() -> Bool {
            guard let entry = readdir(directory) else { return false }
            found.append(
                withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
            return true
        }
        #expect(read())
        try scene.build(["0": "new", "1": "new"], at: "source/a")
        try scene.remove("source/many/\(names[7])")
        try applyLater(scene)
        while read() {}
        #expect(found.sorted() == ([".", ".."] + names).sorted())
        try mounted.end().expect(0)
    }

    /// The kernel keeps the list of snapshots, and asks whether it has changed.
    @Test(.needs(.fuse)) func datesOfOneSecond() throws {
        let scene = try scene()
        let mounted = try Mounted(scene)
        for round in 2..<20 {
            try scene.append("!", to: "source/a")
            try scene.run("apply", "source", "target", "--keep-last", "99").expect(0)
            #expect(try wait { try mounted.dates().count == round })
        }
        let names = try mounted.dates()
        #expect(names.contains { $0.utf8.count > 20 }, "\(names)")
        // The first of each second has the plain name.
        #expect(Set(names.map { $0.prefix(19) }) == Set(names.filter { $0.utf8.count == 19 }.map { $0[...] }))
        let sizes = try names.map { try scene.text("old/\($0)/a").utf8.count }.sorted()
        #expect(sizes == Array(3..<(3 + names.count)))
        try mounted.end().expect(0)
    }

    // MARK: Bad input

    /// The command that a refusal prints mounts the snapshots.
    @Test(
        .needs(.fuse),
        arguments: [
            ("none", "none", "mkdir -p none"), ("full", "full.snapshots", "not empty"),
            ("full/file", "full/file.snapshots", "no directory"),
            ("target/d", "target.snapshots", "lies in the target"), ("disk", "disk.snapshots", "disk"),
        ])
    func aWayOut(_ place: String, _ next: String, _ reason: String) throws {
        let scene = try scene()
        try scene.build(["file": "x"], at: "full")
        try scene.build([:], at: "disk")
        try HostCommand.run("mount", "-t", "tmpfs", "none", scene.path("disk"))
        defer { while umount2(scene.path("disk"), Int32(MNT_DETACH)) == 0 {} }
        let refused = try scene.here(["snapshot", "mount", "target", place])
        refused.expect(place == "none" ? 66 : 4, says: reason)
        let line = try #require(refused.errors.split(separator: "\n").last)
        let command = try #require(line.components(separatedBy: "next: ").last)
        let tools = URL(fileURLWithPath: try BuiltCommand.path()).deletingLastPathComponent().path
        let mount = try SpawnedProcess(
            ["sh", "-c", command], in: scene.directory.path,
            environment: ["PATH": "\(tools):/usr/sbin:/usr/bin:/sbin:/bin", "FSYNC_LITE_STATE": ""])
        #expect(wait { (try? scene.text("\(next)/latest/a")) == "one" }, "\(command)")
        #expect(HostCommand.works("umount", scene.path(next)))
        #expect(mount.wait() == 0)
    }

    @Test(.needs(.fuseOfUsers)) func usersOfASmallTable() throws {
        let scene = try MirrorScene(directory((0..<100).map { "\($0)" }), as: .ordinary)
        try scene.run("apply", "source", "target").expect(0)
        let mounted = try Mounted(scene, under: ["prlimit", "--nofile=40:40"])
        let script = "for name in \"$1\"/*; do exec {file}<\"$name\" || exit 7; done"
        let words = OrdinaryUser.prefix + ["bash", "-c", script, "bash", scene.path("old/latest")]
        #expect(try SpawnedProcess(words, in: scene.directory.path).wait() == 7)
        let read = try HostCommand.output(OrdinaryUser.prefix + ["cat", scene.path("old/latest/99")])
        #expect(read == "x")
        try mounted.end().expect(0)
    }

    @Test(.needs(.fuse)) func badInput() throws {
        let scene = try scene()
        func refused(_ arguments: String..., code: Int32, says text: String) throws {
            try scene.here(["snapshot", "mount"] + arguments).expect(code, says: text)
        }
        try scene.build([:], at: "empty")
        try refused("nas:target", "empty", code: 64, says: "ssh -t nas fsync-lite snapshot mount target DIR")
        try refused("source", "empty", code: 66, says: "not a target of fsync-lite")
        try refused("target", "empty", "--snapshot", "none", code: 66, says: "no snapshot none")
        let mounted = try Mounted(scene)
        try refused("target", "old", code: 4, says: "mounted there already")
        try mounted.end().expect(0)
        let inSandbox = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /dev && exec \"$@\"", "sh"]
        try scene.here(["snapshot", "mount", "target", "empty"], under: inSandbox).expect(
            4, says: "modprobe fuse")
    }

    @Test(.needs(.fuseOfUsers)) func badInputOfUsers() throws {
        let scene = try MirrorScene(["a": "one"], as: .ordinary)
        try scene.run("apply", "source", "target").expect(0)
        try HostCommand.run("install", "-d", "-o", "65534", scene.path("empty"))
        let mount = ["snapshot", "mount", "target", "empty"]
        try CommandRun(mount, as: .ordinary, in: scene.directory.path, environment: ["PATH": "/nowhere"])
            .expect(
                4, says: "Install the package fuse3")
        let settings = (try? String(contentsOfFile: "/etc/fuse.conf", encoding: .utf8)) ?? ""
        if !settings.split(separator: "\n").contains("user_allow_other") {
            try scene.run(mount + ["--allow-other"]).expect(
                4, says: "a line user_allow_other in /etc/fuse.conf")
        }
    }
}
