import FileSystem
import FsyncLite
import TestSupport

extension DocumentKind {
    static let prepared = DocumentKind(
        name: "prepared", place: ".fsync-lite/stage/\(Desk.transaction)/prepared.json", isSealed: true,
        make: { random in try PreparedContent(random: &random).text() },
        value: { desk in
            guard let found = try desk.state.prepared(Desk.transaction) else {
                throw Violation("the prepared transaction is not there")
            }
            return PreparedContent(transaction: found.transaction)
        }, check: { try $0.check() }, text: { try $0.text() })
}

/// A prepared transaction: the content of a journal, and the status of its objects.
private struct PreparedContent: Equatable {
    var transaction: PreparedTransaction

    init(transaction: PreparedTransaction) {
        self.transaction = transaction
    }

    private var journal: JournalContent {
        JournalContent(
            transaction.id, transaction.prepared.fileTime, transaction.root, transaction.objects,
            transaction.operations)
    }

    static func == (left: PreparedContent, right: PreparedContent) -> Bool {
        let (one, other) = (left.transaction, right.transaction)
        return left.journal == right.journal
            && one.objects.map(\.seen) == other.objects.map(\.seen)
            && one.attributes.elementsEqual(other.attributes)
            && one.basis == other.basis && one.retention == other.retention && one.notes == other.notes
            && one.descendants == other.descendants && one.actions == other.actions
            && one.problems == other.problems && one.summary == other.summary
    }

    func text() throws -> [UInt8] {
        var bytes: [UInt8] = []
        let objects = transaction.objects
        try transaction.write(
            to: &bytes, (objects.count, { objects[$0] }), transaction.operations, transaction.attributes,
            transaction.actions
        ) { try transaction.descendants.forEach($0) }
        return bytes
    }

    // MARK: What must hold

    func check() throws {
        let journal = journal
        try journal.check()
        let objects = journal.objects
        for (number, object) in objects.enumerated().dropFirst(5) { try check(object, number, objects) }
        for number in objects.indices {
            for above in [\JournalContent.Object.before, \.after] {
                var (next, steps) = (number, 0)
                while next > 4, let place = objects[next][keyPath: above] {
                    (next, steps) = (place.parent, steps + 1)
                    try require(steps <= objects.count, "\(number) is above itself")
                }
            }
        }
        try checkMoves(journal)
        for object in transaction.objects { try require(object.seen?.size ?? 0 >= 0, "a size") }
        for change in transaction.attributes {
            try require(objects.indices.contains(change.object) && change.object != 1, "no such object")
            try require(
                (change.old?.extended == nil) == (change.new?.extended == nil), "attributes of one side")
        }
        for descendant in transaction.descendants {
            let object = transaction.objects[descendant.object]
            try require(
                descendant.object > 4 && object.new == nil && object.seen?.type == .directory,
                "a descendant of what stays")
            try PathRules.requireInside(descendant.path.bytes, "a descendant outside:")
            try require(descendant.status.size >= 0, "a size")
        }
        for (one, next) in zip(transaction.descendants, transaction.descendants.dropFirst())
        where one.object == next.object {
            try require(PathRules.isAscending(one.path.bytes, next.path.bytes), "descendants out of order")
        }
        for action in transaction.actions { try action.check() }
        let summary = transaction.summary
        try require(summary.actions == transaction.actions.count, "totals of other actions")
        try require(summary.unchanged >= 0 && summary.unmirrored >= 0, "a total below zero")
    }

    /// Only the tree, the stage, and the manifest are named.
    private func check(
        _ object: JournalContent.Object, _ number: Int, _ objects: [JournalContent.Object]
    ) throws {
        if object.isSlotDirectory { return }
        let places = [object.old, object.new].compactMap { $0 }
        if object.isManifest {
            try require(
                places.allSatisfy { $0.name == FileName("manifest.json") },
                "\(number) is another file of the state")
            return
        }
        try require(places.allSatisfy { isInTree($0, objects) }, "\(number) is outside of the tree")
        if let slot = object.slot {
            try require(
                slot.parent > 4 && objects[slot.parent].isSlotDirectory, "\(number) is outside of the stage")
        }
    }

    private func isInTree(_ place: JournalContent.Place, _ objects: [JournalContent.Object]) -> Bool {
        if place.parent <= 4 { return place.parent == 0 && place.name != FileName(".fsync-lite") }
        return !objects[place.parent].isSlotDirectory && !objects[place.parent].isManifest
    }

