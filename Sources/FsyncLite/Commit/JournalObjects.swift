import FileStorage
import FileSystem

/// Locates the objects of a journal. Each is found *by identity* at one of its locations, never by absence.
final class JournalObjects {
    enum Position {
        case old, slot, new
        /// Not found, or not searched yet.
        case unknown
    }

    let root: Directory
    let journal: Journal
    private let state: StateDirectory
    private var positions: [Position]
    /// The identities of directories that were made in place of missing ones.
    private var replacements: [Int: FileIdentity] = [:]
    /// Handles of directories. They remain valid when the directory moves.
    private var handles: [Int: Directory] = [:]
    private var handleOrder: [Int] = []
    /// Whether a weak commit is in phase 2: every object that leaves its location is in its slot, or further on.
    var hasLeft = false
    /// For a weak commit, the modification times of each object before and after it.
    private var times: [Int: Set<FileTime>] = [:]
    private static let openHandles = 128

    /// Assumes that the objects are at the places of the plan and the stage.
    init(_ journal: Journal, root: Directory, state: StateDirectory) {
        (self.journal, self.root, self.state) = (journal, root, state)
        let objects = journal.objects
        positions = objects.indices.map {
            objects.hasOld($0) ? .old : objects.hasSlot($0) ? .slot : .new
        }
        guard journal.isWeak else { return }
        for step in journal.attributes { times[step.object] = [step.old.modified, step.new.modified] }
    }

    subscript(object: Int) -> Position {
        get { positions[object] }
        set { positions[object] = newValue }
    }

    /// The present location of an object.
    func location(of object: Int) -> OperationGraph.Location? { location(of: object, at: positions[object]) }

    func location(of object: Int, at position: Position) -> OperationGraph.Location? {
        switch position {
        case .old: journal.objects.old(object)
        case .slot: journal.objects.slot(object)
        case .new: journal.objects.new(object)
        case .unknown: nil
        }
    }

    func isObject(_ object: Int, _ status: FileStatus) -> Bool {
        if let features = journal.features?[object] { return isAlike(object, features, status) }
        return (replacements[object] ?? journal.objects.identity(of: object)) == status.identity
    }

    /// The same by visible properties, if identity does not last. This protects others' objects, but is no proof.
    private func isAlike(
        _ object: Int, _ features: FileStatus, _ status: FileStatus
    ) -> Bool {
        guard features.type == status.type else { return false }
        guard features.type == .file || features.type == .symlink else { return true }
        guard features.size == status.size else { return false }
        // Some file systems round times once more at a remount.
        let step = max(root.fileSystem?.capabilities.timeStep ?? 1, 2_000_000_000)
        return ([features.modified] + (times[object] ?? [])).contains {
            status.modified.nanoseconds(since: $0).magnitude < step
        }
    }

    /// Uses the directory at a location in place of a missing object.
    func replace(_ object: Int, at position: Position) throws {
        guard let location = location(of: object, at: position) else { return }
        replacements[object] = try handle(location.parent).directory(location.name).status().identity
        positions[object] = position
    }

    /// The objects that contain other objects, at one of their locations.
    private var holders: Set<Int> {
        var holders: Set<Int> = []
        for object in journal.objects.indices {
            let parents = journal.objects.parents(object)
            holders.formUnion([parents.old, parents.slot, parents.new].compactMap(\.self))
        }
        return holders
    }

    /// The directories whose names have changed, and those whose attributes were set.
    var directories: [() throws -> Directory] {
        var found: Set<Int> = [OperationGraph.root, OperationGraph.state]
        found.formUnion(holders)
        for step in journal.attributes where journal.features?[step.object]?.type == .directory {
            found.insert(step.object)
        }
        return found.sorted().filter(isFound).map { object in { try self.handle(object) } }
    }

    /// The present number of ancestors of an object.
    func depth(of object: Int) -> Int {
        var depth = 0
        var current = object
        while let parent = parent(of: current), depth <= journal.objects.count {
            depth += 1
            current = parent
        }
        return depth
    }

