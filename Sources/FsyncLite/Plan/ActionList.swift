import FileSystem

/// The actions of a plan or a report in the order of their paths. Each is made when it is read: twelve bytes stand for
/// it.
public struct ActionList: RandomAccessCollection, Sendable {
    private enum Origin: UInt8 {
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
    }

    private struct Item {
        var origin: Origin
        /// Of the match, or of the created or deleted entry.
        var index: UInt32 = 0
        /// Of a move, the number of entries in the directory; of an object that is brought back, the deleted entry that
        /// it replaces.
        var other = UInt32.max
    }

    private let difference: Difference
    private let root: Match?
    private let links: [RelativePath: RelativePath]
    private var items: [Item] = []
    /// The number of entries without an action that move with their directory.
    let carried: Int

    init(_ difference: Difference, root: Match?) {
        (self.difference, self.root) = (difference, root)
        let moves = MoveMap(difference)
        links = difference.links.compactMapValues { link in
            switch link {
            case .staged(let path): path
            // By the name that it has afterwards.
            case .kept(let file): moves.newPath(of: file.path)
            }
        }
        let going = ActionList.replaceable(difference)
        var replaced: Set<RelativePath> = []
        if let root, root.changesAttributes { items.append(Item(origin: .root)) }

        // Moved directories above the present path, as indices of their actions.
        var moved: [Int] = []
        var carried = 0
        for (number, match) in difference.matches.enumerated() {
            let index = UInt32(number)
            if match.target.path.isInState {
                let other = going[match.source.path]
                if other != nil { replaced.insert(match.source.path) }
                items.append(Item(origin: .broughtBack, index: index, other: other ?? .max))
                continue
            }
            while let last = moved.last,
                !match.source.path.isBelow(difference.matches[Int(items[last].index)].source.path)
            {
                moved.removeLast()
            }
            for index in moved { items[index].other += 1 }
            if match.isRenamed, !moves.isCarried(match) {
                if match.source.isDirectory { moved.append(items.count) }
                items.append(
                    Item(origin: .move, index: index, other: match.source.isDirectory ? 0 : .max))
            } else if match.isRenamed, !match.replacesContent, !match.changesAttributes {
                carried += 1
            }
            if match.replacesContent {
                items.append(Item(origin: .update, index: index))
            } else if match.changesAttributes {
                items.append(Item(origin: .attributes, index: index))
            }
        }
        for (index, (file, _)) in difference.created.enumerated() {
            let isReplacement = going[file.path] != nil
            if isReplacement { replaced.insert(file.path) }
            items.append(Item(origin: isReplacement ? .replace : .create, index: UInt32(index)))
        }
        for (index, (file, _)) in difference.deleted.enumerated()
        where !file.path.isInState && (replaced.isEmpty || !replaced.contains(file.path)) {
            items.append(Item(origin: .delete, index: UInt32(index)))
        }
        self.carried = carried
        // Taken out, as the order needs the rest of this value.
        var sorted: [Item] = []
        swap(&sorted, &items)
        sorted.sort { left, right in
            let order = path(left).order(comparedTo: path(right))
            return order != 0 ? order < 0 : left.origin.verb < right.origin.verb
        }
        items = sorted
    }

    /// The deleted entries, by path, where something else may come to their paths.
    private static func replaceable(_ difference: Difference) -> [RelativePath: UInt32] {
        guard !difference.created.isEmpty || difference.matches.contains(where: { $0.target.path.isInState })
        else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: difference.deleted.enumerated().map { ($1.file.path, UInt32($0)) })
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { items.count }

    private func path(_ item: Item) -> RelativePath {
        switch item.origin {
        case .root: .root
        case .broughtBack, .move, .update, .attributes: difference.matches[Int(item.index)].source.path
        case .replace, .create: difference.created[Int(item.index)].file.path
        case .delete: difference.deleted[Int(item.index)].file.path
        }
    }

    public subscript(position: Int) -> Action {
        let item = items[position]
        let index = Int(item.index)
        switch item.origin {
        case .root:
            // Only a list with a root has such an item.
            guard let root else { preconditionFailure("an action on a root that is not known") }
            return Action(.attributes, root.source, causes: root.causes)
        case .broughtBack:
            let over = item.other == .max ? nil : difference.deleted[Int(item.other)].file
            return Action(broughtBack: difference.matches[index], over: over)
        case .move:
            let match = difference.matches[index]
            return Action(
                .move, match.source, from: match.target.path,
                entries: item.other == .max ? nil : Int(item.other), causes: [.renamed])
        case .update:
            let match = difference.matches[index]
            return Action(
                .update, match.source, link: link(match.source),
                causes: match.causes.subtracting([.renamed]))
        case .attributes:
            let match = difference.matches[index]
            return Action(.attributes, match.source, causes: match.causes.subtracting([.renamed]))
        case .replace:
            let file = difference.created[index].file
            return Action(.update, file, link: link(file), causes: [.type])
        case .create:
            let (file, isDrift) = difference.created[index]
            return Action(.create, file, link: link(file), causes: isDrift ? [.drift] : [.new])
        case .delete:
            let (file, isDrift) = difference.deleted[index]
            return Action(.delete, file, causes: isDrift ? [.drift] : [.removed])
        }
    }

    private func link(_ file: File) -> RelativePath? { links.isEmpty ? nil : links[file.path] }
}
