/// Packed elements that are found by their paths. Each needs eight bytes more than in a list.
package struct PackedMap<Coding: PackedCoding>: Sendable {
    package typealias Element = Coding.Element

    private var list = PackedList<Coding>()
    private var removed: Set<Int> = []
    /// A hash table with indices of the list, each increased by one; 0 means free.
    private var slots: [UInt32] = []

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
                if (list.count + 1) * 3 > slots.count * 2 { grow() }
                list.append(value)
                add(list.count - 1, path)
            }
        }
    }

    /// The elements, in the order of their paths.
    var sorted: PackedList<Coding> {
        var list = list
        if !removed.isEmpty { list.removeElements(at: { index, _ in removed.contains(index) }) }
        list.sort()
        return list
    }

    private func index(of path: RelativePath) -> Int? {
        guard !slots.isEmpty else { return nil }
        var slot = path.hashValue & (slots.count - 1)
        while slots[slot] != 0 {
            let index = Int(slots[slot]) - 1
            if list.order(index, comparedTo: path) == 0 { return removed.contains(index) ? nil : index }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// A new element gets the slot of a removed one with the same path.
    private mutating func add(_ index: Int, _ path: RelativePath) {
        var slot = path.hashValue & (slots.count - 1)
        while slots[slot] != 0 {
            let other = Int(slots[slot]) - 1
            if removed.contains(other), list.order(other, comparedTo: path) == 0 { break }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = UInt32(index + 1)
    }

    private mutating func grow() {
        slots = []
        // Twice the next power of two.
        let count = 2 << (Int.bitWidth - list.count.leadingZeroBitCount)
        slots = [UInt32](repeating: 0, count: max(16, count))
        for index in indices { add(index, list.path(at: index)) }
    }
}
