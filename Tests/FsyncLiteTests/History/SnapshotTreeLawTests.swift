import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// Whatever was applied, the records lead back to every tree that was there.
struct SnapshotTreeLawTests {
    @Test(arguments: 0..<6)
    func everyEarlierTreeIsFound(block: UInt64) throws {
        for seed in block * 10..<(block + 1) * 10 {
            var course = try HistoryCourse(seed: seed)
            for _ in 0..<6 { try course.advance() }
            for step in 0...6 {
                let faults = try course.faults(back: step, joining: 0..<0)
                #expect(faults == [], "seed \(seed), \(step) back")
                if !faults.isEmpty { return }
            }
        }
    }

    /// A joined record, written and read again, does what its parts did.
    @Test(arguments: 0..<3)
    func joinedRecordsLeadToTheSameTrees(block: UInt64) throws {
        for seed in 10_000 + block * 10..<10_000 + (block + 1) * 10 {
            var course = try HistoryCourse(seed: seed)
            for _ in 0..<6 { try course.advance() }
            for joined in [0..<2, 1..<4, 2..<6, 0..<6] {
                let faults = try course.faults(back: 6, joining: joined)
                #expect(faults == [], "seed \(seed), joined \(joined)")
                if !faults.isEmpty { return }
            }
        }
    }

    /// A snapshot had a directory with one entry less; then the directory was displaced, and an undo brought it back.
    @Test func whatADisplacedDirectoryTookAlongStaysNew() throws {
        let (directory, old) = (try Self.entry("d", .directory, 1), try Self.entry("d/old", .file, 2))
        let new = try Self.entry("d/new", .file, 3)
        let slot = try #require(RelativePath("20261121T090000.000001Z-0000/0/0"))
        // It is new, or came from a slot that nobody asks for any more.
        let origin = try #require(RelativePath(".fsync-lite/history/20261121T090000.000000Z-0000/0/0"))
        let arrivals = [
            UndoEntry(.delete, new), UndoEntry(.move, new.moved(to: origin), from: new.path),
        ]
        let displacement = ReverseDelta([
            UndoEntry(.create, directory, slot: slot), UndoEntry(.create, new),
            UndoEntry(.create, old),
        ])
        let place = try #require(RelativePath(".fsync-lite/history/\(slot)"))
        let undo = ReverseDelta([UndoEntry(.move, directory.moved(to: place), from: directory.path)])
        for arrival in arrivals {
            let joined = displacement.followed(by: ReverseDelta([arrival])).keeping(slotsOf: [])
            let tree = try SnapshotTree(
                undo.followed(by: ReverseDelta(joined.actions)), present: FileList([directory, new, old]))
            let found = try tree.files(over: FileList([directory, new, old]))
            #expect(found.map(\.path) == [directory.path, old.path])
        }
    }

    /// A file came new, left into another directory, and a restore brought both back from two displaced directories.
    @Test func whatLeftADisplacedDirectoryStaysNew() throws {
        func slot(_ transaction: Int, _ rest: String) throws -> RelativePath {
            try #require(
                RelativePath(".fsync-lite/history/20261121T090000.00000\(transaction)Z-0000/0/\(rest)"))
        }
        let old = try Self.entry("old", .directory, 1)
        let (new, file) = (try Self.entry("new", .directory, 2), try Self.entry("new/file", .file, 3))
        let arrival = ReverseDelta([UndoEntry(.delete, new), UndoEntry(.delete, file)])
        let moved = file.moved(to: try #require(RelativePath("old/file")))
        let rename = ReverseDelta([UndoEntry(.move, file, from: moved.path)])
        let displacement = ReverseDelta([
            UndoEntry(.create, old, slot: try slot(2, "0").relative(to: .history)),
            UndoEntry(.create, new, slot: try slot(2, "1").relative(to: .history)),
            UndoEntry(.create, moved),
        ])
        let restore = ReverseDelta([
            UndoEntry(.move, old.moved(to: try slot(2, "0")), from: old.path),
            UndoEntry(.move, new.moved(to: try slot(2, "1")), from: new.path),
            UndoEntry(.move, moved.moved(to: try slot(2, "0/file")), from: file.path),
        ])
        let older = displacement.followed(by: rename).followed(by: arrival).keeping(slotsOf: [])
        let tree = try SnapshotTree(
            restore.followed(by: ReverseDelta(older.actions)), present: FileList([new, file, old].sorted()))
        #expect(try tree.files(over: FileList([new, file, old].sorted())).map(\.path) == [old.path])
    }

