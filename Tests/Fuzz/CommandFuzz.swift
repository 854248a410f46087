import FileSystem
import Foundation
import FsyncLite
import TestSupport

/// Puts damaged documents into a real target, and runs the built command on it.
struct CommandFuzz {
    let seed: UInt64
    let findings: String
    private let scratch: TemporaryDirectory

    private static let patience = 20.0
    /// The exit codes that a script may expect. There are no others.
    private static let documented: Set<Int32> = [0, 1, 2, 3, 4, 5, 6, 65, 66]

    init(seed: UInt64, findings: String) throws {
        self.seed = seed
        self.findings = findings
        scratch = try TemporaryDirectory(inMemory: true)
    }

    func run(_ kind: DocumentKind, _ numbers: Range<Int>) throws -> Tally {
        var tally = Tally(name: kind.name, inputs: numbers.count)
        var codes: [Int32: Int] = [:]
        let scene = CommandScene("\(scratch.path)/\(kind.name)")
        for number in numbers {
            if try scene.needsBuilding() { try scene.build(with: kind) }
            var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(number))
            let valid = try scene.document(kind, &random)
            let isDamaged = number % 10 != 0
            let document =
                isDamaged ? Mutation.of(valid, kind, words: scene.words, &random) : valid
            try scene.put(document, kind)
            var wasTaken = true
            for arguments in CommandFuzz.commands(kind, scene.transaction, &random) {
                let found = try judge(arguments, on: scene, kind)
                codes[found.code, default: 0] += 1
                // Only apply and recover end a commit that is under way.
                let waits = found.code == 6 && !["apply", "recover"].contains(arguments[0])
                wasTaken = wasTaken && (found.code == 0 || waits)
                if found.isHang {
                    tally.hangs += 1
                } else if found.code < 0 {
                    tally.crashes += 1
                } else if let complaint = found.complaint
                    ?? (isDamaged || wasTaken ? nil : "a valid document")
                {
                    tally.wrong += 1
                    try keep(kind, number, document, arguments, found, complaint)
                }
                if found.isHang || found.code < 0 {
                    try keep(kind, number, document, arguments, found, "ended by a signal, or never")
                }
            }
            if wasTaken { tally.accepted += 1 } else { tally.refused += 1 }
        }
        let counts = codes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        say("\(kind.name): exit codes \(counts.joined(separator: ", "))")
        return tally
    }

    /// Commands that write come last, in either order.
    private static func commands(
        _ kind: DocumentKind, _ transaction: String, _ random: inout SplitMix64
    ) -> [[String]] {
        let document = "target/\(kind.place)"
        if kind.name == "user-settings" { return [["settings", "show", "--settings", document]] }
        if kind.name == "saved-plan" {
            return [["plan", "--show", document], ["apply", "--plan", document]]
        }
        if kind.name == "prepared" {
            return [["status", "target"], ["commit", "target", transaction, "--dry-run"]]
                + random.pick([
                    [["commit", "target", transaction]], [["abandon", "target", transaction]],
                    [["apply", "source", "target"]],
                ])
        }
        if kind.name == "list" {
            return [
                ["snapshot", "list", "target"], ["snapshot", "find", "target", "a"],
                ["snapshot", "log", "target", "a"], ["snapshot", "show", "target", "latest"],
                ["undo", "target", "--dry-run"],
            ]
                + random.pick([
                    [["undo", "target"]], [["snapshot", "restore", "target", "latest~1", "--in-place"]],
                    [["snapshot", "prune", "target", "--keep-last", "1"]], [["apply", "source", "target"]],
                ])
        }
        let recover =
            ["recover", "target"]
            + random.pick([[], [], ["--back"], ["--displace"], ["--back", "--displace"]])
        let apply = ["apply", "source", "target"]
        return [
            ["status", "target"], ["plan", "source", "target"], ["manifest", "show", "target"],
            ["manifest", "list", "--long", "target"],
            ["manifest", "list", "target/.fsync-lite/manifest.json"],
        ] + (random.oneIn(2) ? [recover, apply] : [apply, recover])
    }

    private struct Finding {
        var code: Int32
        var isHang = false
        var errors: String
        var complaint: String?
    }

    private func judge(_ arguments: [String], on scene: CommandScene, _ kind: DocumentKind) throws -> Finding
    {
        let before = try TreeSnapshot(scene.path("target"), withState: true)
        let tree = try TreeSnapshot(scene.path("target"))
        let running = try RunningCommand(arguments, in: scene.path)
        let end = Date(timeIntervalSinceNow: CommandFuzz.patience)
        while running.isRunning, Date() < end { usleep(500) }
        let isHang = running.isRunning
        running.kill()
        let run = try running.finish()
        var finding = Finding(code: run.code, isHang: isHang, errors: run.errors)
        let output = (run.output + run.errors).unicodeScalars
        let touched = try TreeSnapshot(scene.path("target"), withState: true).touched(since: before)
        let writers: Set = ["apply", "recover", "commit", "abandon", "undo", "restore", "prune"]
        let isReader = writers.isDisjoint(with: arguments) || arguments.last == "--dry-run"
        if let change = try scene.changeOutside() {
            finding.complaint = "OUTSIDE: \(change)"
        } else if !CommandFuzz.documented.contains(run.code) {
            finding.complaint = "the exit code \(run.code)"
        } else if run.code > 2, run.errors.isEmpty {
            finding.complaint = "the exit code \(run.code) without a word"
        } else if run.code == 1, run.errors.contains("\(kind.place.split(separator: "/").last!): ") {
            finding.complaint = "1 for a damaged document"
        } else if run.code == 65, !run.errors.contains(kind.place.split(separator: "/").last!) {
            finding.complaint = "65 without the file's name"
        } else if output.contains(where: {
            ($0.value < 0x20 && $0 != "\n") || (0x7F..<0xA0).contains($0.value)
        }) {
            finding.complaint = "control characters in the output"
        } else if isReader, let change = touched.first {
            finding.complaint = "a command that only reads: \(change)"
        } else if run.code == 65, kind.name != "settings", let change = touched.first {
            finding.complaint = "65, and something was touched: \(change)"
        } else if run.code == 6, kind.name == "prepared" {
            finding.complaint = "a commit that was begun, and cannot end"
        } else if [1, 4, 5].contains(run.code),
            let change = try TreeSnapshot(scene.path("target")).differences(from: tree).first
        {
            finding.complaint = "\(run.code), and the tree is another: \(change)"
        }
        return finding
    }

    private func keep(
        _ kind: DocumentKind, _ number: Int, _ document: [UInt8], _ arguments: [String], _ finding: Finding,
        _ complaint: String
    ) throws {
        try FileManager.default.createDirectory(atPath: findings, withIntermediateDirectories: true)
        let file = "\(findings)/command-\(kind.name)-seed-\(seed)-input-\(number)"
        try Files.write(document, to: file)
        say(
            "wrong: \(kind.name): fsync-lite \(arguments.joined(separator: " ")): \(complaint); exit code \(finding.code)"
                + "\n    \(finding.errors.prefix(500).debugDescription)\n    \(file)\n"
                + "    scripts/fuzz --reader \(kind.name) --seed \(seed) --from \(number) --commands 1")
    }
}

