import FileStorage
import FileSystem
import Synchronization

/// The target that is mounted.
struct MountSource: Sendable {
    let path: [UInt8]
    /// Its name in messages.
    let name: [UInt8]
    let open: @Sendable () throws -> (TargetRoot, StateDirectory)
}

/// A target at one moment: its snapshots under the names that the mount shows, and their lists once they are looked into.
final class MountView: Sendable {
    struct Shown: Sendable {
        let slot: UInt64
        let index: Int
        let id: String
        /// The name of its directory.
        let name: [UInt8]
        let created: Timestamp?
        /// The name of the file with its list; nil for the present one.
        fileprivate let list: FileName?
    }

    struct Opened: Sendable {
        let list: MountedList
        let places: Places
    }

    let version: StateDirectory.Version
    /// When it was made.
    let made = FileTime.now
    let root: Directory
    let state: StateDirectory
    let header: ManifestHeader
    /// In a copy of a target, inodes do not tell.
    let knowsInodes: Bool
    /// Finds edited files of the present tree.
    let edits: EditDetection
    /// Newest first.
    let shown: [Shown]
    /// The names in the mount, and in its directory `ids`.
    let names, ids: [[UInt8]: MountNode]
    private let lists: TargetLists
    private let manifest: AnnouncedFile
    private let lines = Mutex<ManifestLines?>(nil)
    private let opened = Mutex<[Int: Opened]>([:])
    private let roots = Mutex<[Int: File]>([:])

    /// The number of lines and runs of lists that are in memory at a time, if there is more than one list.
    private static let largest = 200_000

    /// - Parameters:
    ///   - only: shows this snapshot alone; nil for all.
    ///   - mayBeGone: shows none if a command has removed that one.
    ///   - slot: the number of a snapshot by its id.
    /// - Throws: `SyncError` with code `pending` while a commit is unfinished, or if one ended meanwhile.
    init(_ target: MountSource, only: String?, mayBeGone: Bool = false, slot: (String) -> UInt64) throws {
        let (root, state) = try target.open()
        guard try !state.hasJournal() else { throw SyncError.pendingCommit(target.name) }
        guard let directory = root.directory, let file = try state.open(.manifest) else {
            throw try state.noManifest(target.path)
        }
        version = try state.version()
        let (announced, path) = (AnnouncedFile(file), state.path(of: .manifest))
        (self.root, self.state, manifest) = (directory, state, announced)
        let again = try calling("open", path) { () throws(Errno) in try announced.descriptor.reopened() }
        let header = try ManifestReader(again, path: path).header
        self.header = header
        knowsInodes = try !root.isCopy(of: header) && FileSystemInfo(of: directory).keepsIdentity
        edits = try EditDetection(in: directory, header)
        guard let next = header.nextObject, next <= MountNode.largestObject else {
            throw SyncError(
                .invalidDocument, path: target.path,
                "an earlier version wrote this target, and it has to be converted before it can be mounted; the next run does it"
            )
        }
        let history = try History(state)
        let steps = history.steps
        lists = try TargetLists(history)
        let snapshots = try history.snapshots()
        let chosen = try only.map { name in
            let isGone = mayBeGone && !snapshots.contains { $0.id == name }
            return isGone ? nil : try SnapshotName.index(of: name, in: snapshots)
        }
        // Such as `2026-11-23T07:57:55`.
        let texts = snapshots.map { $0.created?.localText.replacing(" ", with: "T") ?? $0.id }
        // Of several in one second, the oldest has the plain name, which a program may be using already.
        let oldest = Dictionary(texts.indices.lazy.map { (texts[$0], $0) }, uniquingKeysWith: max)
        let shown = snapshots.indices.filter { chosen == nil || chosen == .some($0) }.map { index in
            let snapshot = snapshots[index]
            let isPlain = oldest[texts[index]] == index
            return Shown(
                slot: slot(snapshot.id), index: index, id: snapshot.id,
                name: Array((isPlain ? texts[index] : "\(texts[index])-\(snapshot.shortID)").utf8),
                created: snapshot.created, list: index > 0 ? steps[index - 1].header.listName : nil)
        }
        self.shown = shown
        var (names, ids) = ([Array("ids".utf8): MountNode.ids], [[UInt8]: MountNode]())
        for entry in shown {
            names[entry.name] = .date(entry.slot)
            ids[Array(snapshots[entry.index].shortID.utf8)] = .link(entry.slot, .id)
            if entry.index == 0 { names[Array("latest".utf8)] = .link(entry.slot, .latest) }
        }
        for entry in shown {
            guard let label = snapshots[entry.index].label, let name = FileName(label.utf8) else { continue }
            let bytes = Array(name.bytes)
            if MountView.isReserved(label) {
                if ids[bytes] == nil { ids[bytes] = .link(entry.slot, .labelAmongIDs) }
            } else if names[bytes] == nil {
                names[bytes] = .link(entry.slot, .label)
            }
        }
        (self.names, self.ids) = (names, ids)
        guard try state.version() == version, try !state.hasJournal() else {
            throw SyncError.changedMeanwhile(target.path)
        }
    }

