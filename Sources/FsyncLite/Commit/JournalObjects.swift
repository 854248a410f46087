import FileStorage
import FileSystem

/// Where the objects of a journal are. Each is found *by identity* at one of its places, never by absence.
final class JournalObjects {
    enum Location {
        case old, slot, new
        /// Not found, or not looked for yet.
        case unknown
    }

    let root: Directory
    let journal: Journal
    private let state: StateDirectory
    private var locations: [Location]
    /// Handles of directory objects: they stay right however the directory moves.
    private var handles: [Int: Directory] = [:]
    private var handleOrder: [Int] = []
    private static let openHandles = 128

    /// The objects are where the plan saw and the stage put them.
    init(_ journal: Journal, root: Directory, state: StateDirectory) {
        (self.journal, self.root, self.state) = (journal, root, state)
        locations = journal.objects.map { $0.old != nil ? .old : $0.slot != nil ? .slot : .new }
    }

    subscript(object: Int) -> Location {
        get { locations[object] }
        set { locations[object] = newValue }
    }

    /// Where an object is now.
    func place(of object: Int) -> OperationGraph.Place? { place(of: object, at: locations[object]) }

    func place(of object: Int, at location: Location) -> OperationGraph.Place? {
        switch location {
        case .old: journal.objects[object].old
        case .slot: journal.objects[object].slot
        case .new: journal.objects[object].new
        case .unknown: nil
        }
    }

    func isObject(_ object: Int, _ status: FileStatus) -> Bool {
        journal.objects[object].identity == status.identity
    }

    /// How many objects lie above one, as they lie now.
    func depth(of object: Int) -> Int {
        var depth = 0
        var current = object
        while let place = place(of: current), depth <= journal.objects.count {
            depth += 1
            current = place.parent
        }
        return depth
    }

    /// The handle of a directory object, wherever it is.
    func handle(_ object: Int) throws -> Directory {
        // Up to a handle that is open, then down again: no recursion, trees are deep.
        var missing: [(object: Int, place: OperationGraph.Place)] = []
        var current = object
        var found = try openHandle(current)
        while found == nil {
            guard let place = place(of: current), missing.count < journal.objects.count else {
                throw SyncError(
                    .pending, path: root.path, "object \(current) of the journal is nowhere to be found")
            }
            missing.append((current, place))
            current = place.parent
            found = try openHandle(current)
        }
        guard var directory = found else { return root }
        while let (next, place) = missing.popLast() {
            directory = try directory.directory(place.name)
            guard try journal.objects[next].identity == nil || isObject(next, directory.status()) else {
                throw SyncError(
                    .failed, path: directory.path, "somebody replaced this directory during the commit")
            }
            keep(directory, next)
        }
        return directory
    }

    private func openHandle(_ object: Int) throws -> Directory? {
        switch object {
        case OperationGraph.root: root
        case OperationGraph.state: state.directory
        default: handles[object]
        }
    }

    private func keep(_ directory: Directory, _ object: Int) {
        if handleOrder.count >= JournalObjects.openHandles {
            handles[handleOrder.removeFirst()] = nil
        }
        handles[object] = directory
        handleOrder.append(object)
    }

    /// Finds every object at one of its places. A place counts once its parent is found, so this goes on
    /// until a round finds nothing more.
    ///
    /// - Returns: those that are at none of their places.
    func locateAll(_ direction: Commit.Direction) throws -> [Int] {
        locations = Array(repeating: .unknown, count: journal.objects.count)
        locations[OperationGraph.root] = .old
        locations[OperationGraph.state] = .old
        var missing = Array(journal.objects.indices.dropFirst(2))
        var foundSome = true
        while foundSome, !missing.isEmpty {
            let count = missing.count
            missing = try missing.filter { try !locate($0, direction) }
            foundSome = missing.count < count
        }
        return missing
    }

    /// The slot counts before the old place, and that before the new one, so that two names of one object
    /// are not taken for each other half way; in the other direction the other way round.
    private func locate(_ object: Int, _ direction: Commit.Direction) throws -> Bool {
        let item = journal.objects[object]
        let order: [Location] = direction == .forward ? [.slot, .old, .new] : [.slot, .new, .old]
        for location in order {
            guard let place = place(of: object, at: location), isFound(place.parent) else { continue }
            guard let status = try handle(place.parent).status(of: place.name) else { continue }
            // Only our own directories in the state have no identity in the journal.
            guard item.identity == nil ? status.type == .directory : isObject(object, status) else {
                continue
            }
            locations[object] = location
            return true
        }
        return false
    }

    func isFound(_ object: Int) -> Bool {
        if case .unknown = locations[object] { false } else { true }
    }

    /// The status of an object where it is now, and its path for messages.
    func look(_ object: Int) throws -> (status: FileStatus, path: [UInt8]) {
        guard let place = place(of: object) else {
            throw SyncError(.failed, path: describe(object), "it is nowhere to be found")
        }
        let directory = try handle(place.parent)
        guard let status = try directory.status(of: place.name) else {
            throw SyncError(.failed, path: directory.path(of: place.name), "somebody removed this meanwhile")
        }
        return (status, directory.path(of: place.name))
    }

    /// The path of an object that may be at none of its places, for messages.
    func describe(_ object: Int) -> [UInt8] {
        let item = journal.objects[object]
        guard let place = item.new ?? item.old ?? item.slot else { return root.path }
        var names = [Array(place.name.bytes)]
        var parent = place.parent
        while parent > OperationGraph.state, names.count < journal.objects.count,
            let above = journal.objects[parent].new ?? journal.objects[parent].old
        {
            names.append(Array(above.name.bytes))
            parent = above.parent
        }
        if parent == OperationGraph.state { names.append(Array(FileName.state.bytes)) }
        return root.path + [UInt8(ascii: "/")]
            + Array(names.reversed().joined(separator: [UInt8(ascii: "/")]))
    }
}
