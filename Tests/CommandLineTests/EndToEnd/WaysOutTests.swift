import Foundation
import FsyncLite
import TestNeeds
import TestSupport
import Testing

/// Goes through the table of refusals. Each is made in a scene, and the printed command must work.
@Suite("Each refusal's way out")
struct WaysOutTests {
    /// Refusals whose way out is not a command, with the reason.
    private static let withoutCommand: [Guard: String] = [
        .weakSourceAmongOthers: "the job's settings have to be changed",
        .disabledJob: "the job's settings have to be changed",
        .tooManySources: "the job's settings have to be changed",
        .tooManyEntries: "the job's settings have to be changed",
        .noTarget: "it is copied by hand",
        .noMark: "the target has to go to another place",
        .nothingToLabel: "the source is not known",
        .neededSnapshot: "it can be removed after the next run",
        .entryOfOther: "root is asked for a password",
        .notServed: "the other machine's settings decide",
        .openServedDirectory: "the other machine's settings decide",
        .noFuse: "the kernel of this machine has the module",
        .mountForbidden: "root is asked for a password",
    ]

    /// Refusals that need a new disk.
    private static let onDisks: Set<Guard> = [
        .missingTarget, .otherFileSystem, .weakFileSystem, .readOnlyFileSystem, .mountInTarget, .noSpace,
        .nameCollision, .exchangeImpossible, .mountedState,
        .untrustedState, .noInodes, .spaceForPrepared,
    ]
    private static let onBtrfs: Set<Guard> = [.fileSystemInTarget]
    private static let onXFS: Set<Guard> = [.projectOrEncryption]
    private static let stopped: Set<Guard> = [.unfinishedRestore]
    /// Those whose command runs until it is unmounted: `SnapshotMountTests` tries it.
    private static let mounting: Set<Guard> = [
        .missingMountPoint, .occupiedMountPoint, .mountedMountPoint, .mountPointInTarget, .othersForbidden,
    ]

    @Test(
        arguments: Guard.allCases.filter { kind in
            withoutCommand[kind] == nil && !onDisks.contains(kind) && !onBtrfs.contains(kind)
                && !asRoot.contains(kind) && !onXFS.contains(kind) && !stopped.contains(kind)
                && !mounting.contains(kind)
        })
    func goesOn(_ kind: Guard) throws { try tryScene(of: kind) }

    /// A flag and its optional value are one word, and so is an option whose value begins like one.
    @Test(arguments: ["--digest=none", "--digest=all", "--digest", "--exclude=--x"])
    func theCommandHasOptionsAsTheyAreParsed(option: String) throws {
        let scene = try MirrorScene(["a": "a"], inMemory: true).mirrored("--digest")
        try scene.remove("source/a")
        let refused = try scene.apply(option)
        let line = try #require(refused.errors.components(separatedBy: "next: fsync-lite ").last)
        #expect(line == "apply source target \(option) --allow-empty-source\n", "\(refused.errors)")
        try scene.run(line.split(whereSeparator: \.isWhitespace).map(String.init)).expect(0)
    }

    private static let asRoot: Set<Guard> = [
        .locked, .stateNameTaken, .otherOwner, .unsafeFile, .unmarkedState,
    ]
    @Test(.needs(.root, .immutableFiles, .tool("setfattr", package: "attr")), arguments: asRoot)
    func asRootGoesOn(_ kind: Guard) throws {
        try tryScene(of: kind)
    }

    @Test(.needs(.mounts), arguments: onDisks) func onADiskGoesOn(_ kind: Guard) throws {
        try tryScene(of: kind)
    }

    @Test(.needs(.btrfs), arguments: onBtrfs) func onBtrfsGoesOn(_ kind: Guard) throws {
        try tryScene(of: kind)
    }

    @Test(.needs(.xfs), arguments: onXFS) func onXFSGoesOn(_ kind: Guard) throws {
        try tryScene(of: kind)
    }

