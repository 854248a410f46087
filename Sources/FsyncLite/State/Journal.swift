import FileSystem

/// What a commit does, whole: the value that the journal holds. Nothing but the journal and the target is
/// needed to finish it or to undo it.
package struct Journal: Sendable {
    /// Its name, and that of its directory in the stage and the history.
    package var id: String
    /// The target's root, which a journal must not be taken away from.
    package var root: FileIdentity
    /// When it was written; the operations follow.
    package var began: FileTime
    package var objects: [OperationGraph.Object]
    package var operations: [OperationGraph.Operation]
    /// Deepest first; both values known.
    package var attributes: [AttributeStep]

    package struct AttributeStep: Hashable, Sendable {
        package var object: Int
        package var old: Attributes
        package var new: Attributes
    }
}

// MARK: The journal

extension Journal {
    static let format: StaticString = "fsync-lite-journal"

    /// Writes the journal, durably, under its name.
    func write(to state: StateDirectory) throws {
        var file = try state.newJournal()
        var document = DocumentWriter(format: Journal.format.description)
        document.text.field("transaction", id)
        document.text.field("began", Timestamp(began))
        document.text.identity(root)
        document.beginArray("objects")
        for object in objects {
            document.beginElement()
            if let identity = object.identity { document.text.identity(identity) }
            document.text.place(object.old, "old_parent", "old_name", "old_name_base64")
            document.text.place(object.slot, "slot_parent", "slot_name", "slot_name_base64")
            document.text.place(object.new, "new_parent", "new_name", "new_name_base64")
            document.endElement()
            try document.drain(to: &file)
        }
        document.endArray()
        document.beginArray("operations")
        for operation in operations {
            document.beginElement()
            switch operation {
            case .detach(let object): document.text.field("detach", object)
            case .attach(let object): document.text.field("attach", object)
            case .rename(let object): document.text.field("rename", object)
            case .exchange(let object, let other):
                document.text.field("exchange", object)
                document.text.field("with", other)
            case .link(let link):
                document.text.field("link", link.object)
                document.text.place(link.place, "new_parent", "new_name", "new_name_base64")
            }
            document.endElement()
            try document.drain(to: &file)
        }
        document.endArray()
        document.beginArray("attributes")
        for step in attributes {
            document.beginElement()
            document.text.field("object", step.object)
            document.text.attributes(step.old, "old_mode", "old_owner", "old_group", "old_modified")
            document.text.attributes(step.new, "new_mode", "new_owner", "new_group", "new_modified")
            if let old = step.old.extended { document.text.extended("old_xattrs", old) }
            if let new = step.new.extended { document.text.extended("new_xattrs", new) }
            document.endElement()
            try document.drain(to: &file)
        }
        document.endArray()
        document.beginTrailer()
        document.end(withChecksum: true)
        try document.drain(to: &file, all: true)
        try file.commit(.noReplace)
    }

    /// Reads a journal. One that is damaged is an error, and nothing is touched.
    init(reading descriptor: consuming FileDescriptor, path: [UInt8]) throws {
        var document = try DocumentReader(descriptor, path: path, format: Journal.format)
        try document.expect(",")
        guard try document.key("transaction") else { throw document.error("\"transaction\" is missing") }
        let name = try document.string()
        guard let directory = FileName(name) else {
            throw document.error("this is no name of a transaction")
        }
        id = String(decoding: name, as: UTF8.self)
        try document.expect(",")
        guard try document.key("began") else { throw document.error("\"began\" is missing") }
        began = try document.timestamp().fileTime
        root = FileIdentity(inode: 0, created: nil)
        try document.expect(",")
        guard try document.key("inode") else { throw document.error("\"inode\" is missing") }
        root.inode = try document.integer()
        try document.expect(",")
        if try document.key("created") {
            root.created = try document.timestamp()
            try document.expect(",")
        }
        objects = []
        operations = []
        attributes = []
        try document.beginArray("objects")
        while try document.nextElement(isFirst: objects.isEmpty) {
            objects.append(try document.journalObject())
        }
        if let (number, reason) = Journal.impossibleObject(objects, directory) {
            // One object per line.
            throw document.error(reason, line: document.line - (objects.count - number))
        }
        try document.expect(",")
        try document.beginArray("operations")
        while try document.nextElement(isFirst: operations.isEmpty) {
            operations.append(try document.operation(objects))
        }
        guard operations.last == .rename(OperationGraph.transaction) else {
            throw document.error("the last operation would not keep what the commit displaces")
        }
        try document.expect(",")
        try document.beginArray("attributes")
        while try document.nextElement(isFirst: attributes.isEmpty) {
            attributes.append(try document.attributeStep(objects.count))
        }
        try document.beginTrailer()
        try document.end()
    }

