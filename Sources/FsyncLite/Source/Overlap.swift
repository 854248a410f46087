import FileSystem

/// Whether one of source and target lies inside the other.
enum Overlap {
    /// None of sources and target may be inside another. This compares the directories up to the top, so neither a
    /// symlink nor a second mount hides it.
    ///
    /// - Parameters:
    ///   - target: its root, or the nearest directory above that exists.
    ///   - isThere: its root exists.
    static func found(
        between source: Directory, and target: Directory, isThere: Bool
    ) throws -> [String] {
        var found: [String] = []
        let parts = source.parts.sorted { $0.key < $1.key }
        let sources: [(name: FileName?, directory: Directory)] =
            source.isJoined ? parts.map { ($0, $1) } : [(nil, source)]
        for (name, directory) in sources {
            let title = ManifestHeader.Source.title(name?.description)
            if isThere, try directory.isSame(as: target) {
                found.append("\(title) and the target are the same directory")
            } else if isThere, try isInside(directory, target) {
                found.append("\(title) lies inside the target")
            } else if try isInside(target, directory) {
                found.append("the target lies inside \(title)")
            }
            for (other, outer) in parts where try other != name && isInside(directory, outer) {
                // Of two names of one directory, one is enough.
                guard let name, try !directory.isSame(as: outer) || name < other else { continue }
                found.append(
                    "\(title) lies inside \(ManifestHeader.Source.title(other.description)), or is the same")
            }
        }
        return found
    }

    /// Whether a directory is another one or inside it.
    private static func isInside(_ directory: Directory, _ other: Directory) throws -> Bool {
        let wanted = try other.trueStatus()
        return try climb(from: directory) { $0.isSameObject(as: wanted) }
    }

    /// A directory and those above it, up to the top.
    static func chain(from directory: Directory) throws -> [FileStatus] {
        var chain: [FileStatus] = []
        _ = try climb(from: directory) { status in
            chain.append(status)
            return false
        }
        return chain
    }

    /// Looks at a directory and those above it, up to the first that is wanted.
    ///
    /// - Returns: false if none is, up to the top.
    private static func climb(from directory: Directory, to isWanted: (FileStatus) -> Bool) throws -> Bool {
        var (current, status) = (directory, try directory.trueStatus())
        while !isWanted(status) {
            let parent = try current.parent()
            let above = try parent.trueStatus()
            if above.isSameObject(as: status) { return false }
            (current, status) = (parent, above)
        }
        return true
    }
}
