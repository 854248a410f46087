/// The values of several origins as one sequence, sorted by their paths. Each origin must be sorted. If several have
/// the same path, the last of them wins.
struct PathMerge<Value>: Sequence, IteratorProtocol {
    typealias Element = (path: RelativePath, value: Value)

    private var rests: [AnyIterator<Element>]
    private var nexts: [Element?]
    /// The path of the next value; nil at the end.
    private(set) var path: RelativePath?

    init(_ origins: [AnyIterator<Element>]) {
        rests = origins
        nexts = origins.map { $0.next() }
        findPath()
    }

    private mutating func findPath() {
        path = nil
        for index in nexts.indices {
            guard let next = nexts[index]?.path else { continue }
            if path.map({ next < $0 }) ?? true { path = next }
        }
    }

    mutating func next() -> Element? {
        var found: Element?
        for index in nexts.indices {
            while let next = nexts[index], next.path == path {
                found = next
                nexts[index] = rests[index].next()
            }
        }
        findPath()
        return found
    }
}
