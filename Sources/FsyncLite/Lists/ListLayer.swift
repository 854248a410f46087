import FileSystem

/// The difference of two neighbouring lists, from the newer to the older one. Paths without a line are equal in both.
package struct ListLayer: Sendable {
    package private(set) var lines = PackedMap<ListLineCoding>()
    /// The paths above those of the lines, and maybe more; nil until layers are joined.
    private var above: Set<RelativePath>?

    package init() {}

    package init(_ lines: some Sequence<ListLine>) {
        for line in lines { self.lines[line.path] = line }
    }

    package mutating func add(_ line: ListLine) {
        lines[line.path] = line
        above = nil
    }

    var isEmpty: Bool { lines.isEmpty }

    package enum Answer: Hashable {
        /// An entry of the older list; nil if it has none.
        case entry(ListEntry?)
        /// The entry that the newer list has at this path.
        case newer(RelativePath)
    }

    /// Finds the entry of the older list at a path.
    package func resolve(_ path: RelativePath) -> Answer {
        if let line = lines[path] { return .entry(line.entry) }
        guard let parent = path.parent, let name = path.fileName else { return .newer(path) }
        return content(of: parent).map { .newer($0.appending(name)) } ?? .entry(nil)
    }

    /// The directory of the newer list that has the content of this directory of the older list; nil if there is none.
    func content(of directory: RelativePath) -> RelativePath? {
        guard !lines.isEmpty else { return directory }
        for above in sequence(first: directory, next: \.parent) {
            guard let line = lines[above] else { continue }
            return line.below.map { $0.appending(directory.relative(to: above) ?? .root) }
        }
        return directory
    }

    /// For each directory of the newer list, the paths in the older list that have its content.
    var directories: [RelativePath: [RelativePath]] {
        var found: [RelativePath: [RelativePath]] = [:]
        for (path, below) in lines.otherPaths { found[below, default: []].append(path) }
        return found
    }

    /// The same, only for directories that were moved.
    var movedDirectories: [RelativePath: [RelativePath]] {
        directories.filter { below, paths in paths.contains { $0 != below } }
    }

    /// The lines with an entry, sorted.
    var entries: PackedList<ListLineCoding> {
        var entries = lines.sorted
        entries.removeElements { index, lines in lines.isAbsent(at: index) }
        return entries
    }

    /// The numbers of the objects in the lines.
    var objects: [UInt64] {
        let lines = lines.sorted
        return lines.indices.compactMap { lines.beginning(at: $0)?.object }
    }

    /// The paths of the older list with the entry that the newer one has at a path.
    ///
    /// - Parameter directories: the `directories` of this layer.
    func olderPaths(
        of path: RelativePath, _ directories: [RelativePath: [RelativePath]]
    ) -> [RelativePath] {
        var paths = [path]
        if !directories.isEmpty {
            for above in path.ancestors {
                guard let rest = path.relative(to: above) else { continue }
                paths += (directories[above] ?? []).map { $0.appending(rest) }
            }
        }
        return paths.enumerated().filter { index, older in
            resolve(older) == .newer(path) && !paths[..<index].contains(older)
        }.map(\.element)
    }

    /// Joins this layer of an older list and the next newer layer. `resolve` of the result gives what both give one
    /// after the other.
    package func joined(to newer: ListLayer) -> ListLayer {
        guard !newer.isEmpty else { return self }
        guard !isEmpty else { return newer }
        let moves = lines.otherPaths.contains { $0.path != $0.other }
        return moves ? joined(moving: newer) : joined(in: newer)
    }

    /// Joins a layer that moves no directory. The lines of the newer layer remain, except those that are hidden here.
    private func joined(in newer: ListLayer) -> ListLayer {
        var (result, above) = (newer, newer.above ?? [])
        if newer.above == nil { for path in newer.lines.keys { above.formUnion(path.ancestors) } }
        var hiding: Set<RelativePath> = []
        for path in lines.keys where above.contains(path) && lines[path]?.below == nil { hiding.insert(path) }
        if !hiding.isEmpty {
            for path in newer.lines.keys where path.isBelow(anyOf: hiding) && resolve(path) != .newer(path) {
                result.lines[path] = nil
            }
        }
        for line in lines(over: newer) {
            result.lines[line.path] = line
            if let parent = line.path.parent, !above.contains(parent) { above.formUnion(line.path.ancestors) }
        }
        result.above = above
        return result
    }

    /// The lines. `below` becomes the directory with this content in the list from which the newer layer starts.
    private func lines(over newer: ListLayer) -> some Sequence<ListLine> {
        lines.values.lazy.map { line in
            var line = line
            line.below = line.below.flatMap { newer.content(of: $0) }
            return line
        }
    }

    private func joined(moving newer: ListLayer) -> ListLayer {
        var result = ListLayer()
        for line in lines(over: newer) { result.lines[line.path] = line }
        let directories = directories
        for line in newer.lines.values {
            for path in olderPaths(of: line.path, directories) { result.lines[path] = line.moved(to: path) }
        }
        return result
    }
}

/// Walks through sorted paths of a newer list. The directories above a path need not be among them.
struct LayerWalk {
    private let lines: PackedList<ListLineCoding>
    private var next = 0
    /// The lines at and above the present path. `isUnmoved`: the older list has the entries below at the same path.
    private var above: [(path: RelativePath, isUnmoved: Bool)] = []

    init(_ layer: ListLayer) { lines = layer.lines.sorted }

    /// Whether the older list has no entry, or another one, at the next path of the newer list.
    mutating func isElsewhere(_ path: RelativePath) -> Bool {
        while let last = above.last, !path.isBelow(last.path) { above.removeLast() }
        while next < lines.count, lines.order(next, comparedTo: path) <= 0 {
            let line = lines.path(at: next)
            if path == line || path.isBelow(line) { above.append((line, lines.otherPath(at: next) == line)) }
            next += 1
        }
        return above.last.map { $0.path == path || !$0.isUnmoved } ?? false
    }
}
