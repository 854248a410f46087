import FileStorage
import FileSystem

/// A transaction that is staged and waits for its commit. It is the file `prepared.json` of its stage, which is written
/// last. Objects and operations are those of a journal. Each object also has its status in the target when it was
/// prepared, which must be the same at the commit.
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
package struct PreparedTransaction: Sendable {
    /// The name of its stage. Only those who prepared it know the name.
    package var id: String
    /// The time when everything was staged.
    package var prepared: Timestamp
    /// The identity of the target's root.
    package var root: FileIdentity
    /// The target's manifest; nil if there was none.
    package var basis: Basis?
    /// The retention rules after the commit: they decide which snapshots are kept.
    package var retention: RetentionPolicy
    package var notes: [String]
    package var objects = OperationGraph.ObjectList()
    package var operations: [OperationGraph.Operation] = []
    package var attributes: [OperationGraph.AttributeChange] = []
    package var descendants: [Descendant] = []
    package var actions: [Action] = []
    package var problems: [Problem] = []
    package var summary = ActionSummary()

    package struct Basis: Hashable, Sendable {
        package var manifest: String
        package var revision: Int

        package init(manifest: String, revision: Int) {
            (self.manifest, self.revision) = (manifest, revision)
        }

        init(_ header: ManifestHeader) { self.init(manifest: header.id, revision: header.revision) }
    }

    /// An entry in a directory that leaves the target.
    package struct Descendant: Hashable, Sendable {
        /// The directory.
        package var object: Int
        /// The path below the directory.
        package var path: RelativePath
        /// The status that was seen: identity, size and times.
        package var status: FileStatus

        package init(object: Int, path: RelativePath, status: FileStatus) {
            (self.object, self.path, self.status) = (object, path, status)
        }

        /// - Parameter comparesTimes: compare change times. If false, size and modification time show an edit.
        func isAsSeen(_ status: FileStatus, _ comparesTimes: Bool) -> Bool {
            self.status.equals(status, in: [.identity, .modified]) && self.status.size == status.size
                && (self.status.changed == status.changed || !comparesTimes)
        }
    }

    package init(
        id: String, prepared: Timestamp, root: FileIdentity, basis: Basis? = nil, retention: RetentionPolicy,
        notes: [String], problems: [Problem] = []
    ) {
        (self.id, self.prepared, self.root, self.basis) = (id, prepared, root, basis)
        (self.retention, self.notes, self.problems) = (retention, notes, problems)
    }
}

extension PreparedTransaction {
    private static let format: StaticString = "fsync-lite-prepared"

