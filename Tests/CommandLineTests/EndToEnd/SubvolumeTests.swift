import Foundation
import TestNeeds
import TestSupport
import Testing

@Suite(
    "An exchange where the target is a subvolume of btrfs",
    .needs(.btrfs))
struct SubvolumeTests {
    private static let exchange = ["apply", "source", "target", "--exchange"]
    private static let trees = ".target.fsync-lite-trees"

    private func onSubvolume(
        as identity: CommandRun.Identity = .current, _ body: (MirrorScene) throws -> Void
    ) throws {
        let scene = try MirrorScene([:], as: identity, inMemory: true)
        try scene.mounted(.btrfs) {
            try HostCommand.run("btrfs", "subvolume", "create", scene.target)
            if case .ordinary = identity { OrdinaryUser.own(scene.directory.path) }
            try scene.build(
                [
                    "edited": "one", "stays": "stays", "linked": "two",
                    "gone": ["moves": "three", "goes": "4"],
                    "moved": ["with": "five"], "link": .symlink("stays"),
                ], at: "source")
            try scene.link("source/other", to: "source/linked")
            try body(scene)
        }
    }

    private func change(_ scene: MirrorScene) throws {
        try scene.append(" more", to: "source/edited")
        try scene.setMode(0o600, of: "source/linked")
        try scene.move("source/gone/moves", to: "source/out")
        try scene.remove("source/gone")
        try scene.move("source/moved", to: "source/elsewhere")
        try scene.build(["deep": ["new": "seven"]], at: "source/new")
    }

