import FileSystem

/// The parts of a target's history that a purge removes, and those that it cannot remove.
package struct Purged: Sendable {
    /// A version of a file whose content is removed, and the snapshots that had it.
    package struct Version: Sendable {
        package let file: File
        /// Newest first.
        package fileprivate(set) var snapshots: [Snapshot] = []
        /// All paths that it had.
        package fileprivate(set) var names: Set<RelativePath> = []
    }

    /// In the order of their paths.
    package internal(set) var versions: [Version] = []
    /// Objects that a recovery or an exchange moved into the history, with their paths below it.
    package internal(set) var setAside: [RelativePath] = []
    /// Files of the present tree that are selected, or have another name of a selected version. Their content remains.
    package internal(set) var present: [RelativePath] = []
    /// Files whose content has a name outside of the target, and remains there.
    package internal(set) var elsewhere: [RelativePath] = []
    /// Bytes of content that are freed.
    package internal(set) var bytes: ByteCount = 0
    /// The prepared transaction that is given up, because it may have the content; nil for none.
    package internal(set) var prepared: String?

    package var isEmpty: Bool { versions.isEmpty && setAside.isEmpty && present.isEmpty }
}

/// Removes content from a history. It removes each object that has a selected path in any list, under all its names.
/// The entries remain in the lists, without digest and destination.
///
/// First the lists mark the objects as purged. Then they forget the places, and objects without a place are swept.
/// After a kill at any moment, the same purge continues, and the next run sweeps.
struct Purge {
    private let history: History
    /// By the numbers of the objects. Objects that are already purged in some list are included.
    private var found: [UInt64: Purged.Version] = [:]
    /// Objects that at least one list does not mark as purged yet.
    private var unpurged: Set<UInt64> = []
    private var places = Places()
    /// The paths of found objects in the present tree.
    private var present: [UInt64: RelativePath] = [:]
    private let setAside: [RelativePath]

    init(_ selection: EntrySelection, in history: History) throws {
        self.history = history
        setAside = try history.setAside(selection)
        let (lists, snapshots) = (try TargetLists(history), try history.snapshots())
        let damage = try lists.visit(selection) { entry, index, _, _ in
            guard entry.status.type == .file || entry.status.type == .symlink else { return }
            var version = found[entry.object] ?? Purged.Version(file: entry.file)
            if version.snapshots.last?.id != snapshots[index].id {
                version.snapshots.append(snapshots[index])
            }
            version.names.insert(entry.path)
            found[entry.object] = version
        }
        if let damage { throw damage }
        present = try lists.objects(found.keys)
        for (index, step) in history.steps.enumerated() {
            let list = try lists.document(index)
            places.add(list.stored, of: step.name)
            for layer in [list.step, list.hand] {
                for case let entry? in layer.lines.values.lazy.map(\.entry) where found[entry.object] != nil {
                    found[entry.object]?.names.insert(entry.file.path)
                    if !entry.file.omitted.contains(.purged) { unpurged.insert(entry.object) }
                }
            }
        }
    }

    /// The result before the purge, without the values that are only known afterwards.
    var result: Purged {
        var result = Purged()
        for (object, version) in found {
            if let path = present[object] {
                result.present.append(path)
            } else if unpurged.contains(object) {
                result.versions.append(version)
            }
        }
        result.setAside = setAside
        result.present.sort()
        result.versions.sort { $0.file.path < $1.file.path }
        result.bytes = result.versions.lazy.map(\.file).filter(\.isFile).map(\.size).sum()
        return result
    }

