import FileStorage
import FileSystem

/// Pairs entries of the source with objects of the target: by identity first, then by path and type.
struct ObjectMatching {
    private let merge: TreeMerge
    /// Departures by the source identity in their base.
    private var byIdentity: [FileIdentity: [Int]] = [:]
    private lazy var byPath = departuresByPath
    private lazy var carried = carriedDepartures()
    private var isTaken: [Bool]

    init(_ merge: TreeMerge) {
        self.merge = merge
        isTaken = [Bool](repeating: false, count: merge.departures.count)
        byIdentity.reserveCapacity(merge.departures.count)
        for (index, departure) in merge.departures.enumerated() {
            guard merge.policy.followsIdentity, let base = departure.base, base.status.created != nil,
                departure.file.isDirectory || !base.differs(from: departure.file.status)
            else { continue }
            byIdentity[base.status.identity, default: []].append(index)
        }
        for index in carried.values { isTaken[index] = true }
    }

    /// The departures without a match.
    var untaken: [TreeMerge.Departure] { zip(merge.departures, isTaken).lazy.filter { !$1 }.map(\.0) }

    /// The departure with this entry's identity.
    ///
    /// - Throws: `SyncError` for a directory that cannot be read.
    mutating func moved(_ arrival: TreeMerge.Arrival) throws -> TreeMerge.Departure? {
        if let index = carried[arrival.file.path] { return merge.departures[index] }
        let candidates = (byIdentity[arrival.file.identity] ?? []).filter {
            !isTaken[$0] && ObjectMatching.isSameObject(arrival.file, merge.departures[$0].file)
        }
        let name = arrival.file.path.lastComponent
        guard
            let index = candidates.first(where: { merge.departures[$0].file.path.lastComponent == name })
                ?? candidates.first
        else { return nil }
        guard arrival.isListed else {
            throw SyncError(
                .failed, path: arrival.file.path.bytes,
                "this directory was renamed in the source and cannot be read; make it readable first")
        }
        isTaken[index] = true
        return merge.departures[index]
    }

    /// The departure of the same path and type.
    mutating func standing(at file: File) -> TreeMerge.Departure? {
        guard let index = byPath[file.path], !isTaken[index],
            merge.departures[index].file.status.type == file.status.type
        else { return nil }
        isTaken[index] = true
        return merge.departures[index]
    }

    /// Symlinks and devices cannot be edited in place: another payload is another object.
    private static func isSameObject(_ source: File, _ target: File) -> Bool {
        source.status.type == target.status.type && (source.isFile || source.kind == target.kind)
    }

    private var departuresByPath: [RelativePath: Int] {
        var indices: [RelativePath: Int] = [:]
        indices.reserveCapacity(merge.departures.count)
        for (index, departure) in merge.departures.enumerated() { indices[departure.file.path] = index }
        return indices
    }

    /// The departures of files that keep their name in a moved directory, by new path. They are matched first: if
    /// another name of the same file were paired with one, a recovery could not tell the two apart.
    private mutating func carriedDepartures() -> [RelativePath: Int] {
        guard merge.arrivals.contains(where: { $0.file.isMultiplyLinked }) else { return [:] }
        var oldDirectories: [RelativePath: RelativePath] = [:]
        var carried: [RelativePath: Int] = [:]
        for (arrival, _, _) in merge.arrivals {
            let candidates = byIdentity[arrival.identity] ?? []
            if arrival.isDirectory {
                if candidates.count == 1 {
                    oldDirectories[arrival.path] = merge.departures[candidates[0]].file.path
                }
            } else if arrival.linkCount > 1, let parent = arrival.path.parent,
                let old = oldDirectories[parent], let name = arrival.path.fileName,
                let index = byPath[old.appending(name)], candidates.contains(index),
                ObjectMatching.isSameObject(arrival, merge.departures[index].file)
            {
                carried[arrival.path] = index
            }
        }
        return carried
    }
}
