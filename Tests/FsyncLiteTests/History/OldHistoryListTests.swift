import Foundation
import TestSupport
import Testing

/// Whatever was done to a target of an earlier version, its lists are the trees that its records tell of.
struct OldHistoryListTests {
    /// In `swift test` few; FSYNC_LITE_SEQUENCES says another number.
    private static let sequences =
        ProcessInfo.processInfo.environment["FSYNC_LITE_SEQUENCES"].flatMap { UInt64($0) } ?? 24

    @Test(arguments: ["plain", "exchanges", "joined"])
    func recordsOfAFixtureBecomeLists(name: String) throws {
        let fixtures = URL(fileURLWithPath: #filePath)
            .appendingPathComponent("../../../../fixtures/history-v1").standardizedFileURL.path
        let directory = try TemporaryDirectory()
        try HostCommand.run(
            "tar", "-x", "-z", "-p", "--no-same-owner", "-f", "\(fixtures)/\(name).tar.gz", "-C", directory.path)
        // Its mark stays behind.
        #expect(try CommandRun(["recover", "--claim", "mirror"], in: directory.path).code == 0)
        let comparison = try #require(try OldHistoryComparison("\(directory.path)/mirror"))
        #expect(try comparison.faults() == [])
    }

    @Test(arguments: 0..<4)
    func recordsOfARandomTargetBecomeLists(block: UInt64) throws {
        let count = OldHistoryListTests.sequences / 4
        for seed in block * count..<(block + 1) * count {
            var course = try OldTarget(seed: seed)
            for event in 0..<14 {
                try course.advance()
                let faults = try OldHistoryComparison(course.target)?.faults() ?? []
                #expect(faults == [], "seed \(seed), event \(event):\n\(course.log.joined(separator: "\n"))")
                if !faults.isEmpty { break }
            }
        }
    }
}

/// A target to which random things happen.
private struct OldTarget {
    private let directory: TemporaryDirectory
    private var random: SplitMix64
    private var labels = 0
    private(set) var log: [String] = []

    var target: String { "\(directory.path)/target" }
    private var source: String { "\(directory.path)/source" }

    private static let filters: [[String]] = [
        [], [], ["--exclude", "a"], ["--exclude", "b", "--exclude", "/c/a"], ["--exclude", "a b", "--delete-excluded"],
        ["--exclude", "c", "--delete-excluded"],
    ]

    init(seed: UInt64) throws {
        directory = try TemporaryDirectory(inMemory: true)
        random = SplitMix64(seed: seed)
        var tree = try DiskTree("\(directory.path)/source", seed: random.next())
        try tree.grow(Int.random(in: 4..<20, using: &random))
        try apply([])
    }

    private mutating func run(_ words: [String]) throws {
        let run = try CommandRun(words, in: directory.path)
        log.append("\(words.joined(separator: " ")): \(run.code) \(run.errors)")
        #expect(run.code >= 0 && run.code < 64 || run.code == 66, "\(words): \(run.errors)")
    }

    private mutating func apply(_ options: [String]) throws {
        try run(
            ["apply", "source", "target", "--allow-empty-source", "--max-delete", "unlimited", "--keep-last", "40"]
                + options)
    }

    mutating func advance() throws {
        if random.oneIn(3) { try edit(target, 2) }
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: try run(["undo", "target"])
        case 2, 3:
            let age = Int.random(in: 0..<5, using: &random)
            let paths = random.oneIn(3) ? [["a", "b", "c"].randomElement(using: &random)!] : []
            try run(["snapshot", "restore", "--in-place", "target", "latest~\(age)"] + paths)
        case 4: try run(["snapshot", "prune", "target", "--keep-last", "\(Int.random(in: 1..<5, using: &random))"])
        case 5:
            labels += 1
            try run(["snapshot", "create", "target", "--label", "label\(labels)"])
        default:
            try edit(source, Int.random(in: 1..<6, using: &random))
            var options = OldTarget.filters.randomElement(using: &random)!
            if random.oneIn(5) { options.append("--exchange") }
            if random.oneIn(4) { options.append("--digest") }
            if random.oneIn(8) { options.append("--no-owner") }
            try apply(options)
        }
    }

    private mutating func edit(_ path: String, _ count: Int) throws {
        var tree = DiskTree(at: path, seed: random.next())
        try tree.change(count)
        log.append("edited \(path)")
        if random.oneIn(2) { try tree.link() }
    }
}
