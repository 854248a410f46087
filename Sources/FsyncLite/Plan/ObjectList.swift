import FileSystem

extension OperationGraph {
    /// The objects of a graph or a journal. An object of the difference is stored as a reference to it, in twelve
    /// bytes. Its names, status and identity are looked up there.
    package struct ObjectList: RandomAccessCollection, MutableCollection, Sendable {
        enum Origin: UInt8 {
            /// As a value in `others`.
            case other
            /// A directory that keeps its location. Its name is in `names`.
            case fixed
            /// The target's object of a change. It keeps its location, gets another, or leaves for good.
            case inPlace, moving, leaving
            /// The new object of a change.
            case staged

            var hasTarget: Bool { self == .inPlace || self == .moving || self == .leaving }
        }

        struct Item {
            /// The origin in the upper three bits; below them the index of a change, or an index in `others` or
            /// `names`.
            private let bits: UInt32
            /// The parent of the old location, or of the new one for a staged object.
            var parent: UInt32
            var slot: UInt32

            static let none = UInt32.max
            private static let indexBits: UInt32 = 29

            init(_ origin: Origin, _ index: Int, parent: UInt32 = none, slot: UInt32 = none) {
                precondition(index >> Item.indexBits == 0)
                bits = UInt32(origin.rawValue) << Item.indexBits | UInt32(index)
                (self.parent, self.slot) = (parent, slot)
            }

            var origin: Origin {
                guard let origin = Origin(rawValue: UInt8(bits >> Item.indexBits)) else {
                    preconditionFailure("an origin that was not given")
                }
                return origin
            }
            var index: Int { Int(bits & (1 << Item.indexBits - 1)) }
        }

        private(set) var items: [Item] = []
        /// The parents of the new locations of objects that move, by change; empty if none does.
        private var newParents: [UInt32] = []
        private var others: [Object] = []
        private var names: [FileName] = []
        var stagedEntries = StagedList()
        /// The objects of the slot directories.
        private var slotDirectories: [Int] = []
        private(set) var changes = ChangeList()
        /// Identities that neither the difference nor `others` has, and their objects in increasing order.
        private var identities: [FileIdentity] = []
        private var identified: [UInt32] = []
        /// The objects of the difference are copies with other identities.
        private var isCopy = false

        package init() {}

        package init(_ objects: some Sequence<Object>) {
            for object in objects { append(object) }
        }

        init(_ difference: Difference, _ objects: [Object]) {
            changes = difference.changes
            items.reserveCapacity(
                objects.count + changes.heads.reduce(0) { $0 + ($1.replacesContent ? 2 : 1) })
            for object in objects { append(object) }
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { items.count }

        package subscript(object: Int) -> Object {
            get {
                guard items[object].origin != .other else { return others[items[object].index] }
                return Object(
                    old: old(object), slot: slot(object), new: new(object), identity: identity(of: object),
                    seen: seen(object))
            }
            set {
                if items[object].origin != .other {
                    items[object] = Item(.other, others.count)
                    others.append(newValue)
                } else {
                    others[items[object].index] = newValue
                }
            }
        }

        // MARK: Parts

        func hasOld(_ object: Int) -> Bool {
            let item = items[object]
            if item.origin == .other { return others[item.index].old != nil }
            return item.origin != .staged && item.parent != Item.none
        }

        func hasSlot(_ object: Int) -> Bool {
            let item = items[object]
            return item.origin == .other ? others[item.index].slot != nil : item.slot != Item.none
        }

        package func old(_ object: Int) -> Location? {
            let item = items[object]
            switch item.origin {
            case .other: return others[item.index].old
            case .fixed: return Location(parent: Int(item.parent), name: names[item.index])
            case .inPlace, .moving, .leaving: return location(oldPath(object), in: item.parent)
            case .staged: return nil
            }
        }

        package func new(_ object: Int) -> Location? {
            let item = items[object]
            switch item.origin {
            case .other: return others[item.index].new
            case .fixed, .inPlace: return old(object)
            case .moving: return location(newPath(object), in: newParents[item.index])
            case .staged: return location(newPath(object), in: item.parent)
            case .leaving: return nil
            }
        }

        package func slot(_ object: Int) -> Location? {
            let item = items[object]
            if item.origin == .other { return others[item.index].slot }
            guard item.slot != Item.none else { return nil }
            let (directory, name) = Int(item.slot)
                .quotientAndRemainder(dividingBy: OperationGraph.slotsPerDirectory)
            return Location(parent: slotDirectories[directory], name: FileName(number: name))
        }

        private func location(_ path: RelativePath, in parent: UInt32) -> Location? {
            parent == Item.none ? nil : path.fileName.map { Location(parent: Int(parent), name: $0) }
        }

        /// The target's path of an object of the difference.
        func oldPath(_ object: Int) -> RelativePath { changes.targetPath(at: items[object].index) }

        /// The source's path of an object of the difference.
        func newPath(_ object: Int) -> RelativePath { changes.path(at: items[object].index) }

        /// The order of the old paths of two objects of the difference.
        func oldOrder(_ object: Int, comparedTo other: Int) -> Int {
            let (left, right) = (items[object].index, items[other].index)
            if !changes.head(at: left).isRenamed, !changes.head(at: right).isRenamed {
                return changes.order(left, comparedTo: right)
            }
            return oldPath(object).order(comparedTo: oldPath(other))
        }

        /// The object is a directory, and the scan saw it.
        func isDirectory(_ object: Int) -> Bool {
            let item = items[object]
            if item.origin.hasTarget { return changes.head(at: item.index).targetIsDirectory }
            return seen(object)?.type == .directory
        }

        /// The parent of the old, new or slot location.
        func parents(_ object: Int) -> (old: Int?, slot: Int?, new: Int?) {
            let item = items[object]
            guard item.origin != .other else {
                let other = others[item.index]
                return (other.old?.parent, other.slot?.parent, other.new?.parent)
            }
            func known(_ parent: UInt32) -> Int? { parent == Item.none ? nil : Int(parent) }
            let parent = known(item.parent)
            let slot = known(item.slot).map { slotDirectories[$0 / OperationGraph.slotsPerDirectory] }
            return switch item.origin {
            case .fixed, .inPlace: (parent, slot, parent)
            case .moving: (parent, slot, known(newParents[item.index]))
            case .staged: (nil, slot, parent)
            case .leaving, .other: (parent, slot, nil)
            }
        }

        private func target(_ object: Int) -> File? {
            let item = items[object]
            return item.origin.hasTarget ? changes[item.index].target : nil
        }

        /// The status that the scan saw.
        package func seen(_ object: Int) -> FileStatus? {
            items[object].origin == .other
                ? others[items[object].index].seen : target(object)?.status
        }

        package func identity(of object: Int) -> FileIdentity? {
            let item = items[object]
            if item.origin == .other { return others[item.index].identity }
            if !isCopy, let target = target(object) { return target.identity }
            let position = position(ofIdentity: object)
            guard position < identities.count, identified[position] == object else { return nil }
            return identities[position]
        }

        /// Notes the identity of an object. It must be that of the seen status, unless this list is of a copy.
        mutating func identify(_ object: Int, _ identity: FileIdentity) {
            if items[object].origin == .other {
                others[items[object].index].identity = identity
            } else if isCopy || !items[object].origin.hasTarget {
                if identities.isEmpty {
                    let count = isCopy ? items.count : items.count { !$0.origin.hasTarget }
                    identities.reserveCapacity(count)
                    identified.reserveCapacity(count)
                }
                let position = position(ofIdentity: object)
                identities.insert(identity, at: position)
                identified.insert(UInt32(object), at: position)
            }
        }

        private func position(ofIdentity object: Int) -> Int {
            identified.partitionPoint(where: { $0 < object })
        }

        /// Makes this the list of a copy of the target, whose objects have other identities.
        mutating func becomeCopy() {
            isCopy = true
            for index in others.indices { others[index].identity = nil }
        }

        // MARK: Building

        mutating func append(_ object: Object) {
            items.append(Item(.other, others.count))
            others.append(object)
        }

        /// Appends an object, after the directory of its slot.
        ///
        /// - Returns: the object's number.
        mutating func append(_ origin: Origin, _ index: Int, slot: Int? = nil) -> Int {
            while let slot, slotDirectories.count <= slot / OperationGraph.slotsPerDirectory {
                let name = FileName(number: slotDirectories.count)
                slotDirectories.append(append(fixed: name, in: OperationGraph.transaction))
            }
            items.append(Item(origin, index, slot: slot.map { UInt32($0) } ?? Item.none))
            return items.count - 1
        }

        /// A directory that keeps its location.
        mutating func append(fixed name: FileName, in parent: Int) -> Int {
            names.append(name)
            let object = append(.fixed, names.count - 1)
            items[object].parent = UInt32(parent)
            return object
        }

        mutating func setParent(of object: Int, old parent: Int) { items[object].parent = UInt32(parent) }

        /// Sets the new parent of an object that moves or is staged.
        mutating func setParent(of object: Int, new parent: Int) {
            guard items[object].origin == .moving else {
                items[object].parent = UInt32(parent)
                return
            }
            if newParents.isEmpty { newParents = Array(repeating: Item.none, count: changes.count) }
            newParents[items[object].index] = UInt32(parent)
        }

        /// Makes a directory with a location the target of a match that keeps its location.
        mutating func set(_ object: Int, inPlace match: Int) {
            items[object] = Item(.inPlace, match, parent: items[object].parent)
        }

        mutating func giveSlot(of object: Int, to other: Int) { items[other].slot = items[object].slot }
    }
}
