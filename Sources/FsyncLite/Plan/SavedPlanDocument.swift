import FileStorage
import FileSystem

/// The file of a saved plan: the options, one per line, then the actions, each with the state of its objects.
///
///     {"format":"fsync-lite-saved-plan","version":1,"saved":…,"source":…,"target":…,"source_root":{…},…,
///     "options":[
///     {"option":"--exclude=*.tmp"}
///     ],
///     "actions":[
///     {"action":"update","path":"a","type":"file","size":2,"causes":["size"],"source":{…},"target":{…}}
///     ],
///     "unchanged":7,"checksum":"…"}
extension SavedPlan {
    /// Writes this to a file, atomically and durably.
    public func write(to file: LocalFile) throws {
        var output = try file.output()
        try write(to: &output)
        try output.commit()
    }

    package func write(to sink: inout some ByteSink & ~Copyable) throws {
        var document = DocumentWriter(format: SavedPlan.format.description)
        document.text.fields(SavedPlan.header, of: self)
        try document.array("options", of: options, to: &sink) { $0.fields(SavedPlan.option, of: $1) }
        try document.array("actions", of: steps, to: &sink) { text, step in
            text.action(step.action)
            text.fields(Step.states, of: step)
        }
        document.beginTrailer()
        document.text.fields(SavedPlan.trailer, of: self)
        try document.end(withChecksum: true, to: &sink)
    }

    /// Reads the file of a saved plan.
    ///
    /// - Throws: `SyncError` with code `invalidDocument`, file and line for invalid content; `inputMissing` without a
    ///   file.
    public init(reading file: LocalFile) throws { try self.init(file.openInput(), path: file.bytes) }

    /// - Parameter path: for messages.
    package init(_ document: [UInt8], path: [UInt8]) throws {
        try self.init(FileDescriptor.inMemory(document), path: path)
    }

    private init(_ input: consuming FileDescriptor, path: [UInt8]) throws {
        var reader = try DocumentReader(input, path: path, format: SavedPlan.format)
        self.init(
            source: [], target: [], saved: .unknown, options: [],
            basis: Plan.Basis(manifest: nil, source: .unknown, target: nil), steps: StepList(), unchanged: 0)
        try reader.leadingFields(SavedPlan.header, into: &self)
        try reader.elements("options", SavedPlan.option, blank: []) { options.append($1) }
        try reader.elements("actions") { reader in
            let step = try Step(from: &reader)
            if let last = steps.last?.action {
                guard (last.path, last.verb) < (step.action.path, step.action.verb) else {
                    throw reader.error("actions out of order, or one twice")
                }
            }
            steps.append(step)
            summary.count(step.action)
        }
        try reader.beginTrailer()
        try reader.leadingFields(SavedPlan.trailer, into: &self)
        try reader.end()
    }

    private static let format: StaticString = "fsync-lite-saved-plan"

    private static let header: [Field<SavedPlan>] = [
        Field("saved", .time, \.saved),
        Field("source", base64: "source_base64", .bytes, \.source).requiring(notFromTop) {
            isFromTop($0.source) || isRemote($0.source)
        },
        Field("target", base64: "target_base64", .bytes, \.target).requiring(notFromTop) {
            isFromTop($0.target) || isRemote($0.target)
        },
        Field("manifest", .text, \.basis.manifest),
        Field("source_root", .identity, \.basis.source), Field("target_root", .identity, \.basis.target),
        Field("gives_way", .texts, get: { $0.givingWay.nonEmpty }, set: { $0.givingWay = $1 })
            .requiring("an empty list of snapshots to remove") { !$0.givingWay.isEmpty },
    ]
    private static let option = [Field<[UInt8]>("option", base64: "option_base64", .bytes, \.self)]
    private static let trailer: [Field<SavedPlan>] = [
        Field("unchanged", .integer, \.summary.unchanged)
            .requiring("a total below zero") { $0.summary.unchanged >= 0 }
    ]

    private static let notFromTop: StaticString = "source and target are paths from the top"
    static func isRemote(_ path: [UInt8]) -> Bool {
        if case .success(.some) = Result(catching: { try Endpoint(path) }) { true } else { false }
    }
    private static func isFromTop(_ path: [UInt8]) -> Bool {
        path.first == UInt8(ascii: "/") && !path.contains(0)
    }
}

extension SavedPlan.Step {
    fileprivate static let states: [Field<Self>] = [
        Field("source", .state, \.source), Field("target", .state, \.target),
    ]
    private static let fields = Action.fields.map { Field($0, of: \Self.action) } + states

    fileprivate init(from reader: inout DocumentReader) throws {
        self.init(action: .blank, source: nil, target: nil)
        try reader.object(Self.fields, into: &self)
        let verb = action.verb
        guard action.isPossible,
            (source == nil) == (verb == .delete), verb == .create || target != nil
        else { throw reader.error("a \(verb.rawValue) has other fields") }
        // The root's attributes can change. It is never moved, and no entry links to it.
        guard verb == .attributes || !action.path.isRoot, ![action.from, action.link].contains(.root) else {
            throw reader.error("\".\" is the root, and this is not done to it")
        }
    }
}

extension FieldFormat<FileStatus> {
    fileprivate static var state: FieldFormat {
        .object(
            [
                Field(
                    "size", .size, get: { $0.type == .file ? $0.size : nil },
                    set: { ($0.type, $0.size) = (.file, $1) }),
                Field("modified", .fileTime, \.modified), Field("changed", .fileTime, \.changed),
                Field("inode", .integer, \.inode), Field("created", .fileTime, \.created),
            ], blank: FileStatus(type: .directory, modified: Timestamp.unknown.fileTime))
    }
}

extension FieldFormat<FileIdentity> {
    fileprivate static var identity: FieldFormat {
        .object([Field("inode", .integer, \.inode), Field("created", .time, \.created)], blank: .unknown)
    }
}