    /// The number of an object that no layout has, and why not; nil where all are as they must be.
    private static func impossibleObject(
        _ objects: [OperationGraph.Object], _ transaction: FileName
    ) -> (number: Int, reason: String)? {
        let own = OperationGraph.ownObjects(transaction)
        guard objects.count >= own.count else { return (objects.count, "objects are missing") }
        for (number, object) in objects.enumerated() {
            let places = [object.old, object.slot, object.new].compactMap(\.self)
            guard places.allSatisfy({ objects.indices.contains($0.parent) }) else {
                return (number, "a place in an object that is not there")
            }
            if number < own.count {
                guard [object.old, object.slot, object.new] == [own[number].old, nil, own[number].new] else {
                    return (number, "this is not the place of the state's own object")
                }
            } else if places.isEmpty {
                return (number, "an object without a place")
            }
            guard (object.identity == nil) == (number <= OperationGraph.state) else {
                return (number, "an object is told by its inode, but for the root and the state")
            }
        }
        return nil
    }
}

extension JSONText {
    fileprivate mutating func identity(_ identity: FileIdentity) {
        field("inode", identity.inode)
        if let created = identity.created { field("created", created) }
    }

    fileprivate mutating func place(
        _ place: OperationGraph.Place?, _ parent: StaticString, _ name: StaticString, _ nameBase64: StaticString
    ) {
        guard let place else { return }
        field(parent, place.parent)
        field(name, nameBase64, place.name.bytes)
    }

    fileprivate mutating func attributes(
        _ attributes: Attributes, _ mode: StaticString, _ owner: StaticString, _ group: StaticString,
        _ modified: StaticString
    ) {
        field(mode, mode: attributes.permissions)
        field(owner, attributes.owner)
        field(group, attributes.group)
        field(modified, Timestamp(attributes.modified))
    }
}

extension DocumentReader {
    fileprivate mutating func journalObject() throws -> OperationGraph.Object {
        var inode: UInt64?
        var created: Timestamp?
        var parents: [String: Int] = [:]
        var names: [String: FileName] = [:]
        var seen: Set<String> = []
        try object { reader, key in
            let key = String(decoding: key, as: UTF8.self)
            // A name has two spellings, of which there is one.
            guard seen.insert(key.replacing("_base64", with: "")).inserted else {
                throw reader.error("the key \"\(escapedText(key.utf8))\" twice")
            }
            switch key {
            case "inode": inode = try reader.integer()
            case "created": created = try reader.timestamp()
            case "old_parent": parents["old"] = try reader.integer()
            case "slot_parent": parents["slot"] = try reader.integer()
            case "new_parent": parents["new"] = try reader.integer()
            case "old_name": names["old"] = try reader.fileName(base64: false)
            case "slot_name": names["slot"] = try reader.fileName(base64: false)
            case "new_name": names["new"] = try reader.fileName(base64: false)
            case "old_name_base64": names["old"] = try reader.fileName(base64: true)
            case "slot_name_base64": names["slot"] = try reader.fileName(base64: true)
            case "new_name_base64": names["new"] = try reader.fileName(base64: true)
            default: return false
            }
            return true
        }
        guard inode != nil || created == nil else { throw error("a birth time without an inode") }
        func place(_ which: String) throws -> OperationGraph.Place? {
            guard (parents[which] == nil) == (names[which] == nil) else { throw error("half a place") }
            guard let parent = parents[which], let name = names[which] else { return nil }
            return OperationGraph.Place(parent: parent, name: name)
        }
        return OperationGraph.Object(
            old: try place("old"), slot: try place("slot"), new: try place("new"),
            identity: inode.map { FileIdentity(inode: $0, created: created) })
    }

