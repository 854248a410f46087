import Foundation
import TestSupport
import Testing

/// After any applies, undos, restores and prunes, each listed snapshot is restored as it was found.
struct HistoryCourseTests {
    /// A small number for `swift test`. FSYNC_LITE_SEQUENCES sets another one.
    private static let sequences =
        ProcessInfo.processInfo.environment["FSYNC_LITE_SEQUENCES"].flatMap { UInt64($0) } ?? 8

    @Test(arguments: 0..<4)
    func eachSnapshotComesBack(block: UInt64) throws {
        let count = max(1, HistoryCourseTests.sequences / 4)
        for seed in block * count..<(block + 1) * count {
            var course = try HistoryCourse(seed: seed)
            for event in 0..<9 {
                try course.advance()
                let faults = try course.faults()
                #expect(faults == [], "seed \(seed), event \(event):\n\(course.log.joined(separator: "\n"))")
                if !faults.isEmpty { break }
            }
        }
    }
}

/// A target with random events, and the trees that its applies found.
private struct HistoryCourse {
    private let directory: TemporaryDirectory
    private var random: SplitMix64
    /// By the snapshot's id.
    private var trees: [String: MirrorScene.WholeState] = [:]
    private var labels = 0
    private(set) var log: [String] = []

    private var target: String { "\(directory.path)/target" }

    init(seed: UInt64) throws {
        directory = try TemporaryDirectory(inMemory: true)
        random = SplitMix64(seed: seed)
        var tree = try DiskTree("\(directory.path)/source", seed: random.next())
        try tree.grow(Int.random(in: 4..<20, using: &random))
        try run(["apply", "source", "target"])
        try note(found: nil, before: nil)
    }

    @discardableResult
    private mutating func run(_ words: [String], orRefused: Bool = false) throws -> CommandRun {
        let run = try CommandRun(words, in: directory.path)
        log.append("\(words.joined(separator: " ")): \(run.code) \(run.errors)")
        #expect(run.code == 0 || orRefused && [4, 66].contains(run.code), "\(words): \(run.errors)")
        return run
    }

    private func snapshots() throws -> [String] {
        let list = try CommandRun(["snapshot", "list", "target", "--json"], in: directory.path)
        return try list.json().objects("snapshots").compactMap { $0.text("id") }
    }

    /// The content of a directory, with the names of each file.
    private func state(_ path: String) throws -> MirrorScene.WholeState {
        MirrorScene.WholeState(tree: try TreeSnapshot(path), attributes: try AttributeSnapshot(path))
    }

    private mutating func note(found: MirrorScene.WholeState?, before: String?) throws {
        let ids = try snapshots()
        guard let present = ids.first, present != before else { return }
        if let before, let found { trees[before] = found }
        trees[present] = try state(target)
    }

    mutating func advance() throws {
        let before = try snapshots().first
        let found = try state(target)
        switch Int.random(in: 0..<12, using: &random) {
        // The step may be pruned.
        case 0, 1, 2: try run(["undo", "target"], orRefused: true)
        case 3, 4:
            let age = Int.random(in: 0..<5, using: &random)
            let ids = try snapshots()
            try run(["snapshot", "restore", "--in-place", "target", ids[min(age, ids.count - 1)]])
        case 5:
            let kept = Int.random(in: 1..<4, using: &random)
            try run(["snapshot", "prune", "target", "--keep-last", "\(kept)"])
        case 6:
            labels += 1
            try run(["snapshot", "create", "target", "--label", "label\(labels)"])
        default:
            var tree = DiskTree(at: "\(directory.path)/source", seed: random.next())
            try tree.change(Int.random(in: 1..<6, using: &random))
            if random.oneIn(3) { try tree.link() }
            var words = [
                "apply", "source", "target", "--allow-empty-source", "--trust-source", "--max-delete",
                "unlimited",
                "--keep-last", "40",
            ]
            if random.oneIn(5) { words.append("--exchange") }
            if random.oneIn(4) { words.append("--digest") }
            try run(words)
        }
        try note(found: found, before: before)
    }

    /// The snapshots that are not restored as they were.
    mutating func faults() throws -> [String] {
        var faults: [String] = []
        for (index, id) in try snapshots().enumerated() {
            guard let tree = trees[id] else { continue }
            let copy = "\(directory.path)/copy"
            try run(["snapshot", "restore", "target", id, "--to", "copy"])
            faults += try state(copy).differences(from: tree).map { "latest~\(index): \($0)" }
            try FileManager.default.removeItem(atPath: copy)
        }
        for words in [["snapshot", "verify", "target"], ["manifest", "verify", "target", "target"]] {
            let verify = try CommandRun(words, in: directory.path)
            if verify.code != 0 { faults.append("\(words): \(verify.errors)\(verify.output)") }
        }
        return faults
    }
}
