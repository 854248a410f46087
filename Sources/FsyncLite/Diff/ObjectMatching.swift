import FileStorage
import FileSystem

/// Pairs entries of the source with objects of the target: by identity first, then by path and type. If only the file
/// at the path has the content, the path comes first.
struct ObjectMatching {
    private let policy: ComparisonPolicy
    private var departures: ChangeList
    /// Departures by the source inode in their base.
    private var byInode: [Inode] = []
    /// Departures in the order of their paths.
    private lazy var byPath: [UInt32] = departures.indices.map { UInt32($0) }.sorted {
        departures.order(Int($0), comparedTo: Int($1)) < 0
    }
    /// Departures of files with more than a few names, by inode.
    private var names: [UInt64: Names] = [:]
    private static let fewNames = 16
    private var carried: [RelativePath: Int] = [:]
    /// The bases of objects that were moved by hand, by the departure at their present path.
    private let movedBases: [Int: BaseEntry]
    private var isMatched: [Bool]
    /// The present paths of directories that move, by new path.
    private var movedDirectories: [RelativePath: RelativePath] = [:]
    /// Arriving directories that could not be listed.
    private let unlisted: Set<RelativePath>

    /// A departure, in twelve bytes.
    private struct Inode {
        private let high, low: UInt32
        let index: UInt32

        init(_ inode: UInt64, of index: Int) {
            (high, low) = (UInt32(inode >> 32), UInt32(truncatingIfNeeded: inode))
            self.index = UInt32(index)
        }

        var value: UInt64 { UInt64(high) << 32 | UInt64(low) }
    }

    private typealias Object = (index: Int, departure: TreeMerge.Departure)

    /// The departures of one source inode.
    private struct Names {
        let byName: [[UInt8]: [Int]]
        /// All before this position in `byInode` are matched.
        var firstUnmatched: Int
    }

    /// Takes the departures out of a merge.
    init(_ merge: inout TreeMerge, _ arrivals: ChangeList) {
        (policy, unlisted) = (merge.policy, merge.unlistedArrivals)
        let strays = ObjectMatching.strays(merge)
        movedBases = ObjectMatching.movedBases(merge, strays)
        departures = merge.departures.take()
        isMatched = [Bool](repeating: false, count: departures.count)
        byInode.reserveCapacity(policy.followsIdentity ? departures.count : 0)
        for index in departures.indices {
            let departure = departures[departure: index]
            guard policy.followsIdentity, let base = departure.base, policy.key(of: base).created != nil,
                // The recorded object was replaced, and is at another path.
                departure.file.status.inode == base.known.targetInode
                    || strays[base.known.targetInode] == nil,
                departure.file.isDirectory || policy.followsEdited(departure.file.path)
                    || !base.differs(from: departure.file.status)
            else { continue }
            byInode.append(Inode(policy.key(of: base).inode, of: index))
        }
        byInode.sort { ($0.value, $0.index) < ($1.value, $1.index) }
        carried = carriedDepartures(arrivals)
        for index in carried.values { isMatched[index] = true }
    }

    /// Passes the departures without a match. The list is freed meanwhile.
    mutating func drainUnmatched(_ body: (TreeMerge.Departure) -> Void) {
        byInode = []
        departures.removeElements(at: { index, _ in isMatched[index] })
        departures.drain { _, departure in body(departure.departure) }
    }

    /// The departure with the identity of this entry.
    ///
    /// - Throws: `SyncError` for a directory that cannot be read.
    mutating func moved(_ arrival: File) throws -> TreeMerge.Departure? {
        if !carried.isEmpty, let index = carried[arrival.path] { return departures[departure: index] }
        if !movedBases.isEmpty, let index = departure(at: arrival.path), !isMatched[index],
            let base = movedBases[index], policy.key(of: base) == policy.key(of: arrival)
        {
            isMatched[index] = true
            return (departures[file: index], base)
        }
        guard let moved = object(of: arrival) else { return nil }
        let object = restored(arrival, insteadOf: moved.departure.file) ?? moved
        guard !unlisted.contains(arrival.path) else {
            throw SyncError(
                .failed, path: arrival.path.bytes,
                "this directory was renamed in the source and cannot be read; make it readable first")
        }
        isMatched[object.index] = true
        if arrival.isDirectory, object.departure.file.path != arrival.path {
            movedDirectories[arrival.path] = object.departure.file.path
        }
        return object.departure
    }

    /// The departure at the file's own path, if it has the file's size and time and the file's object has others. Two
    /// files were swapped, and each path got its content back.
    private mutating func restored(_ file: File, insteadOf moved: File) -> Object? {
        func hasContent(_ found: File) -> Bool { file.status.equals(found.status, in: .content) }
        guard file.isFile, file.linkCount == 1, !policy.pairsByNumber, !hasContent(moved),
            let index = departure(at: file.path), !isMatched[index]
        else { return nil }
        let departure = departures[departure: index]
        return departure.file.isFile && hasContent(departure.file) ? (index, departure) : nil
    }

    /// The untaken departure that is the object of this entry: one with the same name, or the first.
    private mutating func object(of file: File) -> Object? {
        let name = file.path.lastComponent
        let positions = positions(of: policy.key(of: file).inode)
        guard positions.count <= ObjectMatching.fewNames else {
            return object(of: file, named: name, in: positions)
        }
        let candidates = positions.map { Int(byInode[$0].index) }
        let objects = candidates.compactMap { unmatched($0, of: file) }
        return objects.first { $0.departure.file.path.lastComponent == name } ?? objects.first
    }

