/// Values of several origins, each in the order of their paths, as one sequence in that order: where more than one origin
/// has a path, the last of them decides.
struct PathMerge<Value>: Sequence, IteratorProtocol {
    typealias Element = (path: RelativePath, value: Value)

    private var origins: [(rest: AnyIterator<Element>, next: Element?)]
    /// Of the next value; nil at the end.
    private(set) var path: RelativePath?

    init(_ origins: [AnyIterator<Element>]) {
        self.origins = origins.map { ($0, $0.next()) }
        path = self.origins.lazy.compactMap(\.next?.path).min()
    }

    mutating func next() -> Element? {
        var found: Element?
        for index in origins.indices {
            while let next = origins[index].next, next.path == path {
                found = next
                origins[index].next = origins[index].rest.next()
            }
        }
        path = origins.lazy.compactMap(\.next?.path).min()
        return found
    }
}
