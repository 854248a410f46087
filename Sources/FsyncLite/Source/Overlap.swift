import FileSystem

/// Whether one of source and target lies inside the other.
enum Overlap {
    /// A directory of the source.
    struct Place: Sendable {
        /// nil for an only one.
        let name: String?
        /// The directory and those above it, up to the top.
        let chain: [FileStatus]
    }

    private struct Object: Hashable {
        let inode: UInt64
        let device: DeviceNumber

        init(_ status: FileStatus) { (inode, device) = (status.inode, status.device) }
    }

    /// None of sources and target may be inside another. This compares the directories up to the top, so neither a
    /// symlink nor a second mount hides it.
    ///
    /// - Parameters:
    ///   - target: its root, or the nearest directory above that exists.
    ///   - isThere: its root exists.
    static func found(
        between source: Directory, and target: Directory, isThere: Bool
    ) throws -> [String] {
        found(between: try places(of: source), and: try chain(from: target), isThere: isThere)
    }

    /// - Parameters:
    ///   - sources: in the order of their names.
    ///   - target: the chain of the target; empty where it is of another machine.
    static func found(between sources: [Place], and target: [FileStatus], isThere: Bool) -> [String] {
        var found: [String] = []
        // The last name of each directory: chains are as long as another machine says.
        let roots = Dictionary(
            sources.enumerated().compactMap { index, source in source.chain.first.map { (Object($0), index) }
            },
            uniquingKeysWith: { _, last in last })
        for (index, source) in sources.enumerated() {
            let title = ManifestHeader.Source.title(source.name)
            if let root = target.first, let own = source.chain.first {
                if isThere, own.isSameObject(as: root) {
                    found.append("\(title) and the target are the same directory")
                } else if isThere, source.chain.contains(where: { $0.isSameObject(as: root) }) {
                    found.append("\(title) lies inside the target")
                } else if target.contains(where: { $0.isSameObject(as: own) }) {
                    found.append("the target lies inside \(title)")
                }
            }
            // One other is enough to refuse it, and of two names of one directory one.
            let outer = source.chain.lazy.compactMap { roots[Object($0)] }.first { $0 != index }
            if let outer {
                found.append(
                    "\(title) lies inside \(ManifestHeader.Source.title(sources[outer].name)), or is the same"
                )
            }
        }
        return found
    }

    /// The directories of a source.
    static func places(of source: Directory) throws -> [Place] {
        guard source.isJoined else { return [Place(name: nil, chain: try chain(from: source))] }
        return try source.parts.sorted { $0.key < $1.key }.map {
            Place(name: $0.key.description, chain: try chain(from: $0.value))
        }
    }

    /// A directory and those above it, up to the top.
    static func chain(from directory: Directory) throws -> [FileStatus] {
        var (current, chain) = (directory, [try directory.trueStatus()])
        while true {
            let parent = try current.parent()
            let above = try parent.trueStatus()
            if above.isSameObject(as: chain[chain.count - 1]) { return chain }
            chain.append(above)
            current = parent
        }
    }
}
