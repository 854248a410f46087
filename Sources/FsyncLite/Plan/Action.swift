import FileSystem

/// One action of a plan or report, as people and scripts see it.
public struct Action: Hashable, Sendable {
    public enum Verb: String, Sendable, CaseIterable, Comparable {
        case delete, move, create, update, attributes

        public static func < (left: Verb, right: Verb) -> Bool { left.rank < right.rank }
        private var rank: Int { Verb.allCases.firstIndex(of: self) ?? 0 }
    }

    public var verb: Verb
    /// The entry's path after the action; for a delete, before it.
    public var path: RelativePath
    /// The previous path of a moved entry.
    public var from: RelativePath?
    /// `file`, `directory` and so on, as in a manifest.
    public var type: String
    /// Bytes of content, for files.
    public var size: ByteCount?
    /// The name of the same file that is copied or remains; this entry becomes a hard link to it.
    public var link: RelativePath?
    /// The number of entries in a moved directory, at all depths.
    public var entries: Int?
    /// In the order of the closed list.
    public var causes: Causes

    package init(
        _ verb: Verb, path: RelativePath, from: RelativePath?, type: String, size: ByteCount?,
        link: RelativePath?, entries: Int?, causes: Causes
    ) {
        (self.verb, self.path, self.from, self.type) = (verb, path, from, type)
        (self.size, self.link, self.entries, self.causes) = (size, link, entries, causes)
    }

    /// Bytes of the content that is replaced; nil if none is replaced, or the size is unknown.
    public internal(set) var sizeBefore: ByteCount?

    /// The entry's content, or the content that it replaces, was purged from the history.
    public internal(set) var isPurged = false

    /// The content is copied.
    var isCopied = true

    /// An object that is moved back from the history, without a copy.
    ///
    /// - Parameter causes: why it replaces an entry; nil if it replaces none.
    init(broughtBack file: File, _ causes: Causes?) {
        self.init(causes == nil ? .create : .update, file, causes: causes ?? [.new])
        isCopied = false
    }

    init(
        _ verb: Verb, _ file: File, from: RelativePath? = nil, link: RelativePath? = nil,
        entries: Int? = nil, causes: Causes
    ) {
        self.verb = verb
        path = file.path
        self.from = from
        self.link = link
        type = file.status.type.documentName
        size = file.isFile ? file.size : nil
        self.entries = entries
        self.causes = causes
        isPurged = file.omitted.contains(.purged)
    }
}

/// The totals of a plan or a report.
public struct ActionSummary: Hashable, Sendable {
    public var create = 0
    public var update = 0
    public var attributes = 0
    public var move = 0
    public var delete = 0
    /// Entries of the source without an action.
    public var unchanged = 0
    /// Entries of the source that could not be read or copied. Their entries in the target are left unchanged.
    public var unmirrored = 0
    /// Bytes of content to copy, for creations and updates.
    public var bytesToCopy: ByteCount = 0

    public var actions: Int { [update, attributes, move, delete].reduce(create) { $0.saturatingAdd($1) } }

    mutating func count(_ action: Action) {
        switch action.verb {
        case .create: create += 1
        case .update: update += 1
        case .attributes: attributes += 1
        case .move: move += 1
        case .delete: delete += 1
        }
        if action.verb == .create || action.verb == .update, action.link == nil, action.isCopied {
            bytesToCopy += action.size ?? 0
        }
    }
}
