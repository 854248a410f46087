import FileStorage
import FileSystem

extension PreparedTransaction {
    // MARK: Preparing

    /// Writes the file that makes a stage a prepared transaction. The rest of the stage must be durable.
    ///
    /// - Throws: `SyncError` if the target was changed since the scan.
    func write(
        _ graph: OperationGraph, _ actions: ActionList, in stage: Directory, root: Directory,
        _ state: StateDirectory, _ monitor: any Monitor
    ) throws {
        let journal = try Commit.prepare(graph, id: id, root: root, state: state)
        try ReservedSpace.make(for: journal, in: stage)
        let objects = JournalObjects(journal, root: root, state: state)
        var file = try PendingFile(TransactionEntry.prepared, in: stage)
        func object(_ number: Int) throws -> OperationGraph.Object {
            var object = journal.objects[number]
            // Other directories only contain objects that take part.
            let takesPart = object.seen != nil || object.old == nil && object.slot != nil
            object.seen = takesPart ? try objects.look(number).status : nil
            return object
        }
        try write(
            to: &file, (journal.objects.count, object), graph.operations, graph.attributes, actions
        ) { take in
            for number in graph.objects.indices where graph.objects.leaves(number) {
                let scan = try PreparedTransaction.scan(number, objects, monitor)
                while try scan.advance() {
                    try take(Descendant(object: number, path: scan.path, status: scan.status))
                }
            }
        }
        try file.commit()
    }

    private static func scan(
        _ directory: Int, _ objects: JournalObjects, _ monitor: any Monitor
    ) throws -> TreeScan {
        guard let location = objects.location(of: directory) else {
            throw SyncError(.failed, path: objects.describe(directory), "it is nowhere to be found")
        }
        let directory = try objects.handle(location.parent).directory(location.name)
        var options = TreeScan.Options.target.bounded
        options.isInside = true
        return try TreeScan(directory, options, monitor: monitor)
    }

    // MARK: Comparing

    /// The objects that take part in the commit and have changed. Changes of other objects are left to the next run.
    func drift(
        in target: Directory, _ state: StateDirectory, _ monitor: any Monitor
    ) throws -> [Refusal] {
        var drift: [Refusal] = []
        let manifest = try state.manifest().map { Basis($0.header) }
        if manifest != basis {
            drift.append(
                .changedSincePrepared(
                    "another apply has changed the target since: its manifest is another one"))
        }
        let status = try target.status()
        if status.identity != root { drift.append(.changedSincePrepared("the target is another directory")) }
        // Its times are not compared, because entries that take no part move them too.
        let known = attributes.first { $0.object == OperationGraph.root }?.old
        if let known,
            (known.permissions, known.owner, known.group) != (status.permissions, status.owner, status.group)
        {
            drift.append(.changedSincePrepared(".: changed in the target"))
        }
        guard drift.isEmpty else { return drift }

        var journal = Journal(
            id: id, root: root, began: .now, objects: objects, operations: operations, attributes: [])
        if target.fileSystem != nil { journal.features = [:] }
        let found = JournalObjects(journal, root: target, state: state)
        let comparesTimes = target.fileSystem?.capabilities.keepsChangeTimes ?? true
        for number in objects.indices.dropFirst(OperationGraph.transaction + 1) {
            try monitor.checkCancellation()
            let isSame = try PreparedTransaction.unlessGone {
                let status = try found.look(number).status
                guard status.identity == objects.identity(of: number) else { return false }
                guard let seen = objects.seen(number) else { return true }
                return seen.equals(status, in: [.state, .identity])
                    && (seen.changed == status.changed || !comparesTimes)
            }
            guard isSame != true else { continue }
            drift.append(.changedSincePrepared("\(path(of: number)): changed in the target"))
        }
        drift += try occupied(found).map { .changedSincePrepared("\($0): new in the target") }
        var rest = descendants[...]
        while let number = rest.first?.object {
            let end = rest.firstIndex { $0.object != number } ?? rest.endIndex
            drift +=
                try PreparedTransaction.unlessGone {
                    let scan = try PreparedTransaction.scan(number, found, monitor)
                    return try differences(of: rest[..<end], from: scan, in: number, comparesTimes)
                } ?? []
            rest = rest[end...]
        }
        return drift
    }

    /// nil if an object on the way was removed or replaced.
    private static func unlessGone<Value>(_ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch let error as SyncError where error.code == .failed && error.errno == nil {
            return nil
        } catch let error as SystemError where Errno.noDirectory.contains(error.errno) {
            return nil
        }
    }

    /// The names at which an object will arrive, and which were free but are taken now.
    private func occupied(_ found: JournalObjects) throws -> [RelativePath] {
        var (leaving, arriving): (Set<OperationGraph.Location>, [OperationGraph.Location]) = ([], [])
        for operation in operations {
            switch operation {
            case .detach(let object), .exchange(_, with: let object):
                if let location = objects.old(object) { leaving.insert(location) }
            case .attach(let object):
                if let location = objects.new(object) { arriving.append(location) }
            case .link(let link): arriving.append(link.location)
            case .rename: break
            }
        }
        return try arriving.filter { location in
            guard !leaving.contains(location) else { return false }
            return try PreparedTransaction.unlessGone {
                try found.handle(location.parent).status(of: location.name) != nil
            } ?? false
        }.map { path(of: $0.parent).appending($0.name) }
    }

    private func differences(
        of recorded: ArraySlice<Descendant>, from scan: TreeScan, in directory: Int, _ comparesTimes: Bool
    ) throws -> [Refusal] {
        var drift: [Refusal] = []
        var rest = recorded
        let above = path(of: directory)
        func note(_ path: RelativePath, _ what: String) {
            drift.append(.changedSincePrepared("\(above.appending(path)): \(what)"))
        }
        while try scan.advance() {
            while let next = rest.first, next.path < scan.path {
                note(next.path, "gone from the target")
                rest.removeFirst()
            }
            guard let next = rest.first, next.path == scan.path else {
                note(scan.path, "new in the target")
                continue
            }
            rest.removeFirst()
            if !next.isAsSeen(scan.status, comparesTimes) {
                note(scan.path, "changed in the target")
            }
        }
        for next in rest { note(next.path, "gone from the target") }
        return drift
    }

    /// The path of an object before the commit.
    private func path(of object: Int) -> RelativePath {
        var names: [FileName] = []
        var next = object
        while next != OperationGraph.root, names.count <= objects.count {
            guard next != OperationGraph.state else {
                names.append(.state)
                break
            }
            guard let location = objects.old(next) ?? objects.slot(next) else { break }
            names.append(location.name)
            next = location.parent
        }
        return names.reversed().reduce(.root) { $0.appending($1) }
    }
}
