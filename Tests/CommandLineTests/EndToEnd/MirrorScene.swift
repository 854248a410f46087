import FileSystem
import Foundation
import FsyncLite
import Glibc
import TestNeeds
import TestSupport
import Testing

/// A source and a target beside each other in a new directory, and the command that runs on them.
///
/// Paths are relative to that directory: `source/a`, `target/a`.
final class MirrorScene {
    let directory: TemporaryDirectory
    let identity: CommandRun.Identity
    /// How often `settle` was called. Each call is at a later time.
    private var settled = 0
    /// The machine of the sources or targets of `apply` and `plan`; nil for this machine.
    /// FSYNC_LITE_FAR=source puts all sources there, and FSYNC_LITE_FAR=target all targets.
    var far: FarMachine?

    var source: String { path("source") }
    var target: String { path("target") }

    /// - Parameter identity: the user who runs the command and owns both trees.
    init(_ tree: TreeLiteral, as identity: CommandRun.Identity = .current, inMemory: Bool = false) throws {
        directory = try TemporaryDirectory(inMemory: inMemory)
        self.identity = identity
        try build(tree, at: "source")
        if case .ordinary = identity { OrdinaryUser.own(directory.path) }
        // Another user may not reach the built command.
        if case .current = identity, let side = ProcessInfo.processInfo.environment["FSYNC_LITE_FAR"] {
            far = try FarMachine(has: side == "target" ? .target : .source)
        }
    }

    /// A scene in a directory on which a test has mounted a file system.
    init(_ tree: TreeLiteral, at path: String) throws {
        directory = try TemporaryDirectory(at: path)
        identity = .current
        try build(tree, at: "source")
    }

