import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

struct FilterTests {
    private func path(_ text: String) throws -> RelativePath { try #require(RelativePath(text)) }

    private func explain(
        _ filters: Filters, _ text: String, _ type: FileType = .file, size: ByteCount = 0,
        in directories: [String: FilterDirectory] = [:]
    ) throws -> String {
        try filters.explain(path(text), type: type, size: size) { directory in
            directories[String(decoding: directory.bytes, as: UTF8.self)] ?? FilterDirectory()
        }.description
    }

    private func patterns(_ text: String) -> FilterDirectory { FilterDirectory(ignoreFile: Array(text.utf8)) }

    // MARK: Rules

    @Test func theLastOfTheListDecides() throws {
        var filters = Filters()
        filters.exclude("*.o".utf8)
        filters.exclude(from: Array("# objects\n!keep.o\n".utf8), path: Array("/etc/list".utf8))
        filters.exclude("k*".utf8)
        filters.include("kept.o".utf8)
        #expect(try explain(filters, "x/a.o") == "the pattern *.o excludes it")
        #expect(try explain(filters, "a.c") == "no pattern excludes it")
        #expect(try explain(filters, "keep.o") == "the pattern k* excludes it")
        #expect(try explain(filters, "kept.o") == "the pattern !kept.o includes it")
        #expect(filters.rules[1].description == "!keep.o (/etc/list:2)")
    }

    @Test func theCommandLineTakesPatternsAsTheyAre() throws {
        var filters = Filters()
        filters.exclude("#a".utf8)
        filters.exclude("b ".utf8)
        filters.include("!c".utf8)
        #expect(try explain(filters, "#a") == "the pattern #a excludes it")
        #expect(try explain(filters, "b ") == "the pattern b  excludes it")
        #expect(try explain(filters, "!c") == "the pattern !!c includes it")
    }

    @Test func whatIsBelowAnExcludedDirectoryStaysOut() throws {
        var filters = Filters()
        _ = filters.setIgnoreFile(named: ".ignore".utf8)
        let tree = ["": patterns("build/\n!build/keep\n"), "build": patterns("!*\n")]
        let decision = ".ignore:1 excludes the directory build: build/"
        #expect(try explain(filters, "build/keep", in: tree) == decision)
        #expect(try explain(filters, "build/x/y/z", in: tree) == decision)
        #expect(try explain(filters, "build", .directory, in: tree) == ".ignore:1 excludes it: build/")
        #expect(try explain(filters, "build", .symlink, in: tree) == "no pattern excludes it")
    }

    @Test func deeperFilesOverrideAndTheCommandLineOverridesAll() throws {
        var filters = Filters()
        _ = filters.setIgnoreFile(named: ".ignore".utf8)
        filters.include("always".utf8)
        let tree = [
            "": patterns("*.log\nalways\n/a/b/x\n"), "a": patterns("!*.log\n/y\n"),
            "a/b": patterns("z.log\n!x\n"),
        ]
        #expect(try explain(filters, "c.log", in: tree) == ".ignore:1 excludes it: *.log")
        #expect(try explain(filters, "a/c.log", in: tree) == "a/.ignore:1 includes it: !*.log")
        #expect(try explain(filters, "a/b/z.log", in: tree) == "a/b/.ignore:1 excludes it: z.log")
        #expect(try explain(filters, "a/b/x", in: tree) == "a/b/.ignore:2 includes it: !x")
        #expect(try explain(filters, "a/y", in: tree) == "a/.ignore:2 excludes it: /y")
        #expect(try explain(filters, "a/b/y", in: tree) == "no pattern excludes it")
        #expect(try explain(filters, "a/b/always", in: tree) == "the pattern !always includes it")
    }

    @Test func namesAreBytes() throws {
        var filters = Filters()
        filters.exclude([0xFF, UInt8(ascii: "*")])
        filters.exclude("\u{E9}".utf8)
        #expect(try explain(filters, "e\u{301}") == "no pattern excludes it")
        let path = try #require(RelativePath([0xFF, 0x80]))
        let decision = filters.explain(path, type: .file, size: 0) { _ in FilterDirectory() }
        #expect(decision.description == "the pattern \\xFF* excludes it")
    }

    // MARK: Walks

    /// Walking in and out, streaming in order, jumping, and asking once give the same answers.
    @Test(arguments: 1...UInt64(100))
    func everyWayToAskAgrees(seed: UInt64) throws {
        let tree = IgnoreTree(seed: seed, entries: 40)
        let filters = IgnoreTree.filters()
        let sorted = tree.paths.map { RelativePath(validated: $0) }.sorted()
        var walk = FilterScope(filters, root: tree.contents(.root))
        var open: [RelativePath] = []
        var (stream, jumps) = (walk, walk)
        var random = SplitMix64(seed: seed)
        for path in sorted {
            let isDirectory = tree.directories.contains(path.bytes)
            let decision = try tree.decision(path.bytes, filters)
            stream.move(toParentOf: path, reading: tree.contents)
            #expect(stream.decision(path, isDirectory: isDirectory) == decision)
            #expect(stream.excludes(path, isDirectory: isDirectory) == decision.isExcluded)

            let other = try #require(sorted.randomElement(using: &random))
            jumps.move(toParentOf: other, reading: tree.contents)
            let otherIsDirectory = tree.directories.contains(other.bytes)
            #expect(
                jumps.decision(other, isDirectory: otherIsDirectory)
                    == (try tree.decision(other.bytes, filters)))

            // A walk meets only entries of included directories.
            while let last = open.last, !path.isBelow(last) {
                open.removeLast()
                walk.leave()
            }
            guard path.parent == open.last ?? .root else {
                #expect(decision.isExcluded && decision.directory != nil)
                continue
            }
            #expect(walk.decision(path, isDirectory: isDirectory) == decision)
            if isDirectory, !decision.isExcluded {
                walk.enter(path, tree.contents(path))
                open.append(path)
            }
        }
    }

