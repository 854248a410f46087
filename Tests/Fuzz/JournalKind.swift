import FileSystem
import FsyncLite
import TestSupport

extension DocumentKind {
    static let journal = DocumentKind(
        name: "journal", place: ".fsync-lite/journal", isSealed: true,
        make: { random in try JournalContent(random: &random).text() },
        value: { desk in try JournalContent(desk) }, check: { try $0.check() }, text: { try $0.text() })
}

/// All values of a journal, in a form that can be made freely.
struct JournalContent: Equatable {
    typealias Place = OperationGraph.Location
    typealias Object = OperationGraph.Object
    typealias Operation = OperationGraph.Operation

    var id = Desk.transaction
    var began = FileTime(seconds: 0, nanoseconds: 0)
    var root = FileIdentity(inode: 0, created: nil)
    var objects: [Object] = []
    var operations: [Operation] = []
    var attributes: [Journal.AttributeStep] = []

    init(_ desk: Desk) throws {
        guard let (_, journal) = try desk.state.pendingJournal() else {
            throw Violation("the journal is not there")
        }
        self.init(journal.id, journal.began, journal.root, journal.objects, journal.operations)
        attributes = journal.attributes
    }

    init(
        _ id: String, _ began: FileTime, _ root: FileIdentity, _ objects: OperationGraph.ObjectList,
        _ operations: [OperationGraph.Operation]
    ) {
        (self.id, self.began, self.root) = (id, began, root)
        self.objects = objects.map { Object(old: $0.old, slot: $0.slot, new: $0.new, identity: $0.identity) }
        self.operations = Array(operations)
    }

    func text() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try Journal(
            id: id, root: root, began: began, objects: .init(objects), operations: operations,
            attributes: attributes
        ).write(to: &bytes)
        return bytes
    }

    // MARK: What must hold

    func check() throws {
        try PathRules.requireName(Array(id.utf8), "the transaction's name:")
        try require(objects.count > 4, "objects are missing")
        let fixed = Array(JournalContent.fixed(id).prefix(5))
        for (index, object) in objects.enumerated() {
            for place in [object.old, object.slot, object.new].compactMap({ $0 }) {
                try PathRules.requireName(place.name.bytes, "a name:")
                try require(objects.indices.contains(place.parent), "the parent of \(index)")
            }
            if index < fixed.count {
                try require(
                    object.old == fixed[index].old && object.new == fixed[index].new
                        && object.slot == nil, "object \(index) is not ours")
            } else {
                try require(
                    object.old != nil || object.slot != nil || object.new != nil, "object \(index) is nowhere"
                )
            }
            try require((object.identity == nil) == (index < 2), "the identity of \(index)")
        }
        for operation in operations {
            switch operation {
            case .detach(let object): try check(object, \.old, \.slot)
            case .attach(let object): try check(object, \.slot, \.new)
            case .rename(let object): try check(object, \.old, \.new)
            case .exchange(let object, let other):
                try check(object, \.slot, \.new)
                try check(other, \.old, \.slot)
            case .link(let link):
                try require(objects.indices.contains(link.object) && link.object > 4, "no such object")
                try require(objects.indices.contains(link.location.parent), "no such parent")
                try PathRules.requireName(link.location.name.bytes, "a name:")
            }
        }
        try require(operations.last == .rename(4), "the last operation keeps nothing")
        for step in attributes {
            try require(objects.indices.contains(step.object), "no such object")
            try require(step.old.permissions <= 0o7777 && step.new.permissions <= 0o7777, "a mode")
        }
    }

    private func check(_ object: Int, _ from: KeyPath<Object, Place?>, _ to: KeyPath<Object, Place?>) throws {
        try require(objects.indices.contains(object), "no such object")
        try require(
            objects[object][keyPath: from] != nil && objects[object][keyPath: to] != nil,
            "an operation without its places")
    }

    // MARK: Making one

    /// The root, the state, the stage, the history, the transaction, and its directory of slots.
    static func fixed(_ id: String) -> [Object] {
        func stays(_ parent: Int, _ name: StaticString) -> Object {
            let place = Place(parent: parent, name: FileName(name))
            return Object(old: place, new: place)
        }
        let name = FileName(id.utf8) ?? FileName("none")
        return [
            Object(), Object(), stays(1, "stage"), stays(1, "history"),
            Object(old: Place(parent: 2, name: name), new: Place(parent: 3, name: name)),
            stays(4, "0"),
        ]
    }

    init(random: inout SplitMix64) {
        began = random.time()
        root = random.identity()
        objects = JournalContent.fixed(id)
        for index in objects.indices.dropFirst(2) { objects[index].identity = random.identity() }
        var directories = [0]
        var slots = 0
        var taken: Set<Place> = []
        func free(_ random: inout SplitMix64) -> Place {
            while true {
                let directory = random.pick(directories)
                guard let name = FileName(random.name()) else { continue }
                let place = Place(parent: directory, name: name)
                if taken.insert(place).inserted { return place }
            }
        }
        func slot() -> Place {
            slots += 1
            return Place(parent: 5, name: FileName(number: slots - 1))
        }
        var detached: [Operation] = []
        var exchanged: [Operation] = []
        var attached: [Operation] = []
        var links: [Operation] = []
        for _ in 0..<random.pick([0, 1, 2, 4, 8, 12]) {
            let place = free(&random)
            let next = objects.count
            switch random.number(0...4) {
            case 0:
                objects.append(Object(old: place, slot: slot(), identity: random.identity()))
                detached.append(.detach(next))
            case 1:
                objects.append(Object(slot: slot(), new: place, identity: random.identity()))
                attached.append(.attach(next))
            case 2:
                let goal = free(&random)
                objects.append(Object(old: place, slot: slot(), new: goal, identity: random.identity()))
                detached.append(.detach(next))
                attached.append(.attach(next))
            case 3:
                let shared = slot()
                objects.append(Object(slot: shared, new: place, identity: random.identity()))
                objects.append(Object(old: place, slot: shared, identity: random.identity()))
                exchanged.append(.exchange(next, with: next + 1))
            default:
                objects.append(Object(old: place, new: place, identity: random.identity()))
                directories.append(next)
            }
            if random.oneIn(2) {
                var step = Journal.AttributeStep(
                    object: next, old: random.attributes(), new: random.attributes())
                if random.oneIn(3) {
                    (step.old.extended, step.new.extended) = (random.extended(), ExtendedAttributes())
                }
                attributes.append(step)
            }
            if random.oneIn(5) {
                links.append(.link(.init(object: next, location: free(&random))))
            }
        }
        let slot = Place(parent: 4, name: FileName("manifest.json"))
        let place = Place(parent: 1, name: FileName("manifest.json"))
        objects.append(Object(slot: slot, new: place, identity: random.identity()))
        let manifest = objects.count - 1
        operations = detached + exchanged + attached + links
        if random.oneIn(2) {
            objects.append(Object(old: place, slot: slot, identity: random.identity()))
            operations.append(.exchange(manifest, with: manifest + 1))
        } else {
            operations.append(.attach(manifest))
        }
        operations.append(.rename(4))
    }
}

extension SplitMix64 {
    mutating func attributes() -> Attributes {
        Attributes(permissions: permissions(), owner: account(), group: account(), modified: time())
    }
}
