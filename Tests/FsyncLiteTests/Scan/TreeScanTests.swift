import FileSystem
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FsyncLite

@Suite struct TreeScanTests {
    private let scratch: TemporaryDirectory
    private var place: String { "\(scratch.path)/tree" }

    init() throws {
        scratch = try TemporaryDirectory(inMemory: true)
    }

    /// The threads that read directories change neither the entries nor their order.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func threadsChangeNothing(seed: UInt64) throws {
        var tree = try DiskTree(place, seed: seed)
        try tree.grow(Int(seed) * 8)
        let alone = try entries(place, threads: 1)
        for threads in [2, 8, 16] {
            #expect(try entries(place, threads: threads) == alone)
        }
        #expect(alone == alone.sorted { $0.path < $1.path })
    }

    /// Directories with more entries than are read at a time, with subdirectories in each part.
    @Test(arguments: [511, 512, 513, 4096, 4097, 9000]) func hugeDirectories(count: Int) throws {
        var inner: [(name: TreeName, node: TreeLiteral)] = []
        for number in 0..<count {
            let name = TreeName(stringLiteral: "n\(number)")
            let leaf: TreeLiteral = number % 3 == 0 ? .file("") : .symlink(name)
            let directory: TreeLiteral = ["in": "it", "out": .symlink("in")]
            inner.append((name, number % 100 == 7 ? directory : leaf))
        }
        let tree: TreeLiteral = ["a": ["b": "c"], "z": ["b": "c"]]
        try tree.build(at: place)
        for parent in ["tree/m", "tree/z/m"] {
            try TreeLiteral.directory(inner, mode: 0o755, modified: nil).build(
                at: "\(scratch.path)/\(parent)")
        }
        let alone = try entries(place, threads: 1)
        #expect(alone.count == 4 + 2 * (1 + count + 2 * ((count + 92) / 100)))
        for threads in [2, 8] {
            #expect(try entries(place, threads: threads) == alone)
        }
    }

    /// More directories than may be open for reading ahead, at many levels.
    @Test(arguments: [0, 1, 7, 128]) func manyDirectoriesAtManyLevels(descriptors: Int) throws {
        var level: TreeLiteral = ["leaf": "leaf"]
        for _ in 0..<12 {
            let inner = level
            let other: TreeLiteral = ["in": [:]]
            level = .directory(
                (0..<40).map { (TreeName(stringLiteral: "\($0)"), $0 == 17 ? inner : other) }, mode: 0o755,
                modified: nil)
        }
        try level.build(at: place)
        let found = try entries(place, threads: 3, descriptors: descriptors)
        #expect(found.count == 12 * 79 + 1)
        #expect(found == (try entries(place, threads: 1)))
    }

    /// Deeper than any path that the kernel accepts, with a subdirectory to read ahead at each level.
    @Test func deepTrees() throws {
        try DeepTree.make(at: scratch.path, depth: 3000)
        let alone = try entries(scratch.path, threads: 1)
        #expect(alone.count == 3001)
        for threads in [2, 8] {
            for descriptors in [128, 3] {
                #expect(try entries(scratch.path, threads: threads, descriptors: descriptors) == alone)
            }
        }
    }

    /// Entries with longer paths are left out, with everything below, whichever thread reads them.
    @Test func pathsHaveALimit() throws {
        let name = String(repeating: "n", count: 200)
        try DeepTree.make(at: scratch.path, depth: 60, name: name)
        // 40 names and as many separators have 8,040 bytes.
        let deepest = Array(repeating: name, count: 40).joined(separator: "/")
        for last in ["b", String(repeating: "c", count: 152), String(repeating: "d", count: 153)] {
            try DeepTree.walk(scratch.path, 40, name) { _ in
            } end: {
                try TreeLiteral.file("").build(at: "/proc/self/fd/\($0)/\(last)")
            }
        }
        for threads in [1, 8] {
            var options = TreeScan.Options().bounded
            (options.threads, options.descriptors) = (threads, 128)
            let scan = try TreeScan(scratch.open(), options)
            var paths: [RelativePath] = []
            while try scan.advance() { paths.append(scan.path) }
            #expect(paths.count == 42 && paths.map(\.bytes.count).max() == RelativePath.longest)
            #expect(scan.findings.problems.map(\.path.description) == [deepest])
        }
    }

    /// No thread reads an excluded directory, and the entries are the same.
    @Test(arguments: 0..<20 as Range<UInt64>) func filtersChangeNothing(seed: UInt64) throws {
        var tree = try DiskTree(place, seed: seed)
        try tree.grow(200)
        for (directory, rules) in [("", "a.b\n"), ("/a", "b\n!c\n"), ("/b", "/A\n")]
        where FileManager.default.fileExists(atPath: "\(scratch.path)/tree\(directory)/.") {
            try Data(rules.utf8).write(to: URL(fileURLWithPath: "\(scratch.path)/tree\(directory)/.rules"))
        }
        var filters = Filters()
        filters.exclude(Array("~".utf8))
        let isValid = filters.setIgnoreFile(named: Array(".rules".utf8))
        #expect(isValid)
        let alone = try exclusions(place, filters, threads: 1)
        #expect(alone.contains { $0.hasPrefix("-") } && alone.contains { $0.hasPrefix("+") })
        for threads in [2, 8] {
            #expect(try exclusions(place, filters, threads: threads) == alone)
        }
    }

    /// Unchanged entries are given in any case, in order, and no change is an error.
    @Test(arguments: [1, 2, 8]) func treesThatChangeMeanwhile(threads: Int) throws {
        let root = place
        let stays: TreeLiteral = ["f": "stays", "s": ["f": "stays"]]
        for number in 0..<30 {
            let tree: TreeLiteral = ["moves": ["x": ["y": [:]]], "stays": stays]
            try TreeLiteral.directory([("0", tree)], mode: 0o755, modified: nil).build(at: "\(root)\(number)")
        }
        final class Flag: Sendable { let isSet = Atomic(false) }
        let (over, ended) = (Flag(), FileSystem.Semaphore())
        let path = scratch.path
        let mover = WorkerThread()
        try mover.start {
            var number = 0
            while !over.isSet.load(ordering: .relaxed) {
                let parent = "\(path)/tree\(number % 30)/0"
                rename("\(parent)/moves", "\(parent)/moved")
                rename("\(parent)/moved/x", "\(parent)/moved/z")
                rmdir("\(parent)/moved/z/y")
                mkdir("\(parent)/moved/z/y", 0o755)
                symlink("y", "\(parent)/moved/link")
                unlink("\(parent)/moved/link")
                rename("\(parent)/moved/z", "\(parent)/moved/x")
                rename("\(parent)/moved", "\(parent)/moves")
                number += 1
            }
            ended.signal()
        }
        for _ in 0..<100 {
            let found = try entries(path, threads: threads).map(\.path)
            #expect(found == found.sorted())
            #expect(found.count { $0.description.hasSuffix("/stays/s/f") } == 30)
        }
        over.isSet.store(true, ordering: .relaxed)
        ended.wait()
    }

    /// An abandoned scan has no thread and no open directory.
    @Test(arguments: [1, 2, 8]) func anAbandonedScanLeavesNothing(threads: Int) throws {
        let inner: TreeLiteral = ["a": ["b": [:], "c": [:]], "d": [:]]
        let tree = TreeLiteral.directory(
            (0..<50).map { (TreeName(stringLiteral: "\($0)"), inner) }, mode: 0o755, modified: nil)
        try tree.build(at: place)
        for steps in [0, 1, 2, 30, 100] {
            do {
                let scan = try scan(place, threads)
                for _ in 0..<steps { #expect(try scan.advance()) }
            }
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let open = descriptors.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            #expect(open.filter { $0.hasPrefix(scratch.path) } == [])
        }
    }

    /// Extended attributes are those of a scan by one thread.
    @Test func extendedAttributes() throws {
        let tree: TreeLiteral = ["a": ["f": "f"], "b": ["g": "g", "h": ["i": "i"]], "l": .symlink("a")]
        try tree.build(at: place)
        // Without these, one thread reads them all.
        for number in 0..<50 { try (["d": [:]] as TreeLiteral).build(at: "\(scratch.path)/tree/\(number)") }
        let marks = ExtendedAttributes([.init(name: Array("user.mark".utf8), value: [1])])
        for (parent, name) in [("", "a"), ("/a", "f"), ("/b", "h"), ("/b/h", "i")] as [(String, StaticString)]
        {
            let directory = try Directory.open(path: Array("\(scratch.path)/tree\(parent)".utf8))
            _ = try ObjectHandle(FileName(name), in: directory)
                .setExtendedAttributes(marks, over: ExtendedAttributes())
        }
        let alone = try entries(
            place, threads: 1, extended: MirroredAttributes.all.extended)
        #expect(alone.count { !$0.extended.isEmpty } == 4)
        #expect(
            try entries(place, threads: 8, extended: MirroredAttributes.all.extended)
                == alone)
    }

    private func scan(
        _ path: String, _ threads: Int, descriptors: Int = 128,
        extended: ExtendedAttributes.Selection? = nil
    ) throws -> TreeScan {
        var options = TreeScan.Options()
        (options.threads, options.descriptors, options.extended) = (threads, descriptors, extended)
        return try TreeScan(Directory.open(path: Array(path.utf8)), options)
    }

    private func entries(
        _ path: String, threads: Int, descriptors: Int = 128,
        extended: ExtendedAttributes.Selection? = nil
    ) throws -> [File] {
        let scan = try scan(path, threads, descriptors: descriptors, extended: extended)
        var found: [File] = []
        while try scan.advance() { found.append(scan.file) }
        return found
    }

    /// Each path, with a minus if it is excluded.
    private func exclusions(_ path: String, _ filters: Filters, threads: Int) throws -> [String] {
        var options = TreeScan.Options()
        (options.threads, options.descriptors) = (threads, 128)
        let root = try Directory.open(path: Array(path.utf8))
        let scan = try TreeScan(root, options, filter: FilteredWalk(filters, DirectoryRules(of: root)))
        var found: [String] = []
        while try scan.advance() {
            if case .none = scan.exclusion {
                found.append("+\(scan.path)")
            } else {
                found.append("-\(scan.path)")
            }
        }
        return found
    }
}