    private func parent(of object: Int) -> Int? {
        let parents = journal.objects.parents(object)
        return switch positions[object] {
        case .old: parents.old
        case .slot: parents.slot
        case .new: parents.new
        case .unknown: nil
        }
    }

    /// The handle of a directory at its present location.
    func handle(_ object: Int) throws -> Directory {
        // Walks up to the nearest open handle, then down again. It is not recursive, because trees can be deep.
        var missing: [(object: Int, location: OperationGraph.Location)] = []
        var current = object
        var found = try openHandle(current)
        while found == nil {
            guard let location = location(of: current), missing.count < journal.objects.count else {
                throw SyncError(
                    .pending, path: root.path, "object \(current) of the journal is missing")
            }
            missing.append((current, location))
            current = location.parent
            found = try openHandle(current)
        }
        guard var directory = found else { return root }
        while let (next, location) = missing.popLast() {
            directory = try directory.directory(location.name)
            guard try journal.objects.identity(of: next) == nil || isObject(next, directory.status()) else {
                throw SyncError(
                    .failed, path: directory.path, "this directory was replaced during the commit")
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
        // Some file systems cannot move an open directory, or its handle does not follow it.
        guard !journal.isWeak else { return }
        if handleOrder.count >= JournalObjects.openHandles {
            handles[handleOrder.removeFirst()] = nil
        }
        handles[object] = directory
        handleOrder.append(object)
    }

    /// Finds every object at one of its locations. A location can be checked only after its parent is found. So the
    /// objects that contain others are found first, in rounds, until one finds no more.
    ///
    /// - Returns: the objects that are at none of their locations.
    func locateAll(_ direction: Commit.Direction) throws -> [Int] {
        positions = Array(repeating: .unknown, count: journal.objects.count)
        positions[OperationGraph.root] = .old
        positions[OperationGraph.state] = .old
        let (objects, holders) = (journal.objects.indices.dropFirst(2), holders)
        let groups = journal.isWeak ? [] : namesOfOneFile(except: holders)
        let grouped = Set(groups.joined())
        var missing = objects.filter(holders.contains)
        var foundSome = true
        while foundSome, !missing.isEmpty {
            let count = missing.count
            missing = try missing.filter { try !locate($0, direction) }
            foundSome = missing.count < count
        }
        for object in objects where !holders.contains(object) && !grouped.contains(object) {
            if try !locate(object, direction) { missing.append(object) }
        }
        for group in groups { missing += try locate(group, direction) }
        return missing.sorted()
    }

    private func locate(_ object: Int, _ direction: Commit.Direction) throws -> Bool {
        if journal.isWeak { return try locateByPhase(object) }
        guard let position = try places(of: object, direction).first?.position else { return false }
        positions[object] = position
        return true
    }

    /// The locations that have an object, or another name of its file. After a power cut, the slot is the most certain.
    private func places(
        of object: Int, _ direction: Commit.Direction
    ) throws -> [(position: Position, location: OperationGraph.Location)] {
        let order: [Position] = direction == .forward ? [.slot, .old, .new] : [.slot, .new, .old]
        return try order.compactMap { position in
            guard let location = location(of: object, at: position), isFound(location.parent),
                let status = try handle(location.parent).status(of: location.name)
            else { return nil }
            // In the journal, only our directories in the state have no identity.
            let isThere =
                journal.objects.identity(of: object) == nil
                ? status.type == .directory : isObject(object, status)
            return isThere ? (position, location) : nil
        }
    }

    /// The objects that are names of one file, by file. A directory may be listed twice at one place.
    private func namesOfOneFile(except directories: Set<Int>) -> [[Int]] {
        var first: [FileIdentity: Int] = [:]
        var groups: [Int: [Int]] = [:]
        for object in journal.objects.indices.dropFirst(2) where !directories.contains(object) {
            guard let identity = journal.objects.identity(of: object) else { continue }
            guard let other = first[identity] else {
                first[identity] = object
                continue
            }
            groups[other, default: [other]].append(object)
        }
        return Array(groups.values)
    }

    /// Gives each name of a file to one of its objects. At one location, one object may arrive before another has left.
    /// Objects with only one possible place are handled first.
    ///
    /// - Returns: the objects that are at none of their locations.
    private func locate(_ group: [Int], _ direction: Commit.Direction) throws -> [Int] {
        var places: [Int: [(position: Position, location: OperationGraph.Location)]] = [:]
        var candidates: [OperationGraph.Location: [Int]] = [:]
        for object in group {
            let found = try self.places(of: object, direction)
            places[object] = found
            for place in found { candidates[place.location, default: []].append(object) }
        }
        var certain = group.filter { places[$0]?.count == 1 }
        var rest = group[...]
        while let object = certain.popLast() ?? rest.popFirst() {
            guard !isFound(object), let place = places[object]?.first else { continue }
            positions[object] = place.position
            for other in candidates[place.location] ?? [] where !isFound(other) {
                places[other]?.removeAll { $0.location == place.location }
                if places[other]?.count == 1 { certain.append(other) }
            }
        }
        return group.filter { !isFound($0) }
    }

    /// If identity does not last, the slot decides. An object in its slot has left its old location, or has not arrived
    /// at its new one. Any other object is at its old location in phase 1, and at its new one in phase 2.
    private func locateByPhase(_ object: Int) throws -> Bool {
        let order: [Position] = hasLeft || !journal.objects.hasOld(object) ? [.slot, .new] : [.slot, .old]
        let known = object == OperationGraph.transaction ? [Position.new, .old] : order
        for position in known {
            guard let location = location(of: object, at: position), isFound(location.parent),
                let status = try handle(location.parent).status(of: location.name)
            else { continue }
            guard isObject(object, status) else { return false }
            positions[object] = position
            // In phase 1, the replaced object is still at the new object's location.
            if position == .slot, let other = order.last, hasLeft || other == .old {
                try checkIsAlone(object, alsoAt: other)
            }
            return true
        }
        return false
    }

    /// After a power cut, a rename may be durable at one of its two ends only.
    private func checkIsAlone(_ object: Int, alsoAt position: Position) throws {
        guard let location = location(of: object, at: position), isFound(location.parent),
            journal.features?[object]?.type == .file
        else { return }
        let directory = try handle(location.parent)
        guard let status = try directory.status(of: location.name), isObject(object, status) else { return }
        throw SyncError(
            .pending, path: directory.path(of: location.name),
            "it is here and in the stage of the interrupted commit. Move one of the two away, then run recover"
        )
    }

    func isFound(_ object: Int) -> Bool { positions[object] != .unknown }

    /// The present status of an object, and its path for messages.
    func look(_ object: Int) throws -> (status: FileStatus, path: [UInt8]) {
        guard let location = location(of: object) else {
            throw SyncError(.failed, path: describe(object), "it is missing")
        }
        let directory = try handle(location.parent)
        guard let status = try directory.status(of: location.name) else {
            throw SyncError(.failed, path: directory.path(of: location.name), "it was removed meanwhile")
        }
        return (status, directory.path(of: location.name))
    }

    /// Whether the present user may set the attributes of an object.
    func mayChange(_ object: Int, _ status: FileStatus) throws -> Bool {
        guard Account.isRoot else { return status.isOwn }
        guard status.owner == Account.unmappedUser else { return true }
        guard let location = location(of: object) else { return try ObjectHandle(of: root).isOwned }
        return try ObjectHandle(location.name, in: handle(location.parent)).isOwned
    }

    /// The path of an object for messages. It may be at none of its locations.
    func describe(_ object: Int) -> [UInt8] {
        let item = journal.objects[object]
        guard let location = item.new ?? item.old ?? item.slot else { return root.path }
        var names = [Array(location.name.bytes)]
        var parent = location.parent
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
