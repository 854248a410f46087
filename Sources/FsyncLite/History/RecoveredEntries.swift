import FileSystem

/// The manifest of a target with entries that it lost when filters became narrower: to go back is to cover them again,
/// as far as they are as they were.
final class RecoveredEntries: EntryStream {
    private let manifest: ManifestReader
    private let recovered: [EarlierTree.Recovered]
    private var next = 0
    private var hasManifest: Bool?
    /// The entry that the stream is on; nil for the manifest's.
    private var current: EarlierTree.Recovered?

    /// - Parameter recovered: sorted, of paths that the manifest does not have.
    init(_ manifest: ManifestReader, _ recovered: [EarlierTree.Recovered]) {
        (self.manifest, self.recovered) = (manifest, recovered)
    }

    func advance() throws -> Bool {
        if current == nil { hasManifest = try manifest.advance() }
        let hasManifest = hasManifest ?? false
        current = nil
        guard next < recovered.count, !hasManifest || recovered[next].file.path < manifest.path else {
            return hasManifest
        }
        current = recovered[next]
        next += 1
        return true
    }

    var path: RelativePath { current?.file.path ?? manifest.path }
    var status: FileStatus { current?.file.status ?? manifest.status }
    var destination: [UInt8] { current?.file.destination ?? manifest.destination }
    var extended: ExtendedAttributes { current?.file.extended ?? manifest.extended }
    var omitted: Omissions { current?.file.omitted ?? manifest.omitted }
    var targetInode: UInt64 { current?.targetInode ?? manifest.targetInode }
    var targetChanged: FileTime? { current == nil ? manifest.targetChanged : nil }
    var marks: EntryMarks { current == nil ? manifest.marks : [] }
    var digest: Digest? { current.map { $0.file.digest } ?? manifest.digest }
}

extension Difference {
    /// Leaves alone what is not as it was when it last took part.
    ///
    /// - Parameter recovered: entries that are to take part again, where their objects stand.
    /// - Returns: what is lost to the earlier tree.
    mutating func settleRecovered(_ recovered: [EarlierTree.Recovered], _ tree: EarlierTree) -> [Problem] {
        guard !recovered.isEmpty else { return [] }
        let places = Set(recovered.map(\.file.path))
        wereUncovered.formUnion(places)
        var lost: Set<RelativePath> = []
        pairs = pairs.compactMap { pair in
            guard places.contains(pair.target.path), let record = pair.record,
                record.differs(from: pair.target.status)
            else { return pair }
            lost.insert(pair.source.path)
            guard pair.source.isDirectory else { return nil }
            // What comes back into it needs it on record, as it is.
            var pair = pair
            pair.source = pair.source.holding(pair.target.status)
            pair.causes.formIntersection([.renamed])
            return pair
        }
        // Of another type by now, or gone.
        let others = Set(deleted.lazy.map(\.file.path).filter(places.contains))
        let missing = Set(
            created.lazy.filter {
                places.contains(tree.place(of: $0.file.path))
                    && (!$0.file.isDirectory || others.contains($0.file.path))
            }.map(\.file.path))
        created.removeAll { missing.contains($0.file.path) || $0.file.path.isBelow(anyOf: missing) }
        pairs.removeAll { $0.source.path.isBelow(anyOf: missing) }
        lost.formUnion(missing)
        if !others.isEmpty {
            deleted.removeAll { others.contains($0.file.path) || $0.file.path.isBelow(anyOf: others) }
        }
        joinLinks()
        return lost.sorted().map {
            Problem(
                path: $0, code: .drift,
                message: "this was changed while no run covered it; it stays as it is")
        }
    }
}
