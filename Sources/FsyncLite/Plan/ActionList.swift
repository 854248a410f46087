import FileSystem

/// The actions of a plan or a report in the order of their paths. Each is made of its change when it is read.
public struct ActionList: RandomAccessCollection, Sendable {
    @Boxed private var difference: Difference
    private let root: Match?
    private let links: [RelativePath: RelativePath]
    /// Compares by values, not by numbers.
    @Boxed private var comparison = ComparisonPolicy()
    /// The index of the change of each action. The highest bit marks the move of an entry that has another action, too.
    private var items: [UInt32] = []
    private static let (rootItem, move): (UInt32, UInt32) = (.max, 1 << 31)
    /// The numbers of entries in moved directories, by change.
    private var entries: [Int: Int] = [:]
    /// The deleted entries that a moving directory brings to the path of an arriving one, by the change of that one.
    private var replaced: [Int: Int] = [:]
    /// The actions of a prepared transaction, as values.
    private let listed: [Action]?
    /// The number of entries without an action that move with their directory.
    let carried: Int

    init(_ difference: Difference, root: Match?) {
        (self.difference, self.root, listed) = (difference, root, nil)
        let moves = MoveMap(difference)
        links = difference.links.compactMapValues { link in
            switch link {
            case .staged(let path): path
            // By the name that the file has afterwards.
            case .existing(let file): moves.newPath(of: file.path)
            }
        }
        let changes = difference.changes
        items.reserveCapacity(changes.count + 1)
        if let root, root.changesAttributes { items.append(ActionList.rootItem) }
        var replacements = Replacements(moves)
        // Moved directories above the present path, as changes.
        var moved: [Int] = []
        var carried = 0
        // The last one of `moved`, and its path.
        var innermost: (change: Int, path: RelativePath)?
        for index in changes.indices {
            let (head, item) = (changes.head(at: index), UInt32(index))
            guard head.kind == .match, !head.targetIsInState else {
                let isDeleted = head.kind == .deleted
                if isDeleted, head.targetIsInState || changes.isReplaced(at: index) { continue }
                if isDeleted, let arrival = replacements.arrival(in: changes, of: index) {
                    replaced[arrival] = index
                } else {
                    items.append(item)
                }
                continue
            }
            if !moved.isEmpty {
                let path = changes.path(at: index)
                while let last = moved.last {
                    if innermost?.change != last { innermost = (last, changes.path(at: last)) }
                    if let innermost, path.isBelow(innermost.path) { break }
                    moved.removeLast()
                }
                for directory in moved { entries[directory, default: 0] += 1 }
            }
            if head.isRenamed,
                !moves.isCarried(from: changes.targetPath(at: index), to: changes.path(at: index))
            {
                if head.isDirectory {
                    moved.append(index)
                    entries[index] = 0
                }
                items.append(item | ActionList.move)
            } else if head.isRenamed, !head.replacesContent, !head.changesAttributes {
                carried += 1
            }
            if head.replacesContent || head.changesAttributes { items.append(item) }
        }
        self.carried = carried
        for arrival in replaced.keys {
            for directory in changes.path(at: arrival).ancestors {
                if let change = changes.index(of: .match, at: directory) { entries[change]? += 1 }
            }
        }
        comparison = difference.policy
        comparison.earlier = nil
    }

    init(_ listed: [Action]) {
        (difference, root, self.listed, links, carried) = (Difference(), nil, listed, [:], 0)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { listed?.count ?? items.count }

    public subscript(position: Int) -> Action {
        if let listed { return listed[position] }
        guard items[position] != ActionList.rootItem else {
            // Only a list with a root has such an item.
            guard let root else { preconditionFailure("an action on a root that is not known") }
            return Action(.attributes, root.source, causes: root.causes)
        }
        let index = change(at: position)
        switch difference.changes[index] {
        case .deleted(let file, let isDrift, _, _):
            return Action(.delete, file, causes: isDrift ? [.drift] : [.removed])
        case .created(let file, let isDrift):
            let drift: Causes = isDrift ? [.drift] : []
            if let replaced = replaced(at: index) {
                let causes = causes(file, over: replaced).union(drift)
                return Action(.update, file, link: link(file), causes: causes)
            }
            return Action(.create, file, link: link(file), causes: isDrift ? drift : [.new])
        case .match(let match):
            if match.target.path.isInState {
                let file = match.source
                return Action(broughtBack: file, replaced(at: index).map { self.causes(file, over: $0) })
            }
            guard items[position] & ActionList.move == 0 else {
                return Action(
                    .move, match.source, from: match.target.path, entries: entries[index], causes: [.renamed])
            }
            let causes = match.causes.subtracting([.renamed])
            guard match.replacesContent else { return Action(.attributes, match.source, causes: causes) }
            var action = Action(.update, match.source, link: link(match.source), causes: causes)
            action.sizeBefore = match.target.isFile ? match.target.size : nil
            if match.target.omitted.contains(.purged) { action.isPurged = true }
            return action
        }
    }

    /// The source's entry and the target's entry of an action.
    func files(at position: Int) -> (source: File?, target: File?) {
        guard items[position] != ActionList.rootItem else { return (root?.source, root?.target) }
        let index = change(at: position)
        let change = difference.changes[index]
        return (change.wanted, change.target ?? replaced(at: index))
    }

    private func change(at position: Int) -> Int { Int(items[position] & ~ActionList.move) }

    /// The deleted entry that the arriving one of this change replaces.
    private func replaced(at index: Int) -> File? {
        replaced[index].map { difference.changes[file: $0] } ?? difference.changes.replaced(at: index)
    }

    /// The visible reasons why an entry takes the place of another one.
    private func causes(_ file: File, over replaced: File) -> Causes {
        guard file.status.type == replaced.status.type else { return [.type] }
        var match = Match(source: file, target: replaced, base: nil)
        match.compare(by: comparison)
        return match.causes.isEmpty ? [.content] : match.causes
    }

    private func link(_ file: File) -> RelativePath? { links.isEmpty ? nil : links[file.path] }
}

/// Finds the entries that arrive where a moving directory brings deleted ones.
private struct Replacements {
    let moves: MoveMap
    /// The directory of the last deleted entry, now and afterwards. The next entry is usually in the same one.
    private var directory: (old: RelativePath, new: RelativePath) = (.root, .root)

    init(_ moves: MoveMap) { self.moves = moves }

    /// The change of the entry that arrives in place of a deleted one; nil if there is none.
    mutating func arrival(in changes: ChangeList, of deleted: Int) -> Int? {
        guard !moves.isEmpty else { return nil }
        let path = changes.path(at: deleted)
        guard let parent = path.parent, let name = path.fileName else { return nil }
        if parent != directory.old { directory = (parent, moves.carriedPath(of: parent)) }
        guard directory.new != parent else { return nil }
        let new = directory.new.appending(name)
        guard changes.index(of: .deleted, at: new) == nil else { return nil }
        return changes.index(at: new) { $0.kind == .created || $0.targetIsInState }
    }
}
