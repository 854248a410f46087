import FileStorage
import FileSystem

/// The maximum number of deletions in a plan.
public enum DeleteLimit: Hashable, Sendable {
    /// Refuses to delete more than half of the target's entries, if that is more than ten.
    case half
    case count(Int)
    case percent(Int)
    case unlimited

    /// `10`, `25%` or `unlimited`; nil for any other text.
    public init?(_ text: String) {
        if text == "unlimited" {
            self = .unlimited
        } else if text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...100).contains(percent) {
            self = .percent(percent)
        } else if let count = Int(text), count >= 0, !text.hasPrefix("+") {
            self = .count(count)
        } else {
            return nil
        }
    }

    /// As it was given; nil for the one that needs no option.
    var text: String? {
        switch self {
        case .half: nil
        case .count(let limit): "\(limit)"
        case .percent(let limit): "\(limit)%"
        case .unlimited: "unlimited"
        }
    }

    func allows(_ deletions: Int, of entries: Int) -> Bool {
        switch self {
        case .half: deletions <= 10 || deletions * 2 <= entries
        case .count(let limit): deletions <= limit
        case .percent(let limit): deletions * 100 <= entries * limit
        case .unlimited: true
        }
    }
}

/// The input of the guards.
struct GuardFacts {
    @Boxed var plan: Plan
    @Boxed var options: SyncOptions
    /// The manifest's, if there is one.
    var recorded: (header: ManifestHeader, summary: ManifestSummary)?
    var sources: [ManifestHeader.Source]
    /// The numbers of entries of each source and of its directory in the target, itself included; only for sources with
    /// names.
    var topCounts: [RelativePath: (source: Int, target: Int)] = [:]
    var info: FileSystemInfo
    /// Of a file system that is not complete.
    var capabilities: FileSystemCapabilities?
    /// Files of this device are cloned and share their blocks with the copies; nil for none.
    var clonedDevice: DeviceNumber?
    /// The space that was computed by `computeNeed`.
    private(set) var computedNeed: SpaceNeed?
    /// Computed if space is short.
    var prunable = PrunableHistory()
    /// The rules of retention, and the snapshots that they remove although the last run left them.
    var removal: (rules: RetentionRules, snapshots: RemovedSnapshots, count: Int)?
    /// The snapshots and old trees that are removed to make space; nil if that is too little, or space is not short.
    var givingWay: [String]?
    /// The target's root, if it exists.
    var root: FileStatus?
    var mounts: [(path: RelativePath, isMountPoint: Bool)]
    /// Other targets in the tree.
    var targets: [RelativePath] = []
    /// The path of the state, if the target was renamed since.
    var stateElsewhere: [UInt8]?
    var hasHistory = false
    /// Entries of the target that are immutable or append-only.
    var locked: [RelativePath: FileStatus]
    /// Pairs of names that the target treats as one name.
    var collisions: [(RelativePath, RelativePath)]
    /// Files to be copied that changed since they were recorded, although no time shows an edit.
    var rotten: [RelativePath]
    /// The mounts in the source; nil if they are unknown.
    var mounted: [SourceMount]?

    /// All reasons to refuse, not only the first.
    func refusals() -> [Refusal] {
        let difference = plan.difference
        var found: [Refusal] = []
        found += lossRefusals()
        if recorded == nil, difference.targetCount > 0, !options.adopt {
            if let stateElsewhere {
                found.append(.renamedTarget(stateElsewhere))
            } else {
                found.append(
                    .foreignTarget(difference.targetCount, hasHistory: hasHistory, plan.adopted))
            }
        }
        if !options.changeSource { found += recorded?.header.sources.compactMap(changeRefusal) ?? [] }
        found += mountRefusals
        for (path, isMountPoint) in mounts {
            found.append(isMountPoint ? .mountInTarget(path) : .fileSystemInTarget(path))
        }
        if options.exchanges, let first = targets.first {
            found.append(.targetInExchange(first))
        }
        found += collisions.map { .nameCollision($0, $1) }
        for path in difference.collisions {
            let target = targets.first { $0 == path || $0.isBelow(path) }
            found.append(target.map(Refusal.targetInTheWay) ?? .excludedInTheWay(path))
        }
        if options.keepsDeleted || !rotten.isEmpty {
            let moves = MoveMap(difference)
            let trees = options.keepsDeleted ? difference.deletedTrees : []
            found += trees.map { .undeletedInTheWay($0, of: moves.carriedPath(of: $0)) }
            found += rotten.map { .rottenSource($0, copy: moves.oldPath(of: $0)) }
        }
        return found + lockRefusals() + removalRefusals + capacityRefusals()
    }

