import FileSystem

/// What the manifest says of an object that the last apply left in the target: the base of a comparison.
package struct BaseEntry: Hashable, Sendable {
    /// A match, what it was made of and what is made of it all hold the same one.
    private let fields: Shared<Fields>

    private struct Fields: Hashable, Sendable {
        let known: BaseStatus
        let extended: ExtendedAttributes
        let digest: Digest?
    }

    package var known: BaseStatus { fields.value.known }
    package var extended: ExtendedAttributes { fields.value.extended }
    package var digest: Digest? { fields.value.digest }

    /// The source's identity and times, and everything else as the target held it.
    package var status: FileStatus { known.status }
    package var omitted: Omissions { known.omitted }
    var isUncovered: Bool { known.isUncovered }

    package init(
        status: FileStatus, targetInode: UInt64, targetChanged: FileTime? = nil, marks: EntryMarks = [],
        extended: ExtendedAttributes = ExtendedAttributes(), omitted: Omissions = [], digest: Digest? = nil
    ) {
        self.init(
            BaseStatus(
                status: status, targetInode: targetInode, targetChanged: targetChanged, marks: marks,
                omitted: omitted, hasDigest: digest != nil), extended, digest)
    }

    private init(_ known: BaseStatus, _ extended: ExtendedAttributes, _ digest: Digest?) {
        fields = Shared(Fields(known: known, extended: extended, digest: digest))
    }

    init(_ manifest: some EntryStream) {
        self.init(manifest.base, manifest.extended, manifest.digest)
    }

    /// A tree as the record of itself.
    init(of tree: some EntryStream) {
        self.init(
            status: tree.status, targetInode: tree.status.inode, targetChanged: tree.status.changed,
            extended: tree.extended, digest: tree.digest)
    }

    /// The target's entry is no longer what the last apply left.
    func differs(from target: FileStatus) -> Bool { known.differs(from: target) }
}

/// An object of the target that stays in it, with the entry of the source that it stands for.
package struct Match: Hashable, Sendable {
    package var source: File
    package var target: File
    package let base: BaseEntry?
    package var causes: Causes = []
    /// The content is another: a new object takes the place of the old one.
    package var replacesContent = false
    /// Size and time are equal and not to be trusted.
    package var needsContentComparison = false
    /// The record's digest is that of the source's content, and of the target's.
    package var sourceStands = false
    package var targetStands = false
    /// What the record says of extended attributes is not to be trusted.
    package var needsInspection = false
    /// The target's file has other names than the source's.
    package var isMislinked = false

    package init(source: File, target: File, base: BaseEntry? = nil) {
        (self.source, self.target, self.base) = (source, target, base)
    }

    package var isRenamed: Bool { source.path != target.path }

    /// Only attributes change.
    package var changesAttributes: Bool {
        !replacesContent && !causes.isDisjoint(with: [.modified, .mode, .owner, .group, .xattrs, .acls])
    }

    package var changesExtended: Bool { !causes.isDisjoint(with: [.xattrs, .acls]) }

    /// What the target's object has of what changes on it, and what it shall have.
    package var attributes: (old: Attributes, new: Attributes) {
        // A change of owner takes capabilities away.
        let setsExtended =
            changesExtended
            || !causes.isDisjoint(with: [.owner, .group])
                && !(source.extended.isEmpty && target.extended.isEmpty)
        return (
            Attributes(target.status, extended: setsExtended ? target.extended : nil),
            Attributes(source.status, extended: setsExtended ? source.extended : nil)
        )
    }

    /// Leaves the object as it is, but for its name, whatever the source has.
    mutating func keepTarget() {
        var status = target.status
        // Nobody has compared it.
        status.changed = CommitSpans.unexamined
        // A directory has no content to be mistaken in, so it is still followed when it is renamed.
        if source.isDirectory {
            (status.inode, status.created) = (source.status.inode, source.status.created)
        }
        source = File(
            path: source.path, status: status, destination: target.destination, extended: target.extended)
        causes.formIntersection([.renamed])
        replacesContent = false
    }

    /// The source's entry as the target's object holds it after.
    var held: File {
        guard !source.omitted.isEmpty, !changesAttributes else { return source }
        // What could not be held last time, and is not tried again, is still as it was.
        var file = source.holding(target.status)
        file.extended = target.extended
        return file
    }

    /// The manifest tells another thing of the mirror from now on; inodes, change times and digests are none.
    var changesRecord: Bool {
        guard let base else { return true }
        let (old, new) = (base.status, source.status)
        return !isUnchanged || base.isUncovered || old.type != new.type
            || old.permissions != target.status.permissions
            || old.owner != target.status.owner || old.group != target.status.group
            || old.modified != target.status.modified || (old.type == .file && old.size != new.size)
            || base.extended != target.extended || base.omitted != source.omitted
    }

    /// The record's digest is that of a file of this size and time.
    var isDigestComparable: Bool {
        guard let base else { return false }
        return base.status.size == source.size && base.status.modified == source.status.modified
    }

    package var isUnchanged: Bool { !isRenamed && !replacesContent && !changesAttributes }
}