    /// A label that shows only in `ids`.
    private static func isReserved(_ label: String) -> Bool {
        let digits = label.utf8.prefix(10).map { (48...57).contains($0) ? UInt8(ascii: "0") : $0 }
        return ["ids", "latest", Snapshot.initialID].contains(label)
            || digits.elementsEqual("0000-00-00".utf8)
    }

    func shown(_ slot: UInt64) -> Shown? { shown.first { $0.slot == slot } }

    func hasLists(of old: MountView) -> Bool {
        shown.elementsEqual(old.shown) { $0.id == $1.id && $0.list == $1.list }
    }

    /// The names of snapshots whose lists an older view shows otherwise.
    func changed(since old: MountView) -> [[UInt8]] {
        old.shown.filter { entry in
            guard let now = shown(entry.slot), now.list != entry.list else { return false }
            // A list keeps its lines when the present tree becomes an old one.
            let hasEdits = try? now.index == 0 || !lists.document(now.index - 1).hand.isEmpty
            return entry.index > 0 || hasEdits != false
        }.map(\.name)
    }

    /// Whether a list may have an ACL. A name of a file with this text counts, too.
    func mayHaveACLs() throws -> Bool {
        let text: StaticString = "posix_acl"
        let isInManifest = try calling("pread", state.path(of: .manifest)) { () throws(Errno) in
            try manifest.descriptor.contains(text)
        }
        return try isInManifest || lists.mayContain(text)
    }

    private func allLines() throws -> ManifestLines {
        try lines.withLock { lines in
            if let lines { return lines }
            let made = try ManifestLines(manifest, path: state.path(of: .manifest))
            lines = made
            return made
        }
    }

    /// Makes the list of a snapshot, or finds it.
    func open(_ entry: Shown, _ reader: EntryReader) throws -> Opened {
        try opened.withLock { opened in
            if let found = opened[entry.index] { return found }
            let layers = try lists.layers(to: entry.index)
            let list = try MountedList(layers.found, over: allLines(), reader)
            let count = opened.values.reduce(list.own.count + list.runs.count) {
                $0 + $1.list.own.count + $1.list.runs.count
            }
            if count > MountView.largest { opened = [:] }
            let made = Opened(list: list, places: layers.places)
            opened[entry.index] = made
            return made
        }
    }

    /// The root as a list has it. Nobody recorded that of `initial`: its mode might let users in whom the present one keeps out.
    func rootFile(_ entry: Shown) throws -> File {
        try roots.withLock { roots in
            if let found = roots[entry.index] { return found }
            let header = try entry.index == 0 ? self.header : lists.document(entry.index - 1).header
            let file = try header.rootEntry ?? File(rootOf: root, .readable)
            roots[entry.index] = file
            return file
        }
    }
}