    /// The operations bring each object to its last place, and never two to one.
    private func checkMoves(_ journal: JournalContent) throws {
        let objects = journal.objects
        var places = objects.map(\.before)
        var taken: [JournalContent.Place: Int] = [:]
        for place in places.compactMap({ $0 }) { taken[place, default: 0] += 1 }
        func leave(_ place: JournalContent.Place) { taken[place, default: 0] -= 1 }
        func arrive(_ place: JournalContent.Place?) throws {
            guard let place else { throw Violation("a place is missing") }
            try require(taken[place, default: 0] == 0, "two at one place")
            taken[place] = 1
        }
        func move(_ object: Int, _ from: JournalContent.Place?, _ to: JournalContent.Place?) throws {
            try require(places[object] == from && from != nil, "\(object) is not there")
            if let from { leave(from) }
            try arrive(to)
            places[object] = to
        }
        for operation in journal.operations {
            switch operation {
            case .detach(let object): try move(object, objects[object].old, objects[object].slot)
            case .attach(let object): try move(object, objects[object].slot, objects[object].new)
            case .rename(let object): try move(object, objects[object].old, objects[object].new)
            case .exchange(let object, let other):
                let (slot, place) = (objects[object].slot, objects[object].new)
                try require(
                    places[object] == slot && places[other] == place && objects[other].slot == slot,
                    "an exchange of other places")
                (places[object], places[other]) = (place, slot)
            case .link(let link):
                try require(isInTree(link.location, objects), "a link outside of the tree")
                try arrive(link.location)
            }
        }
        for (number, object) in objects.enumerated() where places[number] != object.after {
            throw Violation("\(number) is not at its last place")
        }
    }

    // MARK: Making one

    init(random: inout SplitMix64) {
        let journal = JournalContent(random: &random)
        transaction = PreparedTransaction(
            id: journal.id, prepared: Timestamp(journal.began), root: journal.root,
            basis: random.oneIn(3) ? nil : .init(manifest: Desk.transaction, revision: random.number(0...9)),
            retention: RetentionPolicy(), notes: (0..<random.number(0...2)).map { "note \($0) é\"" },
            problems: (0..<random.number(0...2)).map { _ in
                Problem(
                    path: random.path(), code: random.pick(Problem.Code.allCases),
                    message: "Permission denied")
            })
        if random.oneIn(2) { transaction.retention.keepLast = random.number(0...9) }
        transaction.objects = .init(
            journal.objects.map { object in
                var object = object
                if object.slot != nil { object.seen = random.seen(object.identity) }
                return object
            })
        transaction.operations.append(contentsOf: journal.operations)
        for step in journal.attributes {
            let isNew = step.old.extended == nil && random.oneIn(3)
            let isKept = isNew && random.oneIn(2)
            transaction.attributes.append(
                .init(object: step.object, old: isNew ? nil : step.old, new: isKept ? nil : step.new))
        }
        for (number, object) in transaction.objects.enumerated()
        where object.new == nil && object.seen?.type == .directory {
            for path in Set((0..<random.number(0...3)).map { _ in random.path() }).sorted() {
                transaction.descendants.append(
                    .init(object: number, path: path, status: random.status(.file)))
            }
        }
        transaction.actions = SavedPlan(random: &random).steps.map(\.action)
        transaction.summary.unchanged = random.number(0...99)
    }
}

extension JournalContent.Object {
    fileprivate var before: JournalContent.Place? { old ?? slot ?? new }
    fileprivate var after: JournalContent.Place? { new ?? slot ?? old }

    fileprivate var isSlotDirectory: Bool {
        old?.parent == 4 && old == new && slot == nil
            && old?.name.bytes.allSatisfy { (0x30...0x39).contains($0) } == true
    }

    fileprivate var isManifest: Bool {
        slot?.parent == 4 && [nil, 1].contains(old?.parent) && [nil, 1].contains(new?.parent)
    }
}

extension SplitMix64 {
    fileprivate mutating func seen(_ identity: FileIdentity?) -> FileStatus {
        var status = status(pick(FileType.allCases))
        (status.permissions, status.owner, status.group) = (permissions(), account(), account())
        (status.inode, status.created) = (identity?.inode ?? 0, identity?.created?.fileTime)
        status.size = ByteCount(clamping: next() % 1_000_000)
        return status
    }
}
