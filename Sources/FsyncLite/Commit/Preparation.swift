import FileStorage
import FileSystem

extension Commit {
    /// Makes the transaction of a layout: every object is looked at once more, right before the commit, and
    /// must still be what the plan saw. Its identity goes to the journal.
    ///
    /// - Parameter isCopy: the root is that of a copy of the target, and only its tree is to be changed.
    /// - Throws: `SyncError` when somebody changed the target meanwhile. Nothing has been touched then.
    package static func prepare(
        _ layout: OperationGraph, id: String, root: Directory, state: StateDirectory, isCopy: Bool = false
    ) throws -> Journal {
        var transaction = Journal(
            id: id, root: try root.status().identity, began: .now, objects: layout.objects,
            operations: isCopy ? layout.treeOperations : layout.operations, attributes: [])
        // The directories of a copy are others.
        if isCopy { for index in layout.objects.indices { transaction.objects[index].identity = nil } }
        let commit = Commit(transaction, root: root, state: state)
        for index in layout.objects.indices where index > OperationGraph.state {
            let (status, path) = try commit.look(index)
            if let seen = layout.objects[index].seen, !seen.isSameState(as: status, orCopy: isCopy) {
                throw SyncError(
                    .failed, path: path, "somebody changed this in the target since it was looked at")
            }
            transaction.objects[index].identity = status.identity
        }
        if try FileSystemInfo(of: root).hasDomains { try commit.checkDomains() }
        for change in layout.attributes {
            let current = try change.object == OperationGraph.root ? root.status() : commit.look(change.object).status
            guard Account.isRoot || current.owner == Account.effectiveUser else {
                throw SyncError(
                    .refused,
                    path: try change.object == OperationGraph.root ? root.path : commit.look(change.object).path,
                    "it belongs to user \(current.owner), and only its owner can put its times right; run as root"
                )
            }
            let old = change.old ?? Attributes(current)
            var new = change.new ?? old
            // A new directory has the owner that it could be given.
            if change.old == nil { (new.owner, new.group) = (old.owner, old.group) }
            transaction.attributes.append(.init(object: change.object, old: old, new: new))
        }
        if !Account.isRoot { addMovedDirectories(to: &transaction) }
        return transaction
    }

    /// Every object that moves can be renamed to each of its places, so that there is a way forth and a way back.
    private func checkDomains() throws {
        var domains: [Int: Domain] = [:]
        func domain(_ directory: Int) throws -> Domain {
            if let domain = domains[directory] { return domain }
            let domain = try handle(directory).domain()
            domains[directory] = domain
            return domain
        }
        func check(_ object: Int, into goals: [OperationGraph.Place]) throws {
            for goal in goals {
                let demand = try domain(goal.parent)
                guard demand.isExclusive, let place = place(of: object) else { continue }
                let found = try handle(place.parent).domain(of: place.name, in: domain(place.parent))
                if try demand.admits(found) ?? admits(demand, place) { continue }
                throw SyncError(
                    .refused, path: try look(object).path,
                    Domain.reason(demand, found, directory: escapedText(try handle(goal.parent).path)))
            }
        }
        for (index, object) in transaction.objects.enumerated() where object.old != object.new {
            try check(index, into: [object.old, object.slot, object.new].compactMap(\.self))
        }
        for case .link(let link) in transaction.operations { try check(link.object, into: [link.place]) }
    }

    /// Asks the kernel itself, by one more name in a directory of that project.
    private func admits(_ demand: Domain, _ place: OperationGraph.Place) throws -> Bool {
        let (stage, name) = (try handle(OperationGraph.transaction), FileName("probe-project"))
        try stage.makeDirectory(name)
        let trial = try stage.directory(name)
        try trial.setProject(demand.project ?? 0, handsDown: true)
        let holder = try handle(place.parent)
        var isAdmitted = true
        do throws(SystemError) {
            try holder.link(place.name, to: trial, name)
        } catch {
            guard [.crossDevice, .notPermitted, .accessDenied, .manyLinks].contains(error.errno) else {
                throw error
            }
            isAdmitted = false
        }
        try TreeRemoval.remove(name, in: stage)
        return isAdmitted
    }

    /// Whoever is not root needs write permission on a directory to move it: its attributes are part of the
    /// transaction then, so that they are put right at the end.
    private static func addMovedDirectories(to transaction: inout Journal) {
        let known = Set(transaction.attributes.map(\.object))
        for (index, object) in transaction.objects.enumerated()
        where !known.contains(index) && object.slot != nil {
            guard let seen = object.seen, seen.type == .directory, seen.permissions & 0o700 != 0o700 else {
                continue
            }
            transaction.attributes.append(.init(object: index, old: Attributes(seen), new: Attributes(seen)))
        }
    }
}

extension FileStatus {
    /// The same object in the same state, as far as an apply cares. The change time is left out: a rename
    /// moves it.
    fileprivate func isSameState(as other: FileStatus, orCopy mayBeCopy: Bool) -> Bool {
        (mayBeCopy || identity == other.identity) && type == other.type && permissions == other.permissions
            && owner == other.owner && group == other.group && modified == other.modified
            && (type != .file || size == other.size)
    }
}
