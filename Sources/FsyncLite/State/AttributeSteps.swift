import FileSystem

extension Journal {
    /// The changes of attributes of a journal, 40 bytes each.
    package struct AttributeSteps: RandomAccessCollection, ExpressibleByArrayLiteral, Sendable {
        private struct Item {
            var object: UInt32
            /// Permissions and owners, or the index of another step.
            var old: UInt32
            var new = UInt32.max
            var oldModified: UInt64 = 0
            var newModified: UInt64 = 0
        }

        private struct Kind: Hashable {
            var permissions: UInt16
            var owner: UInt32
            var group: UInt32
        }

        private var items: [Item] = []
        private var kinds: [Kind] = []
        private var numbers: [Kind: UInt32] = [:]
        private var others: [AttributeStep] = []

        package init(arrayLiteral elements: AttributeStep...) {
            for element in elements { append(element) }
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { items.count }

        package subscript(position: Int) -> AttributeStep {
            let item = items[position]
            guard item.new != .max else { return others[Int(item.old)] }
            func attributes(_ kind: UInt32, _ modified: UInt64) -> Attributes {
                let kind = kinds[Int(kind)]
                return Attributes(
                    permissions: kind.permissions, owner: kind.owner, group: kind.group,
                    modified: PackedStatus.unpack(modified))
            }
            return AttributeStep(
                object: Int(item.object), old: attributes(item.old, item.oldModified),
                new: attributes(item.new, item.newModified))
        }

        func object(at position: Int) -> Int { Int(items[position].object) }

        package mutating func append(_ step: AttributeStep) {
            guard step.old.extended == nil, step.new.extended == nil,
                let old = PackedStatus.pack(step.old.modified), let new = PackedStatus.pack(step.new.modified)
            else {
                items.append(Item(object: UInt32(step.object), old: UInt32(others.count)))
                others.append(step)
                return
            }
            items.append(
                Item(
                    object: UInt32(step.object), old: number(step.old), new: number(step.new),
                    oldModified: old,
                    newModified: new))
        }

        private mutating func number(_ attributes: Attributes) -> UInt32 {
            let kind = Kind(
                permissions: attributes.permissions, owner: attributes.owner, group: attributes.group)
            if let number = numbers[kind] { return number }
            numbers[kind] = UInt32(kinds.count)
            kinds.append(kind)
            return UInt32(kinds.count - 1)
        }
    }
}
