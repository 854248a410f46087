import FileSystem

/// Carries a transaction out, or back: the same code for the first run, for a recovery after a crash, and
/// for undoing.
///
/// Every object is found *by identity* at one of its places, never by absence, and no order on disk is
/// assumed: after a power cut each rename may have lasted or not, one by one. So each operation asks where
/// its object is and does what is left to do; done twice is done once.
package final class Commit {
    package typealias Direction = Journal.Direction

    package enum Location: Sendable {
        case old, slot, new
        /// Not found, or not looked for yet.
        case unknown
    }

    let transaction: Journal
    private let root: Directory
    private let state: StateDirectory
    private var locations: [Location]
    /// Handles of directory objects: they stay right however the directory moves.
    private var handles: [Int: Directory] = [:]
    private var handleOrder: [Int] = []
    private static let openHandles = 128
    private let isRecovery: Bool
    /// Foreign objects are moved out of the way instead of being a conflict.
    private let displacesConflicts: Bool
    /// What was moved out of the way, for the report.
    package private(set) var conflicts: [SyncError] = []
    /// What has gone missing.
    package private(set) var lost: [SyncError] = []

    /// A transaction whose objects are where the plan saw and the stage put them.
    package init(_ transaction: Journal, root: Directory, state: StateDirectory) {
        self.transaction = transaction
        self.root = root
        self.state = state
        isRecovery = false
        displacesConflicts = false
        locations = transaction.objects.map { $0.old != nil ? .old : $0.slot != nil ? .slot : .new }
    }

    /// A transaction that was cut short: looks for every object first.
    ///
    /// - Throws: `SyncError` with code `pending` when one is at none of its places and conflicts are not to
    ///   be displaced. Nothing has been touched then.
    package init(
        recovering transaction: Journal, _ direction: Direction, root: Directory, state: StateDirectory,
        displacingConflicts: Bool
    ) throws {
        self.transaction = transaction
        self.root = root
        self.state = state
        isRecovery = true
        displacesConflicts = displacingConflicts
        locations = Array(repeating: .unknown, count: transaction.objects.count)
        try locateAll(direction)
    }

    // MARK: Running

    /// Does what is left of the transaction in one direction. The tree is whole, not yet durable, after.
    package func run(_ direction: Direction) throws {
        try unlockDirectories()
        switch direction {
        case .forward:
            for operation in transaction.operations.dropLast() { try perform(operation) }
            try setAttributes(direction)
            if let last = transaction.operations.last { try perform(last) }
            try state.markCommit(began: isRecovery ? nil : transaction.began)
        case .backward:
            for operation in transaction.operations.reversed() { try revert(operation) }
            try setAttributes(direction)
        }
    }

    /// Does all of it on a copy of the target that nobody sees yet, without a way back.
    func runOnCopy() throws {
        try unlockDirectories()
        for operation in transaction.operations { try perform(operation) }
        try setAttributes(.forward)
    }

    /// Locks the tree of an exchange that does not stand at the target's name, and might before this is over.
    func lockOtherTree() throws {
        for tree in [OperationGraph.newTree, OperationGraph.oldTree] where locations[tree] == .slot {
            try handle(tree).lock()
        }
    }

    private func perform(_ operation: OperationGraph.Operation) throws {
        switch operation {
        case .detach(let object): try move(object, from: .old, to: .slot)
        case .attach(let object): try move(object, from: .slot, to: .new)
        case .rename(let object): try move(object, from: .old, to: .new)
        case .exchange(let object, let other): try exchange(object, .slot, .new, other, .old, .slot)
        case .link(let link): try self.link(link)
        }
    }

    private func revert(_ operation: OperationGraph.Operation) throws {
        switch operation {
        case .detach(let object): try move(object, from: .slot, to: .old)
        case .attach(let object): try move(object, from: .new, to: .slot)
        case .rename(let object): try move(object, from: .new, to: .old)
        case .exchange(let object, let other): try exchange(object, .new, .slot, other, .slot, .old)
        case .link(let link): try unlink(link)
        }
    }

    private func move(_ object: Int, from: Location, to: Location) throws {
        guard locations[object] == from, let place = place(object, from), let goal = self.place(object, to)
        else { return }
        let directory = try handle(place.parent)
        let goalDirectory = try handle(goal.parent)
        try expect(object, at: place, in: directory)
        try withRoom {
            do {
                try directory.rename(place.name, to: goalDirectory, goal.name, .noReplace)
            } catch let error as SystemError where error.errno == .exists {
                try displace(goal.name, in: goalDirectory)
                try directory.rename(place.name, to: goalDirectory, goal.name, .noReplace)
            }
        }
        locations[object] = to
    }

    private func exchange(
        _ object: Int, _ from: Location, _ to: Location, _ other: Int, _ otherFrom: Location,
        _ otherTo: Location
    ) throws {
        guard locations[object] == from else { return }
        guard locations[other] == otherFrom else {
            // Its partner has gone missing and the place is free, or somebody else's: displaced on the way.
            return try move(object, from: from, to: to)
        }
        guard let place = place(object, from), let otherPlace = self.place(other, otherFrom) else { return }
        let directory = try handle(place.parent)
        let otherDirectory = try handle(otherPlace.parent)
        try expect(object, at: place, in: directory)
        try expect(other, at: otherPlace, in: otherDirectory)
        try withRoom { try directory.rename(place.name, to: otherDirectory, otherPlace.name, .exchange) }
        locations[object] = to
        locations[other] = otherTo
    }

    private func link(_ link: OperationGraph.Link) throws {
        let directory = try handle(link.place.parent)
        if let status = try directory.status(of: link.place.name) {
            if isObject(link.object, status) { return }
            try displace(link.place.name, in: directory)
        }
        guard let place = place(link.object, locations[link.object]) else { return }
        let holder = try handle(place.parent)
        try expect(link.object, at: place, in: holder)
        try withRoom { try holder.link(place.name, to: directory, link.place.name) }
    }

    /// Takes a name away that `link` made. What others put there since is theirs.
    private func unlink(_ link: OperationGraph.Link) throws {
        guard isFound(link.place.parent), let place = place(link.object, locations[link.object]),
            place != link.place
        else { return }
        let directory = try handle(link.place.parent)
        guard let status = try directory.status(of: link.place.name), isObject(link.object, status),
            status.links > 1
        else { return }
        try directory.unlink(link.place.name)
    }

    /// Where an object is now.
    func place(of object: Int) -> OperationGraph.Place? { place(object, locations[object]) }

    private func place(_ object: Int, _ location: Location) -> OperationGraph.Place? {
        switch location {
        case .old: transaction.objects[object].old
        case .slot: transaction.objects[object].slot
        case .new: transaction.objects[object].new
        case .unknown: nil
        }
    }

    /// Right before an object is moved: it is still the one.
    ///
    /// RACE: somebody who replaces it between this look and the rename has their object moved to the history
    /// instead; it is not lost.
    private func expect(_ object: Int, at place: OperationGraph.Place, in directory: Directory) throws {
        guard let status = try directory.status(of: place.name), isObject(object, status) else {
            throw SyncError(
                .failed, path: directory.path(of: place.name), "somebody changed this during the commit")
        }
    }

    private func isObject(_ object: Int, _ status: FileStatus) -> Bool {
        transaction.objects[object].identity == status.identity
    }

    /// The names of a commit need room too. The ballast was allocated for that: when room runs out it is
    /// given up, and the call is tried once more.
    private func withRoom(_ call: () throws -> Void) throws {
        do {
            try call()
        } catch let error as SystemError where error.errno == .noSpace || error.errno == .quotaExceeded {
            let directory = try handle(OperationGraph.transaction)
            guard try directory.status(of: TransactionEntry.reservedSpace) != nil else { throw error }
            try directory.unlink(TransactionEntry.reservedSpace)
            try directory.syncFileSystem()
            try call()
        }
    }

    private func displace(_ name: FileName, in directory: Directory) throws {
        guard displacesConflicts else {
            throw SyncError(
                .pending, path: directory.path(of: name),
                "something that is not ours took this place during the commit")
        }
        try displace(name, in: directory, to: handle(OperationGraph.transaction))
    }

    func displace(_ name: FileName, in directory: Directory, to transaction: Directory) throws {
        conflicts.append(
            SyncError(.failed, path: directory.path(of: name), "moved out of the way, to the history"))
        _ = try transaction.takeConflict(name, from: directory)
    }

    // MARK: Attributes

    private func setAttributes(_ direction: Direction) throws {
        // The deepest first, as they lie now: a directory that is closed to us hides what is below it.
        for step in transaction.attributes.sorted(by: { depth(of: $0.object) > depth(of: $1.object) }) {
            let wanted = direction == .forward ? step.new : step.old
            try withObject(step.object) { handle, status in
                // A kind that neither side has is left alone: it may not have been mirrored.
                let known = [step.old, step.new].flatMap { $0.extended?.attributes ?? [] }
                let kinds = ExtendedAttributes.Selection(
                    plain: known.contains { !$0.isACL }, acls: known.contains(where: \.isACL),
                    privileged: Account.isRoot)
                let refused = try handle.set(wanted, over: status, setsOwner: Account.isRoot, kinds)
                // The stage has tried: this object differs from what was tried, as by a full block of attributes.
                if let error = refused.owner { throw error }
                if let first = refused.extended.attributes.first {
                    throw SyncError(
                        .failed, path: try look(step.object).path,
                        "the file system does not take the attribute \(escapedText(first.name))")
                }
            }
        }
    }

    /// Only root changes the names in a directory without write permission, or moves one: others give
    /// themselves the permission, and the attributes that are set last put it right.
    private func unlockDirectories() throws {
        guard !Account.isRoot else { return }
        for step in transaction.attributes.reversed() {
            try withObject(step.object) { handle, status in
                guard status.type == .directory, status.permissions & 0o700 != 0o700 else { return }
                try handle.setPermissions(status.permissions | 0o700)
            }
        }
    }

    private func withObject(_ object: Int, _ body: (borrowing ObjectHandle, FileStatus) throws -> Void) throws
    {
        guard object != OperationGraph.root else {
            let handle = try ObjectHandle(of: root)
            return try body(handle, try handle.status())
        }
        guard let place = place(object, locations[object]) else { return }
        let handle = try ObjectHandle(place.name, in: try self.handle(place.parent))
        let status = try handle.status()
        guard isObject(object, status) else {
            throw SyncError(
                .failed, path: try self.handle(place.parent).path(of: place.name),
                "somebody replaced this during the commit")
        }
        try body(handle, status)
    }

    private func depth(of object: Int) -> Int {
        var depth = 0
        var current = object
        while let place = place(current, locations[current]), depth <= transaction.objects.count {
            depth += 1
            current = place.parent
        }
        return depth
    }

    // MARK: Finding

    /// The handle of a directory object, wherever it is.
    func handle(_ object: Int) throws -> Directory {
        // Up to a handle that is open, then down again: no recursion, trees are deep.
        var missing: [(object: Int, place: OperationGraph.Place)] = []
        var current = object
        var found = try openHandle(current)
        while found == nil {
            guard let place = place(current, locations[current]), missing.count < transaction.objects.count
            else {
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
            if let identity = transaction.objects[next].identity, try directory.status().identity != identity
            {
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
        if handleOrder.count >= Commit.openHandles {
            handles[handleOrder.removeFirst()] = nil
        }
        handles[object] = directory
        handleOrder.append(object)
    }

    /// Finds every object at one of its places. A place counts once its parent is found, so this goes on
    /// until a round finds nothing more.
    private func locateAll(_ direction: Direction) throws {
        locations[OperationGraph.root] = .old
        locations[OperationGraph.state] = .old
        var missing = Array(transaction.objects.indices.dropFirst(2))
        var foundSome = true
        while foundSome, !missing.isEmpty {
            foundSome = false
            var stillMissing: [Int] = []
            for object in missing {
                if try locate(object, direction) {
                    foundSome = true
                } else {
                    stillMissing.append(object)
                }
            }
            missing = stillMissing
        }
        guard let first = missing.first, !displacesConflicts else {
            for object in missing {
                lost.append(SyncError(.failed, path: describe(object), "it has gone missing"))
            }
            return
        }
        throw SyncError(
            .pending, path: describe(first),
            "this is not where the interrupted commit left it; look at it, then run recover --displace")
    }

    /// The slot counts before the old place, and that before the new one, so that two names of one object
    /// are not taken for each other half way; in the other direction the other way round.
    private func locate(_ object: Int, _ direction: Direction) throws -> Bool {
        let item = transaction.objects[object]
        let order: [Location] = direction == .forward ? [.slot, .old, .new] : [.slot, .new, .old]
        for location in order {
            guard let place = place(object, location), isFound(place.parent) else { continue }
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

    private func isFound(_ object: Int) -> Bool {
        if case .unknown = locations[object] { false } else { true }
    }

    /// The status of an object where it is now, and its path for messages.
    func look(_ object: Int) throws -> (status: FileStatus, path: [UInt8]) {
        guard let place = place(object, locations[object]) else {
            throw SyncError(.failed, path: describe(object), "it is nowhere to be found")
        }
        let directory = try handle(place.parent)
        guard let status = try directory.status(of: place.name) else {
            throw SyncError(.failed, path: directory.path(of: place.name), "somebody removed this meanwhile")
        }
        return (status, directory.path(of: place.name))
    }

    private func describe(_ object: Int) -> [UInt8] {
        let item = transaction.objects[object]
        guard let place = item.new ?? item.old ?? item.slot else { return root.path }
        var names = [Array(place.name.bytes)]
        var parent = place.parent
        while parent > OperationGraph.state, names.count < transaction.objects.count,
            let above = transaction.objects[parent].new ?? transaction.objects[parent].old
        {
            names.append(Array(above.name.bytes))
            parent = above.parent
        }
        if parent == OperationGraph.state { names.append(Array(TreeScan.reservedName.bytes)) }
        return root.path + [UInt8(ascii: "/")]
            + Array(names.reversed().joined(separator: [UInt8(ascii: "/")]))
    }
}