    @Test func eachDirectoryIsReadOnceAndNoneThatIsExcluded() throws {
        var filters = Filters()
        filters.exclude("/out".utf8)
        var scope = FilterScope(filters, root: FilterDirectory())
        var read: [String] = []
        for text in ["a", "a/b", "a/b/c/d", "a/b/c/e", "a/b-", "ab/c", "out", "out/x/y", "out/z"] {
            scope.move(toParentOf: try path(text)) {
                read.append($0.description)
                return FilterDirectory()
            }
        }
        #expect(read == ["a", "a/b", "a/b/c", "ab"])
    }

    // MARK: Caches, file systems, sizes

    @Test func aCacheKeepsItsTag() throws {
        var filters = Filters()
        let tree = ["cache": FilterDirectory(ignoreFile: nil, isCache: true)]
        #expect(try explain(filters, "cache/x", in: tree) == "no pattern excludes it")
        filters.excludesCaches = true
        #expect(try explain(filters, "cache", .directory, in: tree) == "no pattern excludes it")
        #expect(
            try explain(filters, "cache/x", in: tree)
                == "cache is a cache directory, and --exclude-caches is on")
        #expect(
            try explain(filters, "cache/x/y", in: tree)
                == "cache is a cache directory, and --exclude-caches is on")
        #expect(try explain(filters, "cache/CACHEDIR.TAG", in: tree) == "no pattern excludes it")
        #expect(
            try explain(filters, "cache/x/CACHEDIR.TAG", in: tree)
                == "cache is a cache directory, and --exclude-caches is on")
        #expect(try explain(filters, "cache.x", in: tree) == "no pattern excludes it")
        filters.exclude("*.TAG".utf8)
        #expect(try explain(filters, "cache/CACHEDIR.TAG", in: tree) == "the pattern *.TAG excludes it")
    }

    @Test func aTagNeedsItsSignature() {
        let signature = "Signature: 8a477f597d28d172789f06886806bc55"
        #expect(CacheTag.isValid(signature.utf8) && CacheTag.isValid("\(signature)\n# made by".utf8))
        #expect(CacheTag.signature.count == 43)
        #expect(!CacheTag.isValid(signature.dropLast().utf8) && !CacheTag.isValid("".utf8))
        #expect(!CacheTag.isValid(" \(signature)".utf8))
    }

    @Test func sizesAreForRegularFiles() throws {
        var filters = Filters()
        filters.sizes = SizeLimits(minimum: 10, maximum: 20)
        filters.include("*".utf8)
        #expect(try explain(filters, "a", size: 9) == "it is smaller than 10 B, the --min-size")
        #expect(try explain(filters, "a", size: 10) == "the pattern !* includes it")
        #expect(try explain(filters, "a", size: 20) == "the pattern !* includes it")
        #expect(try explain(filters, "a", size: 21) == "it is larger than 20 B, the --max-size")
        #expect(try explain(filters, "a", .symlink, size: 1) == "the pattern !* includes it")
        #expect(try explain(filters, "a", .directory, size: 4096) == "the pattern !* includes it")
    }

    @Test(arguments: [
        ("0", 0), ("12", 12), ("7b", 7), ("1K", 1024), ("1k", 1024), ("2KiB", 2048), ("2kb", 2000),
        ("10M", 10_485_760),
        ("3MB", 3_000_000), ("1G", 1_073_741_824), ("1T", 1_099_511_627_776), ("1tb", 1_000_000_000_000),
        ("8388607T", 9_223_370_937_343_148_032),
    ])
    func readsSizes(_ text: String, _ bytes: ByteCount) {
        #expect(ByteCount(text) == bytes)
    }

    @Test(arguments: [
        "", "K", "-1", "+1", "1.5G", "1 K", "1KK", "1Ki", "1iB", "1X", "8388608T", "99999999999999999999",
    ])
    func refusesWhatIsNoSize(_ text: String) {
        #expect(ByteCount(text) == nil)
    }

    // MARK: Summary

    @Test func theSummaryIsTheSameForTheSameFilters() throws {
        var first = Filters()
        #expect(first.isEmpty && first.summary.lines.isEmpty)
        first.exclude("*.o".utf8)
        first.include("a\nb".utf8)
        var second = Filters()
        second.exclude(from: Array("# objects\n*.o\n".utf8), path: Array("list".utf8))
        second.exclude("!a\nb".utf8)
        #expect(first.summary == second.summary && !first.isEmpty)
        #expect(first.summary.lines == ["--exclude=*.o", "--include=a\\nb"])

        #expect(first.setIgnoreFile(named: ".ignore".utf8) && !first.setIgnoreFile(named: "a/b".utf8))
        (first.excludesCaches, first.excludesOtherFileSystems) = (true, true)
        first.sizes = SizeLimits(minimum: 1, maximum: 2)
        #expect(
            first.summary.lines.dropFirst(2) == [
                "--ignore-file=.ignore", "--exclude-caches", "--one-file-system", "--min-size=1",
                "--max-size=2",
            ])
        #expect(first.summary != second.summary)
    }

    @Test func theSummaryTellsComposedFromDecomposed() {
        var (first, second) = (Filters(), Filters())
        first.exclude("\u{E9}".utf8)
        second.exclude("e\u{301}".utf8)
        #expect(first.summary.lines == second.summary.lines && first.summary != second.summary)
    }

    @Test func filtersAreReadBackFromTheirSummary() throws {
        var filters = Filters()
        filters.exclude("*.o".utf8)
        filters.include("a=b\\\u{1B}".utf8)
        filters.exclude(from: Array("\\#c\n!d \n".utf8), path: Array("list".utf8))
        let read = try #require(Filters(filters.summary))
        #expect(read.summary == filters.summary)
        #expect(try explain(read, "x.o") == "the pattern *.o excludes it")
        #expect(Filters(FilterSummary(lines: [])) == Filters())
        filters.exclude("".utf8)
        (filters.excludesCaches, filters.excludesOtherFileSystems) = (true, true)
        filters.sizes = SizeLimits(minimum: 1, maximum: 20)
        _ = filters.setIgnoreFile(named: ".a=b\u{1B}".utf8)
        #expect(Filters(filters.summary) == nil)
        #expect(Filters(reading: filters.summary)?.summary == filters.summary)
        for line in ["--exclude", "--min-size=x", "--exclude-caches=1", "--ignore-file=a/b", "other", ""] {
            #expect(Filters(reading: FilterSummary(lines: [line])) == nil, "\(line)")
        }
    }
}
