/// Finds names of one directory that are one name to a target that ignores case and Unicode normalization. It holds
/// the names along one chain of directories.
struct NameFolding: Sendable {
    private var levels: [(directory: RelativePath, names: [Key: RelativePath])] = [(.root, [:])]
    private(set) var collisions: [(RelativePath, RelativePath)] = []

    private enum Key: Hashable {
        /// `String` compares by canonical equivalence, as such file systems do.
        case text(String)
        /// Names that are not UTF-8 are compared byte by byte.
        case bytes(ArraySlice<UInt8>)
    }

    /// Adds an entry, in scan order.
    mutating func admit(_ path: RelativePath) {
        let parent = path.parent ?? .root
        while let last = levels.last, last.directory != parent, !parent.isBelow(last.directory) {
            levels.removeLast()
        }
        if levels.last?.directory != parent { levels.append((parent, [:])) }
        let key: Key =
            if let name = String(validating: path.lastComponent, as: UTF8.self) {
                // Uppercase first: that folds ß and SS, as Unicode's full case folding does.
                .text(name.uppercased().lowercased())
            } else {
                .bytes(path.lastComponent)
            }
        if let other = levels[levels.count - 1].names.updateValue(path, forKey: key) {
            collisions.append((other, path))
        }
    }
}