    /// The last run removed all snapshots by its own rules, so these removals come from new rules.
    private var removalRefusals: [Refusal] {
        guard let (rules, removed, count) = removal, !options.allowsRemoval,
            !DeleteLimit.half.allows(removed.ids.count, of: count)
        else { return [] }
        return [.manyRemovals(removed, of: count, rules)]
    }

    // MARK: Sources

    /// A source that is empty, or that would cause too many deletions. Several sources are looked at one by one.
    private func lossRefusals() -> [Refusal] {
        guard sources.contains(where: { $0.name != nil }) else {
            let entries = recorded?.summary.entries ?? 0
            let loss = Loss(
                deleted: plan.summary.delete, of: plan.difference.targetCount,
                emptied: plan.difference.sourceCount == 0 && entries > 0
                    ? "\(emptiness(of: "the source")), and the target has \(Amount.entries(entries))" : nil)
            return refusals(of: [loss])
        }
        var deletions: [RelativePath: Int] = [:]
        for action in plan.actions where action.verb == .delete {
            deletions[action.path.top, default: 0] += 1
        }
        let recorded = recorded?.header.sources ?? []
        var losses = sources.compactMap { source -> Loss? in
            // The source's directory in the target, and the one of another name that moves there.
            let before = recorded.filter { $0.name != source.name && source.isSameDirectory(as: $0) }
            let tops = ([source] + before).compactMap(\.top)
            guard let top = tops.first, let count = topCounts[top]?.source else { return nil }
            let present = tops.reduce(0) { $0 + (topCounts[$1]?.target ?? 0) }
            let isEmptied = !recorded.isEmpty && count <= 1 && present > 1
            return Loss(
                deleted: tops.reduce(0) { $0 + (deletions.removeValue(forKey: $1) ?? 0) }, of: present,
                source: " of \(source.title)",
                emptied: isEmptied
                    ? "\(emptiness(of: source.title)), and the target has \(Amount.entries(present - 1)) of it"
                    : nil)
        }
        // A source that is missing is guarded in `changeRefusal`.
        for case let top? in recorded.map(\.top) where options.deleteLimit == .half { deletions[top] = nil }
        losses.append(
            Loss(deleted: deletions.values.reduce(0, +), of: plan.difference.targetCount))
        return refusals(of: losses)
    }

    private func emptiness(of source: String) -> String {
        options.filters.summary.lines.isEmpty
            ? "\(source) is empty" : "\(source) is empty, or the filters leave out all of it"
    }

    /// The deletions that a run would make for one source.
    private struct Loss {
        let deleted: Int
        let of: Int
        var source = ""
        var emptied: String?
    }

    private func refusals(of losses: [Loss]) -> [Refusal] {
        var found: [Refusal] = []
        if !options.allowEmptySource {
            found = losses.compactMap(\.emptied).map(Refusal.emptySource)
        }
        let beyond = losses.filter {
            // An empty source has its own refusal, but an explicit limit is still valid.
            let limit = $0.emptied != nil && options.deleteLimit == .half ? .unlimited : options.deleteLimit
            return !limit.allows($0.deleted, of: $0.of)
        }
        let most = beyond.map(\.deleted).max() ?? 0
        return found
            + beyond.map {
                .manyDeletions(
                    $0.deleted, of: $0.of, $0.source, limit: options.deleteLimit.text, most: most)
            }
    }

