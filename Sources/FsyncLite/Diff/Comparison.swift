import FileSystem

/// What is compared, and how far it may be believed.
package struct ComparisonPolicy: Sendable {
    /// nil: nothing is racy (two manifests), which is decided by `alwaysComparesContent` otherwise.
    package var trust: Trust?
    /// The source keeps change times; without it size and modification time decide.
    package var usesChangeTime = true
    /// The source keeps the inodes of its objects; without it nothing is followed, and paths decide.
    package var usesIdentity = true
    /// A moved change time alone compares attributes, not content.
    package var ignoresChangeTime = false
    /// Nobody looks at the target: its entries are taken to be the recorded ones.
    package var trustsTarget = false
    /// Trees of earlier exchanges stand, and will move the change times of files with other names when they go.
    package var hasOldTrees = false
    package var racyCheck: RacyCheck?
    /// What the target has and the manifest has not may have been excluded before: it was not brought since.
    package var mayWiden = false
    /// The filters that the manifest was made with, as far as they decide by paths alone; nil for others.
    package var earlierFilters: Filters?
    /// Of what takes no part now, where that stands which does in the earlier tree; nil where filters decide.
    package var recovered: Set<RelativePath>?
    /// Paths of the source, an earlier tree, that its manifest did not have.
    package var uncovering: Set<RelativePath> = []
    /// Without a manifest every file that looks equal is compared by content.
    package var alwaysComparesContent = false
    /// Without owner where only root could set it.
    package var attributes = MirroredAttributes.all
    /// The streams know the extended attributes of their entries; else they are looked up where nothing vouches
    /// for what the record says of them.
    package var knowsExtended = false
    /// Nothing vouches for them: the record was made without them.
    package var alwaysInspects = false
    /// The target tells names apart neither by case nor by Unicode form.
    package var foldsNames = false
    /// How many names a file of the target can have; nil where that is no matter.
    package var linkLimit: UInt32?
    /// What is excluded goes from the target.
    package var deletesExcluded = false
    /// The source is an earlier tree of the target: an object that is the recorded one holds the same content, and
    /// no other does.
    package var identityTellsContent = false
    /// Objects of the target, by inode, that are compared by content whatever vouches for them.
    package var suspects: Set<UInt64> = []
    /// Inode and birth time of the record belong to the source that is looked at.
    package var followsIdentity = true
    /// The target tells what is recorded of it, and no record is kept: two trees are compared, and nothing mirrored.
    package var isRecordItself = false

    package init() {}

    /// Whether an entry of the target that the manifest has not may have taken no part when that was made.
    func mayHaveBeenExcluded(_ path: RelativePath, _ type: FileType) -> Bool {
        guard mayWiden, let earlierFilters else { return mayWiden }
        return earlierFilters.excludes(path, type)
    }

    /// Compares two entries of one type, whatever their paths.
    func compare(_ pair: inout Pair) {
        if !attributes.contains(.owner) { pair.takeOwnerOfTarget() }
        let (source, target) = (pair.source.status, pair.target.status)
        judge(&pair)
        let doubts = doubts(pair)
        // What the mirror could not hold last time it cannot hold now either, if neither side has changed since.
        var omitted = stands(pair) ? pair.record?.omitted ?? [] : []
        // Without the owner setuid and setgid are not wanted either.
        if omitted.contains(.owner), !attributes.contains(.owner) { omitted.remove(.mode) }
        omitted.formIntersection(attributes.omittable)
        pair.source.omitted = omitted
        // Nobody compares it here.
        if identityTellsContent {
            pair.source = pair.source.with(asExamined(source, pair.record, in: pair.target))
        }
        let isModified = source.modified != target.modified && !omitted.contains(.modified)
        switch source.type {
        case .file:
            if source.size != target.size { pair.causes.insert(.size) }
            if isModified { pair.causes.insert(.modified) }
            if let own = pair.source.digest, let other = pair.target.digest, own != other {
                pair.causes.insert(.content)
            }
            if identityTellsContent {
                pair.replacesContent = !holdsRecordedContent(pair)
                if pair.replacesContent, pair.causes.isDisjoint(with: [.size, .modified]) {
                    pair.causes.insert(.content)
                }
            } else if pair.causes.isDisjoint(with: [.size, .modified, .content]) {
                pair.needsContentComparison = doubts.content || alwaysComparesContent
            } else {
                pair.replacesContent = true
            }
        case .symlink:
            if pair.source.kind != pair.target.kind { pair.causes.insert(.destination) }
        case .characterDevice, .blockDevice:
            if source.represents != target.represents { pair.causes.insert(.device) }
        case .directory, .fifo, .socket:
            break
        }
        if isModified { pair.causes.insert(.modified) }
        if source.type != .symlink, source.permissions != target.permissions, !omitted.contains(.mode) {
            pair.causes.insert(.mode)
        }
        if !omitted.contains(.owner) {
            if source.owner != target.owner { pair.causes.insert(.owner) }
            if source.group != target.group { pair.causes.insert(.group) }
        }
        if !pair.causes.isDisjoint(with: [.destination, .device]) { pair.replacesContent = true }
        if pair.isMislinked, attributes.contains(.hardLinks), !omitted.contains(.links) {
            pair.causes.insert(.links)
            pair.replacesContent = true
        }
        if knowsExtended {
            pair.compareExtended()
        } else if alwaysInspects || doubts.attributes || identityTellsContent, !attributes.extended.isEmpty {
            pair.needsInspection = true
        } else if let record = pair.record {
            (pair.source.extended, pair.target.extended) = (record.extended, record.extended)
        }
        if !knowsExtended, !pair.replacesContent,
            pair.sourceStands || pair.targetStands || (pair.needsContentComparison && pair.isDigestComparable)
        {
            // As long as no comparison finds otherwise.
            pair.source.digest = pair.record?.digest
        }
        pair.noteDrift()
    }

    /// Where the record's digest may be used again: no side has changed since, by its change time too.
    private func judge(_ pair: inout Pair) {
        guard let record = pair.record, record.digest != nil else { return }
        let source = pair.source.status
        pair.sourceStands =
            record.status.size == source.size && record.status.modified == source.modified
            && isAsRecorded(source, record.status, record.marks)
        pair.targetStands = vouches(for: record, in: pair.target.status)
    }

    /// The source's object is the recorded one, by everything that its file system keeps.
    func isAsRecorded(_ source: FileStatus, _ record: FileStatus, _ marks: EntryMarks) -> Bool {
        isSettled(record, marks) && isSame(source, record)
            && (!usesChangeTime || source.changed == record.changed)
    }

    /// What is recorded was looked at long enough after it changed.
    private func isSettled(_ record: FileStatus, _ marks: EntryMarks) -> Bool {
        marks.isEmpty && record.changed != Trust.unexamined
    }

    private func isSame(_ source: FileStatus, _ record: FileStatus) -> Bool {
        !usesIdentity || (source.inode == record.inode && source.created == record.created)
    }

    /// The target's object has not changed since it was recorded or committed.
    ///
    /// - Parameter recorded: its change time then; nil where a commit has touched it since.
    func isAsLeft(_ target: FileStatus, _ recorded: FileTime?) -> Bool {
        trustsTarget || hasKnownTime(target, recorded)
    }

    /// The same, of an object that somebody has looked at.
    func hasKnownTime(_ target: FileStatus, _ recorded: FileTime?) -> Bool {
        recorded.map { $0 == target.changed } ?? trust?.accounts(for: target.changed) ?? false
    }

    /// The target's object is as it was recorded, by its change time too, and as it was when somebody last compared it.
    func vouches(for record: Record, in target: FileStatus) -> Bool {
        // That its change time is known says nothing of content which nobody compared.
        record.status.changed != Trust.unexamined && !record.differs(from: target)
            // Nobody has looked at what takes no part: that a commit accounts for its time says nothing.
            && (record.isUncovered
                ? record.targetChanged == target.changed : isAsLeft(target, record.targetChanged))
            && !suspects.contains(target.inode)
    }

    /// What is recorded of an object that is not compared: what nothing vouches for now, nothing does until an apply has
    /// compared it. Commits move the change times of what the history holds, and no manifest tells of it.
    func asExamined(_ status: FileStatus, _ record: Record?, in target: File) -> FileStatus {
        if let record, !target.path.isInState, vouches(for: record, in: target.status) { return status }
        var status = status
        status.changed = Trust.unexamined
        return status
    }

    /// The source is as it was recorded, and the target holds what was recorded of it.
    private func stands(_ pair: Pair) -> Bool {
        guard let record = pair.record else { return false }
        // That it is racy concerns its content.
        return !record.differs(from: pair.target.status)
            && isAsRecorded(pair.source.status, record.status, [])
    }

    /// The target's object is the recorded one and has not been written to, and the source's is that too.
    private func holdsRecordedContent(_ pair: Pair) -> Bool {
        guard let record = pair.record, record.status.identity == pair.source.identity else { return false }
        return record.isIntact(in: pair.target.status)
    }

    /// What the record says is to be compared: the content, or only the attributes.
    private func doubts(_ pair: Pair) -> (content: Bool, attributes: Bool) {
        guard trust != nil else { return (!knowsExtended, !knowsExtended) }
        guard let record = pair.record, vouches(for: record, in: pair.target.status) else {
            return (true, true)
        }
        if isAsRecorded(pair.source.status, record.status, record.marks) { return (false, false) }
        return (!ignoresChangeTime || !hasOnlyTimeMoved(pair), true)
    }

    /// Nothing tells of an edit but the change time of the source's object.
    func hasOnlyTimeMoved(_ pair: Pair) -> Bool {
        guard let record = pair.record else { return false }
        return isSettled(record.status, record.marks) && isSame(pair.source.status, record.status)
            && vouches(for: record, in: pair.target.status)
    }

    /// The manifest's entry is not what a new one would say, although nothing is to be done.
    func isRecordStale(_ pair: Pair) -> Bool {
        guard let record = pair.record else { return true }
        let source = pair.source.status
        return record.differs(from: pair.target.status)
            || (source.type != .directory && record.status.links != source.links)
            || (usesIdentity && record.status.identity != source.identity)
            || (usesChangeTime && record.status.changed != source.changed)
            || record.status.changed == Trust.unexamined
            || (!trustsTarget && record.targetChanged.map { $0 != pair.target.status.changed } ?? false)
            || marks(of: source, record: record) != record.marks
    }

    /// The removal of an old tree will take a name of the object, and move its change time.
    func movesLater(_ target: FileStatus) -> Bool { hasOldTrees && target.links > 1 }

    /// What a new manifest says of an entry.
    package func marks(of source: FileStatus, record: Record?) -> EntryMarks {
        racyCheck.map { $0.marks(of: source, record: record) } ?? record?.marks.subtracting(.uncovered) ?? []
    }
}

extension Pair {
    /// Without the owner that cannot be set, the wanted one is the one that is there.
    fileprivate mutating func takeOwnerOfTarget() {
        var status = source.status
        status.keepOwner(of: target.status)
        source = source.with(status)
    }

    /// Compares extended attributes that are known of both sides.
    mutating func compareExtended() {
        guard source.extended != target.extended else { return }
        // What the target could not take it still lacks, and nothing else has changed.
        if !source.omitted.isDisjoint(with: [.xattrs, .acls]), record?.extended == target.extended { return }
        if source.extended.filter({ !$0.isACL }) != target.extended.filter({ !$0.isACL }) {
            causes.insert(.xattrs)
        }
        if source.extended.filter(\.isACL) != target.extended.filter(\.isACL) { causes.insert(.acls) }
    }

    mutating func noteDrift() {
        guard !causes.isEmpty, let record else { return }
        if record.differs(from: target.status) || (changesExtended && record.extended != target.extended) {
            causes.insert(.drift)
        }
    }
}
