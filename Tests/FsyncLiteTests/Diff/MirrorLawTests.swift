import FileStorage
import FileSystem
import TestSupport
import Testing

@testable import FsyncLite

/// Laws of diff and layout, checked over random trees. A failure prints a seed for `Course(seed:)`.
struct MirrorLawTests {
    @Test(arguments: 0..<8)
    func mirrorsAndUndoes(block: UInt64) throws {
        try check(seeds: block * 150..<(block + 1) * 150, .everything)
    }

    /// Moves copy no file. What is not deleted stays. What could not be staged disturbs nothing else. Nothing is deleted
    /// below what cannot be read.
    @Test(
        arguments: [
            (100_000..<100_300, .movesOnly), (200_000..<200_400, .adoption),
            (300_000..<300_400, .keepingDeleted), (400_000..<400_400, .omitting),
            (500_000..<500_400, .unreadable),
        ] as [(Range<UInt64>, Course.Kind)])
    private func check(seeds: Range<UInt64>, _ kind: Course.Kind) throws {
        for seed in seeds {
            var course = try Course(seed: seed, kind)
            guard course.run() else { return }
        }
    }
}

/// One random source and target, through some rounds of edits and runs.
private struct Course {
    enum Kind { case everything, movesOnly, adoption, keepingDeleted, omitting, unreadable }

    private struct Broken: Error, CustomStringConvertible {
        var description: String
    }

    let seed: UInt64
    let kind: Kind
    private var random: SplitMix64
    private var mirror: ModelMirror

    init(seed: UInt64, _ kind: Kind) throws {
        self.seed = seed
        self.kind = kind
        var random = SplitMix64(seed: seed)
        // Without birth times, no object is followed to another name.
        let hasBirthTimes = kind == .movesOnly || !random.oneIn(6)
        let source = ModelTree.random(now: 100, firstInode: 10, hasBirthTimes: hasBirthTimes, &random)
        if kind == .adoption {
            let target = ModelTree.random(
                now: 100, firstInode: 10_000, hasBirthTimes: !random.oneIn(6), &random)
            mirror = ModelMirror(source: source, target: target)
        } else {
            mirror = try ModelMirror(of: source)
        }
        mirror.comparesOwner = !random.oneIn(8)
        self.random = random
    }

    /// False after a failure.
    mutating func run() -> Bool {
        for round in 0..<(kind == .movesOnly ? 1 : 3) {
            var edits = ""
            do {
                if kind != .adoption || round > 0 {
                    edits = edit()
                }
                switch kind {
                case .keepingDeleted: try checkKeeping()
                case .omitting: try checkOmitting()
                case .unreadable: try checkUnreadable()
                case .everything, .movesOnly, .adoption: try check()
                }
            } catch {
                Issue.record("seed \(seed), round \(round)\(edits): \(error)")
                return false
            }
        }
        return true
    }