    /// A source that was mirrored is now another directory, or is missing.
    private func changeRefusal(_ last: ManifestHeader.Source) -> Refusal? {
        guard let source = sources.first(where: { $0.name == last.name }) else {
            // Its directory gets another name and moves.
            guard !sources.contains(where: { $0.isSameDirectory(as: last) }) else { return nil }
            return .sourceLeftOut(last.title, last.path)
        }
        let isElsewhere = last.fileSystem != source.fileSystem
        guard last.identity != source.identity, isElsewhere || !last.isSpelled(like: source) else {
            return nil
        }
        return .otherSource(source.title, last.path, isElsewhere: isElsewhere)
    }

    /// A directory of the source with another file system than last time, or no mount any more.
    private var mountRefusals: [Refusal] {
        guard !options.changeSource, let mounted, let last = recorded?.header.mounts, mounted != last else {
            return []
        }
        let present = Dictionary(mounted.map { ($0.path, $0.fileSystem) }, uniquingKeysWith: { $1 })
        let elsewhere = Set(mounted).subtracting(last).map(\.fileSystem)
        let difference = plan.difference
        let changes = difference.changes
        let deleted = changes.indices(of: .deleted).map { changes.path(at: $0) }
        return last.compactMap { mount in
            let now = present[mount.path]
            guard now != mount.fileSystem, !elsewhere.contains(mount.fileSystem) else { return nil }
            // The memory file system of a session ends with its directory.
            if mount.isMemory, deleted.contains(mount.path) { return nil }
            var lost = deleted.count { $0.isBelow(mount.path) }
            if now != nil { lost += difference.replacing.count { $0.target.path.isBelow(mount.path) } }
            guard lost > 0 else { return nil }
            return .otherMount(mount.path, isOther: now != nil, lost: lost)
        }
    }

    /// An immutable or append-only object is an obstacle if it changes itself; a directory also if names in it change.
    private func lockRefusals() -> [Refusal] {
        guard plan.summary.actions > 0 else { return [] }
        var locked = locked
        if let root, root.isImmutable || root.isAppendOnly { locked[.root] = root }
        guard !locked.isEmpty else { return [] }
        // An exchange would link all these objects.
        if options.exchanges { return locked.sorted { $0.key < $1.key }.map(Refusal.locked) }
        let difference = plan.difference
        var touched: Set<RelativePath> = [.root]
        let moves = MoveMap(difference)
        for match in difference.matches
        where !match.isUnchanged && (!match.isRenamed || !moves.isCarried(match)) {
            touched.formUnion([match.target.path, match.target.path.parent ?? .root])
            touched.insert(moves.oldPath(of: match.source.path.parent ?? .root))
        }
        for file in difference.deleted {
            touched.formUnion([file.path, file.path.parent ?? .root])
        }
        for file in difference.created { touched.insert(moves.oldPath(of: file.path.parent ?? .root)) }
        return touched.sorted().compactMap { path in locked[path].map { .locked(path, $0) } }
    }

    /// The space that the plan needs: for the new objects, the new manifest, and the commit.
    var need: SpaceNeed { computedNeed ?? findNeed { $0.status.allocated } }

    /// Computes `need` once, because that looks at every file. The facts for it must not change afterwards.
    ///
    /// - Parameter allocated: the space of a file to be copied in the source; nil for a file that shares its blocks
    ///   with its copy.
    mutating func computeNeed(_ allocated: (File) throws -> ByteCount?) rethrows {
        computedNeed = try findNeed(allocated)
    }

    /// The bytes of an action in manifest, history, journal, log of the stage and reserve, without its path. `line` is
    /// the part that a new entry does not need in the history.
    private static let record = 1040
    private static let line = 240
    /// The bytes of an entry in the manifest.
    private static let entry = 320

