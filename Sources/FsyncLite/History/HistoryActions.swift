import FileStorage
import FileSystem

/// The file of the undo entries. Each line has an action and, after its causes, the fields of a manifest entry.
///
///     {"format":"fsync-lite-history-actions","version":2,"id":…,
///     "actions":[
///     {"action":"move","from":"b","slot":…,"causes":["renamed"],"uncovered":true,"path":"a","type":"file",…}
///     ],
///     "drift":[
///     ],
///     "checksum":"…"}
extension HistoryRecord {
    private static let actionsFormat: StaticString = "fsync-lite-history-actions"
    /// Since version 2 filters are undone too; version 1 is still read.
    private static let actionsVersion = 2

    /// Finds an entry that is there twice.
    private struct Keys {
        private var hashes = SeenHashes()
        private var count = 0

        /// - Parameter actions: all entries so far, or more.
        /// - Returns: false for a second entry of its verb and path.
        mutating func insert(_ action: UndoEntry, among actions: some Collection<UndoEntry>) -> Bool {
            func isEqual(_ other: UndoEntry) -> Bool {
                other.verb == action.verb && other.file.path == action.file.path
            }
            var hasher = Hasher()
            hasher.combine(action.verb)
            hasher.combine(action.file.path)
            defer { count += 1 }
            // Different entries may have one hash.
            return hashes.insert(hasher.finalize())
                || !actions.prefix(count).contains(where: isEqual)
        }
    }

    /// Reads the undo entries of a transaction, strictly: an error names file and line.
    static func actions(
        of header: Header, in directory: Directory
    ) throws -> (actions: UndoEntries, drift: UndoEntries) {
        let name = header.actions.flatMap { FileName($0.utf8) } ?? FileName("actions.json")
        let path = directory.path(of: name)
        guard try directory.status(of: name) != nil else {
            throw SyncError(.invalidDocument, path: path, "it is missing")
        }
        let descriptor = try directory.open(name, [.read, .noFollow, .nonBlocking])
        var document = try DocumentReader(
            descriptor, path: path, format: actionsFormat, newestVersion: actionsVersion)
        guard try document.key("id"), try document.string().elementsEqual(header.id.utf8) else {
            throw document.error("the id is another transaction's")
        }
        try document.expect(",")
        let actions = try read("actions", &document)
        let drift = try read("drift", &document)
        try document.beginTrailer()
        try document.end()
        return (actions, drift)
    }

    private static func read(
        _ array: StaticString, _ document: inout DocumentReader
    ) throws -> UndoEntries {
        var actions = UndoEntries()
        var keys = Keys()
        try document.elements(array) { reader in
            let action = try UndoEntry(from: &reader)
            guard keys.insert(action, among: actions) else {
                throw reader.error("\"\(action.file.path)\" twice")
            }
            actions.append(action)
        }
        return actions
    }
}

extension UndoEntry {
    /// The fields before those of the entry.
    fileprivate static let fields: [Field<UndoEntry>] = [
        Field("action", .word(Verb.allCases, \.rawValue) { "\"\($0)\" is no action" }, \.verb),
        Field("from", base64: "from_base64", .pathBelowRoot, \.from),
        Field("slot", base64: "slot_base64", .pathBelowRoot, \.slot),
        Field("causes", .causes, get: { $0.causes.isEmpty ? nil : $0.causes }, set: { $0.causes = $1 }),
        Field(
            "uncovered", .flag, get: { $0.wasUncovered && $0.verb != .cover ? true : nil },
            set: { $0.wasUncovered = $1 }),
        Field("assumed", .flag, get: { $0.isAssumed ? true : nil }, set: { $0.isAssumed = $1 }),
    ]

    private static let blank = File(path: .root, status: EntryRecord().status, destination: [])

    fileprivate init(from reader: inout DocumentReader) throws {
        self.init(.create, UndoEntry.blank)
        try reader.expect("{")
        try reader.leadingFields(UndoEntry.fields, into: &self)
        var record = EntryRecord()
        try reader.fields(of: &record)
        let isRoot = record.path.elementsEqual(".".utf8)
        guard let path = isRoot ? .root : RelativePath(record.path), isRoot || !path.isRoot else {
            throw reader.error("\"\(escapedText(record.path))\" is no path below the root")
        }
        let file = File(
            path: path, status: record.status, destination: record.destination, extended: record.extended,
            omitted: record.omitted, digest: record.digest)
        self.file = file
        wasUncovered = wasUncovered || verb == .cover
        if let fault { throw reader.error(fault) }
    }
}
