/// How elements of a list are packed: each has a path.
package protocol PackedCoding {
    associatedtype Element

    static func path(of element: Element) -> RelativePath
    /// Where else the object is; nil where there is no other location.
    static func otherPath(of element: Element) -> RelativePath?
    /// Adds everything but the paths.
    static func pack(_ element: Element, into store: inout PackedStore)
    static func unpack(
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> Element
}

extension PackedCoding {
    package static func otherPath(of element: Element) -> RelativePath? { nil }
}

/// A list of which each element is made when it is read: 30 to 120 bytes stand for it.
package struct PackedList<Coding: PackedCoding>: Sendable {
    package typealias Element = Coding.Element

    private var records: [PackedStore.Record] = []
    private(set) var store = PackedStore()

    package init() {}

    func path(at index: Int) -> RelativePath { store.path(records[index]) }
    func otherPath(at index: Int) -> RelativePath? { store.otherPath(records[index]) }

    /// Calls `body` with what the element has besides its paths.
    func read<Value>(at index: Int, _ body: (inout PackedStore.Cursor) -> Value) -> Value {
        store.read(records[index], body)
    }

    /// The order of the paths of two elements.
    func order(_ index: Int, comparedTo other: Int) -> Int {
        store.order(records[index], comparedTo: records[other])
    }

    func order(_ index: Int, comparedTo path: RelativePath) -> Int {
        store.order(records[index], comparedTo: path)
    }

    /// The index of the element of a path, in a list that is in order.
    func index(of path: RelativePath) -> Int? {
        let index = indices.partitionPoint(where: { order($0, comparedTo: path) < 0 })
        return index < count && order(index, comparedTo: path) == 0 ? index : nil
    }

    /// Sorts by path.
    package mutating func sort() {
        let isSorted = records.indices.dropFirst().allSatisfy { order($0 - 1, comparedTo: $0) <= 0 }
        if !isSorted { records.sort { [store] in store.order($0, comparedTo: $1) < 0 } }
    }

    private func element(_ record: PackedStore.Record) -> Element {
        let (path, other) = (store.path(record), store.otherPath(record))
        return store.read(record) { Coding.unpack(&$0, at: path, other: other, store) }
    }

    private mutating func record(of element: Element) -> PackedStore.Record {
        store.append(at: Coding.path(of: element), Coding.otherPath(of: element)) {
            Coding.pack(element, into: &$0)
        }
    }

    /// Removes elements by their index in the list.
    mutating func removeElements(at isRemoved: (Int, Self) -> Bool) {
        let kept = records.indices.filter { !isRemoved($0, self) }
        guard kept.count < records.count else { return }
        if kept.isEmpty { clear() } else { records = kept.map { records[$0] } }
    }

    /// Passes the elements in order, and frees what they took as it goes, where no other value shares it.
    mutating func drain(_ body: (Int, Element) throws -> Void) rethrows {
        var left = store.counts(of: records)
        for chunk in left.indices where left[chunk] == 0 { store.free(chunk) }
        for (index, record) in records.enumerated() {
            try body(index, self[index])
            let chunk = PackedStore.chunk(of: record)
            left[chunk] -= 1
            if left[chunk] == 0 { store.free(chunk) }
        }
        clear()
    }

    /// Frees what the elements took.
    mutating func clear() { self = PackedList() }

    /// The list, which is empty afterwards, so that only its new place holds it.
    mutating func take() -> PackedList {
        defer { clear() }
        return self
    }
}

extension PackedList: RandomAccessCollection, MutableCollection, RangeReplaceableCollection,
    ExpressibleByArrayLiteral
{
    package var startIndex: Int { 0 }
    package var endIndex: Int { records.count }

    package subscript(index: Int) -> Element {
        get { element(records[index]) }
        set {
            let record = records[index]
            if store.order(record, comparedTo: Coding.path(of: newValue)) == 0,
                store.otherPath(record) == Coding.otherPath(of: newValue),
                store.replace(record, { Coding.pack(newValue, into: &$0) })
            {
                return
            }
            records[index] = self.record(of: newValue)
        }
    }

    package init(arrayLiteral elements: Element...) {
        self.init()
        for element in elements { append(element) }
    }

    package mutating func append(_ element: Element) { records.append(record(of: element)) }

    package mutating func replaceSubrange(_ range: Range<Int>, with elements: some Collection<Element>) {
        let new = elements.map { record(of: $0) }
        records.replaceSubrange(range, with: new)
    }

    package mutating func removeAll(where isRemoved: (Element) throws -> Bool) rethrows {
        var kept: [PackedStore.Record] = []
        for index in indices where try !isRemoved(self[index]) { kept.append(records[index]) }
        if kept.isEmpty { clear() } else { records = kept }
    }
}
