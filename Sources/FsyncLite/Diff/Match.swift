import FileSystem

/// The manifest's entry of an object that the last run left in the target: the base of a comparison.
package struct BaseEntry: Hashable, Sendable {
    /// Without its path and destination. Shared by a match and all values made from it.
    let file: File
    private let targetInode: UInt64
    private let targetChanged: FileTime?
    private let marks: EntryMarks

    package var known: BaseStatus {
        BaseStatus(
            status: file.status, targetInode: targetInode, targetChanged: targetChanged, marks: marks,
            omitted: file.omitted, hasDigest: file.digest != nil)
    }
    package var extended: ExtendedAttributes { file.extended }
    package var digest: Digest? { file.digest }

    /// The source's identity and times; all other values as they are in the target.
    package var status: FileStatus { file.status }
    package var omitted: Omissions { file.omitted }
    /// The number of the recorded object; 0 if it has none.
    var object: UInt64 { file.object }
    var isUncovered: Bool { marks.contains(.uncovered) }

    package init(
        status: FileStatus, targetInode: UInt64, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        extended: ExtendedAttributes = ExtendedAttributes(), omitted: Omissions = [], digest: Digest? = nil,
        object: UInt64 = 0
    ) {
        self.init(
            File(
                path: .root, status: status, destination: [], extended: extended, omitted: omitted,
                digest: digest, object: object),
            targetInode: targetInode, targetChanged: targetChanged, marks: marks)
    }

    init(_ file: File, targetInode: UInt64, targetChanged: FileTime?, marks: EntryMarks) {
        (self.file, self.targetInode) = (file, targetInode)
        (self.targetChanged, self.marks) = (targetChanged, marks)
    }

    /// - Parameter inode: of the object in the target; nil for the recorded one.
    init(_ manifest: some EntryStream, at inode: UInt64? = nil) {
        self.init(
            status: manifest.status, targetInode: inode ?? manifest.targetInode,
            targetChanged: manifest.targetChanged, marks: manifest.marks, extended: manifest.extended,
            omitted: manifest.omitted, digest: manifest.digest, object: manifest.object)
    }

    /// A tree as its own base.
    init(of tree: some EntryStream) {
        self.init(
            status: tree.status, targetInode: tree.status.inode, targetChanged: tree.status.changed,
            extended: tree.extended, digest: tree.digest, object: tree.object)
    }

    /// The recorded entry as a value.
    ///
    /// - Parameter found: the target's entry at its path, with the destination of a symlink.
    func file(at found: File) -> File {
        File(
            path: found.path, status: status, destination: found.destination, extended: extended,
            omitted: omitted, digest: digest, object: object)
    }

    /// The target's entry changed since the last run.
    func differs(from target: FileStatus) -> Bool { known.differs(from: target) }
}

/// An object that remains in the target, with its entry of the source.
package struct Match: Hashable, Sendable {
    package var source: File
    package var target: File
    package let base: BaseEntry?
    package var causes: Causes = []
    private var facts: Change.Facts = []

    package init(source: File, target: File, base: BaseEntry? = nil) {
        (self.source, self.target, self.base) = (source, target, base)
    }

    init(_ head: Change.Head, source: File, target: File, base: BaseEntry?) {
        self.init(source: source, target: target, base: base)
        (causes, facts) = (head.causes, head.facts.subtracting(.derived))
    }

    var head: Change.Head {
        var facts = facts
        if base != nil { facts.insert(.hasBase) }
        if source.path != target.path { facts.insert(.isRenamed) }
        if source.isDirectory { facts.insert(.isDirectory) }
        if target.isDirectory { facts.insert(.targetIsDirectory) }
        if source.linkCount > 1 || target.linkCount > 1 || source.omitted.contains(.links) {
            facts.insert(.hasOtherNames)
        }
        if target.path.isInState { facts.insert(.targetIsInState) }
        if source.status.type == .socket { facts.insert(.isSocket) }
        if target.object == 0 { facts.insert(.isUnnumbered) }
        return Change.Head(causes: causes, facts: facts)
    }

    private subscript(fact: Change.Facts) -> Bool {
        get { facts.contains(fact) }
        set { if newValue { facts.insert(fact) } else { facts.remove(fact) } }
    }

    /// The content differs: a new object replaces the old one.
    package var replacesContent: Bool {
        get { self[.replacesContent] }
        set { self[.replacesContent] = newValue }
    }
    /// Size and modification time are equal, but the content may differ.
    package var needsContentComparison: Bool {
        get { self[.needsContentComparison] }
        set { self[.needsContentComparison] = newValue }
    }
    /// The base's digest is still that of the source's content. `targetHasBaseDigest`: of the target's content.
    package var sourceHasBaseDigest: Bool {
        get { self[.sourceHasBaseDigest] }
        set { self[.sourceHasBaseDigest] = newValue }
    }
    package var targetHasBaseDigest: Bool {
        get { self[.targetHasBaseDigest] }
        set { self[.targetHasBaseDigest] = newValue }
    }
    /// The extended attributes may differ from the base's.
    package var needsInspection: Bool {
        get { self[.needsInspection] }
        set { self[.needsInspection] = newValue }
    }
    /// The target's file has other names than the source's file.
    package var isMislinked: Bool {
        get { self[.isMislinked] }
        set { self[.isMislinked] = newValue }
    }

    package var isRenamed: Bool { source.path != target.path }

    package var changesAttributes: Bool { !replacesContent && causes.changeAttributes }

    package var changesExtended: Bool { !causes.isDisjoint(with: [.xattrs, .acls]) }

    /// The old and new values of the attributes that change on the target's object.
    package var attributes: (old: Attributes, new: Attributes) {
        // A change of owner removes capabilities.
        let setsExtended =
            changesExtended
            || !causes.isDisjoint(with: [.owner, .group])
                && !(source.extended.isEmpty && target.extended.isEmpty)
        return (
            Attributes(target.status, extended: setsExtended ? target.extended : nil),
            Attributes(asStored.status, extended: setsExtended ? source.extended : nil)
        )
    }

    /// Changes only the name of the object.
    mutating func keepTarget() {
        var status = target.status
        // It was not compared.
        status.changed = .unexamined
        // A directory has no content, so its identity remains and later renames are followed.
        if source.isDirectory {
            (status.inode, status.created) = (source.status.inode, source.status.created)
        }
        source = File(
            path: source.path, status: status, destination: target.destination, extended: target.extended)
        causes.formIntersection([.renamed])
        replacesContent = false
    }

    /// The source's entry as it will be in the target.
    var asStored: File {
        guard !source.omitted.isEmpty, !changesAttributes else { return source }
        // Attributes that could not be stored last time are not tried again. They are left unchanged.
        var file = source.holding(target.status)
        file.extended = target.extended
        return file
    }

    /// The manifest's entry changes in more than inodes, change times and digests.
    var changesManifest: Bool {
        guard let base else { return true }
        return !isUnchanged || base.isUncovered || !base.status.equals(source.status, in: [.type, .size])
            || !base.status.equals(target.status, in: [.access, .modified])
            || base.extended != target.extended || base.omitted != source.omitted
    }

    /// The base's digest is that of a file of this size and modification time.
    var isDigestComparable: Bool {
        guard let base else { return false }
        return base.status.equals(source.status, in: .content)
    }

    package var isUnchanged: Bool { !isRenamed && !replacesContent && !changesAttributes }
}
