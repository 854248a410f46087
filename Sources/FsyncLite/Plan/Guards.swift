import FileSystem

/// A reason to refuse a plan, found before anything was written.
public struct Refusal: Hashable, Sendable, CustomStringConvertible {
    /// What was found.
    public var reason: String
    /// The option that overrides the refusal; nil if there is none.
    public var option: String?
    /// The room that is needed and that is free, where the latter is too small.
    public var bytes: Room?

    /// In bytes.
    public struct Room: Hashable, Sendable {
        public var needed: ByteCount
        public var free: ByteCount
    }

    public init(_ reason: String, option: String? = nil) {
        self.reason = reason
        self.option = option
    }

    public var description: String { reason }

    /// The same where no option overrides it.
    var withoutOption: Refusal {
        var refusal = self
        refusal.option = nil
        return refusal
    }
}

/// The maximum number of deletions in a plan.
public enum DeleteLimit: Hashable, Sendable {
    /// Refuses to delete more than half of the target's entries, if that is more than ten.
    case half
    case count(Int)
    case percent(Int)
    case unlimited

    /// `10`, `25%` or `unlimited`; nil for anything else.
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
    var plan: Plan
    var options: SyncOptions
    /// The manifest's, if there is one.
    var recorded: (header: ManifestHeader, summary: ManifestSummary)?
    var sources: [ManifestHeader.Source]
    /// The numbers of entries of each source and of its directory in the target, itself included; only for sources with
    /// names.
    var topCounts: [RelativePath: (source: Int, target: Int)] = [:]
    var info: FileSystemInfo
    /// Of a file system that is not complete.
    var capabilities: FileSystemCapabilities?
    /// Files are linked and need no room.
    var linksFiles = false
    /// Bytes of content to copy, where the statuses of the source do not have them.
    var contentBytes: ByteCount?
    /// Files of this device are cloned and share their blocks with the copies; nil for none.
    var clonedDevice: DeviceNumber?
    /// See `keepNeed`.
    private(set) var keptNeed: RoomNeed?
    /// Bytes that the target's history holds; computed where room is short.
    var heldBytes: ByteCount = 0
    /// What of the history is removed to make room; nil where that is not enough, or room is not short.
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
    /// Pairs of names that are one name to the target.
    var collisions: [(RelativePath, RelativePath)]
    /// Files to be copied that are not as recorded, although no time shows an edit.
    var rotten: [RelativePath]
    /// What is mounted in the source; nil where that is not known.
    var mounted: [SourceMount]?

    /// - Parameter state: the path of the state of a target that has another name now.
    static func renamed(_ state: [UInt8]) -> String {
        "the target was renamed after an exchange, and its state is \(escapedText(state)); "
            + "rename that likewise, or the target back"
    }

    /// All reasons to refuse, not only the first.
    func refusals() -> [Refusal] {
        let difference = plan.difference
        var found: [Refusal] = []
        func refuse(_ reason: String, option: String? = nil) { found.append(Refusal(reason, option: option)) }
        found += lossRefusals()
        if recorded == nil, difference.targetCount > 0, !options.adopt {
            if let stateElsewhere {
                refuse(GuardFacts.renamed(stateElsewhere))
            } else {
                refuse(
                    "the target holds \(Amount.entries(difference.targetCount)) and "
                        + (hasHistory ? "its manifest is missing" : "was never written by fsync-lite")
                        + (plan.adopted.map { "; \($0)" } ?? ""), option: "--adopt")
            }
        }
        if !options.changeSource { found += recorded?.header.sources.compactMap(changeRefusal) ?? [] }
        if !options.changeSource { found += mountRefusals }
        for (path, isMountPoint) in mounts {
            refuse(
                isMountPoint
                    ? "something is mounted in the target, at \(path); unmount it"
                    : "another file system or subvolume begins in the target, at \(path); move it away")
        }
        if options.exchanges, let first = targets.first {
            refuse(
                "\(first) is another target, whose state an exchange would copy; move it out, or leave --exchange out"
            )
        }
        for (first, second) in collisions {
            refuse(
                "\(first) and \(second) are one name in the target, which does not tell case or Unicode forms apart",
                option: "--exclude")
        }
        for path in difference.collisions {
            refuse(
                "\(path) in the target is excluded, or holds what is, and something else of the source would take its place",
                option: options.deletesExcluded ? nil : "--delete-excluded")
        }
        if options.keepsDeleted {
            for path in difference.deletedTrees {
                refuse(
                    "\(path) in the target holds entries that --no-delete keeps, and something else of the source would "
                        + "take its place; leave --no-delete out, or that path with --exclude")
            }
        }
        for path in rotten {
            refuse(
                "\(path) in the source is not what was recorded of it, although its size and modification time are: "
                    + "it has rotted, or its time was put back; manifest verify --source tells the good copy",
                option: "--trust-source")
        }
        return found + lockRefusals() + capacityRefusals()
    }

    // MARK: Sources