    deinit {
        // Removing the directory would stop at an unreadable one.
        guard let enumerator = FileManager.default.enumerator(atPath: directory.path) else { return }
        for case let name as String in enumerator {
            var status = stat()
            guard lstat(path(name), &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
            if status.st_mode & 0o700 != 0o700 { _ = Glibc.chmod(path(name), 0o700) }
        }
    }

    func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    // MARK: Running

    func run(_ arguments: [String]) throws -> CommandRun {
        try CommandRun(
            far?.reaching(arguments, in: directory.path) ?? arguments, as: identity, in: directory.path)
    }

    func run(_ arguments: String...) throws -> CommandRun { try run(arguments) }

    /// The run after it gets the lock. A killed run has the lock for a moment longer.
    func unlocked(_ arguments: [String]) throws -> CommandRun {
        while true {
            let run = try run(arguments)
            if run.code != 75 { return run }
        }
    }

    /// The command as typed, even if `far` is set.
    func here(
        _ arguments: [String], under tracer: [String] = [], environment: [String: String] = [:]
    ) throws -> CommandRun {
        try CommandRun(arguments, in: directory.path, under: tracer, environment: environment)
    }

    func apply(_ options: String...) throws -> CommandRun {
        try run(["apply", "source", "target"] + options)
    }

    func plan(_ options: String...) throws -> CommandRun { try run(["plan", "source", "target"] + options) }

    /// Applies. The run must succeed and make the trees equal.
    @discardableResult
    func mirror(_ options: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> CommandRun
    {
        let run = try run(["apply", "source", "target"] + options).expect(0, sourceLocation: sourceLocation)
        try expectMirrored(sourceLocation: sourceLocation)
        return run
    }

    /// The same scene after its first run.
    func mirrored(
        _ options: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> MirrorScene {
        try run(["apply", "source", "target"] + options).expect(0, sourceLocation: sourceLocation)
        try expectMirrored(sourceLocation: sourceLocation)
        return self
    }

    /// The command, stopped after one of its calls.
    func paused(
        _ arguments: [String] = ["apply", "source", "target"], at point: PausedCommand.Point
    ) throws -> PausedCommand {
        let command = try PausedCommand(arguments, in: directory.path, at: point)
        try #require(try command.waitForPause(), "\(point)")
        return command
    }

    /// The run of a command that stops there while `body` runs.
    func paused(
        _ arguments: [String] = ["apply", "source", "target"], at point: PausedCommand.Point,
        _ body: () throws -> Void
    ) throws -> CommandRun { try PausedCommand.run(arguments, in: directory.path, at: point, body) }

    /// A run that is so much later that nothing is racy any more.
    func settle(_ options: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        try settle(options, sourceLocation: sourceLocation)
    }

    func settle(_ options: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        settled += 1
        // The next run must begin in a later tick of the clock than the last change.
        ClockTick.pass()
        let arguments = ["apply", "source", "target"] + options
        try CommandRun(
            far?.reaching(arguments, in: directory.path) ?? arguments, in: directory.path,
            under: LaterRun.prefix(minutes: 10 * settled)
        ).expect(0, prints: "nothing to do", sourceLocation: sourceLocation)
    }

    /// The present result of `plan --json`.
    func planned(sourceLocation: SourceLocation = #_sourceLocation) throws -> JSONObject {
        let run = try plan("--json").expect(0, sourceLocation: sourceLocation)
        return try run.json()
    }

    // MARK: Looking

    func expectMirrored(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try expectSame("target", as: "source", sourceLocation: sourceLocation)
    }

    func expectSame(
        _ name: String, as other: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let differences = try TreeSnapshot(path(name)).differences(from: TreeSnapshot(path(other)))
        #expect(differences == [], sourceLocation: sourceLocation)
    }

    /// Plan and apply refuse in the same way and name the way out, and nothing changes.
    func expectRefused(
        _ arguments: [String] = ["source", "target"], hint: String? = nil,
        saying texts: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try TreeSnapshot(directory.path, withState: true)
        for command in ["plan", "apply"] {
            let run = try self.run([command] + arguments).expect(
                4, sourceLocation: sourceLocation)
            let ways = hint.map { ["fsync-lite \(command) \(arguments[0])", $0] } ?? []
            for text in texts + ways {
                #expect(run.errors.contains(text), "\(run.errors)", sourceLocation: sourceLocation)
            }
        }
        let report = try run(["apply", "--json"] + arguments).json()
        #expect(
            report.text("outcome") ?? report.text("code") == "refused", sourceLocation: sourceLocation)
        let after = try TreeSnapshot(directory.path, withState: true)
        #expect(after.touched(since: before) == [], sourceLocation: sourceLocation)
    }

    /// The target with its state.
    func wholeTarget() throws -> TreeSnapshot { try TreeSnapshot(target, withState: true) }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    func exists(_ name: String) -> Bool {
        var status = stat()
        return lstat(path(name), &status) == 0
    }

    /// A file in the history with this content.
    func inHistory(_ content: String) throws -> String? {
        try wholeTarget().entries.first { name, entry in
            name.starts(with: ".fsync-lite/history/".utf8) && entry.type == "-"
                && entry.content == Array(content.utf8)
        }.map { "target/\(String(decoding: $0.key, as: UTF8.self))" }
    }

    func historyKeeps(_ content: String) throws -> Bool { try inHistory(content) != nil }

    /// The short ids of the snapshots, the newest first.
    func snapshots(of target: String = "target") throws -> [String] {
        try run("snapshot", "list", target, "--ids").expect(0).lines
    }

    /// The names in a directory, sorted.
    func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path(directory)).sorted()
    }

    // MARK: Changing

    /// A disk at a directory of the scene, or at the scene itself, while `body` runs.
    @discardableResult
    func mounted<Value>(_ disk: TestDisk, at name: String = ".", _ body: () throws -> Value) throws -> Value {
        try build([:], at: name)
        return try withExtendedLifetime(self) { try disk.mounted(at: path(name), body) }
    }

    func build(_ tree: TreeLiteral, at name: String) throws {
        try tree.build(at: path(name))
        if case .ordinary = identity { OrdinaryUser.own(path(name)) }
    }

    /// Writes `settings.json` with one job.
    ///
    /// - Parameters:
    ///   - keys: more keys, such as `, "keep_last": 3`.
    ///   - source: in place of the scene's source, such as `"sources": {"home": "/home"}`.
    ///   - target: in place of the scene's target.
    func writeJob(
        _ name: String = "j", _ keys: String = "", source: String? = nil, target: String? = nil
    ) throws {
        let source = source ?? #""source": "\#(self.source)""#
        let target = target ?? self.target
        let text = #"{"jobs": {"\#(name)": {\#(source), "target": "\#(target)"\#(keys)}}}"#
        try build(.file(text), at: "settings.json")
    }