    /// - Parameters:
    ///   - objects: their number, and a function that returns one with its seen status.
    ///   - descendants: calls its parameter for each of them.
    package func write(
        to file: inout some ByteSink & ~Copyable,
        _ objects: (count: Int, object: (Int) throws -> OperationGraph.Object),
        _ operations: [OperationGraph.Operation],
        _ attributes: some Collection<OperationGraph.AttributeChange>,
        _ actions: some Sequence<Action>, _ descendants: ((Descendant) throws -> Void) throws -> Void
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
            $0.fields(OperationGraph.AttributeChange.fields, of: $1)
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
            $0.fields(PreparedTransaction.problem, of: $1)
        }
        document.beginTrailer()
        document.text.fields(PreparedTransaction.trailer, of: summary)
        try document.end(withChecksum: true, to: &file)
    }

    /// - Parameter expected: the id of the transaction's stage.
    /// - Throws: `SyncError` with code `invalidDocument` for a document that `write` cannot have written.
    package init(reading descriptor: consuming FileDescriptor, path: [UInt8], of expected: String) throws {
        var document = try DocumentReader(descriptor, path: path, format: PreparedTransaction.format)
        self.init(id: "", prepared: .unknown, root: .unknown, retention: RetentionPolicy(), notes: [])
        try document.leadingFields(PreparedTransaction.header, into: &self)
        guard let name = FileName(id.utf8), TransactionID.isName(name) else {
            throw document.error("this is not a name of a transaction")
        }
        guard id == expected else { throw document.error("the id is another transaction's") }
        try document.elements("objects", PreparedTransaction.object, blank: .init()) { _, found in
            var object = found
            object.seen?.inode = object.identity?.inode ?? 0
            object.seen?.created = object.identity?.created?.fileTime
            objects.append(object)
        }
        var moves = try PreparedMoves(objects, name) {
            // Each object has one line.
            document.error($1, line: document.line - (objects.count - $0))
        }
        try document.elements("operations") { reader in
            let operation = try reader.operation(objects)
            guard moves.follow(operation, objects) else {
                throw reader.error("this operation does not fit those before it, or is not the last one")
            }
            operations.append(operation)
        }
        guard operations.last == .rename(OperationGraph.transaction) else {
            throw document.error("the last operation would not store the old versions of the commit")
        }
        try document.elements(
            "attributes", OperationGraph.AttributeChange.fields, blank: .init(object: 0)
        ) { reader, change in
            guard objects.indices.contains(change.object), change.object != OperationGraph.state else {
                throw reader.error("no object with attributes has the number \(change.object)")
            }
            // The journal has those of both sides, or none.
            guard (change.old?.extended == nil) == (change.new?.extended == nil) else {
                throw reader.error("extended attributes on one side only")
            }
            attributes.append(change)
        }
        try document.elements("descendants", Descendant.fields, blank: .blank) { reader, descendant in
            guard objects.indices.contains(descendant.object), objects.leaves(descendant.object) else {
                throw reader.error("no directory that leaves has the number \(descendant.object)")
            }
            if let last = descendants.last {
                guard (last.object, last.path) < (descendant.object, descendant.path) else {
                    throw reader.error("descendants out of order, or one twice")
                }
            }
            descendants.append(descendant)
        }
        try document.elements("actions", Action.fields, blank: .blank) { reader, action in
            guard action.isPossible else { throw reader.error("no \(action.verb.rawValue) has these fields") }
            actions.append(action)
            summary.count(action)
        }
        let blank = Problem(path: .root, code: .unreadable, message: "")
        try document.elements("problems", PreparedTransaction.problem, blank: blank) { problems.append($1) }
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
                    "type", .word(FileType.allCases, \.documentName) { "\"\($0)\" is not a type of object" },
                    \.type),
                Field("mode", .mode, \.permissions), Field("owner", .integer, \.owner),
                Field("group", .integer, \.group), Field("size", .size, \.size),
                Field("modified", .fileTime, \.modified), Field("changed", .fileTime, \.changed),
            ])

    private static let problem: [Field<Problem>] = [
        Field("path", base64: "path_base64", .path, \.path),
        Field(
            "code", .word(Problem.Code.allCases, \.rawValue) { "\"\($0)\" is not a problem" },
            \.code),
        Field("message", .text, \.message),
    ]

    private static let trailer: [Field<ActionSummary>] = [
        Field("unchanged", .integer, \.unchanged).requiring("a total below zero") { $0.unchanged >= 0 },
        Field("not_mirrored", .integer, \.unmirrored)
            .requiring("a total below zero") { $0.unmirrored >= 0 },
    ]
}

extension PreparedTransaction.Descendant {
    /// A value to read into.
    fileprivate static let blank = Self(
        object: 0, path: .root, status: FileStatus(type: .file, modified: Timestamp.unknown.fileTime))

    fileprivate static let fields: [Field<Self>] = [
        Field("object", .integer, \.object), Field("path", base64: "path_base64", .pathBelowRoot, \.path),
        Field("inode", .integer, \.status.inode), Field("created", .fileTime, \.status.created),
        Field("size", .size, \.status.size), Field("modified", .fileTime, \.status.modified),
        Field("changed", .fileTime, \.status.changed),
    ]
}

extension OperationGraph.ObjectList {
    /// Whether a directory is deleted, with all its contents.
    func leaves(_ object: Int) -> Bool {
        old(object) != nil && new(object) == nil && isDirectory(object)
    }
}

extension StateDirectory {
    /// The stage that waits for its commit, and the time since when; nil if there is none.
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

    /// The prepared transaction with this id; nil if there is none.
    ///
    /// - Throws: `SyncError` with code `invalidDocument` if it is damaged.
    package func prepared(_ id: String) throws -> (transaction: PreparedTransaction, stage: Directory)? {
        guard let name = try preparedStage()?.name, name.bytes.elementsEqual(id.utf8) else { return nil }
        let stage = try makeStage().directory(name)
        let found = try PreparedTransaction(
            reading: stage.open(TransactionEntry.prepared, [.read, .noFollow, .nonBlocking]),
            path: stage.path(of: TransactionEntry.prepared), of: id)
        return (found, stage)
    }

    /// Ends the prepared transaction, durably, before any object of its stage is used or removed. From here on, this is
    /// the stage of an interrupted run.
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