    /// A source that is empty, or of which too much would be deleted; several are looked at one by one.
    private func lossRefusals() -> [Refusal] {
        guard sources.contains(where: { $0.name != nil }) else {
            let entries = recorded?.summary.entries ?? 0
            let loss = Loss(
                deleted: plan.summary.delete, of: plan.difference.targetCount,
                emptied: plan.difference.sourceCount == 0 && entries > 0
                    ? "\(emptiness(of: "the source")) and the target holds \(Amount.entries(entries))" : nil)
            return refusals(of: [loss])
        }
        var deletions: [RelativePath: Int] = [:]
        for action in plan.actions where action.verb == .delete {
            deletions[action.path.top, default: 0] += 1
        }
        let recorded = recorded?.header.sources ?? []
        var losses = sources.compactMap { source -> Loss? in
            // Its directory in the target, and the one of another name that moves there.
            let before = recorded.filter { $0.name != source.name && source.isSameDirectory(as: $0) }
            let tops = ([source] + before).compactMap(\.top)
            guard let top = tops.first, let count = topCounts[top]?.source else { return nil }
            let held = tops.reduce(0) { $0 + (topCounts[$1]?.target ?? 0) }
            let isEmptied = !recorded.isEmpty && count <= 1 && held > 1
            return Loss(
                deleted: tops.reduce(0) { $0 + (deletions.removeValue(forKey: $1) ?? 0) }, of: held,
                source: " of \(source.title)",
                emptied: isEmptied
                    ? "\(emptiness(of: source.title)) and the target holds \(Amount.entries(held - 1)) of it"
                    : nil)
        }
        // One that is gone is guarded below.
        for case let top? in recorded.map(\.top) where options.deleteLimit == .half { deletions[top] = nil }
        losses.append(
            Loss(deleted: deletions.values.reduce(0, +), of: plan.difference.targetCount))
        return refusals(of: losses)
    }

    private func emptiness(of source: String) -> String {
        options.filters.summary.lines.isEmpty
            ? "\(source) is empty" : "\(source) is empty, or the filters leave out all of it,"
    }

    /// What a run would delete of one source.
    private struct Loss {
        let deleted: Int
        let of: Int
        var source = ""
        var emptied: String?
    }

    private func refusals(of losses: [Loss]) -> [Refusal] {
        var found: [Refusal] = []
        if !options.allowEmptySource {
            found = losses.compactMap(\.emptied).map {
                Refusal("\($0): is a disk missing?", option: "--allow-empty-source")
            }
        }
        let beyond = losses.filter {
            // An empty source is guarded above; an explicit limit still holds.
            let limit = $0.emptied != nil && options.deleteLimit == .half ? .unlimited : options.deleteLimit
            return !limit.allows($0.deleted, of: $0.of)
        }
        let most = beyond.map(\.deleted).max() ?? 0
        return found
            + beyond.map {
                Refusal(
                    "\($0.deleted) of the target's \(Amount.entries($0.of))\($0.source) would be deleted",
                    option: "--max-delete \(most)")
            }
    }

    /// Another directory than last time, or none, for a source that was mirrored.
    private func changeRefusal(_ last: ManifestHeader.Source) -> Refusal? {
        guard let source = sources.first(where: { $0.name == last.name }) else {
            // Under another name it is moved.
            guard !sources.contains(where: { $0.isSameDirectory(as: last) }) else { return nil }
            return Refusal(
                "\(last.title) (\(escapedText(last.path))) is no longer mirrored here: what the target has of it would be deleted",
                option: "--change-source")
        }
        let isElsewhere = last.fileSystem != source.fileSystem
        guard last.identity != source.identity, isElsewhere || !last.isSpelled(like: source) else {
            return nil
        }
        return Refusal(
            "\(source.title) is another directory\(isElsewhere ? ", on another file system," : "") than last time "
                + "(\(escapedText(last.path)))", option: "--change-source")
    }

    /// Another file system than last time, or none, in a directory of the source where one was mounted.
    private var mountRefusals: [Refusal] {
        guard let mounted, let last = recorded?.header.mounts, mounted != last else { return [] }
        let present = Dictionary(mounted.map { ($0.path, $0.fileSystem) }, uniquingKeysWith: { $1 })
        let elsewhere = Set(mounted).subtracting(last).map(\.fileSystem)
        let difference = plan.difference
        let deleted = difference.deleted.indices.map { difference.deleted.path(at: $0) }
        return last.compactMap { mount in
            let now = present[mount.path]
            guard now != mount.fileSystem, !elsewhere.contains(mount.fileSystem) else { return nil }
            // A session's memory goes with its directory.
            if mount.isMemory, deleted.contains(mount.path) { return nil }
            var lost = deleted.count { $0.isBelow(mount.path) }
            if now != nil { lost += difference.replacing.count { $0.target.path.isBelow(mount.path) } }
            guard lost > 0 else { return nil }
            return Refusal(
                "\(mount.path) in the source \(now == nil ? "was mounted last time and is not now" : "shows another file system than last time"): "
                    + "the target would lose \(Amount.entries(lost)) of it; is a disk missing?",
                option: "--change-source")
        }
    }

