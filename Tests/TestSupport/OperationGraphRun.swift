import FileSystem
import FsyncLite

/// Runs a graph of operations on a model of the target, strictly. A place that must be free is free, objects
/// that are exchanged exist, and no directory is moved into itself.
package struct OperationGraphRun {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    package private(set) var tree: ModelTree
    private let layout: OperationGraph
    /// The model's object for each of the layout's.
    private var ids: [ModelTree.ID] = []
    /// The attributes before the first operation, for each step of the attributes.
    private var found: [Attributes] = []
    /// Only root sets owners.
    private let setsOwner: Bool

    package static let transaction = FileName("tx")

    /// Stages the new objects. The visible tree is unchanged.
    package init(
        staging layout: OperationGraph, from source: ModelTree, into target: ModelTree, setsOwner: Bool = true
    ) throws {
        self.layout = layout
        self.setsOwner = setsOwner
        tree = target
        let root = tree.rootStatus
        let state = directory(Place(ModelTree.root, ModelTree.reservedName))
        tree.set(ModelTree.root, root)
        _ = directory(Place(state, FileName("history")))
        let transaction = directory(
            Place(directory(Place(state, FileName("stage"))), OperationGraphRun.transaction))
        for number in layout.slotDirectories.indices {
            _ = directory(Place(transaction, FileName(number: number)))
        }
        try stageEntries(source, transaction)
        try resolve()
        for step in layout.attributes {
            found.append(Attributes(tree[ids[step.object]].status))
            if let old = step.old, old != found.last {
                throw Failure(description: "\(step) has another old value")
            }
        }
    }

    private typealias Place = ModelTree.Place

    private mutating func directory(_ place: Place) -> ModelTree.ID {
        if let id = tree.id(at: place) { return id }
        let id = tree.make(.directory)
        tree.link(id, place)
        return id
    }

    private mutating func stageEntries(_ source: ModelTree, _ transaction: ModelTree.ID) throws {
        var staged: [RelativePath: ModelTree.ID] = [:]
        for entry in layout.stagedEntries {
            let place: Place
            if let object = entry.object {
                guard let slot = layout.objects[object].slot,
                    let holder = layout.objects[slot.parent].new.flatMap({
                        tree.id(at: Place(transaction, $0.name))
                    })
                else { throw Failure(description: "\(entry.file.path) has no slot") }
                place = Place(holder, slot.name)
            } else {
                guard let parent = entry.file.path.parent.flatMap({ staged[$0] }),
                    let name = entry.file.path.fileName
                else { throw Failure(description: "\(entry.file.path) is in no new directory") }
                place = Place(parent, name)
            }
            guard let original = source.object(at: entry.file.path), tree.id(at: place) == nil else {
                throw Failure(description: "\(entry.file.path) cannot be staged")
            }
            if let primary = entry.primary {
                guard let id = staged[primary] else {
                    throw Failure(description: "\(entry.file.path) is staged before \(primary)")
                }
                tree.link(id, place)
                staged[entry.file.path] = id
                continue
            }
            let id = tree.make(entry.file.status.type, reusingInode: true)
            tree.link(id, place)
            tree.change(id) {
                $0.content = original.content
                $0.destination = original.destination
                $0.status.size = original.status.size
            }
            staged[entry.file.path] = id
        }
        for entry in layout.stagedEntries {
            if let id = staged[entry.file.path] { set(id, Attributes(entry.file.status)) }
        }
        let manifest = tree.make(.file)
        tree.change(manifest) { $0.content = Int($0.status.inode) }
        tree.link(manifest, Place(transaction, FileName("manifest.json")))
    }

    private mutating func set(_ id: ModelTree.ID, _ attributes: Attributes) {
        tree.change(id) {
            $0.status.permissions = attributes.permissions
            $0.status.modified = attributes.modified
            guard setsOwner else { return }
            $0.status.owner = attributes.owner
            $0.status.group = attributes.group
        }
    }

    /// Finds the objects at their places before the first operation.
    private mutating func resolve() throws {
        var known: [Int: ModelTree.ID] = [OperationGraph.root: ModelTree.root]
        known[OperationGraph.state] = tree.id(at: Place(ModelTree.root, ModelTree.reservedName))
        for object in layout.objects.indices { ids.append(try find(object, &known)) }
        let directories = ids.filter { tree[$0].isDirectory }
        guard Set(directories).count == directories.count else {
            throw Failure(description: "two objects of the layout are one directory")
        }
    }

    private func find(_ number: Int, _ known: inout [Int: ModelTree.ID]) throws -> ModelTree.ID {
        if let id = known[number] { return id }
        let object = layout.objects[number]
        guard let place = object.old ?? object.slot else {
            throw Failure(description: "object \(number) has no place to begin with")
        }
        guard let id = tree.id(at: Place(try find(place.parent, &known), place.name)) else {
            throw Failure(description: "object \(number) is not at \(place)")
        }
        if let seen = object.seen, seen.identity != tree[id].status.identity {
            throw Failure(description: "object \(number) is another than was seen")
        }
        known[number] = id
        return id
    }

    private func expect(_ place: OperationGraph.Location) throws -> ModelTree.ID {
        guard let id = tree.id(at: Place(ids[place.parent], place.name)) else {
            throw Failure(description: "nothing at \(place)")
        }
        return id
    }

    // MARK: Operations

    package var time: FileTime { tree.time }

    /// Does the operations, or the first `count` of them. The clock advances with each, unless `atOnce`.
    package mutating func operate(_ count: Int = .max, atOnce: Bool = false) throws {
        for operation in layout.operations.prefix(count) {
            if !atOnce { tree.now += 1 }
            try perform(operation, isBackward: false)
        }
    }

    package mutating func setAttributes() {
        for (step, old) in zip(layout.attributes, found) { set(ids[step.object], step.new ?? old) }
    }

    /// A step that is too late: an earlier one may have removed the permissions of a directory above.
    package func misplacedStep() -> OperationGraph.AttributeChange? {
        for (index, step) in layout.attributes.enumerated() {
            for earlier in layout.attributes[..<index]
            where isInside(step.object, earlier.object) { return step }
        }
        return nil
    }

    /// By places, because a file may have other names.
    private func isInside(_ object: Int, _ directory: Int) -> Bool {
        var above = layout.objects[object].new?.parent
        while let parent = above {
            if parent == directory { return true }
            above = layout.objects[parent].new?.parent
        }
        return false
    }

    /// Undoes the operations, or the first `count` of them, and the attributes.
    package mutating func revert(_ count: Int = .max) throws {
        for operation in layout.operations.prefix(count).reversed() {
            try perform(operation, isBackward: true)
        }
        for (step, old) in zip(layout.attributes, found) { set(ids[step.object], step.old ?? old) }
    }

    private mutating func perform(_ operation: OperationGraph.Operation, isBackward: Bool) throws {
        do {
            switch operation {
            case .detach(let object):
                try move(object, layout.objects[object].old, layout.objects[object].slot, isBackward)
            case .attach(let object):
                try move(object, layout.objects[object].slot, layout.objects[object].new, isBackward)
            case .rename(let object):
                try move(object, layout.objects[object].old, layout.objects[object].new, isBackward)
            case .exchange(let object, let other):
                try exchange(object, other, isBackward)
            case .link(let link):
                let place = Place(ids[link.location.parent], link.location.name)
                guard isBackward != (tree.id(at: place) == nil) else {
                    throw Failure(description: "the name is \(isBackward ? "gone" : "taken")")
                }
                if isBackward { tree.remove(place) } else { tree.link(ids[link.object], place) }
            }
        } catch let failure as Failure {
            throw Failure(description: "\(isBackward ? "undo " : "")\(operation): \(failure)")
        }
    }

    private mutating func move(
        _ object: Int, _ from: OperationGraph.Location?, _ to: OperationGraph.Location?, _ isBackward: Bool
    )
        throws
    {
        guard let start = isBackward ? to : from, let end = isBackward ? from : to else {
            throw Failure(description: "object \(object) lacks a place")
        }
        guard try expect(start) == ids[object] else {
            throw Failure(description: "another object is at \(start)")
        }
        let goal = Place(ids[end.parent], end.name)
        guard tree.id(at: goal) == nil else { throw Failure(description: "\(end) is taken") }
        guard !tree.holds(ids[object], goal.directory) else {
            throw Failure(description: "a directory would get into itself")
        }
        tree.move(Place(ids[start.parent], start.name), goal)
    }

    private mutating func exchange(_ object: Int, _ other: Int, _ isBackward: Bool) throws {
        guard let slot = layout.objects[object].slot, let place = layout.objects[object].new,
            layout.objects[other].slot == slot, layout.objects[other].old == place
        else { throw Failure(description: "the two do not have each other's places") }
        guard try expect(slot) == ids[isBackward ? other : object],
            try expect(place) == ids[isBackward ? object : other]
        else { throw Failure(description: "another object has the place") }
        tree.exchange(Place(ids[slot.parent], slot.name), Place(ids[place.parent], place.name))
    }
}
