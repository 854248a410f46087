import FileStorage
import FileSystem

/// A transaction that is staged and waits for its commit: the file `prepared.json` of its stage, which is written last.
/// Objects and operations are those of a journal; what the target had of them when it was prepared stands beside them,
/// and must be there when it is committed.
///
///     {"format":"fsync-lite-prepared","version":1,"transaction":…,"prepared":…,"inode":…,"created":…,
///     "manifest":…,"revision":…,"retention":{…},"notes":[…],
///     "objects":[
///     {"inode":…,"created":…,"old_parent":…,"old_name":…,…,"type":…,"mode":…,"owner":…,"group":…,"size":…,
///     "modified":…,"changed":…}
///     ],
///     "operations":[
///     {"detach":N}
///     ],
///     "attributes":[
///     {"object":N,"old_mode":…,…,"new_mode":…,…}
///     ],
///     "descendants":[
///     {"object":N,"path":…,"inode":…,"created":…,"size":…,"modified":…,"changed":…}
///     ],
///     "actions":[
///     {"action":"create","path":"a","type":"file","size":2,"causes":["new"]}
///     ],
///     "problems":[
///     {"path":…,"code":…,"message":…}
///     ],
///     "unchanged":7,"not_mirrored":1,"checksum":"…"}
struct PreparedTransaction: Sendable {
    /// The name of its stage, which only those know who prepared it.
    var id: String
    /// When everything was staged.
    var prepared: Timestamp
    /// The target's root.
    var root: FileIdentity
    /// The target's manifest; nil if it had none.
    var basis: Basis?
    /// Which snapshots are kept after the commit.
    var retention: RetentionPolicy
    var notes: [String]
    var objects = OperationGraph.ObjectList()
    var operations = OperationGraph.OperationList()
    var attributes = OperationGraph.AttributeList()
    var descendants: [Descendant] = []
    var actions: [Action] = []
    var problems: [Problem] = []
    var summary = ActionSummary()

    struct Basis: Hashable, Sendable {
        var manifest: String
        var revision: Int

        init(_ header: ManifestHeader) { (manifest, revision) = (header.id, header.revision) }
    }

    /// An entry in a directory that leaves the target.
    struct Descendant: Sendable {
        /// The directory.
        var object: Int
        /// Below the directory.
        var path: RelativePath
        var identity = FileIdentity.unknown
        /// With the modification time, what tells of an edit where the change time does not.
        var size: Int64 = 0
        var modified = Timestamp.unknown.fileTime
        var changed = Timestamp.unknown.fileTime

        /// - Parameter comparesTimes: the file system keeps change times.
        func isAsSeen(_ status: FileStatus, _ comparesTimes: Bool) -> Bool {
            identity == status.identity && size == status.size && modified == status.modified
                && (changed == status.changed || !comparesTimes)
        }
    }
}

extension PreparedTransaction {
    private static let format: StaticString = "fsync-lite-prepared"

    /// - Parameters:
    ///   - objects: how many there are, and one by its number, with what was seen of it.
    ///   - descendants: calls its parameter for each.
    func write(
        to file: inout PendingFile, _ objects: (count: Int, object: (Int) throws -> OperationGraph.Object),
        _ operations: OperationGraph.OperationList, _ attributes: OperationGraph.AttributeList,
        _ actions: ActionList, _ descendants: ((Descendant) throws -> Void) throws -> Void
    ) throws {
        var document = DocumentWriter(format: PreparedTransaction.format.description)
        document.text.fields(PreparedTransaction.header, of: self)
        try document.array("objects", of: 0..<objects.count, to: &file) {
            $0.fields(PreparedTransaction.object, of: try objects.object($1))
        }
        try document.array("operations", of: operations, to: &file) {
            $0.fields(OperationFields.all, of: OperationFields($1))
        }
        try document.array("attributes", of: attributes, to: &file) {
            $0.fields(PreparedTransaction.attribute, of: $1)
        }
        document.beginArray("descendants")
        try descendants { descendant in
            document.beginElement()
            document.text.fields(Descendant.fields, of: descendant)
            document.endElement()
            try document.drain(to: &file)
        }
        document.endArray()
        try document.array("actions", of: actions, to: &file) { $0.action($1) }
        try document.array("problems", of: problems, to: &file) {
            $0.fields(PreparedTransaction.problem, of: $1.fields)
        }
        document.beginTrailer()
        document.text.fields(PreparedTransaction.trailer, of: summary)
        try document.end(withChecksum: true, to: &file)
    }

