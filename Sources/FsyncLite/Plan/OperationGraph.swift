import FileSystem

/// The steps of a plan as objects and operations on them: a pure value. The journal is its text.
///
/// An object is one file, directory or other inode; its names do not matter. It has up to three locations: the old one,
/// a slot in the stage, the new one. A location is a name in a parent *object*, so an operation is valid wherever its
/// parents are. The order matters only if two objects share a location. All objects leave before others arrive, which
/// also resolves cycles of names.
package struct OperationGraph: Sendable {
    package static let root = 0
    package static let state = 1
    package static let stage = 2
    package static let history = 3
    package static let transaction = 4
    /// Only in an exchange.
    package static let newTree = 5
    package static let oldTree = 6
    package static let slotsPerDirectory = 10_000

    package internal(set) var objects: ObjectList
    private var links: [Link] = []
    /// In the order in which they are done; undone in reverse.
    package private(set) var operations: [Operation] = []
    /// The objects of matches whose attributes are set, deepest first. With the highest bit, the index of another
    /// change of attributes.
    private var attributeItems: [UInt32] = []
    private var otherAttributes: [AttributeChange] = []
    private static let otherAttribute: UInt32 = 1 << 31
    package var stagedEntries: StagedList { objects.stagedEntries }
    /// The project that each slot directory hands down: that of the directories where its objects arrive.
    package private(set) var slotDirectories: [UInt32?] = []
    /// New directories whose attributes are set at the end, because they are moved or other objects move into them.
    package internal(set) var deferredDirectories: Set<RelativePath> = []
    /// Present paths of directories of the target that gain or lose names, or that move.
    package internal(set) var touchedDirectories: Set<RelativePath> = []

    /// Free slots, by the project of their directory.
    private var slots: [UInt32?: Range<Int>] = [:]
    private let projects: [RelativePath: UInt32]
    /// There is no exchange: all leaving objects have left before others arrive.
    private let isWeak: Bool
    /// Directories, and files with several names, by path: those with operations, and those that keep their location.
    private(set) var explicitByOld: [RelativePath: Int] = [:]
    private var explicitByNew: [RelativePath: Int] = [:]
    var fixedByOld: [RelativePath: Int] = [.root: root]
    private(set) var fixedByNew: [RelativePath: Int] = [:]

    /// - Parameters:
    ///   - root: the attributes of the target's root, before and after.
    ///   - transaction: the name of the transaction's directory.
    ///   - projects: of directories that hand one down, by their new path.
    ///   - isWeak: for a file system on which no two names can be exchanged.
    ///   - first: a graph by which arrivals have been staged already.
    package init(
        _ difference: Difference, root: (old: Attributes, new: Attributes), transaction: FileName,
        replacesManifest: Bool, projects: [RelativePath: UInt32] = [:], isWeak: Bool = false,
        after first: OperationGraph? = nil
    ) {
        self.isWeak = isWeak
        slotDirectories = first?.slotDirectories ?? []
        self.projects = projects
        objects = ObjectList(difference, OperationGraph.ownObjects(transaction))
        addObjects(difference, MoveMap(difference), first)
        order()
        addAttributes(difference, root)
        addManifest(replacing: replacesManifest)
        operations.append(.rename(OperationGraph.transaction))
        (explicitByOld, explicitByNew, fixedByOld, fixedByNew) = ([:], [:], [:], [:])
    }

    /// An exchange of the whole target. The object `root` is the directory that contains it.
    ///
    /// - Parameters:
    ///   - root: the attributes of the roots of both trees. The rename may change them.
    ///   - seen: the status of the target.
    package init(
        exchanging target: FileName, root: (old: Attributes, new: Attributes), seen: FileStatus,
        transaction: FileName, replacesManifest: Bool
    ) {
        (projects, isWeak) = ([:], false)
        let slot = Location(parent: OperationGraph.transaction, name: TransactionEntry.tree)
        let location = Location(parent: OperationGraph.root, name: target)
        objects = ObjectList(
            OperationGraph.ownObjects(transaction) + [
                Object(slot: slot, new: location), Object(old: location, slot: slot, seen: seen),
            ])
        operations.append(.exchange(OperationGraph.newTree, with: OperationGraph.oldTree))
        addAttributes(AttributeChange(object: OperationGraph.newTree, old: root.new, new: root.new))
        addAttributes(AttributeChange(object: OperationGraph.oldTree, old: root.old, new: root.old))
        addManifest(replacing: replacesManifest)
        operations.append(.rename(OperationGraph.transaction))
    }

    /// The graph of a prepared transaction.
    package init(_ objects: ObjectList, _ operations: [Operation], _ attributes: [AttributeChange]) {
        (projects, isWeak) = ([:], false)
        (self.objects, self.operations) = (objects, operations)
        for change in attributes { addAttributes(change) }
    }

    /// Deepest first.
    package var attributes: LazyMapCollection<[UInt32], AttributeChange> {
        attributeItems.lazy.map { item in
            guard item & OperationGraph.otherAttribute == 0 else {
                return otherAttributes[Int(item & ~OperationGraph.otherAttribute)]
            }
            let (old, new) = objects.changes[match: objects.items[Int(item)].index].attributes
            return AttributeChange(object: Int(item), old: old, new: new)
        }
    }

    mutating func addAttributes(_ change: AttributeChange) {
        attributeItems.append(UInt32(otherAttributes.count) | OperationGraph.otherAttribute)
        otherAttributes.append(change)
    }

    mutating func addAttributes(ofMatchOf object: Int) { attributeItems.append(UInt32(object)) }

    /// The operations on the tree. The last two operations are the manifest's and the history's.
    var treeOperations: [Operation] { operations.dropLast(2) }

    // MARK: Objects

    /// A path below the stage.
    static func path(ofSlot number: Int) -> RelativePath {
        let (directory, name) = number.quotientAndRemainder(dividingBy: slotsPerDirectory)
        return RelativePath(validated: Array("\(directory)/\(name)".utf8))
    }

    /// The objects that every transaction has, by their numbers: `root` to `transaction`.
    static func ownObjects(_ transaction: FileName) -> [Object] {
        [
            Object(), Object(),
            Object(fixed: Location(parent: state, name: StateEntry.stage.name)),
            Object(fixed: Location(parent: state, name: StateEntry.history.name)),
            Object(
                old: Location(parent: stage, name: transaction),
                new: Location(parent: history, name: transaction)),
        ]
    }

    private mutating func addObjects(_ difference: Difference, _ moves: MoveMap, _ first: OperationGraph?) {
        // First, every object that has an operation of its own, so that the locations can refer to them.
        let changes = difference.changes
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.kind != .created else { continue }
            let old = changes.targetPath(at: index)
            let isParentOrLinked = head.targetIsDirectory || head.hasOtherNames
            if head.kind == .deleted || head.replacesContent {
                guard moves.newPath(of: old.parent) != nil else { continue }
                let object = add(.leaving, index)
                if isParentOrLinked { explicitByOld[old] = object }
                continue
            }
            let new = head.isRenamed ? changes.path(at: index) : old
            if !moves.isCarried(from: old, to: new) {
                let object = add(.moving, index)
                if isParentOrLinked { (explicitByOld[old], explicitByNew[new]) = (object, object) }
            }
        }
        let linked = addArriving(difference, moves, first)
        // Then the locations.
        for object in objects.indices where objects.items[object].origin.hasTarget {
            let path = objects.oldPath(object)
            objects.setParent(of: object, old: oldDirectory(path.parent ?? .root))
        }
        for object in objects.indices
        where objects.items[object].origin == .moving || objects.items[object].origin == .staged {
            let path = objects.newPath(object)
            objects.setParent(of: object, new: newDirectory(path.parent ?? .root, moves))
        }
        for (path, existing) in linked {
            let object = explicitByOld[existing.path] ?? objectFor(existing)
            if let location = locationOf(path, parent: newDirectory(path.parent ?? .root, moves)) {
                links.append(Link(object: object, location: location))
            }
        }
    }

    /// - Returns: the new names of files that remain in the target.
    private mutating func addArriving(
        _ difference: Difference, _ moves: MoveMap, _ first: OperationGraph?
    ) -> [(path: RelativePath, existing: File)] {
        var linked: [(path: RelativePath, existing: File)] = []
        var staged = StagedList(difference) { linked.append(($0, $1)) }
        let numbers = first?.slotNumbers ?? [:]
        for index in staged.indices {
            let path = staged.path(at: index)
            let parent = path.parent
            guard !moves.isCreated(parent) else { continue }
            let number =
                numbers[path] ?? nextSlotNumber(projects.isEmpty ? nil : projects[parent ?? .root])
            let object = objects.append(.staged, staged.change(at: index), slot: number)
            staged.set(object, slot: number, at: index)
            if staged.isDirectory(at: index) { explicitByNew[path] = object }
        }
        staged.findTops()
        objects.stagedEntries = staged
        return linked
    }

    /// The numbers of the slots that arrivals have, by path.
    private var slotNumbers: [RelativePath: Int] {
        var numbers: [RelativePath: Int] = [:]
        let staged = stagedEntries
        for index in staged.indices {
            if let slot = staged.slot(at: index) { numbers[staged.path(at: index)] = slot }
        }
        return numbers
    }

    private mutating func add(_ origin: ObjectList.Origin, _ index: Int) -> Int {
        let number = nextSlotNumber()
        return objects.append(origin, index, slot: number)
    }

    private mutating func nextSlotNumber(_ project: UInt32? = nil) -> Int {
        if let number = slots[project]?.popFirst() { return number }
        let first = slotDirectories.count * OperationGraph.slotsPerDirectory
        slotDirectories.append(project)
        slots[project] = first + 1..<first + OperationGraph.slotsPerDirectory
        return first
    }

    func locationOf(_ path: RelativePath, parent: Int) -> Location? {
        path.fileName.map { Location(parent: parent, name: $0) }
    }

    /// The object of a directory that the target has at a path.
    mutating func oldDirectory(_ path: RelativePath) -> Int {
        // Upward to a known object, then down again. There is no recursion, because trees are deep.
        var missing: [RelativePath] = []
        var known = path
        while explicitByOld[known] == nil, fixedByOld[known] == nil {
            missing.append(known)
            known = known.parent ?? .root
        }
        let object = explicitByOld[known] ?? fixedByOld[known] ?? OperationGraph.root
        return addFixed(missing, below: object) { $0.fixedByOld[$1] = $2 }
    }

    /// Adds directories that keep their location in their parent, the innermost first in `paths`.
    private mutating func addFixed(
        _ paths: [RelativePath], below parent: Int,
        _ remember: (inout OperationGraph, RelativePath, Int) -> Void
    ) -> Int {
        var object = parent
        for path in paths.reversed() {
            guard let name = path.fileName else { break }
            object = objects.append(fixed: name, in: object)
            remember(&self, path, object)
        }
        return object
    }

    /// The object of a directory that will be at a path.
    private mutating func newDirectory(_ path: RelativePath, _ moves: MoveMap) -> Int {
        var missing: [RelativePath] = []
        var known = path
        while explicitByNew[known] == nil, fixedByNew[known] == nil, moves.isCreated(known) {
            missing.append(known)
            known = known.parent ?? .root
        }
        let object = explicitByNew[known] ?? fixedByNew[known] ?? oldDirectory(moves.oldPath(of: known))
        return addFixed(missing, below: object) { $0.fixedByNew[$1] = $2 }
    }

    // MARK: Operations

    private mutating func order() {
        // A new object exchanges places with one that leaves for good: one step, no gap.
        var exchanges: [Operation] = []
        var isExchanged = [Bool](repeating: false, count: objects.count)
        let staged = stagedEntries
        if !isWeak, !staged.isEmpty {
            let replaceable = Leaving(objects)
            for index in staged.indices {
                guard let object = staged.object(at: index),
                    let other = replaceable.object(at: object, objects)
                else { continue }
                exchanges.append(.exchange(object, with: other))
                (isExchanged[object], isExchanged[other]) = (true, true)
                objects.giveSlot(of: object, to: other)
            }
        }
        func others(_ isWanted: (ObjectList.Origin) -> Bool) -> [UInt32] {
            var others: [UInt32] = []
            for object in objects.indices where !isExchanged[object] && isWanted(objects.items[object].origin)
            {
                others.append(UInt32(object))
            }
            return others
        }
        // A scan lists parents first, so its reverse has the deepest first. Each part is nearly in order, so the sort
        // only merges.
        var detached = others { $0 == .leaving } + others { $0.hasTarget && $0 != .leaving }
        var attached = others { $0 == .moving || $0 == .staged }
        // The four others are the operations of the manifest and the history.
        operations.reserveCapacity(
            detached.count + exchanges.count + attached.count + links.count + 4)
        detached.sort { objects.oldOrder(Int($0), comparedTo: Int($1)) > 0 }
        for object in detached { operations.append(.detach(Int(object))) }
        operations.append(contentsOf: exchanges)
        (detached, exchanges) = ([], [])
        attached.sort { objects.newPath(Int($0)) < objects.newPath(Int($1)) }
        for object in attached { operations.append(.attach(Int(object))) }
        for link in links { operations.append(.link(link)) }
    }

    /// Objects that leave for good, by their old location.
    private struct Leaving {
        private var sorted: [UInt32]

        init(_ objects: ObjectList) {
            sorted = objects.indices.lazy.filter { objects.items[$0].origin == .leaving }.map { UInt32($0) }
            sorted.sort {
                let (left, right) = (Int($0), Int($1))
                let (parent, other) = (objects.items[left].parent, objects.items[right].parent)
                return parent != other
                    ? parent < other
                    : objects.oldPath(left).lastComponent.lexicographicallyPrecedes(
                        objects.oldPath(right).lastComponent)
            }
        }

        /// The leaving object whose location a staged object gets.
        func object(at staged: Int, _ objects: ObjectList) -> Int? {
            guard !sorted.isEmpty else { return nil }
            let (parent, path) = (objects.items[staged].parent, objects.newPath(staged))
            let name = path.lastComponent
            let position = sorted.partitionPoint(where: {
                let other = objects.items[Int($0)].parent
                return other != parent
                    ? other < parent : objects.oldPath(Int($0)).lastComponent.lexicographicallyPrecedes(name)
            })
            guard position < sorted.count else { return nil }
            let object = Int(sorted[position])
            guard objects.items[object].parent == parent, objects.oldPath(object).lastComponent == name else {
                return nil
            }
            return object
        }
    }

    private mutating func addManifest(replacing: Bool) {
        let slot = Location(parent: OperationGraph.transaction, name: TransactionEntry.manifest)
        let location = Location(parent: OperationGraph.state, name: StateEntry.manifest.name)
        objects.append(Object(slot: slot, new: location))
        let new = objects.count - 1
        if replacing, isWeak {
            let slot = Location(parent: OperationGraph.transaction, name: TransactionEntry.oldManifest)
            objects.append(Object(old: location, slot: slot))
            operations.insert(.detach(objects.count - 1), at: 0)
            operations.append(.attach(new))
        } else if replacing {
            objects.append(Object(old: location, slot: slot))
            operations.append(.exchange(new, with: objects.count - 1))
        } else {
            operations.append(.attach(new))
        }
    }
}
