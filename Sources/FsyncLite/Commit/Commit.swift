import FileStorage
import FileSystem

/// Carries out a transaction, or reverts it. The same code is for the first run, for recovery after a crash, and for
/// undoing.
///
/// No order on disk is assumed. After a power cut, each rename may be durable or not, independently. So each operation
/// first finds its object, and then does the rest of its work. All operations are idempotent.
package final class Commit {
    package typealias Direction = Journal.Direction

    let journal: Journal
    private let state: StateDirectory
    private let objects: JournalObjects
    private let isRecovery: Bool
    private var direction = Direction.forward
    /// Moves foreign objects out of the way. If false, each is a conflict.
    private let displacesConflicts: Bool
    /// The objects that were moved out of the way, for the report.
    package private(set) var conflicts: [SyncError] = []
    package let lost: [SyncError]

    /// A transaction whose objects are at the places of the plan and the stage.
    package init(_ journal: Journal, root: Directory, state: StateDirectory) {
        self.journal = journal
        self.state = state
        objects = JournalObjects(journal, root: root, state: state)
        isRecovery = false
        displacesConflicts = false
        lost = []
    }

    /// An interrupted transaction. Finds every object first.
    ///
    /// - Throws: `SyncError` with code `pending` if an object is at none of its locations and `displacesConflicts` is
    ///   false. Nothing has been changed then.
    package init(
        recovering journal: Journal, _ direction: Direction, root: Directory, state: StateDirectory,
        displacingConflicts: Bool
    ) throws {
        self.journal = journal
        self.state = state
        let objects = JournalObjects(journal, root: root, state: state)
        self.objects = objects
        isRecovery = true
        displacesConflicts = displacingConflicts
        objects.hasLeft = try journal.isWeak && state.hasLeft(journal)
        let missing = try objects.locateAll(direction)
        if let first = missing.first, !displacesConflicts {
            throw SyncError(
                .pending, path: objects.describe(first),
                "the interrupted commit left it elsewhere. Look at it, then run recover --displace")
        }
        lost = missing.map { SyncError(.failed, path: objects.describe($0), "it is missing") }
    }

    // MARK: Running

    /// Does the rest of the transaction in one direction. The tree is then complete, but not yet durable.
    package func run(_ direction: Direction) throws {
        self.direction = direction
        try unlockDirectories()
        switch direction {
        case .forward:
            for operation in journal.operations.dropLast() {
                if !operation.leaves { try noteDeparture() }
                try perform(operation)
            }
            try setAttributes(direction)
            if let last = journal.operations.last { try perform(last) }
            try state.markCommit(began: isRecovery ? nil : journal.began)
        case .backward:
            for operation in journal.operations.reversed() {
                if operation.leaves { try takeBackDeparture() }
                try revert(operation)
            }
            try takeBackDeparture()
            try setAttributes(direction)
        }
    }

    /// Does the whole transaction on a copy of the target that has no public name yet. It cannot be reverted.
    func runOnCopy() throws {
        try unlockDirectories()
        for operation in journal.operations { try perform(operation) }
        try setAttributes(.forward)
    }

    /// Locks the tree of an exchange that does not have the target's name now, but may get it before this ends.
    func lockOtherTree() throws {
        for tree in [OperationGraph.newTree, OperationGraph.oldTree] where objects[tree] == .slot {
            try objects.handle(tree).lockRoot(of: objects.root.path)
        }
    }

    /// Begins phase 2 of a weak commit. From here on, an object that is not in its slot has arrived.
    private func noteDeparture() throws {
        guard journal.isWeak, !objects.hasLeft else { return }
        try syncNames()
        try state.noteDeparture(journal)
        objects.hasLeft = true
    }

    /// Ends phase 2 backward, when every arrived object is in its slot again.
    private func takeBackDeparture() throws {
        guard journal.isWeak, objects.hasLeft else { return }
        try syncNames()
        try state.takeBackDeparture()
        objects.hasLeft = false
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

    private func move(_ object: Int, from: JournalObjects.Position, to: JournalObjects.Position) throws {
        guard objects[object] == from, let location = objects.location(of: object, at: from),
            let goal = objects.location(of: object, at: to)
        else { return }
        let directory = try objects.handle(location.parent)
        let goalDirectory = try self.directory(goal.parent)
        try expect(object, at: location, in: directory)
        if goal.name.isReserved { try withSpace { try directory.markAsMirrored(location.name) } }
        try withSpace {
            do {
                try directory.rename(location.name, to: goalDirectory, goal.name, .noReplace)
            } catch let error as SystemError where error.errno == .exists {
                try displace(goal.name, in: goalDirectory)
                try directory.rename(location.name, to: goalDirectory, goal.name, .noReplace)
            }
        }
        objects[object] = to
    }

    private func exchange(
        _ object: Int, _ from: JournalObjects.Position, _ to: JournalObjects.Position,
        _ other: Int, _ otherFrom: JournalObjects.Position, _ otherTo: JournalObjects.Position
    ) throws {
        guard objects[object] == from else { return }
        guard objects[other] == otherFrom else {
            // Its partner is missing. The name is free, or has a foreign object, which is moved away.
            return try move(object, from: from, to: to)
        }
        guard let location = objects.location(of: object, at: from),
            let otherLocation = objects.location(of: other, at: otherFrom)
        else { return }
        let directory = try objects.handle(location.parent)
        let otherDirectory = try objects.handle(otherLocation.parent)
        try expect(object, at: location, in: directory)
        try expect(other, at: otherLocation, in: otherDirectory)
        if otherLocation.name.isReserved { try withSpace { try directory.markAsMirrored(location.name) } }
        try withSpace {
            try directory.rename(location.name, to: otherDirectory, otherLocation.name, .exchange)
        }
        objects[object] = to
        objects[other] = otherTo
    }

    private func link(_ link: OperationGraph.Link) throws {
        let directory = try self.directory(link.location.parent)
        if let status = try directory.status(of: link.location.name) {
            if objects.isObject(link.object, status) { return }
            try displace(link.location.name, in: directory)
        }
        guard let location = objects.location(of: link.object) else { return }
        let holder = try objects.handle(location.parent)
        try expect(link.object, at: location, in: holder)
        try withSpace { try holder.link(location.name, to: directory, link.location.name) }
    }

    /// Removes a name that `link` made. If others have put an object there since, it is left unchanged.
    private func unlink(_ link: OperationGraph.Link) throws {
        guard objects.isFound(link.location.parent), let location = objects.location(of: link.object),
            location != link.location
        else { return }
        let directory = try objects.handle(link.location.parent)
        guard let status = try directory.status(of: link.location.name),
            objects.isObject(link.object, status),
            status.links > 1
        else { return }
        try directory.unlink(link.location.name)
    }

    /// Checks that an object is still the same, right before it is moved.
    ///
    /// RACE: if another object replaces it between check and rename, that one is moved to the history. It is not lost.
    private func expect(_ object: Int, at location: OperationGraph.Location, in directory: Directory) throws {
        guard let status = try directory.status(of: location.name), objects.isObject(object, status) else {
            throw SyncError(
                .failed, path: directory.path(of: location.name), "it was replaced during the commit")
        }
    }

    /// Names also need disk space. If there is none left, the reserved space is released and the call is repeated once.
    private func withSpace(_ call: () throws -> Void) throws {
        do {
            try call()
        } catch let error as SystemError where error.errno == .noSpace || error.errno == .quotaExceeded {
            let directory = try objects.handle(OperationGraph.transaction)
            guard try directory.status(of: TransactionEntry.reservedSpace) != nil else { throw error }
            try directory.unlink(TransactionEntry.reservedSpace)
            try directory.syncFileSystem()
            try call()
        }
    }

    /// The directory for an object that is moved in. If others have removed or moved the directory, it is made again at
    /// its place in the transaction, with its ancestors. This needs `displacesConflicts`.
    private func directory(_ object: Int) throws -> Directory {
        let positions: [JournalObjects.Position] = direction == .forward ? [.new, .old] : [.old, .new]
        var missing: [(Int, JournalObjects.Position, OperationGraph.Location)] = []
        var current = object
        while displacesConflicts, !objects.isFound(current), missing.count < journal.objects.count {
            guard let position = positions.first(where: { objects.location(of: current, at: $0) != nil }),
                let location = objects.location(of: current, at: position)
            else { break }
            missing.append((current, position, location))
            current = location.parent
        }
        while let (object, position, location) = missing.popLast() {
            let parent = try objects.handle(location.parent)
            if try parent.status(of: location.name) != nil { try displace(location.name, in: parent) }
            try withSpace { try parent.makeMirrored(location.name) }
            try objects.replace(object, at: position)
        }
        return try objects.handle(object)
    }

    private func displace(_ name: FileName, in directory: Directory) throws {
        guard displacesConflicts else {
            throw SyncError(
                .pending, path: directory.path(of: name),
                "another file got this name during the commit")
        }
        try displace(name, in: directory, to: objects.handle(OperationGraph.transaction))
    }

    func displace(_ name: FileName, in directory: Directory, to transaction: Directory) throws {
        conflicts.append(
            SyncError(.failed, path: directory.path(of: name), "moved out of the way, to the history"))
        _ = try transaction.takeConflict(name, from: directory)
    }

    /// Makes all changes so far durable. If the sync of the file system does nothing, each directory is synced.
    func syncNames() throws {
        if objects.root.fileSystem?.capabilities.syncsAsAWhole == false {
            for directory in objects.directories { try directory().sync() }
        }
        try objects.root.syncFileSystem()
    }

    // MARK: Attributes

    private func setAttributes(_ direction: Direction) throws {
        // Deepest first, by present locations: a directory without permissions hides the entries below it.
        let depths = journal.attributes.map { UInt32(clamping: objects.depth(of: $0.object)) }
        let order = depths.indices.map { UInt32($0) }.sorted { depths[Int($0)] > depths[Int($1)] }
        for index in order {
            let step = journal.attributes[Int(index)]
            let wanted = direction == .forward ? step.new : step.old
            try withObject(step.object) { handle, status in
                // Kinds of attributes that neither side has are left unchanged: they may not have been mirrored.
                let known = [step.old, step.new].flatMap { $0.extended?.attributes ?? [] }
                let kinds = ExtendedAttributes.Selection(
                    plain: known.contains { !$0.isACL }, acls: known.contains(where: \.isACL),
                    privileged: Account.isRoot)
                let refused = try handle.set(wanted, over: status, setsOwner: Account.isRoot, kinds)
                // The stage has tried these attributes. So this object differs from the probe, for example by a full
                // attribute block.
                if let error = refused.owner { throw error }
                if let first = refused.extended.attributes.first {
                    throw SyncError(
                        .failed, path: try objects.look(step.object).path,
                        "the file system does not allow the attribute \(escapedText(first.name))")
                }
            }
        }
    }

    /// Only root can change names in a directory without write permission, or move it. Other users add the permission.
    /// The attributes that are set last remove it.
    private func unlockDirectories() throws {
        guard !Account.isRoot else { return }
        for step in journal.attributes.reversed() {
            try withObject(step.object) { handle, status in
                guard status.type == .directory, status.permissions & 0o700 != 0o700 else { return }
                try handle.setPermissions(status.permissions | 0o700)
            }
        }
    }

    private func withObject(_ object: Int, _ body: (borrowing ObjectHandle, FileStatus) throws -> Void) throws
    {
        guard object != OperationGraph.root else {
            let handle = try ObjectHandle(of: objects.root)
            return try body(handle, try handle.status())
        }
        guard let location = objects.location(of: object) else { return }
        let handle = try ObjectHandle(location.name, in: try objects.handle(location.parent))
        let status = try handle.status()
        guard objects.isObject(object, status) else {
            throw SyncError(
                .failed, path: try objects.handle(location.parent).path(of: location.name),
                "it was replaced during the commit")
        }
        try body(handle, status)
    }
}
