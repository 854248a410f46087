import FileStorage
import FileSystem

/// The file of a saved plan: the options one per line, then the actions, each with the state of its objects.
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
    /// Makes this the content of a file, in one step and durable.
    public func write(to file: LocalFile) throws {
        var output = try file.output()
        try write(to: &output)
        try output.commit()
    }

    package func write(to sink: inout some ByteSink & ~Copyable) throws {
        var document = DocumentWriter(format: "fsync-lite-saved-plan")
        document.text.field("saved", saved)
        document.text.field("source", "source_base64", source[...])
        document.text.field("target", "target_base64", target[...])
        if let manifest = basis.manifest { document.text.field("manifest", manifest) }
        document.text.identity("source_root", basis.source)
        if let target = basis.target { document.text.identity("target_root", target) }
        if !givingWay.isEmpty { document.text.field("gives_way", givingWay) }
        try document.array("options", of: options, to: &sink) {
            $0.field("option", "option_base64", $1[...])
        }
        try document.array("actions", of: steps, to: &sink) { text, step in
            text.action(step.action)
            if let source = step.source { text.state("source", source) }
            if let target = step.target { text.state("target", target) }
        }
        document.beginTrailer()
        document.text.field("unchanged", summary.unchanged)
        try document.end(withChecksum: true, to: &sink)
    }

    /// Reads a file that somebody named.
    ///
    /// - Throws: `SyncError` with code `invalidDocument`, file and line for anything that was not written so;
    ///   `inputMissing` where no file is.
    public init(reading file: LocalFile) throws {
        var reader = try DocumentReader(
            file.openInput(), path: file.bytes, format: "fsync-lite-saved-plan")
        try self.init(from: &reader)
    }

    private init(from reader: inout DocumentReader) throws {
        try reader.expect(",")
        let saved = try reader.time("saved")
        try reader.expect(",")
        let source = try reader.bytes("source", "source_base64")
        try reader.expect(",")
        let target = try reader.bytes("target", "target_base64")
        try reader.expect(",")
        var basis = Plan.Basis(manifest: nil, source: FileIdentity(inode: 0, created: nil), target: nil)
        if try reader.key("manifest") {
            basis.manifest = String(decoding: try reader.string(), as: UTF8.self)
            try reader.expect(",")
        }
        guard try reader.key("source_root") else { throw reader.error("\"source_root\" is missing") }
        basis.source = try reader.identity()
        try reader.expect(",")
        if try reader.key("target_root") {
            basis.target = try reader.identity()
            try reader.expect(",")
        }
        guard [source, target].allSatisfy({ $0.first == UInt8(ascii: "/") && !$0.contains(0) }) else {
            throw reader.error("source and target are paths from the top")
        }
        var givingWay: [String] = []
        if try reader.key("gives_way") {
            try reader.array { givingWay.append(String(decoding: try $0.string(), as: UTF8.self)) }
            guard !givingWay.isEmpty else { throw reader.error("an empty list of what gives way") }
            try reader.expect(",")
        }
        var options: [[UInt8]] = []
        try reader.elements("options") { reader in
            try reader.expect("{")
            options.append(try reader.bytes("option", "option_base64"))
            try reader.expect("}")
        }
        try reader.expect(",")
        var steps: [Step] = []
        try reader.elements("actions") { reader in
            let step = try Step(from: &reader)
            if let last = steps.last?.action {
                guard (last.path, last.verb) < (step.action.path, step.action.verb) else {
                    throw reader.error("actions out of order, or one twice")
                }
            }
            steps.append(step)
        }
        try reader.beginTrailer()
        guard try reader.key("unchanged") else { throw reader.error("\"unchanged\" is missing") }
        let unchanged: Int = try reader.integer()
        guard unchanged >= 0 else { throw reader.error("a total below zero") }
        self.init(
            source: source, target: target, saved: saved, options: options, basis: basis, steps: steps,
            unchanged: unchanged, givingWay: givingWay)
        try reader.expect(",")
        try reader.end()
    }
}

