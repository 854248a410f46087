/// Finds names of one directory that a target would take for one and the same, because it tells neither case nor
/// Unicode forms apart. Memory holds the names along one chain of directories.
struct NameFolding: Sendable {
    private var levels: [(directory: RelativePath, names: [Key: RelativePath])] = [(.root, [:])]
    private(set) var collisions: [(RelativePath, RelativePath)] = []

    private enum Key: Hashable {
        /// `String` takes composed and decomposed letters for equal, as such a file system does.
        case text(String)
        /// What is no UTF-8 is told apart byte by byte.
        case bytes(ArraySlice<UInt8>)
    }

    /// Takes in an entry; they come in the order of a scan.
    mutating func admit(_ path: RelativePath) {
        let parent = path.parent ?? .root
        while let last = levels.last, last.directory != parent, !parent.isBelow(last.directory) {
            levels.removeLast()
        }
        if levels.last?.directory != parent { levels.append((parent, [:])) }
        let key: Key =
            if let name = String(validating: path.lastComponent, as: UTF8.self) {
                // By way of capitals: ß and SS are one then, as in Unicode's own folding.
                .text(name.uppercased().lowercased())
            } else {
                .bytes(path.lastComponent)
            }
        if let other = levels[levels.count - 1].names.updateValue(path, forKey: key) {
            collisions.append((other, path))
        }
    }
}
