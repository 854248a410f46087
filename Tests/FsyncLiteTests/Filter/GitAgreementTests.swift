import FileSystem
import TestNeeds
import TestSupport
import Testing

@testable import FsyncLite

/// The filters and git give the same answer, and name the same rule, for all patterns and paths.
@Suite(.needs(.tool("git")))
struct GitAgreementTests {
    /// Compares all answers. Returns their number, and how many a rule decided.
    private func compare(_ tree: IgnoreTree, _ paths: [[UInt8]], _ git: GitCheckIgnore, seed: UInt64) throws
        -> (
            all: Int, decided: Int
        )
    {
        let directory = try TemporaryDirectory(inMemory: true)
        try tree.build(at: directory.path)
        let filters = IgnoreTree.filters()
        var decided = 0
        for (path, theirs) in zip(paths, try git.rules(for: paths, in: directory.path)) {
            var ours: GitCheckIgnore.Rule?
            if case .rule(let rule) = try tree.decision(path, filters).cause,
                case .file(let file, let line) = rule.source
            {
                ours = (String(decoding: file, as: UTF8.self), line, rule.text)
            }
            if theirs != nil { decided += 1 }
            let agrees =
                ours?.file == theirs?.file && ours?.line == theirs?.line && ours?.text == theirs?.text
            if !agrees {
                let (mine, gits) = (describe(ours), describe(theirs))
                Issue.record("seed \(seed), \(escapedText(path)): ours \(mine), git's \(gits)")
            }
        }
        return (paths.count, decided)
    }

    private func describe(_ rule: GitCheckIgnore.Rule?) -> String {
        rule.map { "\(escapedText($0.text)) (\($0.file):\($0.line))" } ?? "none"
    }

    /// Each pattern in its own directory, with paths made to match it or another one.
    @Test(arguments: 1...UInt64(3))
    func patternsAgree(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var tree = IgnoreTree()
        let patterns = (0..<300).map { number in
            number % 3 == 0 ? IgnoreTree.likelyPattern(&random) : IgnoreTree.pattern(&random)
        }
        var paths: [[UInt8]] = []
        for (number, pattern) in patterns.enumerated() {
            let directory = Array("d\(number)".utf8)
            tree.directories.insert(directory)
            tree.ignoreFiles[directory] = pattern
            for _ in 0..<40 {
                let model = random.oneIn(4) ? patterns.randomElement(using: &random) ?? [] : pattern
                guard let path = IgnoreTree.path(like: model, &random) else { continue }
                paths.append(directory + [UInt8(ascii: "/")] + path)
            }
        }
        let count = try compare(tree, paths, GitCheckIgnore(), seed: seed)
        #expect(count.all > 8_000 && count.decided > count.all / 8, "\(count)")
    }

    /// Trees of files and directories with ignore files at several depths.
    @Test(arguments: 1...UInt64(4))
    func treesAgree(series: UInt64) throws {
        let git = try GitCheckIgnore()
        var total = (all: 0, decided: 0)
        for seed in (series * 1000)..<(series * 1000 + 25) {
            let tree = IgnoreTree(seed: seed, entries: 60)
            // A missing name is treated as a file. Entries of excluded directories are asked for, too.
            let paths = tree.paths + tree.directories.map { $0 + Array("/none".utf8) }
            let count = try compare(tree, paths, git, seed: seed)
            total = (total.all + count.all, total.decided + count.decided)
        }
        #expect(total.all > 1_500 && total.decided > total.all / 8, "\(total)")
    }

    @Test(arguments: [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "xdigit",
    ])
    func classesAgreeOnEveryByte(_ name: String) throws {
        var tree = IgnoreTree()
        tree.ignoreFiles[[]] = Array("x[[:\(name):]]\nx[![:\(name):]]\n".utf8)
        let bytes = (1...UInt8.max).filter { $0 != UInt8(ascii: "/") }
        let count = try compare(tree, bytes.map { [UInt8(ascii: "x"), $0] }, GitCheckIgnore(), seed: 0)
        #expect(count.decided == 254)
    }

    /// Rules of the command line come before those of a file.
    @Test(arguments: 1...UInt64(30))
    func commandLinesAgree(seed: UInt64) throws {
        let tree = IgnoreTree(seed: seed, entries: 60)
        let directory = try TemporaryDirectory(inMemory: true)
        try tree.build(at: directory.path)
        var random = SplitMix64(seed: seed)
        var filters = IgnoreTree.filters()
        var patterns: [String] = []
        while patterns.count < 3 {
            guard let pattern = String(validating: IgnoreTree.pattern(&random), as: UTF8.self) else {
                continue
            }
            patterns.append(pattern)
            filters.exclude(pattern.utf8)
        }
        let files = tree.ignoreFiles.keys.map {
            $0 + ($0.isEmpty ? [] : [UInt8(ascii: "/")]) + IgnoreTree.ignoreFileName
        }
        let ours = try (tree.others + files).filter { try !tree.decision($0, filters).isExcluded }
        let theirs = try GitCheckIgnore().files(in: directory.path, excluding: patterns)
        let difference = theirs.symmetricDifference(ours).map { escapedText($0) }
        #expect(difference.isEmpty, "\(patterns)")
    }
}