/// A source, a target with a history, and objects around them that must not change.
private final class CommandScene {
    let path: String
    private var built: TreeSnapshot?
    private var outside: TreeSnapshot?

    init(_ path: String) {
        self.path = path
    }

    func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Names that a hostile document would like to reach.
    private(set) var words: [String] = []
    /// The transaction whose documents are in the stage.
    private(set) var transaction = Desk.transaction

    // MARK: Building

    func needsBuilding() throws -> Bool {
        guard let built else { return true }
        return try !TreeSnapshot(path("target"), withState: true).touched(since: built).isEmpty
    }

    func build(with kind: DocumentKind) throws {
        try? FileManager.default.removeItem(atPath: path)
        let link = TreeLiteral.symlink(TreeName(stringLiteral: path("outside")))
        let tree: TreeLiteral = [
            "canary": "canary", "outside": ["canary": "outside", "deep": ["canary": "deep"]],
            "source": ["a": "a", "b": "b", "link": link, "dir": ["c": "c", "in": [:], "link": link]],
        ]
        try tree.build(at: path)
        try apply()
        try Files.write(Array("another b".utf8), to: path("source/b"))
        try Files.write(Array("new".utf8), to: path("source/dir/new"))
        try FileManager.default.removeItem(atPath: path("source/a"))
        try apply()
        let state = path("target/.fsync-lite")
        if kind.name == "journal" || kind.name == "stage-log" {
            let stage = "\(state)/stage/\(Desk.transaction)"
            try TreeLiteral.staged(["0": ["0": "arrives"]], Desk.transaction).build(at: state)
            try FileManager.default.copyItem(
                atPath: "\(state)/manifest.json", toPath: "\(stage)/manifest.json")
            // A file to stage, so that apply looks at files that were staged before.
            try Files.write(Array("staged".utf8), to: path("source/staged"))
        }
        if kind.name == "prepared" {
            try Files.write(Array("one more b".utf8), to: path("source/b"))
            try FileManager.default.moveItem(atPath: path("source/dir"), toPath: path("source/moved"))
            try Files.write(Array("more".utf8), to: path("source/moved/more"))
            try FileManager.default.removeItem(atPath: path("source/link"))
            transaction = try apply("--prepare").trimmingCharacters(in: .newlines)
        }
        if kind.name == "settings" { try Files.write(Array("more".utf8), to: path("source/more")) }
        let identity = try Directory.open(path: Array(path("outside").utf8)).status().identity
        words =
            [
                "link", "dir", "../outside", "outside", "..", path("outside"), "\(path("outside"))/canary",
                "canary", "b",
                identity.created?.description ?? "",
            ].map { "\"\($0)\"" } + ["\(identity.inode)"]
        try place(kind)
        original = nil
        outside = try around()
        built = try TreeSnapshot(path("target"), withState: true)
    }

