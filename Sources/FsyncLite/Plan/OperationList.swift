extension OperationGraph {
    /// The operations of a graph or a journal, four bytes each, and eight for an exchange.
    package struct OperationList: BidirectionalCollection, RangeReplaceableCollection, Sendable {
        private enum Kind: UInt32 {
            case detach, attach, rename, exchange, link
            /// The other object of the exchange before it.
            case partner
        }

        /// The kind in the lowest three bits, above it an object or the index of a link.
        private var codes: [UInt32] = []
        private var links: [Link] = []

        package init() {}

        package var startIndex: Int { 0 }
        package var endIndex: Int { codes.count }

        package func index(after index: Int) -> Int { index + (kind(at: index) == .exchange ? 2 : 1) }
        package func index(before index: Int) -> Int { index - (kind(at: index - 1) == .partner ? 2 : 1) }

        package subscript(position: Int) -> Operation {
            let object = object(at: position)
            return switch kind(at: position) {
            case .detach: .detach(object)
            case .attach: .attach(object)
            case .rename: .rename(object)
            case .exchange: .exchange(object, with: self.object(at: position + 1))
            case .link, .partner, nil: .link(links[object])
            }
        }

        package mutating func replaceSubrange(
            _ range: Range<Int>, with operations: some Collection<Operation>
        ) {
            let rest = Array(codes[range.upperBound...])
            codes.removeSubrange(range.lowerBound...)
            for operation in operations { append(operation) }
            codes.append(contentsOf: rest)
        }

        package mutating func append(_ operation: Operation) {
            switch operation {
            case .detach(let object): append(.detach, object)
            case .attach(let object): append(.attach, object)
            case .rename(let object): append(.rename, object)
            case .exchange(let object, let other):
                append(.exchange, object)
                append(.partner, other)
            case .link(let link):
                append(.link, links.count)
                links.append(link)
            }
        }

        /// - Parameter count: of the operations, and once more of the exchanges.
        package mutating func reserveCapacity(_ count: Int) { codes.reserveCapacity(count) }

        private mutating func append(_ kind: Kind, _ number: Int) {
            codes.append(kind.rawValue | UInt32(number) << 3)
        }

        private func kind(at position: Int) -> Kind? { Kind(rawValue: codes[position] & 7) }
        private func object(at position: Int) -> Int { Int(codes[position] >> 3) }
    }
}