    func move(_ name: String, to other: String) throws {
        guard rename(path(name), path(other)) == 0 else { throw failure("rename", name) }
    }

    func swap(_ name: String, _ other: String) throws {
        try move(name, to: "aside")
        try move(other, to: name)
        try move("aside", to: other)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    func setMode(_ mode: UInt32, of name: String) throws {
        guard Glibc.chmod(path(name), mode) == 0 else { throw failure("chmod", name) }
    }

    func append(_ text: String, to name: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
        defer { handle.closeFile() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
    }

    /// Writes other bytes of the same size to a file, and restores its modification time.
    func editInSecret(_ name: String, _ content: String) throws {
        var status = stat()
        guard lstat(path(name), &status) == 0, Int(status.st_size) == content.utf8.count else {
            throw failure("the new content has another size:", name)
        }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path(name)))
        try handle.write(contentsOf: Data(content.utf8))
        try handle.close()
        try TreeTime(status.st_mtim).set(on: path(name))
    }

    /// Does the same like a bad disk, which moves no change time. The manifest gets the file's present one.
    ///
    /// - Parameter others: its other names.
    func rot(_ name: String, _ content: String, alsoCalled others: String...) throws {
        try editInSecret(name, content)
        for name in [name] + others { try record(name) }
    }

    private func record(_ name: String) throws {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { throw failure("lstat", name) }
        let changed = Timestamp(
            FileTime(seconds: Int64(status.st_ctim.tv_sec), nanoseconds: Int32(status.st_ctim.tv_nsec)))
        let key = name.hasPrefix("target/") ? "target_changed" : "changed"
        let start = "{\"path\":\"\(name.split(separator: "/").dropFirst().joined(separator: "/"))\","
        let lines = try text("target/.fsync-lite/manifest.json").components(separatedBy: "\n").map { line in
            guard line.hasPrefix(start) else { return line }
            let other = line.replacing(try Regex(",\"\(key)\":\"[^\"]*\""), with: "")
            return start + "\"\(key)\":\"\(changed)\"," + other.dropFirst(start.count)
        }
        let text = lines.joined(separator: "\n")
        let end = try #require(text.range(of: "\"checksum\":")).upperBound
        try Data(ManifestText.sealed(Array(text[..<end].utf8)))
            .write(to: URL(fileURLWithPath: path("target/.fsync-lite/manifest.json")))
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private func failure(_ call: String, _ name: String) -> Failure {
        Failure(description: "\(call) \(name): \(String(cString: strerror(errno)))")
    }
}

/// Command lines of strace before another command.
enum Strace {
    /// Kills the command at a call.
    static func killing(at calls: String, number: Int) -> [String] {
        injecting("signal=KILL:when=\(number)", into: calls)
    }

    /// - Parameter names: only calls with one of these names as an argument.
    static func injecting(_ fault: String, into calls: String, of names: [String] = []) -> [String] {
        ["strace", "-f", "-qq", "-o", "/dev/null"] + names.flatMap { ["-P", $0] }
            + ["-e", "trace=\(calls)", "-e", "inject=\(calls):\(fault)"]
    }
}

extension JSONObject {
    /// Each action in short, such as `move b -> a` or `update c (size, modified)`.
    var actionLines: [String] {
        objects("actions").map { action in
            let path = action.text("path") ?? action.text("path_base64") ?? "?"
            let from = (action.text("from") ?? action.text("from_base64")).map { "\($0) -> " } ?? ""
            let causes = action.texts("causes").joined(separator: ", ")
            return "\(action.text("action") ?? "?") \(from)\(path) (\(causes))"
        }
    }

    /// The same without actions for the times of directories, which change with every name.
    var actionLinesButTimes: [String] {
        zip(actionLines, objects("actions"))
            .filter {
                $1.text("action") != "attributes" || $1.text("type") != "directory"
                    || $1.texts("causes") != ["modified"]
            }
            .map(\.0)
    }
}