extension SavedPlan.Step {
    fileprivate init(from reader: inout DocumentReader) throws {
        var seen: Set<String> = []
        var (verb, path, type): (Action.Verb?, RelativePath?, FileType?)
        var (from, link): (RelativePath?, RelativePath?)
        var (size, entries): (Int64?, Int?)
        var causes: Causes = []
        var (source, target): (SavedPlan.State?, SavedPlan.State?)
        try reader.object { reader, key in
            let name = String(decoding: key, as: UTF8.self)
            // A path has two spellings, of which there is one.
            guard seen.insert(name.replacing("_base64", with: "")).inserted else {
                throw reader.error("the key \"\(escapedText(key))\" twice")
            }
            switch name {
            case "action": verb = Action.Verb(rawValue: String(decoding: try reader.word(), as: UTF8.self))
            case "path", "path_base64": path = try reader.relativePath(name)
            case "from", "from_base64": from = try reader.relativePath(name)
            case "link", "link_base64": link = try reader.relativePath(name)
            case "type": type = FileType(documentName: try reader.word())
            case "size": size = try reader.integer()
            case "entries": entries = try reader.integer()
            case "causes":
                try reader.words(Causes.allNames) { causes.insert(Causes(rawValue: 1 << $0)) }
            case "source": source = try reader.state()
            case "target": target = try reader.state()
            default: return false
            }
            return true
        }
        guard let verb, let path, let type, !causes.isEmpty else {
            throw reader.error("an action has a verb, a path, a type and causes")
        }
        guard (from != nil) == (verb == .move), (size ?? 0) >= 0, (entries ?? 0) >= 0,
            (source == nil) == (verb == .delete), verb == .create || target != nil
        else { throw reader.error("this is not what a \(verb.rawValue) has") }
        // The root's attributes can change; it neither moves nor is a name of something.
        guard verb == .attributes || !path.isRoot, ![from, link].contains(.root) else {
            throw reader.error("\".\" is the root, and this is not done to it")
        }
        action = Action(
            verb, path: path, from: from, type: type.documentName, size: size, link: link, entries: entries,
            causes: causes)
        (self.source, self.target) = (source, target)
    }
}

extension JSONText {
    fileprivate mutating func identity(_ name: StaticString, _ identity: FileIdentity) {
        key(name)
        beginObject()
        fields(identity)
        endObject()
    }

    private mutating func fields(_ identity: FileIdentity) {
        field("inode", identity.inode)
        if let created = identity.created { field("created", created) }
    }

    fileprivate mutating func state(_ name: StaticString, _ state: SavedPlan.State) {
        key(name)
        beginObject()
        if let size = state.size { field("size", size) }
        field("modified", state.modified)
        field("changed", state.changed)
        fields(state.identity)
        endObject()
    }
}

extension DocumentReader {
    /// A field of bytes, by either spelling of its key.
    fileprivate mutating func bytes(_ name: StaticString, _ base64Name: StaticString) throws -> [UInt8] {
        if try key(name) { return try string() }
        guard try key(base64Name) else { throw error("\"\(name)\" is missing") }
        return try base64()
    }

    fileprivate mutating func relativePath(_ name: String) throws -> RelativePath {
        let bytes = name.hasSuffix("_base64") ? try base64() : try string()
        if bytes == [UInt8(ascii: ".")] { return .root }
        guard let path = RelativePath(bytes[...]), !path.isRoot else {
            throw error("this is no path in a tree")
        }
        return path
    }

    fileprivate mutating func elements(
        _ name: StaticString, _ body: (inout DocumentReader) throws -> Void
    ) throws {
        try beginArray(name)
        var isFirst = true
        while try nextElement(isFirst: isFirst) {
            try body(&self)
            isFirst = false
        }
    }

    fileprivate mutating func identity() throws -> FileIdentity {
        try expect("{")
        let identity = try identityFields()
        try expect("}")
        return identity
    }

    private mutating func identityFields() throws -> FileIdentity {
        guard try key("inode") else { throw error("\"inode\" is missing") }
        var identity = FileIdentity(inode: try integer(), created: nil)
        if take(",") { identity.created = try time("created") }
        return identity
    }

    fileprivate mutating func time(_ name: StaticString) throws -> Timestamp {
        guard try key(name) else { throw error("\"\(name)\" is missing") }
        return try timestamp()
    }

    fileprivate mutating func state() throws -> SavedPlan.State {
        var size: Int64?
        try expect("{")
        if try key("size") {
            size = try integer()
            try expect(",")
        }
        let modified = try time("modified")
        try expect(",")
        let changed = try time("changed")
        try expect(",")
        let identity = try identityFields()
        try expect("}")
        guard (size ?? 0) >= 0 else { throw error("a size below zero") }
        return SavedPlan.State(size: size, modified: modified, changed: changed, identity: identity)
    }
}