    private mutating func edit() -> String {
        var log = ""
        if kind != .movesOnly, mirror.isFast {
            // The clock has not moved since the last scan.
            log += " writeKeepingTimes"
            mirror.source.edit(.writeKeepingTimes, atOnce: true, &random)
        }
        mirror.synchronizeClocks(advancing: random.oneIn(2) ? 1 : 0)
        mirror.isFast = random.oneIn(3)
        let edits = kind == .movesOnly ? ModelEdit.moves : ModelEdit.allCases + [.store, .store]
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let edit = edits.randomElement(using: &random)!
            log += " \(edit)"
            mirror.source.edit(edit, &random)
        }
        if kind != .movesOnly, random.oneIn(2) {
            mirror.synchronizeClocks()
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // A store to a target's file by a mapping is not probed.
                let edit = ModelEdit.allCases.filter { $0 != .store }.randomElement(using: &random)!
                log += " drift:\(edit)"
                mirror.target.edit(edit, &random)
            }
        }
        mirror.synchronizeClocks()
        return log
    }

    private func expect<Line: Equatable>(_ left: [Line], _ right: [Line], _ what: String) throws {
        guard left == right else { throw Broken(description: "\(what)\n\(contrast(left, right))") }
    }

    private func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
        guard holds else { throw Broken(description: what()) }
    }

    // MARK: Laws

    private mutating func check() throws {
        let difference = try mirror.difference()
        let layout = mirror.layout(difference)
        try expect(difference.sourceCount == mirror.source.entries().count, "source count")
        try expect(difference.targetCount == mirror.target.entries().count, "target count")
        try checkSummary(difference, layout)
        if kind == .movesOnly {
            try expect(!layout.stagedEntries.contains { $0.file.isFile }, "copied: \(layout.stagedEntries)")
        }
        let achieved = try checkUndo(layout)
        try expect(content(achieved), content(mirror.source), "apply")

        try mirror.apply(difference)
        try checkManifest()
        try checkUnchanged()
    }

    private func content(_ tree: ModelTree) -> [ModelTree.Line] {
        // An old object that remains may have one more name.
        let isWhole = [.everything, .movesOnly, .adoption].contains(kind)
        return tree.content(withOwners: mirror.comparesOwner, withLinks: isWhole)
    }

    /// An undo after a run, complete or turned round half way, gives the old tree.
    private mutating func checkUndo(_ layout: OperationGraph) throws -> ModelTree {
        let before = mirror.target.state()
        let staged = try mirror.stage(layout)
        var run = staged
        try run.operate()
        run.setAttributes()
        try expect(run.misplacedStep() == nil, "attributes are not set deepest first")
        let achieved = run.tree
        try run.revert()
        try expect(run.tree.state(), before, "undo")

        var part = staged
        let count = Int.random(in: 0...layout.operations.count, using: &random)
        try part.operate(count)
        try part.revert(count)
        try expect(part.tree.state(), before, "turned round after \(count) operations")
        return achieved
    }

    /// A tree and its own exact mirror have no difference.
    private func checkUnchanged() throws {
        let difference = try mirror.difference()
        let changed = difference.matches.filter { !$0.isUnchanged }
        try expect(
            changed.isEmpty && difference.created.isEmpty && difference.deleted.isEmpty
                && difference.forgotten.isEmpty,
            "again: \(changed) \(difference.created) \(difference.deleted) \(difference.forgotten)")
        try expect(Plan(difference, root: nil).summary.actions == 0, "actions again")
    }

    /// The old manifest with the changes equals a new one.
    private func checkManifest() throws {
        /// Without the values that a manifest need not have.
        func plain(_ entry: RecordList.Entry) -> RecordList.Entry {
            let all = entry.file.status
            var status = FileStatus(type: all.type, modified: all.modified)
            (status.inode, status.created, status.changed) = (all.inode, all.created, all.changed)
            status.permissions = all.permissions
            if mirror.comparesOwner { (status.owner, status.group) = (all.owner, all.group) }
            let file = File(path: entry.file.path, status: status, destination: entry.file.destination)
            return RecordList.Entry(file: file, targetInode: entry.targetInode)
        }
        let whole = mirror.source.files().map {
            RecordList.Entry(file: $0, targetInode: mirror.target.object(at: $0.path)?.status.inode ?? 0)
        }
        try expect((mirror.manifest ?? []).map(plain), whole.map(plain), "manifest")
    }

    /// The summary includes every entry of the source, and nothing is done that is not shown.
    private func checkSummary(_ difference: Difference, _ layout: OperationGraph) throws {
        let plan = Plan(difference, root: nil)
        let changed = difference.created.count + difference.matches.count { !$0.isUnchanged }
        try expect(
            changed + plan.summary.unchanged == difference.sourceCount,
            "\(changed) changed, \(plan.summary.unchanged) unchanged of \(difference.sourceCount)")
        try expect(
            plan.summary.bytesToCopy
                == layout.stagedEntries.reduce(0) {
                    $0 + ($1.file.isFile && $1.primary == nil ? $1.file.size : 0)
                },
            "bytes to copy")
        if plan.summary.actions == 0 {
            try expect(layout.operations.count == 2, "operations that no action tells of")
        }
    }

    // MARK: Laws with less than everything

    /// Nothing is deleted unless it is in the way. The source and every object that was not replaced are
    /// there.
    private mutating func checkKeeping() throws {
        var difference = try mirror.difference()
        let inTheWay = Set(difference.created.map(\.path)).union(difference.matches.map(\.source.path))
        difference.keepDeleted()
        let achieved = try checkUndo(mirror.layout(difference))
        let lines = Set(content(achieved))
        // Directories have the source's times, but more entries.
        let missing = content(mirror.source).filter { !lines.contains($0) }
        try expect(missing.isEmpty, "missing: \(missing)")
        for file in difference.deleted {
            let hasReason = inTheWay.contains {
                $0 == file.path || file.path.isBelow($0) || $0.lastComponent == file.path.lastComponent
            }
            try expect(
                hasReason || difference.deleted.contains { file.path.isBelow($0.path) },
                "\(file.path) was deleted")
        }
        try mirror.apply(difference)
    }

    /// Some objects could not be staged. The rest is right, and an undo is still exact.
    private mutating func checkOmitting() throws {
        var difference = try mirror.difference()
        let layout = mirror.layout(difference)
        var omitted: Set<RelativePath> = []
        for arrival in layout.stagedEntries where !arrival.file.isDirectory && random.oneIn(2) {
            omitted.insert(arrival.file.path)
        }
        difference.omit(Array(omitted))
        let achieved = try checkUndo(mirror.layout(difference, after: layout))
        for entry in mirror.source.entries() where !omitted.contains(entry.path) {
            guard let object = achieved.object(at: entry.path) else {
                // A protected directory is in the place of the omitted entry's own one.
                throw Broken(description: "\(entry.path) is missing")
            }
            try expect(object.content == mirror.source[entry.id].content, "\(entry.path) has another content")
            try expect(
                object.status.type == mirror.source[entry.id].status.type, "\(entry.path) has another type")
        }
        try mirror.apply(difference, after: layout)
        try mirror.apply()
        try checkManifest()
        try checkUnchanged()
        try expect(content(mirror.target), content(mirror.source), "apply after an omission")
    }

    /// Below an unreadable directory nothing changes. The rest is right.
    private mutating func checkUnreadable() throws {
        let directories = mirror.source.entries().filter { mirror.source[$0.id].isDirectory }
        mirror.unreadable = Set(directories.filter { _ in random.oneIn(4) }.map(\.path))
        let unreadable = mirror.unreadable
        func isBelow(_ path: RelativePath) -> Bool { unreadable.contains { path.isBelow($0) } }
        func lines(_ tree: ModelTree, _ isWanted: (RelativePath) -> Bool) -> [ModelTree.Line] {
            zip(tree.entries(), content(tree).dropFirst()).filter { isWanted($0.0.path) }.map(\.1)
        }
        do {
            let difference = try mirror.difference()
            let achieved = try checkUndo(mirror.layout(difference))
            try expect(lines(achieved) { !isBelow($0) }, lines(mirror.source) { !isBelow($0) }, "apply")
            let kept = unreadable.filter { mirror.target.object(at: $0)?.isDirectory ?? false }
            let wanted = lines(mirror.target) { path in
                kept.contains { path.isBelow($0) } && !unreadable.contains(path)
            }
            try expect(lines(achieved) { isBelow($0) && !unreadable.contains($0) }, wanted, "below")
            try mirror.apply(difference)
        } catch let error as SyncError {
            let path = error.path.flatMap { RelativePath($0) }
            try expect(path.map { unreadable.contains($0) } ?? false, "\(error)")
        }
        mirror.unreadable = []
        if random.oneIn(2) { try check() }
    }
}
