import FileSystem
import FsyncLite

/// A source, its target and the manifest between them, in memory. It plans and applies without a disk.
package struct ModelMirror {
    package var source: ModelTree
    package var target: ModelTree
    package private(set) var manifest: [RecordList.Entry]?
    package private(set) var commitSpans: CommitSpans?
    private var lastScan: (scanned: FileTime, clock: KernelClock)?
    package var comparesOwner = true
    /// How many names a file of the target can have.
    package var linkLimit: UInt32?
    /// A run takes at most one tick of the clock.
    package var isFast = false
    /// Directories of the source that cannot be read now.
    package var unreadable: Set<RelativePath> = []

    package init(source: ModelTree, target: ModelTree) {
        self.source = source
        self.target = target
        synchronizeClocks()
    }

    /// A target after its first run.
    package init(of source: ModelTree) throws {
        self.init(source: source, target: ModelTree(now: source.now, firstInode: 10_000))
        _ = try apply()
        synchronizeClocks()
    }

    /// Sets both clocks to the same time: the trees are on one machine.
    package mutating func synchronizeClocks(advancing: Int64 = 0) {
        source.now = max(source.now, target.now) + advancing
        target.now = source.now
    }

    package var policy: ComparisonPolicy {
        var policy = ComparisonPolicy()
        policy.commitSpans = commitSpans
        policy.alwaysComparesContent = manifest == nil
        policy.followsIdentity = manifest != nil
        policy.linkLimit = linkLimit
        var racyCheck = RacyCheck(
            scanned: source.time, clock: ModelMirror.clock(source.time), window: ModelTree.dirtyTicks)
        racyCheck.previous = lastScan
        policy.racyCheck = racyCheck
        if !comparesOwner { policy.attributes.remove(.owner) }
        return policy
    }

    package func difference() throws -> Difference {
        var merge = TreeMerge(policy)
        try merge.run(
            source: RecordList(source.files(), unlisted: unreadable), target: FileList(target.files()),
            manifest: manifest.map { RecordList($0) })
        var difference = try Difference(matching: merge)
        difference.decide(
            inspect: { _ in (ExtendedAttributes(), ExtendedAttributes()) },
            lookUp: { _ in ExtendedAttributes() }
        ) { request in
            guard let (index, match) = request else { return [] }
            let isSame =
                source.object(at: match.source.path)?.content
                == target.object(at: match.target.path)?.content
            return [Difference.Answer(index: index, isSame: isSame)]
        }
        return difference
    }

    /// - Parameter first: the graph by which new objects were staged already.
    package func layout(_ difference: Difference, after first: OperationGraph? = nil) -> OperationGraph {
        var wanted = Attributes(source.rootStatus)
        if !comparesOwner {
            (wanted.owner, wanted.group) = (target.rootStatus.owner, target.rootStatus.group)
        }
        return OperationGraph(
            difference, root: (Attributes(target.rootStatus), wanted),
            transaction: OperationGraphRun.transaction,
            replacesManifest: target.id(at: RelativePath(".fsync-lite/manifest.json")!) != nil, after: first)
    }

    /// Stages the new objects. The visible tree is unchanged.
    package func stage(_ layout: OperationGraph) throws -> OperationGraphRun {
        try OperationGraphRun(staging: layout, from: source, into: target, setsOwner: comparesOwner)
    }

    /// Makes the target the mirror of the source, as far as the difference says, and records it.
    package mutating func apply(_ given: Difference? = nil, after first: OperationGraph? = nil) throws {
        synchronizeClocks()
        let scanned = source.time
        let difference = try given ?? self.difference()
        let layout = layout(difference, after: first)
        var run = try stage(layout)
        try run.operate(atOnce: isFast)
        run.setAttributes()
        record(difference, layout, run.tree)
        target = run.tree
        commitSpans = CommitSpans(spans: [scanned..<run.time])
        lastScan = (scanned, ModelMirror.clock(scanned))
        discardHistory()
    }

    /// Makes the manifest after a run, from the old one and the changes.
    private mutating func record(_ difference: Difference, _ layout: OperationGraph, _ achieved: ModelTree) {
        let before = Dictionary(uniqueKeysWithValues: (manifest ?? []).map { ($0.file.path, $0) })
        var entries = before
        for path in difference.forgotten { entries[path] = nil }
        for file in difference.deleted { entries[file.path] = nil }
        for match in difference.matches where match.isRenamed { entries[match.target.path] = nil }
        for match in difference.matches where !match.replacesContent {
            entries[match.source.path] = entry(match.source, match.target.status)
        }
        for arrival in layout.stagedEntries {
            guard let object = achieved.object(at: arrival.file.path) else { continue }
            entries[arrival.file.path] = entry(arrival.file, object.status)
        }
        let replaced = difference.matches.filter(\.replacesContent).map(\.source)
        for file in difference.created + replaced {
            guard case .existing? = difference.links[file.path], let object = achieved.object(at: file.path)
            else { continue }
            entries[file.path] = entry(file, object.status)
        }
        manifest = entries.values.map { entry in
            var entry = distrusted(entry)
            let path = entry.file.path
            entry.targetChanged = achieved.object(at: path)?.status.changed
            let record = before[path].map {
                BaseEntry(status: $0.file.status, targetInode: 0, marks: $0.marks)
            }
            var file = entry.file
            // Racy files were read and probed.
            file.isSettled =
                !(source.object(at: path)?.isMapped ?? true) && file.status.changed.isOlder(than: source.time)
            entry.marks = difference.policy.marks(of: file, base: record?.known)
            return entry
        }.sorted { $0.file < $1.file }
    }

    /// As in `ManifestUpdate.distrust`.
    private func distrusted(_ entry: RecordList.Entry) -> RecordList.Entry {
        let file = entry.file
        guard unreadable.contains(where: { $0 == file.path || file.path.isBelow($0) }) else { return entry }
        var status = file.status
        status.changed = .unexamined
        return RecordList.Entry(
            file: File(path: file.path, status: status, destination: file.destination),
            targetInode: entry.targetInode)
    }

    private func entry(_ file: File, _ target: FileStatus) -> RecordList.Entry {
        var status = file.status
        if !comparesOwner { (status.owner, status.group) = (target.owner, target.group) }
        return RecordList.Entry(
            file: File(
                path: file.path, status: status, destination: file.destination, omitted: file.omitted),
            targetInode: target.inode)
    }

    /// A clock that is as fast as the model's.
    private static func clock(_ time: FileTime) -> KernelClock {
        KernelClock(boot: "model", uptime: time.rawSeconds * 1000)
    }

    private mutating func discardHistory() {
        let root = target.rootStatus
        for name in ["history", "stage"] {
            guard let state = target.id(at: ModelTree.Place(ModelTree.root, ModelTree.reservedName)),
                let place = FileName(name.utf8).map({ ModelTree.Place(state, $0) }),
                target.id(at: place) != nil
            else { continue }
            target.remove(place)
        }
        target.set(ModelTree.root, root)
    }
}