    @discardableResult
    private func apply(_ options: String...) throws -> String {
        let run = try CommandRun(["apply", "source", "target"] + options, in: path)
        guard run.code == 0 else { throw Violation("the scene cannot be built: \(run.errors)") }
        return run.output
    }

    /// Puts an empty document in its place, so a later one does not make a name.
    private func place(_ kind: DocumentKind) throws {
        let file = path("target/\(location(kind))")
        if !FileManager.default.fileExists(atPath: file) { try Files.write([], to: file) }
    }

    /// The place of a document. Directories of the history and of prepared transactions have their own names.
    private func location(_ kind: DocumentKind) -> String {
        if kind.name == "prepared" { return kind.place.replacing(Desk.transaction, with: transaction) }
        let history = ".fsync-lite/history/"
        guard kind.place.hasPrefix(history), let name = historyName else { return kind.place }
        return "\(history)\(name)/\(kind.place.split(separator: "/").last!)"
    }

    private var historyName: String? {
        try? FileManager.default.contentsOfDirectory(atPath: path("target/.fsync-lite/history")).sorted().last
    }

    // MARK: Documents

    func put(_ document: [UInt8], _ kind: DocumentKind) throws {
        try Files.write(document, to: path("target/\(location(kind))"))
        // The file is expected to be changed.
        built = try TreeSnapshot(path("target"), withState: true)
    }

    /// A valid document for this target.
    func document(_ kind: DocumentKind, _ random: inout SplitMix64) throws -> [UInt8] {
        switch kind.name {
        case "manifest", "history-header", "list", "prepared":
            // The document that the command wrote, before the first was put.
            if let original { return original }
            let document = try Files.read(path("target/\(location(kind))"))
            original = document
            return document
        case "journal": return try journal(&random)
        case "saved-plan": return try savedPlan()
        default: return kind.make(&random)
        }
    }

    private var original: [UInt8]?

    /// A saved plan that fits, outside of the checked directories.
    private func savedPlan() throws -> [UInt8] {
        let files = try TemporaryDirectory()
        try Files.write(Array("planned".utf8), to: path("source/b"))
        let run = try CommandRun(["plan", "source", "target", "--out", "\(files.path)/plan"], in: path)
        guard run.code == 0 else { throw Violation("nothing can be planned: \(run.errors)") }
        outside = try around()
        return try Files.read("\(files.path)/plan")
    }

    /// The journal of a commit that a power cut interrupted.
    private func journal(_ random: inout SplitMix64) throws -> [UInt8] {
        let root = try Directory.open(path: Array(path("target").utf8))
        guard let state = try StateDirectory(of: root) else { throw TreeError("open", path("target")) }
        func place(_ parent: Int, _ name: StaticString) -> JournalContent.Place {
            .init(parent: parent, name: FileName(name))
        }
        let objects: [JournalContent.Object] = [
            // A directory that remains, a file that leaves it, one that arrives, and two manifests.
            .init(old: place(0, "dir"), new: place(0, "dir")),
            .init(old: place(6, "c"), slot: place(5, "1")),
            .init(slot: place(5, "0"), new: place(6, "arrived")),
            .init(slot: place(4, "manifest.json"), new: place(1, "manifest.json")),
            .init(old: place(1, "manifest.json"), slot: place(4, "manifest.json")),
        ]
        let old = Attributes(try root.directory(FileName("dir")).status())
        let graph = OperationGraph(
            .init(JournalContent.fixed(Desk.transaction) + objects),
            [.detach(7), .attach(8), .exchange(9, with: 10), .rename(4)],
            [.init(object: 6, old: old, new: random.attributes())])
        var bytes: [UInt8] = []
        try Commit.prepare(graph, id: Desk.transaction, root: root, state: state).write(to: &bytes)
        return bytes
    }

    // MARK: Around

    /// The changes outside of the target; nil if there are none.
    func changeOutside() throws -> String? {
        guard let outside else { return nil }
        let now = try around()
        return now.touched(since: outside).first ?? now.differences(from: outside).first
    }

    /// Everything outside of the target.
    private func around() throws -> TreeSnapshot {
        try TreeSnapshot(path, leavingOut: ["target"])
    }
}
