import FileSystem

/// The actions of a plan or a report in the order of their paths. Each is made when it is read: four bytes stand for
/// it.
public struct ActionList: RandomAccessCollection, Sendable {
    private enum Origin: UInt32 {
        case root, broughtBack, move, update, attributes, replace, create, delete

        var verb: Action.Verb {
            switch self {
            case .root, .attributes: .attributes
            // Also the `create` of an object that is brought back: no other action has its path.
            case .broughtBack, .update, .replace: .update
            case .move: .move
            case .create: .create
            case .delete: .delete
            }
        }

        /// The list of the difference in which the item is.
        var list: List {
            switch self {
            case .root: .none
            case .broughtBack, .move, .update, .attributes: .matches
            case .replace, .create: .created
            case .delete: .deleted
            }
        }
    }

    private enum List {
        case none, matches, created, deleted
    }

    /// The index is that of the match, or of the created or deleted entry.
    private typealias Item = OriginAndIndex<Origin>

    @Boxed private var difference: Difference
    private let root: Match?
    private let links: [RelativePath: RelativePath]
    private var items: [Item] = []
    /// By match: of a move, the number of entries in the directory; of an object that is brought back, the deleted
    /// entry that it replaces. Empty if no match has one.
    private var others: [UInt32] = []
    /// Those of a prepared transaction, as they are.
    private let listed: [Action]?
    /// The number of entries without an action that move with their directory.
    let carried: Int

    init(_ difference: Difference, root: Match?) {
        (self.difference, self.root, listed) = (difference, root, nil)
        let moves = MoveMap(difference)
        links = difference.links.compactMapValues { link in
            switch link {
            case .staged(let path): path
            // By the name that it has afterwards.
            case .kept(let file): moves.newPath(of: file.path)
            }
        }
        let (matches, created, deleted) = (difference.matches, difference.created, difference.deleted)
        var isReplaced = [Bool](repeating: false, count: deleted.count)
        func replace(_ path: RelativePath) -> UInt32? {
            guard let index = deleted.isEmpty ? nil : deleted.index(of: path) else { return nil }
            isReplaced[index] = true
            return UInt32(index)
        }
        items.reserveCapacity(matches.count + created.count + deleted.count + 1)
        if let root, root.changesAttributes { items.append(Item(.root, 0)) }

        var others: [UInt32] = []
        func set(_ other: UInt32, of match: Int) {
            if others.isEmpty { others = Array(repeating: .max, count: matches.count) }
            others[match] = other
        }
        // Moved directories above the present path, as matches.
        var moved: [Int] = []
        var carried = 0
        // The most recent of these, and its path.
        var innermost: (match: Int, path: RelativePath)?
        for number in matches.indices {
            let head = matches.head(at: number)
            if head.targetIsInState {
                if let other = replace(matches.path(at: number)) { set(other, of: number) }
                items.append(Item(.broughtBack, number))
                continue
            }
            if !moved.isEmpty {
                let path = matches.path(at: number)
                while let last = moved.last {
                    if innermost?.match != last { innermost = (last, matches.path(at: last)) }
                    if let innermost, path.isBelow(innermost.path) { break }
                    moved.removeLast()
                }
                for match in moved { others[match] += 1 }
            }
            if head.isRenamed,
                !moves.isCarried(from: matches.targetPath(at: number), to: matches.path(at: number))
            {
                if head.isDirectory {
                    moved.append(number)
                    set(0, of: number)
                }
                items.append(Item(.move, number))
            } else if head.isRenamed, !head.replacesContent, !head.changesAttributes {
                carried += 1
            }
            if head.replacesContent {
                items.append(Item(.update, number))
            } else if head.changesAttributes {
                items.append(Item(.attributes, number))
            }
        }
        for index in created.indices {
            let isReplacement = !deleted.isEmpty && replace(created.path(at: index)) != nil
            items.append(Item(isReplacement ? .replace : .create, index))
        }
        for index in deleted.indices where !isReplaced[index] && !deleted.path(at: index).isInState {
            items.append(Item(.delete, index))
        }
        self.others = others
        self.carried = carried
        // Taken out, as the order needs the rest of this value: a constant, which the closure need not copy.
        var sorted: [Item] = []
        swap(&sorted, &items)
        let list = self
        sorted.sort { left, right in
            let order = list.order(left, right)
            return order != 0 ? order < 0 : left.origin.verb < right.origin.verb
        }
        items = sorted
    }

    init(_ listed: [Action]) {
        (difference, root, self.listed, links, carried) = (Difference(), nil, listed, [:], 0)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { listed?.count ?? items.count }

    /// The order of the paths of two items.
    private func order(_ left: Item, _ right: Item) -> Int {
        let (index, other) = (left.index, right.index)
        return switch (left.origin.list, right.origin.list) {
        case (.matches, .matches): difference.matches.order(index, comparedTo: other)
        case (.created, .created): difference.created.order(index, comparedTo: other)
        case (.deleted, .deleted): difference.deleted.order(index, comparedTo: other)
        default: path(left).order(comparedTo: path(right))
        }
    }

    private func path(_ item: Item) -> RelativePath {
        switch item.origin.list {
        case .none: .root
        case .matches: difference.matches.path(at: item.index)
        case .created: difference.created.path(at: item.index)
        case .deleted: difference.deleted.path(at: item.index)
        }
    }

    public subscript(position: Int) -> Action {
        if let listed { return listed[position] }
        let item = items[position]
        let index = item.index
        switch item.origin {
        case .root:
            // Only a list with a root has such an item.
            guard let root else { preconditionFailure("an action on a root that is not known") }
            return Action(.attributes, root.source, causes: root.causes)
        case .broughtBack:
            let over = other(ofMatch: index).map { difference.deleted[$0].file }
            return Action(broughtBack: difference.matches[index], over: over)
        case .move:
            let match = difference.matches[index]
            return Action(
                .move, match.source, from: match.target.path, entries: other(ofMatch: index),
                causes: [.renamed])
        case .update:
            let match = difference.matches[index]
            var action = Action(
                .update, match.source, link: link(match.source),
                causes: match.causes.subtracting([.renamed]))
            action.sizeBefore = match.target.isFile ? match.target.size : nil
            if match.target.omitted.contains(.purged) { action.isPurged = true }
            return action
        case .attributes:
            let match = difference.matches[index]
            return Action(.attributes, match.source, causes: match.causes.subtracting([.renamed]))
        case .replace:
            let (file, isDrift) = difference.created[index]
            return Action(.update, file, link: link(file), causes: isDrift ? [.type, .drift] : [.type])
        case .create:
            let (file, isDrift) = difference.created[index]
            return Action(.create, file, link: link(file), causes: isDrift ? [.drift] : [.new])
        case .delete:
            let (file, isDrift) = difference.deleted[index]
            return Action(.delete, file, causes: isDrift ? [.drift] : [.removed])
        }
    }

    private func other(ofMatch index: Int) -> Int? {
        others.isEmpty || others[index] == .max ? nil : Int(others[index])
    }

    private func link(_ file: File) -> RelativePath? { links.isEmpty ? nil : links[file.path] }
}