/// A manifest or a tree in memory.
package final class RecordList: EntryStream {
    package struct Entry: Equatable, Sendable {
        package var file: File
        package var targetInode: UInt64
        package var targetChanged: FileTime?
        package var marks: EntryMarks = []

        package init(file: File, targetInode: UInt64) {
            self.file = file
            self.targetInode = targetInode
        }
    }

    private let entries: [Entry]
    private let unlisted: Set<RelativePath>
    private var index = -1

    package init(_ entries: [Entry]) {
        self.entries = entries.sorted { $0.file < $1.file }
        unlisted = []
    }

    /// A tree of which some directories cannot be listed.
    package init(_ files: [File], unlisted: Set<RelativePath>) {
        entries = files.filter { file in !unlisted.contains { file.path.isBelow($0) } }
            .map { Entry(file: $0, targetInode: $0.status.inode) }
        self.unlisted = unlisted
    }

    package func advance() -> Bool {
        index += 1
        return index < entries.count
    }

    package var path: RelativePath { entries[index].file.path }
    package var status: FileStatus { entries[index].file.status }
    package var extended: ExtendedAttributes { entries[index].file.extended }
    package var sight: Sight { unlisted.contains(path) ? .unlisted : .whole }
    package var omitted: Omissions { entries[index].file.omitted }
    package var targetInode: UInt64 { entries[index].targetInode }
    package var targetChanged: FileTime? { entries[index].targetChanged }
    package var marks: EntryMarks { entries[index].marks }
    package var destination: [UInt8] { entries[index].file.destination }
    package var digest: Digest? { entries[index].file.digest }
    package var object: UInt64 { entries[index].file.object }
}
