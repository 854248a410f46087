import FileSystem

/// The steps of a plan as objects and operations on them: a pure value, of which the journal is the text.
///
/// An object is one file, directory or other inode; its names do not matter. It has up to three places: the old one, a
/// slot in the stage, the new one. A place is a name in a parent *object*, so an operation means the same
/// wherever its parents have got to meanwhile, and the order matters only where two objects share a place:
/// everything leaves before anything arrives, which also makes cycles of names plain.
package struct OperationGraph: Sendable {
    package struct Location: Hashable, Sendable {
        package var parent: Int
        package var name: FileName
    }

    package struct Object: Hashable, Sendable {
        package var old: Location?
        package var slot: Location?
        package var new: Location?
        /// Known from the scan; else found when the journal is made.
        package var identity: FileIdentity?
        /// What the scan saw, checked again before the first operation.
        package var seen: FileStatus?

    }

    package enum Operation: Hashable, Sendable {
        /// Old place to slot.
        case detach(Int)
        /// A staged object and the one whose place it takes.
        case exchange(Int, with: Int)
        /// Slot to new place, which is free.
        case attach(Int)
        /// Old place to new place, which is free.
        case rename(Int)
        /// One more name for an object that stays.
        case link(Link)
    }

    /// A new name of an object that stays.
    package struct Link: Hashable, Sendable {
        package var object: Int
        package var location: Location

        package init(object: Int, location: Location) {
            self.object = object
            self.location = location
        }
    }

    /// Attributes to be set at the end, as absolute values.
    package struct AttributeChange: Hashable, Sendable {
        package var object: Int
        /// nil: what the object has when the journal is made, which the operations on its entries disturb.
        package var old: Attributes?
        package var new: Attributes?
    }

    /// A source entry that is staged, in scan order.
    package struct StagedEntry: Hashable, Sendable {
        package var file: File
        /// The object that goes to a slot; nil for what is staged inside a new directory.
        package var object: Int?
        /// The arrival whose file this is another name of; staged before it.
        package var primary: RelativePath?
    }

    package static let root = 0
    package static let state = 1
    package static let stage = 2
    package static let history = 3
    package static let transaction = 4
    /// Of an exchange.
    package static let newTree = 5
    package static let oldTree = 6
    package static let slotsPerDirectory = 10_000

    package private(set) var objects: [Object]
    private var links: [Link] = []
    /// In the order in which they are done; undone in reverse.
    package private(set) var operations: [Operation] = []
    /// Deepest first.
    package private(set) var attributes: [AttributeChange] = []
    package private(set) var stagedEntries: [StagedEntry] = []
    /// Of each slot directory of the stage, the project that is handed down where its arrivals go.
    package private(set) var slotDirectories: [UInt32?] = []
    /// The slot of each object that leaves for good, by its old path: the record of history needs it.
    package private(set) var displaced: [(path: RelativePath, object: Int)] = []

    /// New directories whose attributes are set at the end: they are moved, or things move into them.
    package private(set) var deferredDirectories: Set<RelativePath> = []
    /// Directories of the target that names come to or go from, or that move, where they are now.
    package private(set) var touchedDirectories: Set<RelativePath> = []
    /// The object of the new manifest.
    package private(set) var manifest = 0

    /// The numbers of the slots that arrivals have, by path.
    package private(set) var slotNumbers: [RelativePath: Int]

    /// Free slots, by the project of their directory.
    private var slots: [UInt32?: Range<Int>] = [:]
    private let projects: [RelativePath: UInt32]
    private var slotDirectoryObjects: [Int] = []
    private var explicitByOld: [RelativePath: Int] = [:]
    private var explicitByNew: [RelativePath: Int] = [:]
    private var fixedByOld: [RelativePath: Int] = [.root: root]
    private var fixedByNew: [RelativePath: Int] = [:]

    /// - Parameters:
    ///   - root: the status of the target's root, and what it becomes.
    ///   - transaction: the name of the transaction's directory.
    ///   - projects: of directories that hand one down, by their new path.
    ///   - first: by which arrivals have been staged already.
    package init(
        _ difference: Difference, root: (old: Attributes, new: Attributes), transaction: FileName,
        replacesManifest: Bool, projects: [RelativePath: UInt32] = [:], after first: OperationGraph? = nil
    ) {
        slotNumbers = first?.slotNumbers ?? [:]
        slotDirectories = first?.slotDirectories ?? []
        self.projects = projects
        objects = OperationGraph.ownObjects(transaction)
        var moves = MoveMap(difference)
        addObjects(difference, &moves)
        order(difference)
        addAttributes(difference, root)
        addManifest(replacing: replacesManifest)
        operations.append(.rename(OperationGraph.transaction))
    }

    /// An exchange of the target as a whole: the object `root` is the directory that holds it.
    ///
    /// - Parameters:
    ///   - root: the attributes of both trees' roots, which the rename may disturb.
    ///   - seen: the target's.
    package init(
        exchanging target: FileName, root: (old: Attributes, new: Attributes), seen: FileStatus,
        transaction: FileName, replacesManifest: Bool
    ) {
        slotNumbers = [:]
        projects = [:]
        let slot = Location(parent: OperationGraph.transaction, name: TransactionEntry.tree)
        let location = Location(parent: OperationGraph.root, name: target)
        objects = OperationGraph.ownObjects(transaction)
        objects += [Object(slot: slot, new: location), Object(old: location, slot: slot, seen: seen)]
        operations = [.exchange(OperationGraph.newTree, with: OperationGraph.oldTree)]
        attributes = [
            AttributeChange(object: OperationGraph.newTree, old: root.new, new: root.new),
            AttributeChange(object: OperationGraph.oldTree, old: root.old, new: root.old),
        ]
        addManifest(replacing: replacesManifest)
        operations.append(.rename(OperationGraph.transaction))
    }

    /// The operations on the tree alone: the last two are the manifest's and the history's.
    var treeOperations: [Operation] { operations.dropLast(2) }

    // MARK: Objects

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

    private mutating func addObjects(_ difference: Difference, _ moves: inout MoveMap) {
        // First every object that has an operation of its own, so that the places can refer to them.
        for match in difference.matches {
            if match.replacesContent {
                if moves.newPath(of: match.target.path.parent) != nil { addLeaving(match.target) }
            } else if !moves.isCarried(match) {
                let object = add(match.target, slot: true)
                explicitByOld[match.target.path] = object
                explicitByNew[match.source.path] = object
            }
        }
        for (file, _) in difference.deleted where moves.newPath(of: file.path.parent) != nil {
            addLeaving(file)
        }
        let arriving =
            difference.arriving.sorted()
        var linked: [(path: RelativePath, kept: File)] = []
        for file in arriving {
            switch difference.links[file.path] {
            case .kept(let kept): linked.append((file.path, kept))
            case .staged(let primary): stagedEntries.append(StagedEntry(file: file, primary: primary))
            case nil: stagedEntries.append(StagedEntry(file: file))
            }
        }
        for index in stagedEntries.indices where !moves.isCreated(stagedEntries[index].file.path.parent) {
            let path = stagedEntries[index].file.path
            let number =
                slotNumbers[path] ?? nextSlotNumber(projects.isEmpty ? nil : projects[path.parent ?? .root])
            slotNumbers[path] = number
            let slot = self.slot(number)
            objects.append(Object(slot: slot))
            stagedEntries[index].object = objects.count - 1
            explicitByNew[path] = objects.count - 1
        }
        // Then the places.
        for (path, object) in explicitByOld {
            objects[object].old = locationOf(path, parent: oldDirectory(path.parent ?? .root))
        }
        for (path, object) in explicitByNew {
            objects[object].new = locationOf(path, parent: newDirectory(path.parent ?? .root, moves))
        }
        for (path, kept) in linked {
            let object = explicitByOld[kept.path] ?? objectFor(kept)
            if let location = locationOf(path, parent: newDirectory(path.parent ?? .root, moves)) {
                links.append(Link(object: object, location: location))
            }
        }
    }

    private mutating func add(_ target: File, slot: Bool) -> Int {
        let slot = slot ? nextSlot() : nil
        objects.append(Object(slot: slot, identity: target.identity, seen: target.status))
        return objects.count - 1
    }

    private mutating func addLeaving(_ target: File) {
        let object = add(target, slot: true)
        explicitByOld[target.path] = object
        displaced.append((target.path, object))
    }

    private mutating func nextSlot() -> Location {
        slot(nextSlotNumber())
    }

    private mutating func nextSlotNumber(_ project: UInt32? = nil) -> Int {
        if let number = slots[project]?.popFirst() { return number }
        let first = slotDirectories.count * OperationGraph.slotsPerDirectory
        slotDirectories.append(project)
        slots[project] = first + 1..<first + OperationGraph.slotsPerDirectory
        return first
    }

    private mutating func slot(_ number: Int) -> Location {
        let (directory, name) = number.quotientAndRemainder(dividingBy: OperationGraph.slotsPerDirectory)
        while slotDirectoryObjects.count <= directory {
            let location = Location(
                parent: OperationGraph.transaction, name: FileName(number: slotDirectoryObjects.count))
            slotDirectoryObjects.append(objects.count)
            objects.append(Object(fixed: location))
        }
        return Location(parent: slotDirectoryObjects[directory], name: FileName(number: name))
    }

    private func locationOf(_ path: RelativePath, parent: Int) -> Location? {
        path.fileName.map { Location(parent: parent, name: $0) }
    }

    /// The object of a directory that the target has at a path.
    private mutating func oldDirectory(_ path: RelativePath) -> Int {
        // Up to an object that is known, then down again: no recursion, trees are deep.
        var missing: [RelativePath] = []
        var known = path
        while explicitByOld[known] == nil, fixedByOld[known] == nil {
            missing.append(known)
            known = known.parent ?? .root
        }
        let object = explicitByOld[known] ?? fixedByOld[known] ?? OperationGraph.root
        return addFixed(missing, below: object) { $0.fixedByOld[$1] = $2 }
    }

    /// Adds directories that keep their place in their parent, the innermost first in `paths`.
    private mutating func addFixed(
        _ paths: [RelativePath], below parent: Int,
        _ remember: (inout OperationGraph, RelativePath, Int) -> Void
    ) -> Int {
        var object = parent
        for path in paths.reversed() {
            guard let location = locationOf(path, parent: object) else { break }
            objects.append(Object(fixed: location))
            object = objects.count - 1
            remember(&self, path, object)
        }
        return object
    }

    /// The object of a directory that will stand at a path.
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

    private mutating func order(_ difference: Difference) {
        var leaving: [Location: Int] = [:]
        for (_, object) in displaced {
            if let location = objects[object].old { leaving[location] = object }
        }
        // A new object that takes the place of one that leaves for good: one step, no gap.
        var exchanges: [Operation] = []
        var exchanged: Set<Int> = []
        for entry in stagedEntries {
            guard let object = entry.object, let location = objects[object].new, let other = leaving[location]
            else { continue }
            exchanges.append(.exchange(object, with: other))
            exchanged.formUnion([object, other])
            objects[other].slot = objects[object].slot
        }
        // The order of a scan has parents first: its reverse has the deepest first.
        let detached = explicitByOld.filter { !exchanged.contains($0.value) }.sorted { $0.key > $1.key }
        let attached = explicitByNew.filter { !exchanged.contains($0.value) }.sorted { $0.key < $1.key }
        operations = detached.map { .detach($0.value) } + exchanges + attached.map { .attach($0.value) }
        operations += links.map { .link($0) }
    }

    private mutating func addManifest(replacing: Bool) {
        let slot = Location(parent: OperationGraph.transaction, name: TransactionEntry.manifest)
        let location = Location(parent: OperationGraph.state, name: StateEntry.manifest.name)
        objects.append(Object(slot: slot, new: location))
        let new = objects.count - 1
        manifest = new
        if replacing {
            objects.append(Object(old: location, slot: slot))
            operations.append(.exchange(new, with: objects.count - 1))
        } else {
            operations.append(.attach(new))
        }
    }

    // MARK: Attributes

    private mutating func addAttributes(_ difference: Difference, _ root: (old: Attributes, new: Attributes))
    {
        var changes: [Int: (path: RelativePath, old: Attributes?, new: Attributes?)] = [:]
        // Always: the names that come and go, and the making of the state, move its time, which may have been
        // right before.
        changes[OperationGraph.root] = (.root, root.old, root.new)
        var valuesByOld: [RelativePath: Match] = [:]
        for match in difference.matches where !match.replacesContent {
            if match.target.isDirectory { valuesByOld[match.target.path] = match }
            guard match.changesAttributes else { continue }
            let object = explicitByOld[match.target.path] ?? objectFor(match.target)
            changes[object] = (match.source.path, match.attributes.old, match.attributes.new)
        }
        // Names that come or go change a directory's modification time, which is set last.
        var touched: Set<Int> = []
        for operation in operations {
            switch operation {
            case .detach(let object): touched.insert(objects[object].old?.parent ?? OperationGraph.root)
            case .attach(let object): touched.insert(objects[object].new?.parent ?? OperationGraph.root)
            case .exchange(let object, _): touched.insert(objects[object].new?.parent ?? OperationGraph.root)
            case .link(let link): touched.insert(link.location.parent)
            case .rename: break
            }
        }
        let paths = directoryPaths()
        let arriving = stagedEntries.filter(\.file.isDirectory)
        let created = Dictionary(uniqueKeysWithValues: arriving.map { ($0.file.path, $0.file) })
        // So does the move of a directory itself: its `..` changes, and xfs counts that. A new one may also lack
        // the permissions that a user other than root needs to move it.
        touched.formUnion(arriving.compactMap(\.object))
        touched.formUnion(explicitByOld.values.filter { objects[$0].seen?.type == .directory })
        for object in touched.sorted() where changes[object] == nil {
            guard let (path, isNew) = paths[object] else { continue }
            if !isNew { touchedDirectories.insert(path) }
            if isNew, let file = created[path] {
                changes[object] = (path, nil, Attributes(file.status))
                deferredDirectories.insert(path)
            } else if let match = valuesByOld[path] {
                changes[object] = (
                    match.source.path, Attributes(match.target.status), Attributes(match.held.status)
                )
            } else {
                changes[object] = (path, nil, nil)
            }
        }
        attributes = changes.sorted { $0.value.path > $1.value.path }
            .map { AttributeChange(object: $0.key, old: $0.value.old, new: $0.value.new) }
    }

    /// The object of something that keeps its place but for its attributes.
    private mutating func objectFor(_ target: File) -> Int {
        if let object = fixedByOld[target.path] {
            objects[object].identity = target.identity
            objects[object].seen = target.status
            return object
        }
        var object = Object(identity: target.identity, seen: target.status)
        object.old = locationOf(target.path, parent: oldDirectory(target.path.parent ?? .root))
        object.new = object.old
        objects.append(object)
        fixedByOld[target.path] = objects.count - 1
        return objects.count - 1
    }

    private func directoryPaths() -> [Int: (path: RelativePath, isNew: Bool)] {
        var paths: [Int: (path: RelativePath, isNew: Bool)] = [:]
        for (path, object) in fixedByNew { paths[object] = (path, true) }
        for entry in stagedEntries {
            if let object = entry.object { paths[object] = (entry.file.path, true) }
        }
        for (path, object) in explicitByOld { paths[object] = (path, false) }
        for (path, object) in fixedByOld { paths[object] = (path, false) }
        return paths
    }
}

extension OperationGraph.Object {
    init(fixed location: OperationGraph.Location) {
        old = location
        new = location
    }
}
