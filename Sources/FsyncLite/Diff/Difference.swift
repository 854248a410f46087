import FileStorage
import FileSystem

/// What makes the target a mirror of the source, object by object: a pure value.
package struct Difference: Sendable {
    /// Objects of the target that stay, with what changes on them.
    package var matches: [Match] = []
    /// Entries of the source that need a new object, in scan order.
    package var created: [(file: File, isDrift: Bool)] = []
    /// Entries of the target that go, in scan order.
    package var deleted: [(file: File, isDrift: Bool)] = []
    /// Paths that the manifest has and the target has not.
    package var forgotten: [RelativePath] = []
    /// What somebody changed in the target since the last apply.
    package private(set) var drift: [Drift] = []
    /// The same of what takes no part.
    private var restingDrift: [Drift] = []
    /// Entries of the manifest that filters leave out from now on, as they stand in the target.
    package var uncovered: [TreeMerge.Uncovered] = []
    /// The manifest has entries that take no part.
    package private(set) var hasUncovered = false
    /// Entries of the target that took no part so far, where they are now.
    package var wereUncovered: Set<RelativePath> = []
    /// What the source does not have and that stays without taking part: directories for what they hold, and what a
    /// directory takes along to where it is excluded.
    package var staying: Set<RelativePath> = []
    package private(set) var targetTimes = TargetTimes()
    /// What it was compared by.
    package private(set) var policy = ComparisonPolicy()
    package var sourceCount = 0
    package var targetCount = 0
    /// What would have to make way for an entry of the source and is excluded, or holds what is.
    package private(set) var collisions: [RelativePath] = []
    private var withExcluded: Set<RelativePath> = []
    /// Directories that would go and hold what is excluded.
    package private(set) var kept: [RelativePath] = []
    /// Of the entries that need a new object: what has its object already, under another name.
    package var links: [RelativePath: Link] = [:]
    var census = HardLinkIndex()
    /// Entries that go and of whose extended attributes nothing tells, with what is recorded of them.
    private var unexamined: [RelativePath: BaseEntry?] = [:]
    /// Without it only what other names of a file would suffer is prevented.
    var mirrorsLinks = true
    var linkLimit: UInt32?

    /// A new name of a file that has several.
    package enum Link: Hashable, Sendable {
        /// Of a file that is staged, at the path that it gets.
        case staged(RelativePath)
        /// Of one that the target keeps, as it is there now.
        case kept(File)
    }

    /// Nothing to do.
    package init() {}

    /// Makes matches of arrivals and departures that are one object, then of what is left at the same path.
    ///
    /// - Throws: `SyncError` when a directory was moved *and* cannot be read: whether what the target has
    ///   below it should go nobody can tell.
    package init(matching merge: TreeMerge) throws {
        let policy = merge.policy
        matches = merge.matches
        forgotten = merge.forgotten
        (drift, restingDrift) = (merge.drift, merge.restingDrift)
        (uncovered, hasUncovered) = (merge.uncovered, merge.hasUncovered)
        for (file, record, isSeen) in uncovered
        where isSeen && !policy.vouches(for: record, in: file.status) {
            unexamined[file.path] = .some(record)
        }
        targetTimes = merge.targetTimes
        self.policy = policy
        sourceCount = merge.sourceCount
        targetCount = merge.targetCount
        census = merge.census
        mirrorsLinks = policy.attributes.contains(.hardLinks)
        linkLimit = policy.linkLimit

        var byIdentity: [FileIdentity: [Int]] = [:]
        byIdentity.reserveCapacity(merge.departures.count)
        for (index, departure) in merge.departures.enumerated() {
            guard policy.followsIdentity, let record = departure.record, record.status.created != nil,
                departure.file.isDirectory || !record.differs(from: departure.file.status)
            else { continue }
            byIdentity[record.status.identity, default: []].append(index)
        }

        var isTaken = [Bool](repeating: false, count: merge.departures.count)
        // What keeps its name in a directory that moved goes along with it. This comes first: another name of the same
        // file must not take its place, or a recovery could not tell the two.
        lazy var byPath = Difference.departuresByPath(merge)
        let hasLinks = merge.arrivals.contains { !$0.file.isDirectory && $0.file.linkCount > 1 }
        let carried = hasLinks ? Difference.carried(merge, byIdentity, byPath) : [:]
        for index in carried.values { isTaken[index] = true }
        var unmatched: [(file: File, record: BaseEntry?, isListed: Bool)] = []
        for arrival in merge.arrivals {
            if let index = carried[arrival.file.path] {
                add(arrival.file, merge.departures[index], [.renamed], policy)
                continue
            }
            let candidates = byIdentity[arrival.file.identity] ?? []
            let name = arrival.file.path.lastComponent
            let fitting = candidates.filter {
                !isTaken[$0] && Difference.isSameObject(arrival.file, merge.departures[$0].file)
            }
            guard
                let index = fitting.first(where: { merge.departures[$0].file.path.lastComponent == name })
                    ?? fitting.first
            else {
                unmatched.append(arrival)
                continue
            }
            guard arrival.isListed else {
                throw SyncError(
                    .failed, path: arrival.file.path.bytes,
                    "this directory was renamed in the source and cannot be read; make it readable first")
            }
            isTaken[index] = true
            add(arrival.file, merge.departures[index], [.renamed], policy)
        }

        for arrival in unmatched {
            if let index = byPath[arrival.file.path], !isTaken[index],
                merge.departures[index].file.status.type == arrival.file.status.type
            {
                isTaken[index] = true
                add(arrival.file, merge.departures[index], [], policy)
            } else {
                let isDrift = arrival.record?.status.identity == arrival.file.identity
                created.append((arrival.file, isDrift))
            }
        }
        wereUncovered = merge.resting
        func wasUncovered(_ file: File, _ record: BaseEntry?) -> Bool {
            // A record of something else tells nothing of what somebody put in its place.
            if let record, record.isUncovered || record.status.type == file.status.type {
                return record.isUncovered
            }
            return policy.mayHaveBeenExcluded(file.path, file.status.type)
        }
        for match in matches where wasUncovered(match.target, match.record) {
            wereUncovered.insert(match.target.path)
        }
        noteUnrecordedBelowUncovered()
        for (index, departure) in merge.departures.enumerated()
        where !isTaken[index] {
            var file = departure.file
            // The history's record has them, too.
            if let record = departure.record, policy.vouches(for: record, in: file.status) {
                (file.extended, file.digest) = (record.extended, record.digest)
                if policy.alwaysInspects { unexamined[file.path] = .some(record) }
            } else {
                unexamined[file.path] = .some(departure.record)
            }
            let isUncovered = wasUncovered(file, departure.record)
            if isUncovered || file.path.parent.map(wereUncovered.contains) ?? false {
                wereUncovered.insert(file.path)
            }
            deleted.append((file, policy.trust != nil && departure.record == nil && !isUncovered))
        }
        noteUnrecordedBelowUncovered()
        matches.sort { $0.source < $1.source }
        leaveDisplaced()
        collisions = merge.collisions
        withExcluded = merge.withExcluded
        keepDirectories()
        joinLinks()
    }

    /// Nothing takes part whose directory does not.
    private mutating func noteUnrecordedBelowUncovered() {
        guard !wereUncovered.isEmpty else { return }
        for match in matches where match.record == nil && match.target.path.isBelow(anyOf: wereUncovered) {
            wereUncovered.insert(match.target.path)
        }
    }

    /// What the history holds and no entry turned out to be stays there, unless its directory leaves.
    private mutating func leaveDisplaced() {
        let leaving = Set(matches.lazy.map(\.target).filter { $0.isDirectory && $0.path.isInState }.map(\.path))
        deleted.removeAll { $0.file.path.isInState && !$0.file.path.isBelow(anyOf: leaving) }
    }

    private static func departuresByPath(_ merge: TreeMerge) -> [RelativePath: Int] {
        var indices: [RelativePath: Int] = [:]
        indices.reserveCapacity(merge.departures.count)
        for (index, departure) in merge.departures.enumerated() { indices[departure.file.path] = index }
        return indices
    }

    /// The departures of files whose directory moved and that kept their name in it, by where they arrive.
    private static func carried(
        _ merge: TreeMerge, _ byIdentity: [FileIdentity: [Int]], _ byPath: [RelativePath: Int]
    ) -> [RelativePath: Int] {
        var oldDirectories: [RelativePath: RelativePath] = [:]
        var carried: [RelativePath: Int] = [:]
        for (arrival, _, _) in merge.arrivals {
            let candidates = byIdentity[arrival.identity] ?? []
            if arrival.isDirectory {
                if candidates.count == 1 {
                    oldDirectories[arrival.path] = merge.departures[candidates[0]].file.path
                }
            } else if arrival.linkCount > 1, let parent = arrival.path.parent,
                let old = oldDirectories[parent],
                let name = arrival.path.fileName, let index = byPath[old.appending(name)],
                candidates.contains(index), isSameObject(arrival, merge.departures[index].file)
            {
                carried[arrival.path] = index
            }
        }
        return carried
    }

    /// These directories and those that hold them, as far as they stay where they are: what lies in one that moves goes
    /// along with it.
    func withAllAbove(_ paths: some Sequence<RelativePath>) -> Set<RelativePath> {
        let moving = Set(matches.lazy.filter { $0.isRenamed && $0.source.isDirectory }.map(\.target.path))
        var directories: Set<RelativePath> = []
        for path in paths {
            var above: RelativePath? = path
            while let directory = above, !directory.isRoot, !moving.contains(directory),
                directories.insert(directory).inserted
            {
                above = directory.parent
            }
        }
        return directories
    }

    /// Directories that hold, at some depth, what is excluded stay, unless something else takes their place: then all
    /// of it is refused.
    private mutating func keepDirectories() {
        guard !withExcluded.isEmpty else { return }
        let directories = withAllAbove(withExcluded)
        let going = deleted.lazy.map(\.file.path).filter { directories.contains($0) }
        guard !going.isEmpty else { return }
        let arriving = Set(created.map(\.file.path)).union(matches.map(\.source.path))
        let moves = MoveMap(self)
        func isTaken(_ path: RelativePath) -> Bool { arriving.contains(moves.carriedPath(of: path)) }
        kept += going.filter { !isTaken($0) }
        collisions += going.filter(isTaken)
        keepDeleted { directories.contains($0.path) }
    }

    private mutating func add(
        _ source: File, _ departure: (file: File, record: BaseEntry?), _ causes: Causes,
        _ policy: ComparisonPolicy
    ) {
        var match = Match(source: source, target: departure.file, record: departure.record)
        match.isMislinked = !census.admit(
            source.status, departure.file.status, at: departure.file.path, as: departure.record)
        policy.compare(&match)
        match.causes.formUnion(causes)
        matches.append(match)
    }

    /// A symlink cannot be edited in place, nor a device: another payload is another object.
    private static func isSameObject(_ source: File, _ target: File) -> Bool {
        source.status.type == target.status.type && (source.isFile || source.kind == target.kind)
    }

    /// Decides what is suspect.
    ///
    /// - Parameters:
    ///   - inspect: looks up the extended attributes of source and target.
    ///   - lookUp: looks up those of an entry of the target.
    ///   - haveSameContent: reads both files.
    package mutating func settle(
        inspect: (Match) throws -> (source: ExtendedAttributes, target: ExtendedAttributes),
        lookUp: (File) throws -> ExtendedAttributes,
        haveSameContent: (Match) throws -> Bool
    ) rethrows {
        try settleExtended(lookUp)
        // Other names of files that have been compared.
        var same: Set<[LinkedFile]> = []
        for index in matches.indices {
            if matches[index].needsInspection {
                matches[index].needsInspection = false
                (matches[index].source.extended, matches[index].target.extended) = try inspect(matches[index])
                matches[index].compareExtended()
                matches[index].noteDrift()
                if let record = matches[index].record { noteDrift(of: matches[index].target, record) }
            }
            guard matches[index].needsContentComparison else { continue }
            matches[index].needsContentComparison = false
            let files = [LinkedFile(matches[index].source.status), LinkedFile(matches[index].target.status)]
            if try same.contains(files) || haveSameContent(matches[index]) {
                if matches[index].source.linkCount > 1 { same.insert(files) }
                continue
            }
            matches[index].replacesContent = true
            matches[index].causes.insert(.content)
            matches[index].source.digest = nil
        }
        joinLinks()
    }

    /// Looks up the extended attributes of what goes, or stays without being compared.
    private mutating func settleExtended(_ lookUp: (File) throws -> ExtendedAttributes) rethrows {
        guard !unexamined.isEmpty, !policy.attributes.extended.isEmpty else { return }
        for index in deleted.indices {
            if let found = try extended(of: deleted[index].file, lookUp) {
                deleted[index].file.extended = found
            }
        }
        for index in matches.indices {
            guard let found = try extended(of: matches[index].target, lookUp) else { continue }
            (matches[index].source.extended, matches[index].target.extended) = (found, found)
        }
        for index in uncovered.indices {
            if let found = try extended(of: uncovered[index].file, lookUp) {
                uncovered[index].file.extended = found
            }
        }
        unexamined = [:]
    }

    /// The extended attributes of an entry of the target that nobody compares; nil where they are known.
    private mutating func extended(
        of file: File, _ lookUp: (File) throws -> ExtendedAttributes
    ) rethrows -> ExtendedAttributes? {
        guard let record = unexamined[file.path] else { return nil }
        var found = file
        found.extended = try lookUp(file)
        if let record { noteDrift(of: found, record) }
        return found.extended
    }

    /// Notes that extended attributes are not as they were left, where nothing else told of a change.
    private mutating func noteDrift(of found: File, _ record: BaseEntry) {
        guard !policy.alwaysInspects, !found.path.isInState, !record.differs(from: found.status),
            record.extended != found.extended
        else { return }
        let recorded = File(
            path: found.path, status: record.status, destination: found.destination,
            extended: record.extended, omitted: record.omitted, digest: record.digest)
        drift.append(Drift(recorded: recorded, record, found: found))
    }

    /// What somebody changed in what takes no part and goes to the history: the manifest tells of it no more.
    var driftOfDisplaced: [Drift] {
        guard !restingDrift.isEmpty else { return [] }
        let displaced = Set(deleted.lazy.map(\.file.path))
            .union(matches.lazy.filter(\.replacesContent).map(\.target.path))
        return restingDrift.filter { $0.found.map { displaced.contains($0.path) } ?? false }
    }

    /// The manifest gets or loses entries, or tells something else of one, although nothing may be done.
    var changesCoverage: Bool {
        !forgotten.isEmpty || !uncovered.isEmpty || matches.contains { $0.changesRecord || isUncovering($0) }
    }

    /// The entry takes no part in the earlier tree, and does now.
    func isUncovering(_ match: Match) -> Bool {
        let path = match.source.path
        return match.record != nil && policy.uncovering.contains(path) || staying.contains(path)
    }

    /// Leaves out entries of the source that turned out not to be had: what the target has in their place
    /// stays, under the new path where it was renamed.
    package mutating func omit(_ paths: [RelativePath]) {
        guard !paths.isEmpty else { return }
        let omitted = Set(paths)
        let moves = MoveMap(self)
        let missing = omitted.intersection(created.map(\.file.path))
        created.removeAll { missing.contains($0.file.path) }
        // They are no entries of the mirror that stay as they are.
        sourceCount -= missing.count
        // What stands at the path may be about to move, or its directory: then nothing of it is kept here.
        let kept = missing.intersection(deleted.map(\.file.path))
            .filter { moves.newPath(of: $0.parent) == $0.parent }
        if !kept.isEmpty {
            deleted.removeAll { kept.contains($0.file.path) || $0.file.path.isBelow(anyOf: kept) }
        }
        for index in matches.indices where omitted.contains(matches[index].source.path) {
            matches[index].keepTarget()
        }
        joinLinks()
    }

    /// Makes new objects instead of moving those of the target, and all that moves into or along with their directories.
    mutating func copy(insteadOfMoving paths: Set<RelativePath>) {
        let sources = Set(matches.lazy.filter { paths.contains($0.target.path) }.map(\.source.path))
        let isCopied = { (path: RelativePath) in sources.contains(path) || path.isBelow(anyOf: sources) }
        for match in matches where isCopied(match.source.path) {
            var (source, target) = (match.source, match.target)
            source.omitted = []
            if let record = match.record {
                source.extended = record.extended
                target.extended = record.extended
            }
            created.append((source, false))
            deleted.append((target, false))
        }
        matches.removeAll { isCopied($0.source.path) }
        created.sort { $0.file < $1.file }
        deleted.sort { $0.file < $1.file }
        keepDirectories()
        joinLinks()
    }

    /// Leaves only new content for some objects of the target, by inode.
    ///
    /// - Returns: the paths of all else that would have changed, and has not been seen to.
    mutating func restrict(to inodes: Set<UInt64>) -> [RelativePath] {
        let dropped = matches.filter {
            !$0.isUnchanged
                && ($0.isRenamed || !$0.causes.contains(.content) || !inodes.contains($0.target.status.inode))
        }
        let paths =
            dropped.flatMap { [$0.source.path, $0.target.path] } + created.map(\.file.path)
            + deleted.map(\.file.path)
        let isDropped = Set(dropped.map(\.target.path))
        matches.removeAll { isDropped.contains($0.target.path) }
        (created, deleted, forgotten, uncovered) = ([], [], [], [])
        joinLinks()
        return paths
    }

    /// Deletes nothing, but for what stands in the way of a new entry. What stays goes along with its
    /// directory, and the manifest keeps it.
    ///
    /// - Returns: what stays, where it will be.
    @discardableResult
    package mutating func keepDeleted(_ isKept: (File) -> Bool = { _ in true }) -> [File] {
        let taken = Set(created.map(\.file.path)).union(matches.map(\.source.path))
        var going: Set<RelativePath> = []
        var stay: [Match] = []
        var newPaths: [RelativePath: RelativePath] = [:]
        let moves = MoveMap(self)
        // Files that keep names of the mirror.
        var named: [UInt64: Int] = [:]
        for index in matches.indices where !matches[index].replacesContent && matches[index].target.isMultiplyLinked
        {
            named[matches[index].target.status.inode] = index
        }
        for (file, _) in deleted {
            let parent = file.path.parent ?? .root
            let newParent = newPaths[parent] ?? moves.newPath(of: parent)
            guard isKept(file), let name = file.path.fileName, let newParent, !going.contains(parent),
                !taken.contains(newParent.appending(name))
            else {
                going.insert(file.path)
                continue
            }
            newPaths[file.path] = newParent.appending(name)
            var source = file.moved(to: newParent.appending(name))
            if file.isMultiplyLinked, let index = named[file.status.inode] {
                // The source has fewer names of it than the target.
                var status = matches[index].source.status
                status.links = max(status.links, 2)
                matches[index].source = matches[index].source.with(status)
                var own = source.status
                (own.inode, own.created, own.changed, own.links) =
                    (status.inode, status.created, status.changed, status.links)
                source = source.with(own)
            }
            stay.append(Match(source: source, target: file))
        }
        deleted.removeAll { !going.contains($0.file.path) }
        matches.append(contentsOf: stay)
        matches.sort { $0.source < $1.source }
        joinLinks()
        return stay.map(\.source)
    }
}
