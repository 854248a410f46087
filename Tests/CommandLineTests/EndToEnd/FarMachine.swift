import Foundation
import TestSupport
import Testing

/// A command in ssh's place, which starts the other end on this machine.
///
/// Its last argument is the command line that ssh would give to the other machine's shell.
struct FarMachine {
    let ssh: String
    private let directory: TemporaryDirectory
    /// The options for this machine, and the built command as its fsync-lite.
    let options: [String]
    /// The side that is on the other machine, for `far`.
    private let side: Side

    enum Side: CaseIterable { case source, target }

    static let connection = #"exec sh -c "$far""#

    /// Types of frames.
    enum Frame {
        static let data = 5, output = 11, ready = 12, outcome = 13, go = 15
    }

    /// Passes each frame on, or the result of a function in Python. `far` is the process of the other end.
    /// `passed[type]` is an event for the types of frames that were passed on.
    ///
    /// - Parameters:
    ///   - back: the body for frames from there. A frame's type is `frame[4]`.
    ///   - there: the same for frames to there.
    static func relay(back: String = "pass", there: String = "pass") -> String {
        func body(_ lines: String) -> String {
            lines.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        }
        return #"""
            exec python3 -c '
            import collections, os, signal, struct, subprocess, sys, threading
            far = subprocess.Popen(["sh", "-c", "exec " + sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            passed = collections.defaultdict(threading.Event)
            def relay(source, goal, look):
                data = b""
                while True:
                    piece = os.read(source, 65536)
                    if not piece: break
                    data += piece
                    while len(data) >= 5:
                        length = struct.unpack("<I", data[:4])[0]
                        if len(data) < 5 + length: break
                        frame, data = data[:5 + length], data[5 + length:]
                        os.write(goal, look(frame) or frame)
                        passed[frame[4]].set()
                os.close(goal)
            def back(frame):
            \#(body(back))
            def there(frame):
            \#(body(there))
            threading.Thread(target=relay, args=(0, far.stdin.fileno(), there), daemon=True).start()
            relay(far.stdout.fileno(), 1, back)
            ' "$far"
            """#
    }

    /// The first connection runs these lines, and later ones connect.
    static func firstly(_ lines: String) -> String {
        """
        if [ -e "$0.again" ]; then
        \(connection)
        exit
        fi
        : > "$0.again"
        \(lines)
        """
    }

    /// - Parameter lines: for a shell. `"$far"` is the command line of the other end.
    init(_ lines: String = connection, has side: Side = .source) throws {
        self.side = side
        directory = try TemporaryDirectory()
        ssh = "\(directory.path)/ssh"
        let script = """
            #!/bin/sh
            for far; do :; done
            cd / || exit 1
            \(lines)

            """
        let draft = "\(directory.path)/draft"
        try script.write(toFile: draft, atomically: false, encoding: .utf8)
        // Copy it by another process. A child of this one, begun meanwhile, would have it open for writing,
        // and the kernel would not run it.
        try HostCommand.run("install", "-m", "755", draft, ssh)
        options = ["--ssh", ssh, "--remote-command", try BuiltCommand.path()]
    }

    /// The other end with options of `serve`, begun in a directory.
    init(serving options: String, in directory: String, has side: Side = .target) throws {
        try self.init(
            #"cd "\#(directory)"; exec "\#(BuiltCommand.path())" serve \#(options)"#, has: side)
    }

    /// The same command line with its source or its target on another machine.
    ///
    /// - Parameter directory: both are relative to it.
    func reaching(_ arguments: [String], in directory: String) -> [String] {
        guard arguments.count > 2, ["apply", "plan"].contains(arguments[0]) else { return arguments }
        if arguments.contains("--plan") { return arguments + options }
        let index = side == .source ? 1 : 2
        guard !arguments[1...index].contains(where: { $0.hasPrefix("-") }) else { return arguments }
        let path = arguments[index].hasPrefix("/") ? arguments[index] : "\(directory)/\(arguments[index])"
        return arguments[..<index] + ["far:\(path)"] + arguments[(index + 1)...] + options
    }
}

extension FarMachine {
    static let tree: TreeLiteral = [
        "a": ["one": "1", "two": .file("2", mode: 0o600), "deep": ["er": ["x": "x"]]],
        "empty": [:], "zero": "", "pipe": .fifo(), "latest": .symlink("a/one"), "Z": "upper",
    ]

    static func files(_ count: Int, of size: Int) -> TreeLiteral {
        .files(0..<count, named: "f") { _ in String(repeating: "x", count: size) }
    }

    /// A scene with one side on the other machine.
    func scene(_ tree: TreeLiteral) throws -> MirrorScene {
        let scene = try MirrorScene(tree, inMemory: true)
        scene.far = self
        return scene
    }
}

extension MirrorScene {
    /// The command with the options for the other machine.
    ///
    /// - Parameter words: `far:NAME` is a path there, relative to the scene.
    func there(_ words: [String]) throws -> CommandRun {
        let options = try #require(far).options
        let reaching = words.map {
            $0.hasPrefix("far:") && !$0.hasPrefix("far:/") ? "far:\(path(String($0.dropFirst(4))))" : $0
        }
        return try here(reaching + options)
    }

    func there(_ words: String...) throws -> CommandRun { try there(words) }

    /// Adds all other kinds of content to the source of `FarMachine.tree`.
    func buildEverything() throws {
        try link("source/Z2", to: "source/Z")
        try setAttribute("user.note", "hello", of: "source/a/one")
        try setAttribute("trusted.note", "root", of: "source/a/two")
        try HostCommand.run("setfacl", "-m", "u:1234:r", path("source/zero"))
        try HostCommand.run("truncate", "-s", "20M", path("source/sparse"))
        try append("end", to: "source/sparse")
        try HostCommand.run("mknod", path("source/null"), "c", "1", "3")
        try setOwner(12, 34, of: "source/a/one")
        try setTime(TreeTime(-5, 123_456_789), of: "source/empty")
    }
}
