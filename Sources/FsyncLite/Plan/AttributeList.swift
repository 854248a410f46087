import FileSystem

extension OperationGraph {
    /// The changes of attributes of a graph: twelve bytes stand for that of a match.
    package struct AttributeList: RandomAccessCollection, Sendable {
        private struct Item {
            var object: UInt32
            var index: UInt32
            var isOfMatch: Bool
        }

        private let matches: MatchList
        private var items: [Item] = []
        private var others: [(path: RelativePath, change: AttributeChange)] = []

        package init(_ matches: MatchList = []) {
            self.matches = matches
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { items.count }

        package subscript(position: Int) -> AttributeChange {
            let item = items[position]
            guard item.isOfMatch else { return others[Int(item.index)].change }
            let attributes = matches[Int(item.index)].attributes
            return AttributeChange(object: Int(item.object), old: attributes.old, new: attributes.new)
        }

        mutating func append(_ object: Int, ofMatch index: Int) {
            items.append(Item(object: UInt32(object), index: UInt32(index), isOfMatch: true))
        }

        /// - Parameter path: of the object, for the order.
        package mutating func append(_ change: AttributeChange, at path: RelativePath = .root) {
            items.append(
                Item(object: UInt32(change.object), index: UInt32(others.count), isOfMatch: false))
            others.append((path, change))
        }

        /// Which of this many objects change.
        func objects(of count: Int) -> [Bool] {
            var changed = [Bool](repeating: false, count: count)
            for item in items { changed[Int(item.object)] = true }
            return changed
        }

        /// Deepest first.
        mutating func sort() {
            var sorted: [Item] = []
            swap(&sorted, &items)
            sorted.sort { order($0, $1) > 0 }
            items = sorted
        }

        private func order(_ left: Item, _ right: Item) -> Int {
            if left.isOfMatch, right.isOfMatch {
                return matches.order(Int(left.index), comparedTo: Int(right.index))
            }
            return path(left).order(comparedTo: path(right))
        }

        private func path(_ item: Item) -> RelativePath {
            item.isOfMatch ? matches.path(at: Int(item.index)) : others[Int(item.index)].path
        }
    }
}
