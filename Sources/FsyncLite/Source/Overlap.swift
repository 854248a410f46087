import FileStorage
import FileSystem

/// Finds out whether the source is inside the target, or the target inside the source.
enum Overlap {
    /// A directory of the source.
    struct Place: Sendable {
        /// nil if there is only one source.
        let name: String?
        /// The directory and its ancestors, up to the top.
        let chain: [FileStatus]
    }

    private struct Object: Hashable {
        let inode: UInt64
        let device: DeviceNumber

        init(_ status: FileStatus) { (inode, device) = (status.inode, status.device) }
    }

    /// The present or future place of the target.
    struct Goal {
        /// Its root, or the nearest ancestor that exists.
        let directory: Directory
        let isThere: Bool
        /// The names below the directory that do not exist yet.
        var missing: [FileName] = []
    }

    /// One directory inside another, with the numbers of sources.
    enum Finding: Equatable {
        case isTarget(Int)
        case inTarget(Int)
        case holdsTarget(Int)
        /// The second source is inside the first one, or is the same.
        case holdsSource(Int, Int)

        func text(_ sources: [Place]) -> String {
            func title(_ index: Int) -> String { ManifestHeader.Source.title(sources[index].name) }
            return switch self {
            case .isTarget(let index): "\(title(index)) and the target are the same directory"
            case .inTarget(let index): "\(title(index)) lies inside the target"
            case .holdsTarget(let index): "the target lies inside \(title(index))"
            case .holdsSource(let outer, let index):
                "\(title(index)) lies inside \(title(outer)), or is the same"
            }
        }
    }

    /// Refuses a source or target inside another one, unless it takes no part there. This compares the directories up
    /// to the top, so neither a symlink nor a second mount hides it.
    static func refusals(of source: Directory, and goal: Goal, _ filters: Filters) throws -> [Refusal] {
        let (places, roots) = (try places(of: source), source.roots)
        let parts = try Parts(source, filters)
        return try found(between: places, and: chain(from: goal.directory), isThere: goal.isThere).compactMap
        {
            let way: WayOut?
            switch $0 {
            case .isTarget, .inTarget: way = WayOut.none
            case .holdsTarget(let index): way = try parts.way(goal.directory, goal.missing, in: index)
            case .holdsSource(let index, let inner): way = try parts.way(roots[inner], [], in: index)
            }
            let text = $0.text(places)
            return way.map { .overlap(text, $0) }
        }
    }

    /// - Parameters:
    ///   - sources: sorted by their names.
    ///   - target: the chain of the target; empty if it is on another machine.
    ///   - isThere: whether its root exists.
    static func found(between sources: [Place], and target: [FileStatus], isThere: Bool) -> [Finding] {
        var found: [Finding] = []
        // A table of the roots, because another machine decides how long the chains are.
        let roots = Dictionary(
            sources.enumerated().compactMap { index, source in source.chain.first.map { (Object($0), index) }
            },
            uniquingKeysWith: { _, last in last })
        for (index, source) in sources.enumerated() {
            if let root = target.first, let own = source.chain.first {
                if isThere, own.isSameObject(as: root) {
                    found.append(.isTarget(index))
                } else if isThere, source.chain.contains(where: { $0.isSameObject(as: root) }) {
                    found.append(.inTarget(index))
                } else if target.contains(where: { $0.isSameObject(as: own) }) {
                    found.append(.holdsTarget(index))
                }
            }
            // One outer source is enough to refuse it. If two names lead to the same directory, one of them is enough.
            let outer = source.chain.lazy.compactMap { roots[Object($0)] }.first { $0 != index }
            if let outer { found.append(.holdsSource(outer, index)) }
        }
        return found
    }

    /// The directories of a source that take part in a run.
    private struct Parts {
        private let source: Directory
        private let filters: Filters
        private let rules: DirectoryRules

        init(_ source: Directory, _ filters: Filters) throws {
            (self.source, self.filters) = (source, filters)
            rules = try DirectoryRules(of: source)
        }

        /// The way to leave out a directory that is inside a source.
        ///
        /// - Parameters:
        ///   - names: the names below it that do not exist yet.
        ///   - index: the number of the source.
        /// - Returns: the option that would leave it out; nil if the filters do so, or if the source does not show it.
        func way(_ inner: Directory, _ names: [FileName], in index: Int) throws -> WayOut? {
            let part = source.isJoined ? [source.parts.keys.sorted()[index]] : []
            guard let above = try Overlap.names(from: source.roots[index], to: inner),
                !(above + names).isEmpty
            else { return WayOut.none }
            let found = (part + above).reduce(RelativePath.root) { $0.appending($1) }
            // A bind mount of the source does not show the mounts inside it.
            if !above.isEmpty,
                try PathResolver(source).status(of: found)?.isSameObject(as: inner.trueStatus()) != true
            {
                return nil
            }
            let path = names.reduce(found) { $0.appending($1) }
            if try isLeftOut(path, by: filters) { return nil }
            var others = filters
            others.excludesOtherFileSystems = true
            if try isLeftOut(path, by: others) { return .adding("--one-file-system") }
            let special = Array("\\*?[".utf8)
            return .adding(
                "--exclude",
                path.bytes.reduce(into: [UInt8(ascii: "/")]) { pattern, byte in
                    if special.contains(byte) { pattern.append(UInt8(ascii: "\\")) }
                    pattern.append(byte)
                })
        }

        private func isLeftOut(_ path: RelativePath, by filters: Filters) throws -> Bool {
            if try filters.decisions(by: rules)(path, .directory, 0).isExcluded { return true }
            // For a mount point, only the content is left out, not the directory.
            return try rules.reader(for: filters).contents(of: path).isOtherFileSystem
        }
    }

    /// The names on the way down; nil if the kernel does not report them, or if there are none.
    static func names(from outer: Directory, to inner: Directory) throws -> [FileName]? {
        var (names, current): ([FileName], Directory) = ([], inner)
        while try !current.isSame(as: outer) {
            guard let (parent, name) = try current.location() else { return nil }
            names.append(name)
            current = parent
        }
        return names.reversed()
    }

    /// The path of a directory inside another one; nil as for `names`.
    static func path(from outer: Directory, to inner: Directory) throws -> RelativePath? {
        try names(from: outer, to: inner).map { $0.reduce(RelativePath.root) { $0.appending($1) } }
    }

    /// The directories of a source.
    static func places(of source: Directory) throws -> [Place] {
        guard source.isJoined else { return [Place(name: nil, chain: try chain(from: source))] }
        return try source.parts.sorted { $0.key < $1.key }.map {
            Place(name: $0.key.description, chain: try chain(from: $0.value))
        }
    }

    /// A directory and its ancestors, up to the top.
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

extension TargetRoot {
    /// The present or future place of the target.
    func goal() throws -> Overlap.Goal {
        if let directory { return Overlap.Goal(directory: directory, isThere: true) }
        return Overlap.Goal(
            directory: try anchor(), isThere: false, missing: try TargetRoot.place(path).names)
    }
}