    private func findNeed(_ allocated: (File) throws -> ByteCount?) rethrows -> SpaceNeed {
        var (bytes, count): (ByteCount, Int) = (0, 0)
        func add(_ file: File, _ allocated: ByteCount?) {
            count += 1
            let (size, blocks) = allocated.map { (file.size, $0) } ?? (0, 0)
            bytes += info.space(
                for: file.status.type, size: size, allocated: blocks,
                keepsHoles: options.attributes.contains(.holes))
        }
        let difference = plan.difference
        // Another name of a file needs no space of its own.
        var named = 0
        let record = GuardFacts.record + (options.recordsDigests ? 200 : 0)
        for file in difference.arriving {
            // Manifest and history have the path; journal and reserve have names.
            bytes += ByteCount(clamping: record - GuardFacts.line + 3 * file.path.bytes.count)
            if file.status.type == .symlink { bytes += file.size * 2 }
            named += 1
            guard difference.links[file.path] == nil else { continue }
            add(file, isCloned(file) ? nil : try allocated(file))
        }
        for file in copiedFiles { add(file, info.mayShareBlocks ? nil : file.status.allocated) }
        // An exchange makes every directory anew.
        let directories = options.exchanges ? recorded?.summary.directories ?? 0 : 0
        bytes +=
            info.space(for: .directory, size: 0, allocated: 0, keepsHoles: true)
            * (directories + count / OperationGraph.slotsPerDirectory)
        let others = max(0, plan.summary.actions - named) + copiedFiles.count + directories
        let entries = max(0, difference.sourceCount - named)
        bytes += ByteCount(clamping: record * others + GuardFacts.entry * entries)
        bytes += info.blockSize * 16 + SpaceNeed.leastReserve
        return SpaceNeed(
            bytes: bytes,
            inodes: Int64(count + directories + count / OperationGraph.slotsPerDirectory + 16))
    }

    /// The same condition as in `FileCopier.copy`.
    private func isCloned(_ file: File) -> Bool {
        guard let clonedDevice, file.isFile, file.status.device == clonedDevice else { return false }
        return options.attributes.contains(.holes) || file.status.allocated >= file.size
    }

    /// The files of the old tree that an exchange copies, each once, because the old tree still needs them. They get
    /// other attributes, or come from the history.
    private var copiedFiles: [File] {
        guard options.exchanges else { return [] }
        let changes = plan.difference.changes
        var inodes: Set<UInt64> = []
        let copied = changes.indices(where: {
            $0.kind == .match && !$0.replacesContent && !$0.isDirectory
                && ($0.changesAttributes || $0.targetIsInState)
        })
        return copied.map { changes[match: $0].target }.filter { inodes.insert($0.status.inode).inserted }
    }

    /// The missing space; zero if the plan has no actions.
    var shortage: Shortage {
        guard plan.summary.actions > 0 else { return Shortage(bytes: 0, inodes: 0) }
        return need.shortage(info)
    }

    private func capacityRefusals() -> [Refusal] {
        guard plan.summary.actions > 0 else { return [] }
        var found: [Refusal] = []
        if let capabilities, !options.allowsWeakCommit { found.append(.weakFileSystem(capabilities)) }
        if info.isReadOnly { found.append(.readOnlyFileSystem) }
        guard givingWay == nil else { return found }
        if need.bytes > info.availableBytes {
            found.append(.noSpace(need.bytes, free: info.availableBytes, prunable))
        }
        if let inodes = info.availableInodes, need.inodes > inodes {
            found.append(.noInodes(need.inodes, free: inodes, prunable))
        }
        return found
    }
}

extension ManifestHeader.Source {
    /// Its directory in the target; nil if that is the target itself.
    var top: RelativePath? { name.flatMap { RelativePath(Array($0.utf8)) } }
}

extension RelativePath {
    /// The entry at the top that this path is, or is below.
    fileprivate var top: RelativePath { RelativePath(validated: Array(firstComponent)) }
}