    init(reading descriptor: consuming FileDescriptor, path: [UInt8]) throws {
        var document = try DocumentReader(descriptor, path: path, format: PreparedTransaction.format)
        self.init(id: "", prepared: .unknown, root: .unknown, retention: RetentionPolicy(), notes: [])
        try document.leadingFields(PreparedTransaction.header, into: &self)
        guard let name = FileName(id.utf8), TransactionID.isName(name) else {
            throw document.error("this is no name of a transaction")
        }
        try document.elements("objects") { reader in
            var object = OperationGraph.Object()
            try reader.object(PreparedTransaction.object, into: &object)
            object.seen?.inode = object.identity?.inode ?? 0
            object.seen?.created = object.identity?.created?.fileTime
            objects.append(object)
        }
        if let (number, reason) = Journal.impossibleObject(objects, name) {
            throw document.error(reason, line: document.line - (objects.count - number))
        }
        try document.elements("operations") { operations.append(try $0.operation(objects)) }
        guard operations.last == .rename(OperationGraph.transaction) else {
            throw document.error("the last operation would not keep what the commit displaces")
        }
        func check(_ object: Int, _ reader: borrowing DocumentReader) throws {
            guard objects.indices.contains(object) else {
                throw reader.error("no object has the number \(object)")
            }
        }
        try document.elements("attributes") { reader in
            var change = OperationGraph.AttributeChange(object: 0)
            try reader.object(PreparedTransaction.attribute, into: &change)
            try check(change.object, reader)
            attributes.append(change)
        }
        try document.elements("descendants") { reader in
            var descendant = Descendant(object: 0, path: .root)
            try reader.object(Descendant.fields, into: &descendant)
            try check(descendant.object, reader)
            if let last = descendants.last {
                guard (last.object, last.path) < (descendant.object, descendant.path) else {
                    throw reader.error("descendants out of order, or one twice")
                }
            }
            descendants.append(descendant)
        }
        try document.elements("actions") { reader in
            var action = Action.blank
            try reader.object(Action.fields, into: &action, incomplete: Action.incomplete)
            guard action.isPossible else { throw reader.error("no \(action.verb.rawValue) has these fields") }
            actions.append(action)
            summary.count(action)
        }
        try document.elements("problems") { reader in
            var fields = ProblemFields()
            try reader.object(PreparedTransaction.problem, into: &fields)
            problems.append(Problem(path: fields.path, code: fields.code, message: fields.message))
        }
        try document.beginTrailer()
        try document.leadingFields(PreparedTransaction.trailer, into: &summary)
        try document.end()
    }

    private static let header: [Field<PreparedTransaction>] =
        [
            Field("transaction", .text, \.id), Field("prepared", .time, \.prepared),
            Field("inode", .integer, \.root.inode), Field("created", .time, \.root.created),
        ]
        + Field.part(
            \.basis, blank: Basis(ManifestHeader(id: "", root: [], created: .unknown)),
            [
                Field("manifest", .text, \.manifest),
                Field("revision", .integer, \.revision)
                    .requiring("a revision below zero") { $0.revision >= 0 },
            ])
        + [
            Field("retention", .object(RetentionPolicy.fields, blank: RetentionPolicy()), \.retention),
            Field("notes", .texts, \.notes),
        ]

    private static let object =
        OperationGraph.Object.fields
        + Field.part(
            \.seen, blank: FileStatus(type: .file, modified: Timestamp.unknown.fileTime),
            [
                Field(
                    "type", .word(FileType.allCases, \.documentName) { "\"\($0)\" is no type of object" },
                    \.type),
                Field("mode", .mode, \.permissions), Field("owner", .integer, \.owner),
                Field("group", .integer, \.group), Field("size", .integer, \.size),
                Field("modified", .fileTime, \.modified), Field("changed", .fileTime, \.changed),
            ])

