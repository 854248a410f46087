/// The packed form of a list's elements. Each element has a path.
package protocol PackedCoding {
    associatedtype Element
    /// The part of an element that can be read without unpacking it.
    associatedtype Head: Sendable = Void

    static func head(of element: Element) -> Head
    /// The order of elements with the same path.
    static func rank(_ head: Head) -> Int
    static func path(of element: Element) -> RelativePath
    /// The other path of the object; nil if there is none.
    static func otherPath(of element: Element) -> RelativePath?
    /// Adds everything but the paths and the head.
    static func pack(_ element: Element, into store: inout PackedStore)
    static func unpack(
        _ cursor: inout PackedStore.Cursor, _ head: Head, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> Element
}

extension PackedCoding {
    package static func rank(_ head: Head) -> Int { 0 }
    package static func otherPath(of element: Element) -> RelativePath? { nil }
}

extension PackedCoding where Head == Void {
    package static func head(of element: Element) {}
}

/// A list whose elements are made when they are read. Each is stored in 30 to 120 bytes.
package struct PackedList<Coding: PackedCoding>: Sendable {
    package typealias Element = Coding.Element

    private struct Row: Sendable {
        let record: PackedStore.Record
        var head: Coding.Head
    }

    private var rows: [Row] = []
    private(set) var store = PackedStore()

    package init() {}

    func path(at index: Int) -> RelativePath { store.path(rows[index].record) }
    func otherPath(at index: Int) -> RelativePath? { store.otherPath(rows[index].record) }
    func head(at index: Int) -> Coding.Head { rows[index].head }

    /// Calls `body` with the content of the element, without its paths and its head.
    func read<Value>(at index: Int, _ body: (inout PackedStore.Cursor) -> Value) -> Value {
        store.read(rows[index].record, body)
    }

    /// The order of the paths of two elements.
    func order(_ index: Int, comparedTo other: Int) -> Int {
        store.order(rows[index].record, comparedTo: rows[other].record)
    }

    func order(_ index: Int, comparedTo path: RelativePath) -> Int {
        store.order(rows[index].record, comparedTo: path)
    }

    /// The index of the element with a path. The list must be sorted.
    func index(of path: RelativePath) -> Int? {
        let index = indices.partitionPoint(where: { order($0, comparedTo: path) < 0 })
        return index < count && order(index, comparedTo: path) == 0 ? index : nil
    }

    /// Sorts by path.
    package mutating func sort() {
        func precedes(_ left: Row, _ right: Row, _ store: PackedStore) -> Bool {
            let order = store.order(left.record, comparedTo: right.record)
            return order != 0 ? order < 0 : Coding.rank(left.head) < Coding.rank(right.head)
        }
        let isSorted = rows.indices.dropFirst().allSatisfy { !precedes(rows[$0], rows[$0 - 1], store) }
        if !isSorted { rows.sort { [store] in precedes($0, $1, store) } }
    }

    private func element(_ row: Row) -> Element {
        let (path, other) = (store.path(row.record), store.otherPath(row.record))
        return store.read(row.record) { Coding.unpack(&$0, row.head, at: path, other: other, store) }
    }

    private mutating func row(of element: Element) -> Row {
        let record = store.append(at: Coding.path(of: element), Coding.otherPath(of: element)) {
            Coding.pack(element, into: &$0)
        }
        return Row(record: record, head: Coding.head(of: element))
    }

    /// Removes elements by their index in the list.
    mutating func removeElements(at isRemoved: (Int, Self) -> Bool) {
        let remaining = rows.indices.filter { !isRemoved($0, self) }
        guard remaining.count < rows.count else { return }
        if remaining.isEmpty { clear() } else { rows = remaining.map { rows[$0] } }
    }

    /// Passes the elements in order. It frees their memory step by step, unless another value shares it.
    mutating func drain(_ body: (Int, Element) throws -> Void) rethrows {
        var left = store.counts(of: rows.lazy.map(\.record))
        for chunk in left.indices where left[chunk] == 0 { store.free(chunk) }
        for index in rows.indices {
            try body(index, self[index])
            let chunk = PackedStore.chunk(of: rows[index].record)
            left[chunk] -= 1
            if left[chunk] == 0 { store.free(chunk) }
        }
        clear()
    }

    /// Frees the memory of the elements.
    mutating func clear() { self = PackedList() }

    /// Returns the list and empties this one, so that only the result owns the memory.
    mutating func take() -> PackedList {
        defer { clear() }
        return self
    }
}

extension PackedList: RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
    ExpressibleByArrayLiteral
{
    package var startIndex: Int { 0 }
    package var endIndex: Int { rows.count }

    package subscript(index: Int) -> Element {
        get { element(rows[index]) }
        set {
            let record = rows[index].record
            if store.order(record, comparedTo: Coding.path(of: newValue)) == 0,
                store.otherPath(record) == Coding.otherPath(of: newValue),
                store.replace(record, { Coding.pack(newValue, into: &$0) })
            {
                rows[index].head = Coding.head(of: newValue)
                return
            }
            rows[index] = row(of: newValue)
        }
    }

    package init(arrayLiteral elements: Element...) {
        self.init()
        for element in elements { append(element) }
    }

    package mutating func append(_ element: Element) { rows.append(row(of: element)) }

    package mutating func replaceSubrange(_ range: Range<Int>, with elements: some Collection<Element>) {
        let new = elements.map { row(of: $0) }
        rows.replaceSubrange(range, with: new)
    }

    package mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        var remaining: [Row] = []
        for index in indices where try !isRemoved(self[index]) { remaining.append(rows[index]) }
        if remaining.isEmpty { clear() } else { rows = remaining }
    }
}
