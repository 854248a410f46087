import FileStorage
import FileSystem

/// Follows the operations of a prepared transaction while it is read, without doing them. A damaged or planted document
/// must be refused before the first rename. A commit that cannot end would leave the target between two trees.
///
/// In the order of a graph, all objects leave before any object arrives. So each location is taken at most once.
struct PreparedMoves {
    private enum Role { case own, slotDirectory, entry, newManifest, oldManifest }
    private enum Position { case old, slot, new }

    private let roles: [Role]
    private var positions: [Position]
    private var occupied: Set<OperationGraph.Location> = []
    private var hasArrived = false

    /// - Throws: the result of `error` for an object that no prepared transaction contains: its number and the reason.
    init(
        _ objects: OperationGraph.ObjectList, _ transaction: FileName,
        error: (_ number: Int, _ reason: String) -> SyncError
    ) throws {
        if let (number, reason) = Journal.impossibleObject(objects, transaction) {
            throw error(number, reason)
        }
        let roles = objects.enumerated().map { PreparedMoves.role($0, $1) }
        self.roles = roles
        positions = objects.map { $0.old == nil && $0.slot != nil ? .slot : .old }
        for (number, object) in objects.enumerated() where roles[number] == .entry {
            let locations = [object.old, object.new].compactMap(\.self)
            guard !locations.isEmpty, locations.allSatisfy({ PreparedMoves.isInTree($0, roles) }) else {
                throw error(number, "a location outside of the tree")
            }
            guard object.slot.map({ roles[$0.parent] == .slotDirectory }) ?? true else {
                throw error(number, "a slot outside of the stage")
            }
        }
        for (number, object) in objects.enumerated() where object.old == nil {
            guard let slot = object.slot else { continue }
            guard occupied.insert(slot).inserted else { throw error(number, "two objects in one slot") }
        }
        if let number = PreparedMoves.loop(in: objects, \.old) ?? PreparedMoves.loop(in: objects, \.new) {
            throw error(number, "an object within itself")
        }
        guard roles.count(where: { $0 == .newManifest }) == 1 else {
            throw error(objects.count - 1, "a commit has one new manifest")
        }
    }

    private static func role(_ number: Int, _ object: OperationGraph.Object) -> Role {
        guard number > OperationGraph.transaction else { return .own }
        let manifest = OperationGraph.Location(parent: OperationGraph.state, name: TransactionEntry.manifest)
        let slot = object.slot?.parent == OperationGraph.transaction ? object.slot?.name : nil
        switch (object.old, slot, object.new) {
        case (nil, TransactionEntry.manifest, manifest): return .newManifest
        case (manifest, TransactionEntry.manifest, nil), (manifest, TransactionEntry.oldManifest, nil):
            return .oldManifest
        default:
            guard let place = object.old, place == object.new, object.slot == nil,
                place.parent == OperationGraph.transaction,
                place.name.bytes.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
            else { return .entry }
            return .slotDirectory
        }
    }

    private static func isInTree(_ location: OperationGraph.Location, _ roles: [Role]) -> Bool {
        location.parent == OperationGraph.root
            ? location.name != .state : roles[location.parent] == .entry
    }

    /// An object that contains itself before or after the commit; nil if there is none.
    private static func loop(
        in objects: OperationGraph.ObjectList,
        _ side: KeyPath<OperationGraph.Object, OperationGraph.Location?>
    ) -> Int? {
        var isRooted = [Bool](repeating: false, count: objects.count)
        for number in objects.indices {
            var (way, next) = ([Int](), number)
            while next > OperationGraph.transaction, !isRooted[next] {
                guard way.count < objects.count else { return number }
                way.append(next)
                let object = objects[next]
                guard let location = object[keyPath: side] ?? object.slot else { break }
                next = location.parent
            }
            for object in way { isRooted[object] = true }
        }
        return nil
    }

    // MARK: Operations

    /// Follows one operation.
    ///
    /// - Returns: false if no prepared transaction has this operation at this point.
    mutating func follow(_ operation: OperationGraph.Operation, _ objects: OperationGraph.ObjectList) -> Bool
    {
        switch operation {
        case .detach(let object):
            return !hasArrived && move(object, .old, .slot) && take(objects.slot(object))
        case .attach(let object):
            hasArrived = true
            return move(object, .slot, .new) && take(objects.new(object))
        case .exchange(let object, let other):
            hasArrived = true
            return objects.slot(object) == objects.slot(other) && objects.new(object) == objects.old(other)
                && move(object, .slot, .new) && move(other, .old, .slot) && take(objects.new(object))
        case .link(let link):
            hasArrived = true
            return roles[link.object] == .entry && PreparedMoves.isInTree(link.location, roles)
                && take(link.location)
        case .rename(let object):
            return object == OperationGraph.transaction && move(object, .old, .new) && isComplete(objects)
        }
    }

    private mutating func move(_ object: Int, _ from: Position, _ to: Position) -> Bool {
        guard positions[object] == from, positions[OperationGraph.transaction] == .old else { return false }
        positions[object] = to
        return true
    }

    private mutating func take(_ location: OperationGraph.Location?) -> Bool {
        location.map { occupied.insert($0).inserted } ?? false
    }

    /// Whether every object is at its last location.
    private func isComplete(_ objects: OperationGraph.ObjectList) -> Bool {
        objects.indices.dropFirst(OperationGraph.transaction + 1).allSatisfy { number in
            switch positions[number] {
            case .old: objects.old(number) == objects.new(number)
            case .slot: objects.new(number) == nil
            case .new: true
            }
        }
    }
}