    /// The same for a file of many names, without a look at each of them.
    private mutating func object(
        of file: File, named name: ArraySlice<UInt8>, in positions: Range<Int>
    ) -> Object? {
        let inode = policy.key(of: file).inode
        if names[inode] == nil {
            let indices = positions.map { Int(byInode[$0].index) }
            let byName = Dictionary(grouping: indices) { Array(departures.path(at: $0).lastComponent) }
            names[inode] = Names(byName: byName, firstUnmatched: positions.lowerBound)
        }
        for index in names[inode]?.byName[Array(name)] ?? [] {
            if let object = unmatched(index, of: file) { return object }
        }
        let first = names[inode]?.firstUnmatched ?? positions.lowerBound
        let rest = byInode[first..<positions.upperBound].drop { isMatched[Int($0.index)] }
        names[inode]?.firstUnmatched = rest.startIndex
        for inode in rest {
            if let object = unmatched(Int(inode.index), of: file) { return object }
        }
        return nil
    }

    private func unmatched(_ index: Int, of file: File) -> Object? {
        guard !isMatched[index] else { return nil }
        return object(index, of: file).map { (index, $0) }
    }

    /// The departure of the same type that a moving directory brings to the path of this entry, or the one that is there.
    /// Editors replace the files that they save, and tools make directories anew. Asked in the order of paths.
    mutating func atPath(of file: File) -> TreeMerge.Departure? {
        for path in [brought(to: file), file.path].compactMap(\.self) {
            guard let index = departure(at: path), !isMatched[index] else { continue }
            let departure = departures[departure: index]
            guard departure.file.status.type == file.status.type else { continue }
            isMatched[index] = true
            if file.isDirectory, path != file.path { movedDirectories[file.path] = path }
            return departure
        }
        return nil
    }

    /// The present path of the entry that a moving directory brings to the path of this one; nil if there is none.
    private func brought(to file: File) -> RelativePath? {
        // In an earlier tree, another number is another object.
        guard !policy.pairsByNumber || policy.targetIsBase, let parent = file.path.parent,
            let name = file.path.fileName
        else { return nil }
        return movedDirectories[parent]?.appending(name)
    }

    /// If the source is an earlier tree: departures that are not the recorded object, by their inode.
    private static func strays(_ merge: TreeMerge) -> [UInt64: Int] {
        guard merge.policy.pairsByNumber else { return [:] }
        var strays: [UInt64: Int] = [:]
        for (index, (file, base)) in merge.departures.lazy.map(\.departure).enumerated()
        where file.status.inode != base?.known.targetInode && !file.path.isInState {
            strays[file.status.inode] = index
        }
        return strays
    }

    /// The bases of strays that are the recorded object of another path, unchanged.
    private static func movedBases(_ merge: TreeMerge, _ strays: [UInt64: Int]) -> [Int: BaseEntry] {
        guard !strays.isEmpty else { return [:] }
        var bases: [Int: BaseEntry] = [:]
        for base in merge.findings.missing + merge.departures.compactMap(\.departure.base) {
            guard let index = strays[base.known.targetInode] else { continue }
            let status = merge.departures[file: index].status
            if status.type == FileType.directory
                ? base.status.type == .directory : base.known.isIntact(in: status)
            {
                bases[index] = base
            }
        }
        return bases
    }

    /// Symlinks and devices cannot be edited in place: another payload is another object.
    static func isSameObject(_ source: File, _ target: File) -> Bool {
        source.status.type == target.status.type && (source.isFile || source.kind == target.kind)
    }

    /// The range of `byInode` with the departures whose base has this source inode, in order.
    private func positions(of inode: UInt64) -> Range<Int> {
        let first = byInode.partitionPoint(where: { $0.value < inode })
        return first..<byInode[first...].partitionPoint(where: { $0.value == inode })
    }

    /// A departure, if its base has the identity of this entry and both are of one kind.
    private func object(_ index: Int, of file: File) -> TreeMerge.Departure? {
        let identity = policy.key(of: file)
        let position = byInode.partitionPoint(where: {
            ($0.value, Int($0.index)) < (identity.inode, index)
        })
        guard position < byInode.count, byInode[position].value == identity.inode,
            byInode[position].index == index
        else { return nil }
        let departure = departures[departure: index]
        guard departure.base.map(policy.key) == identity,
            policy.mayBeSame(file.path, departure.file.path),
            ObjectMatching.isSameObject(file, departure.file)
        else { return nil }
        return departure
    }

    private mutating func departure(at path: RelativePath) -> Int? {
        let sorted = byPath
        let position = sorted.partitionPoint(where: { departures.order(Int($0), comparedTo: path) < 0 })
        guard position < sorted.count, departures.order(Int(sorted[position]), comparedTo: path) == 0 else {
            return nil
        }
        return Int(sorted[position])
    }

    /// The departures of files that keep their name in a moved directory, by new path. They are matched first. If
    /// another name of such a file were paired with one, a recovery could not distinguish the two.
    private mutating func carriedDepartures(
        _ arrivals: ChangeList
    ) -> [RelativePath: Int] {
        guard arrivals.heads.contains(where: { $0.hasOtherNames }) else { return [:] }
        var oldDirectories: [RelativePath: RelativePath] = [:]
        var carried: [RelativePath: Int] = [:]
        for arrival in arrivals.lazy.map(\.file) {
            if arrival.isDirectory {
                let found = positions(of: policy.key(of: arrival).inode)
                    .compactMap { object(Int(byInode[$0].index), of: arrival) }
                if found.count == 1 { oldDirectories[arrival.path] = found[0].file.path }
            } else if arrival.linkCount > 1, let parent = arrival.path.parent,
                let old = oldDirectories[parent], let name = arrival.path.fileName,
                let index = departure(at: old.appending(name)),
                object(index, of: arrival) != nil
            {
                carried[arrival.path] = index
            }
        }
        return carried
    }
}