    /// An undo brought a directory back and left a file in it out of the manifest; the next apply found that as new and
    /// displaced it.
    @Test func whatCameAlongUnnoticedIsFoundWhereItWentSince() throws {
        func slot(_ transaction: Int) throws -> RelativePath {
            try #require(RelativePath("20261121T090000.00000\(transaction)Z-0000/0/0"))
        }
        let (directory, file) = (try Self.entry("d", .directory, 1), try Self.entry("d/f", .file, 2))
        // It was an exchange, which copied the file.
        let newest = ReverseDelta([
            UndoEntry(.update, try Self.entry("d/f", .file, 3), slot: try slot(3))
        ])
        let drift = ReverseDelta([UndoEntry(.delete, file)])
        let place = RelativePath.history.appending(try slot(1))
        let undo = ReverseDelta([UndoEntry(.move, directory.moved(to: place), from: directory.path)])
        let oldest = ReverseDelta([
            UndoEntry(.create, directory, slot: try slot(1)), UndoEntry(.create, file),
        ])
        let newer = newest.followed(by: drift, isDrift: true).followed(by: undo)
        // The record of the two newer ones, written and read again.
        let transaction = FileName("20261121T090000.000001Z-0000")
        let kept = newer.keeping(slotsOf: [transaction], strays: newer.strays)
        #expect(kept.actions.allSatisfy { $0.fault == nil })
        for changes in [newer, ReverseDelta(kept.actions)].map({ $0.followed(by: oldest) { _ in true } }) {
            #expect(changes.location(of: directory.path) == directory.path)
            #expect(changes.location(of: file.path) == RelativePath.history.appending(try slot(3)))
        }
        // Another object at that path came in between, and the trees that lead there lack it.
        var other = ReverseDelta([
            UndoEntry(.create, directory, slot: try slot(1)),
            UndoEntry(.create, try Self.entry("d/f", .file, 4, size: 1)),
        ])
        other = ReverseDelta(kept.actions).followed(by: other) { _ in true }
        #expect(other.location(of: file.path) == file.path)
        let between = ReverseDelta().followed(by: ReverseDelta(kept.actions)) { _ in true }
        #expect(between.strays == [])
        #expect(newer.keeping(slotsOf: [transaction]).strays == [])
    }

    /// What no record names was uncovered in a tree between. A tree whose filters cover it lacked it, also when its
    /// record is joined; one before it may have had it.
    @Test func whatIsAssumedIsNotInATreeThatCoversIt() throws {
        let file = try Self.entry("left-out", .file, 1)
        let slot = try #require(RelativePath("20261121T090000.000001Z-0000/0/0"))
        let other = try Self.entry("other", .file, 2)
        let displacement = ReverseDelta([UndoEntry(.create, file, slot: slot, wasUncovered: true)])
        let arrival = ReverseDelta([UndoEntry(.delete, other)])
        let joined = ReverseDelta(displacement.followed(by: arrival).keeping(slotsOf: []).actions)
        func tree(_ changes: ReverseDelta) throws -> [RelativePath] {
            try SnapshotTree(changes, present: FileList([other]), withUncovered: true)
                .files(over: FileList([other])).map(\.path)
        }
        #expect(try tree(ReverseDelta().followed(by: joined) { _ in true }) == [])
        #expect(try tree(ReverseDelta().followed(by: joined)) == [file.path])
        #expect(try tree(ReverseDelta().followed(by: displacement) { _ in true }) == [file.path, other.path])
    }

    private static func entry(
        _ text: String, _ type: FileType, _ inode: UInt64, size: ByteCount = 0
    ) throws -> File {
        var status = FileStatus(type: type, modified: FileTime(seconds: 1, nanoseconds: 0))
        (status.inode, status.size) = (inode, size)
        return File(path: try #require(RelativePath(text)), status: status, destination: [])
    }

    @Test func nothingChangedIsThePresentTree() throws {
        var random = SplitMix64(seed: 1)
        let tree = ModelTree.random(now: 100, firstInode: 10, &random)
        let earlier = try SnapshotTree(ReverseDelta(), present: FileList(tree.files()))
        #expect(try earlier.files(over: FileList(tree.files())) == tree.files().sorted())
    }
}

/// A mirror through some rounds of edits, with the records of its applies and copies of what it was.
private struct HistoryCourse {
    private var random: SplitMix64
    private var mirror: ModelMirror
    /// The oldest first.
    private var records: [HistoryRecord] = []
    private var trees: [ModelTree] = []

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        let hasBirthTimes = !random.oneIn(6)
        mirror = try ModelMirror(
            of: .random(now: 100, firstInode: 10, hasBirthTimes: hasBirthTimes, &random))
        mirror.target.keepsInodes = true
    }