    private mutating func fileName(base64 isBase64: Bool) throws -> FileName {
        guard let name = FileName(isBase64 ? try base64() : try string()) else {
            throw error("a name that is none")
        }
        return name
    }

    fileprivate mutating func operation(_ objects: [OperationGraph.Object]) throws -> OperationGraph.Operation {
        var numbers: [String: Int] = [:]
        var newName: FileName?
        try object { reader, key in
            let name = String(decoding: key, as: UTF8.self)
            if name.hasPrefix("new_name") {
                guard newName == nil else { throw reader.error("two names") }
                newName = try reader.fileName(base64: name.hasSuffix("_base64"))
                return name == "new_name" || name == "new_name_base64"
            }
            guard
                ["detach", "attach", "rename", "exchange", "with", "link", "new_parent"].contains(name),
                numbers[name] == nil
            else {
                return false
            }
            let number: Int = try reader.integer()
            guard objects.indices.contains(number) else {
                throw reader.error("no object has the number \(number)")
            }
            numbers[name] = number
            return true
        }
        func check(_ object: Int, _ from: OperationGraph.Place?, _ to: OperationGraph.Place?) throws {
            guard from != nil, to != nil else { throw error("object \(object) lacks a place for this") }
        }
        if let newName, numbers.count == 2, let object = numbers["link"], let parent = numbers["new_parent"],
            object > OperationGraph.transaction
        {
            return .link(OperationGraph.Link(object: object, place: OperationGraph.Place(parent: parent, name: newName)))
        }
        guard newName == nil else { throw error("this is no operation") }
        switch (
            numbers.count, numbers["detach"], numbers["attach"], numbers["rename"], numbers["exchange"],
            numbers["with"]
        ) {
        case (1, let object?, _, _, _, _):
            try check(object, objects[object].old, objects[object].slot)
            return .detach(object)
        case (1, _, let object?, _, _, _):
            try check(object, objects[object].slot, objects[object].new)
            return .attach(object)
        case (1, _, _, let object?, _, _):
            try check(object, objects[object].old, objects[object].new)
            return .rename(object)
        case (2, _, _, _, let object?, let other?):
            try check(object, objects[object].slot, objects[object].new)
            try check(other, objects[other].old, objects[other].slot)
            return .exchange(object, with: other)
        default: throw error("this is no operation")
        }
    }

    fileprivate mutating func attributeStep(_ count: Int) throws -> Journal.AttributeStep {
        var number: Int?
        let nothing = Attributes(
            permissions: 0, owner: 0, group: 0, modified: FileTime(seconds: 0, nanoseconds: 0))
        var step = Journal.AttributeStep(object: 0, old: nothing, new: nothing)
        var seen: Set<String> = []
        try object { reader, key in
            let name = String(decoding: key, as: UTF8.self)
            guard seen.insert(name).inserted else { throw reader.error("the key \"\(name)\" twice") }
            switch name {
            case "object": number = try reader.integer()
            case "old_mode": step.old.permissions = try reader.mode()
            case "old_owner": step.old.owner = try reader.integer()
            case "old_group": step.old.group = try reader.integer()
            case "old_modified": step.old.modified = try reader.timestamp().fileTime
            case "new_mode": step.new.permissions = try reader.mode()
            case "new_owner": step.new.owner = try reader.integer()
            case "new_group": step.new.group = try reader.integer()
            case "new_modified": step.new.modified = try reader.timestamp().fileTime
            case "old_xattrs": step.old.extended = try reader.extended()
            case "new_xattrs": step.new.extended = try reader.extended()
            default: return false
            }
            return true
        }
        guard seen.subtracting(["old_xattrs", "new_xattrs"]).count == 9, let number,
            (0..<count).contains(number), (step.old.extended == nil) == (step.new.extended == nil)
        else {
            throw error("this is no step of attributes")
        }
        step.object = number
        return step
    }
}