    private func trees(_ scene: MirrorScene) throws -> [String] {
        guard scene.exists(Self.trees) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: scene.path(Self.trees))
    }

    @Test(arguments: [CommandRun.Identity.current, .ordinary])
    func exchangesTakeTurnsWithDefaultAppliesAndUndo(identity: CommandRun.Identity) throws {
        try onSubvolume(as: identity) { scene in
            try scene.mirror("--exchange")
            let old = try TreeSnapshot(scene.target)
            let root = open(scene.target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(root) }
            try change(scene)
            try scene.mirror("--exchange")
            #expect(try TreeSnapshot("/proc/self/fd/\(root)/.") == old)
            #expect(scene.exists("target/.fsync-lite") && !scene.exists(".target.fsync-lite"))
            #expect(try trees(scene).count == 2)
            for command in [["status"], ["manifest", "show"], ["recover"], ["snapshot", "verify"]] {
                #expect(try scene.run(command + ["target"]).code == 0)
            }
            #expect(try scene.run("snapshot", "restore", "target", "latest~1", "--to", "back").code == 0)
            #expect(try TreeSnapshot(scene.path("back")).differences(from: old) == [])
            #expect(try scene.run("undo", "target").code == 0)
            #expect(try trees(scene).count == 3)
            #expect(try TreeSnapshot(scene.target).differences(from: old) == [])
            try scene.mirror()
            try scene.editInSecret("target/stays", "STAYS")
            try scene.mirror("--exchange")
            #expect(try scene.mirror("--exchange").output.contains("nothing to do"))
            #expect(try trees(scene).count == 4)
        }
    }

    @Test(.needs(.strace), arguments: ["renameat2", "ioctl"])
    func killedAnywhereItIsOneTreeAndLeavesNothing(call: String) throws {
        // Only the ioctls that make and name snapshots. The threads that clone have other numbers.
        let name = call == "ioctl" ? "/" + Self.trees : nil
        var seen: Set<String> = []
        for number in 1... {
            var isOver = false
            try onSubvolume { scene in
                try scene.mirror()
                try change(scene)
                let (old, new) = (try TreeSnapshot(scene.target), try TreeSnapshot(scene.source))
                let command = try PausedCommand(
                    Self.exchange, in: scene.directory.path, at: .after(call, of: name, number: number))
                guard try command.waitForPause() else {
                    isOver = true
                    return
                }
                command.kill()
                let found = try TreeSnapshot(scene.target)
                #expect(found == old || found == new, "\(call) \(number)")
                seen.insert(found == old ? "old" : "new")
                if found == old, try !trees(scene).isEmpty { seen.insert("unfinished") }
                try scene.run("status", "target").expect(0)
                try scene.mirror("--exchange")
                // The subvolume that was the target.
                #expect(try trees(scene).count == 1, "\(call) \(number)")
            }
            if isOver { break }
        }
        #expect(seen.isSuperset(of: ["old", "unfinished"]) && (call == "ioctl" || seen.contains("new")))
    }

    @Test(.needs(.strace))
    func whatChangesAfterTheSnapshotStopsIt() throws {
        try onSubvolume { scene in
            try scene.mirror()
            try change(scene)
            let old = try TreeSnapshot(scene.target)
            try scene.paused(Self.exchange, at: .after("syncfs", number: 2)) {
                try scene.append(" theirs", to: "target/stays")
            }.expect(1, says: "target/stays")
            #expect(try scene.text("target/stays") == "stays theirs")
            #expect(try TreeSnapshot(scene.target).paths == old.paths)
            #expect(try trees(scene).isEmpty)
            try scene.mirror("--exchange")
        }
    }

    /// The kernel's clock may be behind the time of that change.
    @Test(.needs(.strace))
    func whatChangesJustBeforeTheSnapshotIsInIt() throws {
        try onSubvolume { scene in
            try scene.mirror()
            try change(scene)
            try scene.paused(Self.exchange, at: .after("mkdirat", of: Self.trees)) {
                try scene.append(" theirs", to: "target/stays")
            }.expect(0)
            #expect(try scene.text("target/stays") == "stays theirs")
            try scene.mirror("--exchange")
        }
    }

    /// The objects of both trees have the same inodes and birth times.
    @Test(.needs(.strace))
    func whoWaitedDuringAnExchangeDoesNotWriteToTheOldTree() throws {
        try onSubvolume { scene in
            try scene.mirror()
            var codes: Set<Int32> = []
            // Also while it has the lock, which stops the exchange.
            for number in 1...14 {
                try scene.append("\(number)", to: "source/edited")
                let run = try scene.paused(at: .after("openat", of: "target", number: number)) {
                    let exchange = try scene.apply("--exchange")
                    #expect(exchange.code == 0 || exchange.code == 75, "\(exchange.errors)")
                }
                codes.insert(run.code)
                try scene.expectMirrored()
                try #require(run.code == 0 || run.code == 75, "\(run.errors)")
            }
            #expect(codes == [0, 75])
        }
    }

    /// Only root, or a user with a mount option, removes a subvolume at once.
    @Test func anOrdinaryUserLeavesNothingEither() throws {
        try onSubvolume(as: .ordinary) { scene in
            try scene.mirror()
            try scene.build([:], at: Self.trees)
            try scene.setMode(0o700, of: Self.trees)
            try HostCommand.run(
                "btrfs", "subvolume", "snapshot", scene.target,
                scene.path("\(Self.trees)/20261121T090000.123456Z-3f2a"))
            #expect(try scene.mirror().output.contains("nothing to do"))
            #expect(!scene.exists(Self.trees))
        }
    }

    @Test func directoriesOfOthersAreRefusedToAnOrdinaryUser() throws {
        try onSubvolume(as: .ordinary) { scene in
            try scene.mirror()
            try scene.append(" more", to: "source/edited")
            try HostCommand.run("mkdir", scene.path("target/excluded"))
            try scene.apply("--exchange", "--exclude", "excluded").expect(4, says: "excluded")
            #expect(try trees(scene).isEmpty)
        }
    }

    @Test func aSubvolumeInsideIsRefusedAlsoWhereItIsExcluded() throws {
        try onSubvolume { scene in
            try scene.mirror()
            try scene.build(["theirs": "kept"], at: "target/excluded")
            try HostCommand.run("btrfs", "subvolume", "create", scene.path("target/excluded/inner"))
            try change(scene)
            let old = try TreeSnapshot(scene.target)
            try scene.apply("--exchange", "--exclude", "excluded").expect(4, says: "excluded/inner")
            #expect(try TreeSnapshot(scene.target) == old)
            #expect(try trees(scene).isEmpty)
        }
    }
}