    @Test(.needs(.strace), arguments: stopped) func goesOnAfterAKill(_ kind: Guard) throws {
        try tryScene(of: kind)
    }

    // MARK: Trying

    private func tryScene(of kind: Guard) throws {
        let scene = try WayOutScene()
        try scene.play(kind) { words in
            let before = try scene.run(words + ["--json"])
            let cases = try before.json().cases
            #expect(cases.contains(kind.rawValue), "\(kind): \(cases) \(before.output) \(before.errors)")
            let refused = try scene.run(words)
            #expect(
                refused.code == (kind.code == .stale ? 5 : kind.code == .inputMissing ? 66 : 4),
                "\(kind): \(refused.errors)")
            let last = try #require(refused.errors.split(separator: "\n").last)
            let parts = last.split(separator: "next: ", maxSplits: 1)
            try #require(parts.count == 2, "\(kind): \(refused.errors)")
            let (code, output) = try scene.shell(String(parts[1]))
            // Omitted entries are listed, such as another target in the tree.
            #expect([0, 3].contains(code), "\(kind): \(parts[1])\n\(output)")
        }
    }
}

extension JSONObject {
    /// The names of the refusals in a report, a plan or an error.
    fileprivate var cases: [String] {
        objects("refusals").compactMap { $0.text("case") } + [text("case")].compactMap(\.self)
    }
}

/// A directory in which a refusal is made.
private final class WayOutScene {
    let scene: MirrorScene
    private let tools: TemporaryDirectory