    /// Purges, but does not sweep, because retention does that.
    func run() throws -> Purged {
        var result = result
        let objects = Set(found.keys.lazy.filter { present[$0] == nil })
        if let root = try history.state.history() {
            result.elsewhere = try elsewhere(objects, root).sorted()
            for path in setAside {
                guard let (directory, name) = try PathResolver(root).location(of: path) else { continue }
                try ObjectHandle(of: directory).whileWritable { try directory.unlink(name) }
            }
        }
        guard !objects.isEmpty else { return result }
        let lists = try TargetLists(history)
        // All lists mark the object as purged before any of them forgets a place. Otherwise a list would be damaged.
        try change(lists) { list, header in
            let isNamed = [list.step.purge(objects), list.hand.purge(objects)].contains(true)
            guard isNamed || list.stored.contains(where: { objects.contains($0.object) }) else {
                return false
            }
            (header.isUnswept, header.isMeasured) = (true, nil)
            return true
        }
        try change(lists) { list, _ in
            let count = list.stored.count
            list.stored.removeAll { objects.contains($0.object) }
            return list.stored.count < count
        }
        return result
    }

    /// - Parameter body: returns whether it changed the document of a step, or its header.
    private func change(
        _ lists: TargetLists, _ body: (inout ListDocument, inout HistoryRecord.Header) -> Bool
    ) throws {
        for (index, step) in history.steps.enumerated() {
            var (list, header) = (try lists.document(index), step.header)
            guard body(&list, &header) else { continue }
            let directory = try history.directory(step)
            if header.isUnswept != step.header.isUnswept { try header.write(to: directory) }
            var file = try PendingFile(step.header.listName, in: directory)
            try list.write(to: &file)
            try file.commit(durably: true)
        }
    }

    /// The files of objects that have more names than the history.
    private func elsewhere(_ objects: Set<UInt64>, _ root: Directory) throws -> Set<RelativePath> {
        var (files, names) = ([UInt64: (path: RelativePath, links: UInt32)](), [UInt64: UInt32]())
        let resolver = PathResolver(root)
        for object in objects {
            guard let file = found[object]?.file,
                case .history(let path)? = places.place(of: object, present: { _ in nil }),
                let status = try resolver.status(of: path), status.type == file.status.type, status.links > 1
            else { continue }
            files[status.inode] = (file.path, status.links)
        }
        guard !files.isEmpty else { return [] }
        let scan = try TreeScan(root, TreeScan.Options())
        while try scan.advance() {
            if files[scan.status.inode] != nil, scan.status.type != .directory {
                names[scan.status.inode, default: 0] += 1
            }
        }
        return Set(files.filter { names[$0.key, default: 0] < $0.value.links }.map(\.value.path))
    }
}

extension History {
    /// Objects that a recovery or an exchange moved into the history, if their path there is selected.
    fileprivate func setAside(_ selection: EntrySelection) throws -> [RelativePath] {
        guard let root = try state.history() else { return [] }
        var found: [RelativePath] = []
        for name in try state.transactions() where try root.status(of: name)?.type == .directory {
            let transaction = try root.directory(name)
            guard try transaction.status(of: TransactionEntry.conflicts)?.type == .directory else { continue }
            let above = RelativePath.root.appending(name).appending(TransactionEntry.conflicts)
            let scan = try TreeScan(
                transaction.directory(TransactionEntry.conflicts), TreeScan.Options(toleratesUnreadable: true)
            )
            while try scan.advance() {
                let (path, status) = (scan.path, scan.status)
                // The first name is a number.
                guard status.type == .file || status.type == .symlink,
                    let inner = path.relative(to: RelativePath(validated: Array(path.firstComponent))),
                    selection.selects(inner, false)
                else { continue }
                found.append(above.appending(path))
            }
        }
        return found
    }
}

extension ListLayer {
    fileprivate mutating func purge(_ objects: Set<UInt64>) -> Bool {
        let named = lines.values.filter { line in
            line.entry.map { objects.contains($0.object) && !$0.file.omitted.contains(.purged) } ?? false
        }
        for case (var line, let entry?) in named.map({ ($0, $0.entry) }) {
            let file = entry.file
            line.entry?.file = File(
                path: file.path, status: file.status, destination: [], extended: ExtendedAttributes(),
                omitted: file.omitted.union(.purged), object: file.object)
            add(line)
        }
        return !named.isEmpty
    }
}
