import FileSystem

/// What a purge removes from the history of a target, and what it cannot remove.
package struct Purged: Sendable {
    /// A version of a file whose content is removed, and the snapshots that had it.
    package struct Version: Sendable {
        package let file: File
        /// Newest first.
        package fileprivate(set) var snapshots: [Snapshot] = []
    }

    /// In the order of their paths.
    package internal(set) var versions: [Version] = []
    /// Files of the present tree that are selected, or are a selected version under another name: their content stays.
    package internal(set) var present: [RelativePath] = []
    /// Files whose content has a name outside of the target, and stays there.
    package internal(set) var elsewhere: [RelativePath] = []
    /// Bytes of content that are free afterwards.
    package internal(set) var bytes: ByteCount = 0

    package var isEmpty: Bool { versions.isEmpty && present.isEmpty }
}

/// Removes content from a history: that of each object that has a selected path in any kept list, under all its names. The
/// lists keep the entries, without digest and destination. Kill it at any moment: the same purge finds what is left.
struct Purge {
    private let history: History
    /// By the numbers of the objects.
    private var found: [UInt64: Purged.Version] = [:]
    private var places = Places()
    /// The paths of found objects in the present tree.
    private var present: [UInt64: RelativePath] = [:]

    init(_ selection: EntrySelection, in history: History) throws {
        self.history = history
        let (lists, snapshots) = (try TargetLists(history), try history.snapshots())
        let damage = try lists.visit(selection) { entry, index, _, _ in
            guard entry.status.type == .file || entry.status.type == .symlink,
                !entry.omitted.contains(.purged)
            else { return }
            var version = found[entry.object] ?? Purged.Version(file: entry.file)
            if version.snapshots.last?.id != snapshots[index].id {
                version.snapshots.append(snapshots[index])
            }
            found[entry.object] = version
        }
        if let damage { throw damage }
        present = try lists.objects(found.keys)
        for (index, step) in history.steps.enumerated() {
            places.add(try lists.document(index).stored, of: step.name)
        }
    }

    /// Without what is only known once it is removed.
    var result: Purged {
        var result = Purged()
        for (object, version) in found {
            if let path = present[object] {
                result.present.append(path)
            } else {
                result.versions.append(version)
            }
        }
        result.present.sort()
        result.versions.sort { $0.file.path < $1.file.path }
        result.bytes = result.versions.lazy.map(\.file).filter(\.isFile).map(\.size).sum()
        return result
    }

    func run() throws -> Purged {
        var result = result
        let objects = Set(found.keys.lazy.filter { present[$0] == nil })
        guard !objects.isEmpty, let root = try history.state.history() else { return result }
        let names = try names(of: objects, in: root)
        try history.forgetMeasures(of: Set(names.lazy.compactMap { FileName($0.path.firstComponent) }))
        for (path, object) in names {
            guard let (directory, name) = try PathResolver(root).location(of: path) else { continue }
            // Another name is outside of the history.
            if try directory.status(of: name)?.links ?? 0 > names.count(where: { $0.object == object }),
                let file = found[object]?.file
            {
                result.elsewhere.append(file.path)
            }
            try ObjectHandle(of: directory).whileWritable { try directory.unlink(name) }
        }
        result.elsewhere = Set(result.elsewhere).sorted()
        try purgeLists(of: objects)
        return result
    }

    /// The names that objects have in the history, by the inodes at their places. The places come last: they lead a purge
    /// that begins again to the other names.
    private func names(
        of objects: Set<UInt64>, in root: Directory
    ) throws -> [(path: RelativePath, object: UInt64)] {
        var (objectOfInode, names) = ([UInt64: UInt64](), [(path: RelativePath, object: UInt64)]())
        let resolver = PathResolver(root)
        var hasOtherNames = false
        for object in objects {
            guard case .history(let path)? = places.place(of: object, present: { _ in nil }),
                let status = try resolver.status(of: path), status.type == found[object]?.file.status.type
            else { continue }
            objectOfInode[status.inode] = object
            names.append((path, object))
            hasOtherNames = hasOtherNames || status.links > 1
        }
        guard hasOtherNames else { return names }
        let (scan, known) = (try TreeScan(root, TreeScan.Options()), Set(names.map(\.path)))
        var others: [(path: RelativePath, object: UInt64)] = []
        while try scan.advance() {
            guard let object = objectOfInode[scan.status.inode], scan.status.type != .directory,
                !known.contains(scan.path)
            else { continue }
            others.append((scan.path, object))
        }
        return others + names
    }

    private func purgeLists(of objects: Set<UInt64>) throws {
        let lists = try TargetLists(history)
        for (index, step) in history.steps.enumerated() {
            var list = try lists.document(index)
            guard list.purge(objects) else { continue }
            var file = try PendingFile(step.header.listName, in: history.directory(step))
            try list.write(to: &file)
            try file.commit(durably: true)
        }
    }
}

extension ListDocument {
    /// - Returns: whether it names one of these objects.
    fileprivate mutating func purge(_ objects: Set<UInt64>) -> Bool {
        let count = stored.count
        stored.removeAll { objects.contains($0.object) }
        let isNamed = [step.purge(objects), hand.purge(objects)].contains(true)
        return isNamed || stored.count < count
    }
}

extension ListLayer {
    fileprivate mutating func purge(_ objects: Set<UInt64>) -> Bool {
        let named = lines.values.filter { $0.entry.map { objects.contains($0.object) } ?? false }
        for case (var line, let entry?) in named.map({ ($0, $0.entry) }) {
            let file = entry.file
            line.entry?.file = File(
                path: file.path, status: file.status, destination: [], extended: file.extended,
                omitted: file.omitted.union(.purged), object: file.object)
            add(line)
        }
        return !named.isEmpty
    }
}