    init() throws {
        scene = try MirrorScene(["a": "a", "it's d": ["x": "x", "y": "y"]])
        tools = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: "\(tools.path)/fsync-lite", withDestinationPath: BuiltCommand.path())
    }

    /// For a user who cannot reach the build.
    private func copyTool() throws {
        try FileManager.default.removeItem(atPath: "\(tools.path)/fsync-lite")
        try HostCommand.run("install", "-m", "755", BuiltCommand.path(), "\(tools.path)/fsync-lite")
        try HostCommand.run("chmod", "755", tools.path, scene.directory.path)
    }

    private var environment: [String: String] { ["FSYNC_LITE_STATE": scene.path("known")] }

    func run(_ words: [String]) throws -> CommandRun {
        try scene.here(words, environment: environment)
    }

    /// Runs a printed command.
    func shell(_ command: String) throws -> (code: Int32, output: String) {
        let path = scene.path("said")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.merging([
            "PATH":
                "\(tools.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"):/usr/sbin:/sbin",
            "XDG_CONFIG_HOME": tools.path, "TZ": "UTC",
        ]) { $1 }
        let code = try SpawnedProcess(
            ["bash", "-c", command], in: scene.directory.path, environment: variables,
            output: file.fileDescriptor, errors: file.fileDescriptor
        ).wait()
        return (code, try String(contentsOfFile: path, encoding: .utf8))
    }

    private func fill(_ count: Int, _ content: String) throws {
        for number in 0..<count { try scene.build(.file(content), at: "source/n\(number)") }
    }

    private func apply(_ options: String...) throws {
        let run = try run(["apply", "source", "target"] + options)
        try #require(run.code == 0, "\(run.errors)")
    }

    private func settings() throws -> [String] {
        try scene.writeJob("it's")
        return ["run", "it's", "--settings", "settings.json"]
    }

    private func onDisk(
        _ disk: TestDisk = .ext4(megabytes: 16), _ name: String = "target", _ body: () throws -> Void
    ) throws {
        try scene.mounted(disk, at: name, body)
    }

    /// Makes the refusal, and gives `attempt` the refused command.
    func play(_ kind: Guard, _ attempt: ([String]) throws -> Void) throws {
        let plain = ["apply", "source", "target"]
        switch kind {
        case .emptySource:
            try apply()
            for name in ["a", "it's d"] { try scene.remove("source/\(name)") }
            try attempt(plain)
        case .manyDeletions:
            try scene.build(.files(0..<20), at: "source/n")
            try apply()
            try scene.remove("source/n")
            try attempt(plain)
        case .manyRemovals:
            try apply("--keep-last", "20")
            for _ in 0..<12 {
                try scene.append("1", to: "source/a")
                try apply()
            }
            try attempt(plain + ["--keep-last", "1"])
        case .notInSnapshot:
            try apply()
            try scene.remove("source/it's d")
            try apply()
            try attempt(["snapshot", "restore", "target", "latest", "it's d/x", "--to", "copy"])
        case .otherSource:
            try apply()
            try scene.build(["a": "a", "it's d": ["x": "x", "y": "y"]], at: "other one")
            try attempt(["apply", "other one", "target"])
        case .missingSource:
            try scene.build(["b": "b"], at: "second")
            let first = "{\"one\": \"\(scene.source)\""
            func named(_ more: String) throws -> [String] {
                try scene.writeJob("it's", source: "\"sources\": \(first)\(more)}")
                return ["run", "it's", "--settings", "settings.json"]
            }
            let run = try run(named(", \"two\": \"\(scene.path("second"))\"") + ["--create-target"])
            try #require(run.code == 0, "\(run.errors)")
            try attempt(named(""))
        case .rottenSource:
            try apply("--digest")
            try scene.editInSecret("source/a", "b")
            try attempt(plain + ["--digest", "--checksum"])
        case .foreignTarget:
            try scene.build(["theirs": "1"], at: "target")
            try attempt(plain)
        case .unknownJobTarget: try attempt(settings())
        case .otherFileSystem:
            let words = try settings()
            try onDisk {
                let first = try run(words + ["--create-target"])
                try #require(first.code == 0, "\(first.errors)")
                try HostCommand.run("cp", "-a", scene.target, scene.path("copy"))
            }
            try scene.remove("target")
            try scene.move("copy", to: "target")
            try attempt(words)
        case .missingTarget:
            try onDisk { try apply() }
            try attempt(plain)
        case .noParent: try attempt(["apply", "source", "x/y's/target"])
        case .danglingTarget:
            try scene.build(.symlink("not there/yet"), at: "target")
            try scene.build([:], at: "not there")
            try attempt(plain)
        case .insideState:
            try apply()
            try attempt(["apply", "source", "target/.fsync-lite/x"])
        case .insideTarget:
            try apply()
            try attempt(["apply", "source", "target/x"])
        case .renamedTarget:
            try apply("--exchange")
            try scene.move("target", to: "it's moved")
            try attempt(["apply", "source", "it's moved"])
        case .stateNameTaken:
            try apply()
            try scene.build([:], at: ".target.fsync-lite")
            try HostCommand.run("chown", "12345", scene.path(".target.fsync-lite"))
            try attempt(plain + ["--exchange"])
        case .mountInTarget:
            try apply()
            try onDisk(.tmpfs(options: "size=1m"), "target/it's d/m") { try attempt(plain) }
        case .fileSystemInTarget:
            try onDisk(.btrfs) {
                try apply()
                try HostCommand.run("btrfs", "-q", "subvolume", "create", scene.path("target/it's d/sub"))
                try attempt(plain)
            }
        case .targetInExchange:
            try apply()
            try #require(run(["apply", "source", "elsewhere"]).code == 0)
            try scene.move("elsewhere", to: "target/inner")
            try attempt(plain + ["--exchange"])
        case .nameCollision:
            try onDisk(.exfat) {
                try scene.build(["[A]": "1", "[a]": "2"], at: "source/names")
                try attempt(plain + ["--weak-commit"])
            }
        case .excludedInTheWay:
            try scene.build(["k.tmp": "k"], at: "source/e")
            try apply("--exclude", "*.tmp")
            try scene.build(["k.tmp": "k"], at: "target/e")
            try scene.remove("source/e")
            try scene.build(.file("now a file"), at: "source/e")
            try attempt(plain + ["--exclude", "*.tmp"])
        case .undeletedInTheWay:
            try apply()
            try scene.remove("source/it's d")
            try scene.build(.file("now a file"), at: "source/it's d")
            try attempt(plain + ["--no-delete"])
        case .locked:
            try apply()
            try HostCommand.run("chattr", "+i", scene.path("target/it's d/x"))
            defer { _ = HostCommand.works("chattr", "-R", "-ia", scene.directory.path) }
            try scene.append("1", to: "source/it's d/x")
            try attempt(plain)
        case .weakFileSystem: try onDisk(.exfat) { try attempt(plain) }
        case .readOnlyFileSystem:
            try onDisk {
                try HostCommand.run("mount", "-o", "remount,ro", scene.target)
                try attempt(plain)
                try HostCommand.run("mount", "-o", "remount,ro", scene.target)
                try attempt(["snapshot", "prune", "target", "--keep-last", "0"])
            }
        case .noSpace, .spaceForPrepared:
            // Snapshots are removed for space, but not for a later commit, and not if given rules keep them.
            let rules = kind == .noSpace ? ["--keep-last", "5"] : []
            try onDisk(.ext4(megabytes: 32)) {
                for round: UInt8 in 0..<4 {
                    try Data(repeating: round, count: 6 << 20).write(
                        to: URL(fileURLWithPath: scene.path("source/big")))
                    try #require(run(plain + rules).code == 0)
                }
                try Data(repeating: 9, count: 6 << 20).write(
                    to: URL(fileURLWithPath: scene.path("source/big")))
                try attempt(plain + (kind == .noSpace ? rules : ["--prepare"]))
            }
        case .exchangeImpossible:
            try onDisk(.tmpfs(options: "size=8m")) { try attempt(plain + ["--exchange"]) }
        case .otherSourceDirectory:
            try apply()
            try scene.remove("source")
            try attempt(["snapshot", "restore", "target", "latest", "--to-source"])
        case .destinationIsTarget:
            try apply()
            try #require(run(["apply", "source", "second one"]).code == 0)
            try attempt(["snapshot", "restore", "target", "latest", "--to", "second one"])
        case .overlap: try attempt(["apply", "source", "source/it's d/mirror"])
        case .noInodes:
            try onDisk(.ext4Holding(inodes: 128)) {
                let rules = ["--keep-last", "5"]
                for round in 0..<2 {
                    try fill(40, "\(round)")
                    try #require(run(plain + rules).code == 0)
                }
                try fill(40, "last")
                try attempt(plain + rules)
            }
        case .projectOrEncryption:
            try onDisk(.xfs) {
                try apply()
                try Project.set(7, on: scene.path("target/it's d"), handsDown: true)
                try scene.move("source/it's d/x", to: "source/x")
                try attempt(plain)
            }
        case .targetInTheWay:
            try apply()
            try #require(run(["apply", "source", "elsewhere"]).code == 0)
            try scene.move("elsewhere", to: "target/it's d/inner")
            try scene.remove("source/it's d")
            try scene.build("now a file", at: "source/it's d")
            try attempt(plain)
        case .unfinishedRestore:
            try apply()
            try scene.append("1", to: "source/a")
            try apply()
            func restore(_ name: String) -> [String] {
                ["snapshot", "restore", "target", name, "--to", "there"]
            }
            try scene.paused(restore("latest"), at: .after("unlinkat", of: "journal")).kill()
            try attempt(restore("latest~1"))
        case .keyForbids:
            try apply()
            let far = try FarMachine(
                "cd '\(scene.directory.path)'; exec '\(BuiltCommand.path())' serve --append-only",
                has: .target)
            try attempt(["apply", "source", "far:target", "--max-delete", "5"] + far.options)
        case .occupiedDestination:
            try apply()
            try scene.build(["z": "z"], at: "full")
            try attempt(["snapshot", "restore", "target", "latest", "--to", "full"])
            try attempt(["snapshot", "restore", "target", "latest", "--to-source"])
        case .otherKind:
            try apply()
            try scene.build(["it's d": ["x": ["was": "a directory"]]], at: "there")
            try attempt(["snapshot", "restore", "target", "latest", "it's d", "--to", "there"])
        case .wouldOverwrite:
            try apply()
            try scene.build(["it's d": ["x": "another"]], at: "there")
            try attempt(["snapshot", "restore", "target", "latest", "it's d", "--to", "there"])
        case .changedSincePlan:
            try apply()
            try scene.append("1", to: "source/a")
            try #require(run(["plan", "source", "target", "--out", "it's.plan"]).code == 0)
            try scene.append("2", to: "source/a")
            try attempt(["apply", "--plan", "it's.plan"])
        case .changedSincePrepared:
            try apply()
            try scene.append("1", to: "source/a")
            let prepared = try run(["apply", "source", "target", "--prepare"])
            try scene.append("2", to: "target/a")
            try attempt(["commit", "target", prepared.output.trimmingCharacters(in: .whitespacesAndNewlines)])
        case .unmarkedState:
            try apply()
            try HostCommand.run(
                "setfattr", "-n", "user.fsync-lite.state", "-v", "mirrored", scene.path("target/.fsync-lite"))
            try attempt(plain)
        case .stateOfOtherDirectory:
            try apply("--exchange")
            try scene.move("target", to: "elsewhere")
            try scene.build([:], at: "target")
            try attempt(plain)
            try scene.append("1", to: "source/a")
            try apply("--exchange")
            try HostCommand.run("cp", "-a", scene.target, scene.path("copy"))
            try scene.remove("target")
            try scene.move("copy", to: "target")
            try attempt(["undo", "target"])
        case .twoStates:
            try apply("--exchange")
            try HostCommand.run(
                "cp", "-a", scene.path(".target.fsync-lite"), scene.path("target/.fsync-lite"))
            try attempt(plain)
        case .oddStateEntry:
            try apply()
            try scene.build([:], at: "target/.fsync-lite/compared")
            try attempt(plain)
        case .mountedState:
            try apply()
            try onDisk(.tmpfs(options: "size=1m"), "target/.fsync-lite") { try attempt(plain) }
        case .otherOwner:
            try apply()
            try copyTool()
            try HostCommand.run("chown", "-R", "65534", scene.directory.path)
            try attempt(plain)
        case .writableState:
            try apply()
            try scene.setMode(0o777, of: "target/.fsync-lite")
            try attempt(plain)
        case .untrustedState:
            try onDisk(.exfat) {
                let prepared = try run(plain + ["--weak-commit", "--prepare"])
                try #require(prepared.code == 0, "\(prepared.errors)")
                try attempt([
                    "commit", "target", prepared.output.trimmingCharacters(in: .whitespacesAndNewlines),
                ])
            }
        case .noSingleSource:
            try scene.writeJob(source: #""sources": {"one": "\#(scene.source)"}"#)
            try #require(run(["run", "j", "--settings", "settings.json", "--create-target"]).code == 0)
            try attempt(["snapshot", "restore", "target", "latest", "--to-source"])
        case .fewerSnapshots:
            try apply()
            try scene.append("1", to: "source/a")
            try apply()
            try attempt(["undo", "target", "--steps", "9"])
        case .unsafeFile:
            let words = try settings() + ["--create-target"]
            try HostCommand.run("chown", "65534", scene.path("settings.json"))
            try attempt(words)
        case .weakSourceAmongOthers, .disabledJob, .tooManySources, .tooManyEntries, .noTarget, .noMark,
            .nothingToLabel, .neededSnapshot, .entryOfOther, .notServed, .openServedDirectory,
            .missingMountPoint, .occupiedMountPoint, .mountedMountPoint, .mountPointInTarget, .noFuse,
            .mountForbidden, .othersForbidden:
            Issue.record("no scene of \(kind)")
        }
    }
}
