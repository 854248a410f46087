import FileStorage
import FileSystem

/// One line of a record that an earlier version wrote. It says how to revert one action of a run.
struct OldAction {
    /// The verbs of a plan, and two for unchanged entries that become covered or uncovered.
    enum Verb: String, CaseIterable {
        /// `cover`: the run covered an entry that was uncovered; `uncover`: the reverse.
        case delete, move, create, update, attributes, cover, uncover
    }

    var verb: Verb
    /// The entry before the run; for `delete`, as the run made it.
    var file: File
    /// The object's path after the run, if another.
    var from: RelativePath?
    /// The slot of an object in the history: `TX/0/12`. Without one, the object is inside the directory above it there.
    var slot: RelativePath?
    /// No manifest had the entry before the run.
    var wasUncovered = false

    /// Why the line is invalid; nil if it is valid.
    private var fault: String? {
        if from.map(\.isInState) ?? false { return "a path of the tree inside the state" }
        if file.path.isInState, !file.path.isBelow(.history) { return "a path in the state" }
        if file.path.isRoot, verb != .attributes { return "the root can only change its attributes" }
        if wasUncovered, verb == .delete || verb == .uncover { return "a file to cover did not exist" }
        if slot != nil, verb != .create, verb != .update {
            return "a slot for a file elsewhere"
        }
        if let slot,
            !(slot.components.count >= 3 && FileName(slot.components[0]).map(TransactionID.isName) == true)
        {
            return "this is not a slot"
        }
        switch verb {
        case .create, .delete: return from == nil ? nil : "a file with two paths that did not move"
        case .move: return from == nil ? "a move without its old path" : nil
        case .update, .attributes, .cover, .uncover: return nil
        }
    }
}

/// The file of these lines. Each has an action and, after its causes, the fields of a manifest entry.
///
///     {"format":"fsync-lite-history-actions","version":2,"id":…,
///     "actions":[
///     {"action":"move","from":"b","slot":…,"causes":["renamed"],"uncovered":true,"path":"a","type":"file",…}
///     ],
///     "drift":[
///     ],
///     "checksum":"…"}
extension OldAction {
    private static let format: StaticString = "fsync-lite-history-actions"
    /// Since version 2 filters are undone too; version 1 is still read.
    private static let version = 2

    /// Reads the lines of a transaction, strictly and in the order of their paths: an error names file and line.
    static func read(
        _ header: HistoryRecord.Header, in directory: Directory
    ) throws -> (actions: PackedList<OldActionCoding>, drift: PackedList<OldActionCoding>) {
        let name = header.actions.flatMap { FileName($0.utf8) } ?? FileName("actions.json")
        let path = directory.path(of: name)
        guard try directory.status(of: name) != nil else {
            throw SyncError(.invalidDocument, path: path, "it is missing")
        }
        let descriptor = try directory.open(name, [.read, .noFollow, .nonBlocking])
        var document = try DocumentReader(descriptor, path: path, format: format, newestVersion: version)
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
    ) throws -> PackedList<OldActionCoding> {
        var actions = PackedList<OldActionCoding>()
        try document.elements(array) { actions.append(try OldAction(from: &$0)) }
        // Directories come before their entries.
        actions.sort()
        var verbs: Set<Verb> = []
        for index in actions.indices {
            if index > 0, actions.order(index - 1, comparedTo: index) != 0 { verbs = [] }
            let action = actions[index]
            guard verbs.insert(action.verb).inserted else {
                throw document.error("\"\(action.file.path)\" twice")
            }
        }
        return actions
    }

    /// The fields before those of the entry. The causes of the run are not read.
    private static let fields: [Field<OldAction>] = [
        Field("action", .word(Verb.allCases, \.rawValue) { "\"\($0)\" is not an action" }, \.verb),
        Field("from", base64: "from_base64", .pathBelowRoot, \.from),
        Field("slot", base64: "slot_base64", .pathBelowRoot, \.slot),
        Field("causes", .causes, get: { _ in nil }, set: { _, _ in }),
        Field("uncovered", .flag, get: { $0.wasUncovered }, set: { $0.wasUncovered = $1 }),
        // Pruning wrote this for an uncovered entry that the joined older record did not name.
        Field("assumed", .flag, get: { _ in nil }, set: { $0.wasUncovered = $1 }),
    ]

    private static let blank = File(path: .root, status: EntryRecord().status, destination: [])

    private init(from reader: inout DocumentReader) throws {
        self.init(verb: .create, file: OldAction.blank)
        try reader.expect("{")
        try reader.leadingFields(OldAction.fields, into: &self)
        var record = EntryRecord()
        try reader.fields(of: &record)
        let isRoot = record.path.elementsEqual(".".utf8)
        guard let path = isRoot ? .root : RelativePath(record.path), isRoot || !path.isRoot else {
            throw reader.error("\"\(escapedText(record.path))\" is not a path below the root")
        }
        file = File(
            path: path, status: record.status, destination: record.destination, extended: record.extended,
            omitted: record.omitted, digest: record.digest)
        wasUncovered = wasUncovered || verb == .cover
        if let fault { throw reader.error(fault) }
    }
}

enum OldActionCoding: PackedCoding {
    static func path(of action: OldAction) -> RelativePath { action.file.path }
    static func otherPath(of action: OldAction) -> RelativePath? { action.slot ?? action.from }

    static func pack(_ action: OldAction, into store: inout PackedStore) {
        store.put(byte: UInt8(OldAction.Verb.allCases.firstIndex(of: action.verb) ?? 0))
        store.put(byte: action.wasUncovered ? 1 : 0)
        // The other path is the slot. If there is a location too, it follows.
        store.put(byte: action.slot == nil ? 0 : 1)
        if action.slot != nil { store.put(action.from?.bytes ?? []) }
        store.put(action.file)
    }

    static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> OldAction {
        let verb = OldAction.Verb.allCases[Int(cursor.byte())]
        let wasUncovered = cursor.byte() != 0
        let hasSlot = cursor.byte() != 0
        let from = hasSlot ? Array(cursor.bytes(cursor.integer())) : other?.bytes ?? []
        return OldAction(
            verb: verb, file: store.file(&cursor, at: path),
            from: from.isEmpty ? nil : RelativePath(validated: from), slot: hasSlot ? other : nil,
            wasUncovered: wasUncovered)
    }
}