    private static let attribute: [Field<OperationGraph.AttributeChange>] =
        [Field("object", .integer, \.object)]
        + attributes(
            \.old,
            ("old_mode", "old_owner", "old_group", "old_modified", "old_xattrs"))
        + attributes(
            \.new,
            ("new_mode", "new_owner", "new_group", "new_modified", "new_xattrs"))

    private static func attributes(
        _ path: WritableKeyPath<OperationGraph.AttributeChange, Attributes?> & Sendable,
        _ keys: (StaticString, StaticString, StaticString, StaticString, StaticString)
    ) -> [Field<OperationGraph.AttributeChange>] {
        Field.part(
            path,
            blank: Attributes(permissions: 0, owner: 0, group: 0, modified: Timestamp.unknown.fileTime),
            [
                Field(keys.0, .mode, \.permissions), Field(keys.1, .integer, \.owner),
                Field(keys.2, .integer, \.group), Field(keys.3, .fileTime, \.modified),
                Field(keys.4, .attributes, \.extended),
            ])
    }

    private static let problem: [Field<ProblemFields>] = [
        Field("path", base64: "path_base64", .path, \.path),
        Field(
            "code", .word(Problem.Code.allCases, \.rawValue) { "\"\($0)\" is no code of a problem" }, \.code),
        Field("message", .text, \.message),
    ]

    private static let trailer: [Field<ActionSummary>] = [
        Field("unchanged", .integer, \.unchanged).requiring("a total below zero") { $0.unchanged >= 0 },
        Field("not_mirrored", .integer, \.unmirrored)
            .requiring("a total below zero") { $0.unmirrored >= 0 },
    ]
}

extension PreparedTransaction.Descendant {
    fileprivate static let fields: [Field<Self>] = [
        Field("object", .integer, \.object), Field("path", base64: "path_base64", .pathBelowRoot, \.path),
        Field("inode", .integer, \.identity.inode), Field("created", .time, \.identity.created),
        Field("size", .integer, \.size), Field("modified", .fileTime, \.modified),
        Field("changed", .fileTime, \.changed),
    ]
}

private struct ProblemFields {
    var path = RelativePath.root
    var code = Problem.Code.unreadable
    var message = ""
}

extension Problem {
    fileprivate var fields: ProblemFields { ProblemFields(path: path, code: code, message: message) }
}

extension StateDirectory {
    /// The stage that waits for its commit, and since when; nil if there is none.
    func preparedStage() throws -> (name: FileName, since: Timestamp)? {
        guard let stages = try stage() else { return nil }
        for name in try DirectoryListing.names(in: stages).sorted() where TransactionID.isName(name) {
            guard try stages.status(of: name)?.type == .directory,
                let status = try stages.directory(name).status(of: TransactionEntry.prepared),
                status.type == .file
            else { continue }
            return (name, Timestamp(status.modified))
        }
        return nil
    }

    /// The prepared transaction of this id; nil if it is not known.
    ///
    /// - Throws: `SyncError` with code `invalidDocument` for a damaged one.
    func prepared(_ id: String) throws -> (transaction: PreparedTransaction, stage: Directory)? {
        guard let name = try preparedStage()?.name, name.bytes.elementsEqual(id.utf8) else { return nil }
        let stage = try makeStage().directory(name)
        let path = stage.path(of: TransactionEntry.prepared)
        let found = try PreparedTransaction(
            reading: stage.open(TransactionEntry.prepared, [.read, .noFollow, .nonBlocking]), path: path)
        guard found.id == id else {
            throw SyncError(.invalidDocument, path: path, "the id is another transaction's")
        }
        return (found, stage)
    }

    /// Ends what is prepared, durably, before anything of its stage is used or removed: from here on this is the stage of
    /// an interrupted run.
    ///
    /// - Returns: its id.
    @discardableResult
    func endPrepared() throws -> String? {
        guard let name = try preparedStage()?.name else { return nil }
        let stage = try makeStage().directory(name)
        try stage.unlink(TransactionEntry.prepared)
        try stage.sync()
        return name.description
    }
}
