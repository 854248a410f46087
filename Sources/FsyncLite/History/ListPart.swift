import FileSystem

/// The part of the present list that differs from some older lists. One of them has the entry at another path, or lacks
/// it.
struct ListPart {
    private var walks: [LayerWalk]
    private let moved: Set<RelativePath>
    private(set) var excerpt: ManifestExcerpt

    /// - Parameter layers: lead from the present list to the older ones.
    init(of manifest: ManifestReader, _ layers: ListLayer...) {
        walks = layers.map(LayerWalk.init)
        moved = Set(layers.flatMap(\.movedDirectories.keys))
        excerpt = ManifestExcerpt(of: manifest)
    }

    /// Whether an older list has no entry, or another one, at the next path of the present list.
    mutating func isElsewhere(_ path: RelativePath) -> Bool {
        var isElsewhere = false
        for index in walks.indices where walks[index].isElsewhere(path) { isElsewhere = true }
        return isElsewhere
    }

    /// Takes the present entry, if it is wanted or below a directory that moved.
    ///
    /// - Returns: false if the part becomes too large.
    mutating func take(_ manifest: ManifestReader, isWanted: Bool) throws -> Bool {
        let isBelowMoved = !moved.isEmpty && manifest.path.ancestors.contains(where: moved.contains)
        return try excerpt.take(manifest, isWanted: isWanted || isBelowMoved)
    }

    mutating func end() throws { try excerpt.end() }
}
