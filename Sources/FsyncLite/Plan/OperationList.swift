extension OperationGraph {
    /// The operations of a graph or a journal, eight bytes each.
    package struct OperationList: RandomAccessCollection, RangeReplaceableCollection, Sendable {
        /// The kind in the lowest three bits, then twice thirty bits: objects, or the index of a link.
        private var codes: [UInt64] = []
        private var links: [Link] = []

        package init() {}

        package var startIndex: Int { 0 }
        package var endIndex: Int { codes.count }

        package subscript(position: Int) -> Operation {
            let code = codes[position]
            let (object, other) = (Int(code >> 3 & (1 << 30 - 1)), Int(code >> 33))
            switch code & 7 {
            case 0: return .detach(object)
            case 1: return .attach(object)
            case 2: return .rename(object)
            case 3: return .exchange(object, with: other)
            default: return .link(links[object])
            }
        }

        package mutating func replaceSubrange(
            _ range: Range<Int>, with operations: some Collection<Operation>
        ) {
            codes.replaceSubrange(range, with: operations.map { code($0) })
        }

        package mutating func append(_ operation: Operation) { codes.append(code(operation)) }

        package mutating func reserveCapacity(_ count: Int) { codes.reserveCapacity(count) }

        private mutating func code(_ operation: Operation) -> UInt64 {
            func code(_ kind: UInt64, _ object: Int, _ other: Int = 0) -> UInt64 {
                kind | UInt64(object) << 3 | UInt64(other) << 33
            }
            switch operation {
            case .detach(let object): return code(0, object)
            case .attach(let object): return code(1, object)
            case .rename(let object): return code(2, object)
            case .exchange(let object, let other): return code(3, object, other)
            case .link(let link):
                links.append(link)
                return code(4, links.count - 1)
            }
        }
    }
}
