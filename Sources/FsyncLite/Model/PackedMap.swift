/// Packed elements that are found by their paths. Each needs eight bytes more than in a list.
package struct PackedMap<Coding: PackedCoding>: Sendable {
    package typealias Element = Coding.Element

    private var list = PackedList<Coding>()
    private var removed: Set<Int> = []
    private var table = HashIndex()

    package init() {}

    package var count: Int { list.count - removed.count }
    package var isEmpty: Bool { count == 0 }

    private var indices: LazyFilterSequence<Range<Int>> {
        list.indices.lazy.filter { !removed.contains($0) }
    }

    /// The paths of the elements, in the order in which they were added.
    package var keys: some Sequence<RelativePath> {
        indices.map { list.path(at: $0) }
    }

    package var values: some Sequence<Element> {
        indices.map { list[$0] }
    }

    /// Both paths of each element that has another path.
    var otherPaths: some Sequence<(path: RelativePath, other: RelativePath)> {
        indices.compactMap { index in list.otherPath(at: index).map { (list.path(at: index), $0) } }
    }

    package subscript(path: RelativePath) -> Element? {
        get { index(of: path).map { list[$0] } }
        set {
            let found = index(of: path)
            switch (found, newValue) {
            case (nil, nil): break
            case (let index?, nil): removed.insert(index)
            case (let index?, let value?): list[index] = value
            case (nil, let value?):
                list.append(value)
                table.add(list.count - 1) { list.path(at: $0).hashValue }
            }
        }
    }

    func contains(_ path: RelativePath) -> Bool { index(of: path) != nil }

    /// The elements, in the order of their paths.
    var sorted: PackedList<Coding> {
        var list = list
        if !removed.isEmpty { list.removeElements(at: { index, _ in removed.contains(index) }) }
        list.sort()
        return list
    }

    /// A removed element with this path comes before the new one.
    private func index(of path: RelativePath) -> Int? {
        table.first(path.hashValue) { !removed.contains($0) && list.order($0, comparedTo: path) == 0 }
    }
}
