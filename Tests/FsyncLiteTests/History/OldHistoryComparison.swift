import FileSystem
import TestSupport

@testable import FsyncLite

/// The trees of a target, read from its records and from the lists that they become.
struct OldHistoryComparison {
    private let target: [UInt8]
    private let root: Directory
    private let state: StateDirectory
    private let history: History
    private let lists: TargetLists
    private let resolver: PathResolver

    /// nil for a directory that is no target.
    init?(_ target: String) throws {
        self.target = Array(target.utf8)
        root = try Directory.open(path: self.target)
        guard let state = try StateDirectory(of: root), try state.manifest() != nil else { return nil }
        self.state = state
        history = try History(state)
        lists = try TargetLists(history)
        resolver = PathResolver(root)
    }

    private func manifest(withUncovered: Bool = false) throws -> ManifestReader {
        try state.manifest(of: target, withUncovered: withUncovered)
    }

    /// Each list: what it has that its tree does not have, or has otherwise.
    func faults() throws -> [String] {
        var (layer, places) = (ListLayer(), Places())
        let documents = try history.steps.indices.map { try written(lists.document($0)) }
        for (index, document) in documents.enumerated() {
            places.add(document.stored, of: history.steps[index].name)
        }
        let present = try manifest(withUncovered: true)
        var paths: [UInt64: RelativePath] = [:]
        while try present.advance() { paths[present.object] = paths[present.object] ?? present.path }

        var faults: [String] = []
        for (index, document) in documents.enumerated() {
            layer = document.step.joined(to: layer)
            let stream = try ListStream(layer) { try manifest(withUncovered: true) }
            var entries: [ListEntry] = []
            while try stream.advance() {
                let isUncovered = stream.marks.contains(.uncovered)
                if !isUncovered { entries.append(ListEntry(stream.file)) }
                if stream.object == 0 {
                    faults.append("\(stream.path): no number")
                }
            }
            faults += try self.faults(of: entries, index + 1) { object in
                places.place(of: object) { paths[$0] }
            }.map { "list \(index + 1): \($0)" }
            layer = document.hand.joined(to: layer)
        }
        return faults
    }

    /// A document, written and read again.
    private func written(_ document: ListDocument) throws -> ListDocument {
        let directory = try TemporaryDirectory()
        var file = try PendingFile(FileName("list.json"), in: directory.open())
        try document.write(to: &file)
        try file.commit(durably: false)
        return try ListDocument(directory.open().open(FileName("list.json"), [.read]), path: [])
    }

    private func faults(
        of entries: [ListEntry], _ index: Int, place: (UInt64) -> Places.Place?
    ) throws -> [String] {
        let tree = try SnapshotTree(history.changes(to: index), present: manifest(withUncovered: true))
        let stream = tree.entries(over: try manifest())
        var files: [File] = []
        while try stream.advance() { files.append(stream.file) }
        guard entries.map(\.file.path) == files.map(\.path) else {
            let (lists, trees) = (Set(entries.map(\.file.path)), Set(files.map(\.path)))
            return lists.subtracting(trees).sorted().map { "\($0) is in the list only" }
                + trees.subtracting(lists).sorted().map { "\($0) is in the tree only" }
        }
        var faults: [String] = []
        for (entry, file) in zip(entries, files) where !entry.file.isRecorded(as: file) {
            faults.append("\(file.path): \(entry.file.status) and not \(file.status)")
        }
        for (entry, file) in zip(entries, files) {
            let location = tree.location(of: file.path)
            let found: RelativePath? =
                switch place(entry.object) {
                case .tree(let path): path
                case .history(let path): .history.appending(path)
                case nil: nil
                }
            if !isOneObject(found, location) {
                faults.append("\(file.path) is at \(found.map(\.description) ?? "no place"), not at \(location)")
            }
        }
        func names(_ keys: [some Hashable]) -> Set<Set<RelativePath>> {
            let groups = Dictionary(grouping: zip(files, keys).filter { $0.0.isMultiplyLinked }) { $0.1 }.values
            return Set(groups.map { Set($0.map { $0.0.path }) }.filter { $0.count > 1 })
        }
        let (names, wanted) = (names(entries.map(\.object)), names(files.map(\.identity)))
        if names != wanted {
            faults.append("names of one file: \(names.subtracting(wanted)) and not \(wanted.subtracting(names))")
        }
        return faults
    }

    /// Names of one object, or of none.
    private func isOneObject(_ path: RelativePath?, _ other: RelativePath) -> Bool {
        guard path != other else { return true }
        let (found, wanted) = (path.flatMap(inode), inode(other))
        return found == wanted
    }

    private func inode(_ path: RelativePath) -> UInt64? { (try? resolver.status(of: path))?.inode }
}

extension File {
    /// The same to a list: it names no object of a source or of a target.
    fileprivate func isRecorded(as other: File) -> Bool {
        let (own, known) = (status, other.status)
        return own.type == known.type && size == other.size && modified == other.modified
            && own.permissions == known.permissions && own.owner == known.owner && own.group == known.group
            && own.represents == known.represents && destination == other.destination
            && extended == other.extended && omitted == other.omitted
            && (digest == nil || other.digest == nil || digest == other.digest)
    }
}
