import FileSystem

/// What the manifest says of an object that the last apply left in the target.
package struct Record: Hashable, Sendable {
    /// The source's identity and times, and everything else as the target held it.
    package var status: FileStatus
    package var targetInode: UInt64

    /// The target's entry is no longer what the last apply left.
    func differs(from target: FileStatus) -> Bool {
        status.type != target.type || status.permissions != target.permissions
            || status.owner != target.owner || status.group != target.group
            || status.modified != target.modified || targetInode != target.inode
            || (status.type == .file && status.size != target.size)
    }
}

/// An object of the target that stays in it, with the entry of the source that it stands for.
package struct Pair: Hashable, Sendable {
    package var source: File
    package var target: File
    package var record: Record?
    package var causes: Set<Cause> = []
    /// The content is another: a new object takes the place of the old one.
    package var replacesContent = false
    /// Size and time are equal and not to be trusted.
    package var needsContentComparison = false

    package var isRenamed: Bool { source.path != target.path }

    /// Only attributes change.
    package var changesAttributes: Bool {
        !replacesContent && !causes.isDisjoint(with: [.modified, .mode, .owner, .group])
    }

    package var isUnchanged: Bool { !isRenamed && !replacesContent && !changesAttributes }

    /// The manifest's entry is not what a new one would say.
    var isRecordStale: Bool {
        guard let record else { return true }
        return record.differs(from: target.status) || record.status.changed != source.status.changed
            || record.status.identity != source.status.identity || record.status.links != source.status.links
    }
}