    /// An immutable or append-only object is in the way if it changes itself; a directory also if names in it change.
    private func lockRefusals() -> [Refusal] {
        guard plan.summary.actions > 0 else { return [] }
        var locked = locked
        if let root, root.isImmutable || root.isAppendOnly { locked[.root] = root }
        guard !locked.isEmpty else { return [] }
        // An exchange would link all of them.
        if options.exchanges { return locked.keys.sorted().compactMap { lockRefusal($0, locked) } }
        let difference = plan.difference
        var touched: Set<RelativePath> = [.root]
        let moves = MoveMap(difference)
        for match in difference.matches
        where !match.isUnchanged && (!match.isRenamed || !moves.isCarried(match)) {
            touched.formUnion([match.target.path, match.target.path.parent ?? .root])
            touched.insert(moves.oldPath(of: match.source.path.parent ?? .root))
        }
        for (file, _) in difference.deleted {
            touched.formUnion([file.path, file.path.parent ?? .root])
        }
        for (file, _) in difference.created { touched.insert(moves.oldPath(of: file.path.parent ?? .root)) }
        return touched.sorted().compactMap { lockRefusal($0, locked) }
    }

    private func lockRefusal(_ path: RelativePath, _ locked: [RelativePath: FileStatus]) -> Refusal? {
        guard let status = locked[path] else { return nil }
        let flag = status.isImmutable ? ("immutable", "i") : ("append-only", "a")
        let name = path.isRoot ? "the target's root" : "\(path) in the target"
        return Refusal("\(name) is \(flag.0); chattr -\(flag.1) it")
    }

    /// The bytes that staged files take, and their number.
    private var staged: (bytes: ByteCount, count: Int) {
        var (bytes, count): (ByteCount, Int) = (0, 0)
        func add(_ file: File) {
            guard !linksFiles || !file.isFile else { return }
            count += 1
            if !isCloned(file) { bytes += min(file.size, file.status.allocated) }
        }
        let (created, matches) = (plan.difference.created, plan.difference.matches)
        for (file, _) in created { add(file) }
        for index in matches.indices where matches.head(at: index).replacesContent {
            add(matches[index].source)
        }
        return (bytes, count)
    }

    /// What the plan needs: the content, one block for each small object, the new manifest, and what a commit takes.
    var need: RoomNeed {
        if let keptNeed { return keptNeed }
        let (content, count) = staged
        let entry: ByteCount = 256
        let bytes =
            (contentBytes ?? content) + entry * (2 * plan.difference.sourceCount + count)
            + info.blockSize * (copiedDirectories + 16)
            + RoomNeed.leastReserve + entry * (2 * plan.summary.actions)
        return RoomNeed(bytes: bytes, inodes: Int64(count + copiedDirectories + 16))
    }

    /// Computes `need`, which looks at every file, for all that ask for it. What it follows from must not change
    /// afterwards.
    mutating func keepNeed() { keptNeed = need }

    /// As in `FileCopier.copy`.
    private func isCloned(_ file: File) -> Bool {
        guard let clonedDevice, file.isFile, file.status.device == clonedDevice else { return false }
        return options.attributes.contains(.holes) || file.status.allocated >= file.size
    }

    /// An exchange makes every directory anew, one block each.
    private var copiedDirectories: Int {
        options.exchanges ? recorded?.summary.directories ?? 0 : 0
    }

    /// What is missing; zero where there is nothing to do.
    var shortage: Shortage {
        guard plan.summary.actions > 0 else { return Shortage(bytes: 0, inodes: 0) }
        return need.shortage(info)
    }

    private func capacityRefusals() -> [Refusal] {
        guard plan.summary.actions > 0 else { return [] }
        var found: [Refusal] = []
        func refuse(_ reason: String) { found.append(Refusal(reason)) }
        if let capabilities, !options.allowsWeakCommit {
            found.append(
                Refusal(
                    "the target's file system, \(capabilities.name), cannot keep the promise of all or nothing; it lacks "
                        + capabilities.lacks.joined(separator: ", "),
                    option: "--weak-commit"))
        }
        if info.isReadOnly { refuse("the target's file system is mounted read-only") }
        guard givingWay == nil else { return found }
        if need.bytes > info.availableBytes {
            let held =
                heldBytes > 0
                ? "; its history holds \(Amount.bytes(heldBytes)), which snapshot prune --keep-last 0 frees"
                : ""
            let (needed, free) = Amount.bytes(need.bytes, over: info.availableBytes)
            var refusal = Refusal("\(needed) are needed and \(free) are free in the target\(held)")
            refusal.bytes = Refusal.Room(needed: need.bytes, free: info.availableBytes)
            found.append(refusal)
        }
        if let inodes = info.availableInodes, need.inodes > inodes {
            refuse("\(need.inodes) inodes are needed and \(inodes) are free in the target")
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