    mutating func advance() throws {
        for _ in 0..<Int.random(in: 1..<10, using: &random) {
            let edit = ModelEdit.allCases.randomElement(using: &random)!
            mirror.source.edit(edit, &random)
            // Somebody else's hand, now and then.
            // An edit that puts size and time back nobody sees here.
            if random.oneIn(12), edit != .writeKeepingTimes { mirror.target.edit(edit, &random) }
        }
        mirror.synchronizeClocks(advancing: 1)
        let difference = try mirror.difference()
        let record = HistoryRecord(
            id: "20261121T090000.00000\(records.count)Z-0000", created: .now, previous: nil, manifest: nil,
            plan: Plan(difference, root: nil), graph: mirror.layout(difference))
        trees.append(mirror.target)
        records.append(record)
        try mirror.apply(difference)
        mirror.synchronizeClocks(advancing: 1)
    }

    /// What is wrong with the tree so many applies ago.
    ///
    /// - Parameter joining: records that were made one, counted from the newest.
    func faults(back step: Int, joining: Range<Int>) throws -> [String] {
        var newestFirst = records.reversed().map { (actions: Array($0.actions), drift: $0.drift) }
        func composed(
            _ records: ArraySlice<(actions: [UndoEntry], drift: [UndoEntry])>, covers: ((File) -> Bool)? = nil
        ) -> ReverseDelta {
            var (changes, drift) = (ReverseDelta(), ReverseDelta())
            for (index, record) in records.enumerated() {
                changes = changes.followed(by: drift, isDrift: true).followed(
                    by: ReverseDelta(record.actions), covers: index == records.count - 1 ? covers : nil)
                drift = ReverseDelta(record.drift)
            }
            return changes
        }
        if !joining.isEmpty {
            let older = (0..<records.count - joining.upperBound).compactMap {
                FileName(Array("20261121T090000.00000\($0)Z-0000".utf8))
            }
            let newer = composed(newestFirst[joining])
            let joined = newer.keeping(slotsOf: Set(older), strays: newer.strays)
            let drift = newestFirst[joining.upperBound - 1].drift
            newestFirst.replaceSubrange(joining, with: [(actions: Array(joined.actions), drift: drift)])
        }
        let count = joining.isEmpty ? step : newestFirst.count
        let changes = composed(newestFirst.prefix(count)) { _ in true }
        let then = step == 0 ? mirror.target : trees[trees.count - step]
        let present = { RecordList(mirror.manifest ?? []) }
        let tree = try SnapshotTree(changes, present: present())
        return faults(of: try tree.files(over: present()), tree, then)
    }

    private func faults(of found: [File], _ tree: SnapshotTree, _ then: ModelTree) -> [String] {
        let wanted = then.files()
        guard found.map(\.path) == wanted.map(\.path) else {
            let paths = Set(found.map(\.path)).symmetricDifference(wanted.map(\.path))
            return ["paths, or their order: \(paths.sorted())"]
        }
        var faults: [String] = []
        for (file, old) in zip(found, wanted) {
            if file.kind != old.kind || file.mode != old.mode || file.modified != old.modified
                || file.owner != old.owner || file.group != old.group || file.size != old.size
            {
                faults.append("\(file.path): \(file.status) and not \(old.status)")
            }
            let place = tree.location(of: file.path)
            if place.isLost { continue }
            if place.isInState {
                // Displaced objects are known by their inode.
                if file.isFile, file.linkCount == 1, file.identity != old.identity {
                    faults.append("\(file.path): another object")
                }
            } else if mirror.target.object(at: place)?.content != then.object(at: file.path)?.content {
                faults.append("\(file.path): other content, at \(place)")
            }
        }
        func groups(_ files: [File]) -> Set<Set<RelativePath>> {
            // What is lost may come back as another name of what is not.
            let files = files.filter { $0.isFile && $0.linkCount > 1 && !tree.location(of: $0.path).isLost }
            let groups = Dictionary(grouping: files, by: \.identity).values
            return Set(groups.map { Set($0.map(\.path)) }.filter { $0.count > 1 })
        }
        let (names, oldNames) = (groups(found), groups(wanted))
        if names != oldNames { faults.append("names of one file: \(names) and not \(oldNames)") }
        return faults
    }
}

extension SnapshotTree {
    fileprivate func files(over present: some EntryStream) throws -> [File] {
        let entries = entries(over: present)
        var files: [File] = []
        while try entries.advance() { files.append(entries.file) }
        return files
    }
}
