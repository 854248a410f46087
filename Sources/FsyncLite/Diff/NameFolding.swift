/// Finds names in one directory that the target treats as one name, because it ignores case or Unicode normalization.
/// It stores the names along one chain of directories.
package struct NameFolding: Sendable {
    package struct Kind: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let ofCase = Kind(rawValue: 1)
        package static let ofForms = Kind(rawValue: 2)
        static let none: Kind = []
    }

    private let kind: Kind
    private var levels: [(directory: RelativePath, names: [Key: RelativePath])] = [(.root, [:])]
    private(set) var collisions: [(RelativePath, RelativePath)] = []

    private enum Key: Hashable {
        /// `String` compares by canonical equivalence, as such file systems do.
        case text(String)
        /// Names that are not UTF-8 are compared byte by byte.
        case bytes(ArraySlice<UInt8>)
    }

    /// nil for a target that treats all names as different.
    init?(_ kind: Kind) {
        guard !kind.isEmpty else { return nil }
        self.kind = kind
        admit(RelativePath.root.appending(.state))
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
                key(of: name)
            } else {
                .bytes(path.lastComponent)
            }
        if let other = levels[levels.count - 1].names.updateValue(path, forKey: key) {
            collisions.append((other, path))
        }
    }

    private func key(of name: String) -> Key {
        let name = kind.contains(.ofCase) ? name.foldedName : name
        return kind.contains(.ofForms) ? .text(name) : .bytes(Array(name.utf8)[...])
    }
}
