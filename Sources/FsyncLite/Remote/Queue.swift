/// Elements that are taken in the order in which they were added, each in constant time. Memory is freed.
struct Queue<Element> {
    private var added: [Element] = []
    /// In reverse order: the next element is the last one here.
    private var next: [Element] = []

    var count: Int { added.count + next.count }

    mutating func add(_ element: Element) { added.append(element) }

    mutating func take() -> Element? {
        if next.isEmpty { (next, added) = (added.reversed(), []) }
        return next.popLast()
    }
}

extension Queue: Sendable where Element: Sendable {}
