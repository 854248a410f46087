import FileSystem

/// What is compared, and how far it may be believed.
package struct ComparisonPolicy: Sendable {
    /// nil: nothing is racy (two manifests), which is decided by `alwaysComparesContent` otherwise.
    package var trust: CommitSpans?
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
    func compare(_ match: inout Match) {
        if !attributes.contains(.owner) { match.takeOwnerOfTarget() }
        let (source, target) = (match.source.status, match.target.status)
        judge(&match)
        let doubts = doubts(match)
        // What the mirror could not hold last time it cannot hold now either, if neither side has changed since.
        var omitted = stands(match) ? match.record?.omitted ?? [] : []
        // Without the owner setuid and setgid are not wanted either.
        if omitted.contains(.owner), !attributes.contains(.owner) { omitted.remove(.mode) }
        omitted.formIntersection(attributes.omittable)
        match.source.omitted = omitted
        // Nobody compares it here.
        if identityTellsContent {
            match.source = match.source.with(asExamined(source, match.record, in: match.target))
        }
        let isModified = source.modified != target.modified && !omitted.contains(.modified)
        switch source.type {
        case .file:
            if source.size != target.size { match.causes.insert(.size) }
            if isModified { match.causes.insert(.modified) }
            if let own = match.source.digest, let other = match.target.digest, own != other {
                match.causes.insert(.content)
            }
            if identityTellsContent {
                match.replacesContent = !holdsRecordedContent(match)
                if match.replacesContent, match.causes.isDisjoint(with: [.size, .modified]) {
                    match.causes.insert(.content)
                }
            } else if match.causes.isDisjoint(with: [.size, .modified, .content]) {
                match.needsContentComparison = doubts.content || alwaysComparesContent
            } else {
                match.replacesContent = true
            }
        case .symlink:
            if match.source.kind != match.target.kind { match.causes.insert(.destination) }
        case .characterDevice, .blockDevice:
            if source.represents != target.represents { match.causes.insert(.device) }
        case .directory, .fifo, .socket:
            break
        }
        if isModified { match.causes.insert(.modified) }
        if source.type != .symlink, source.permissions != target.permissions, !omitted.contains(.mode) {
            match.causes.insert(.mode)
        }
        if !omitted.contains(.owner) {
            if source.owner != target.owner { match.causes.insert(.owner) }
            if source.group != target.group { match.causes.insert(.group) }
        }
        if !match.causes.isDisjoint(with: [.destination, .device]) { match.replacesContent = true }
        if match.isMislinked, attributes.contains(.hardLinks), !omitted.contains(.links) {
            match.causes.insert(.links)
            match.replacesContent = true
        }
        if knowsExtended {
            match.compareExtended()
        } else if alwaysInspects || doubts.attributes || identityTellsContent, !attributes.extended.isEmpty {
            match.needsInspection = true
        } else if let record = match.record {
            (match.source.extended, match.target.extended) = (record.extended, record.extended)
        }
        if !knowsExtended, !match.replacesContent,
            match.sourceStands || match.targetStands || (match.needsContentComparison && match.isDigestComparable)
        {
            // As long as no comparison finds otherwise.
            match.source.digest = match.record?.digest
        }
        match.noteDrift()
    }

    /// Where the record's digest may be used again: no side has changed since, by its change time too.
    private func judge(_ match: inout Match) {
        guard let record = match.record, record.digest != nil else { return }
        let source = match.source.status
        match.sourceStands =
            record.status.size == source.size && record.status.modified == source.modified
            && isAsRecorded(source, record.status, record.marks)
        match.targetStands = vouches(for: record, in: match.target.status)
    }

    /// The source's object is the recorded one, by everything that its file system keeps.
    func isAsRecorded(_ source: FileStatus, _ record: FileStatus, _ marks: EntryMarks) -> Bool {
        isSettled(record, marks) && isSame(source, record)
            && (!usesChangeTime || source.changed == record.changed)
    }

    /// What is recorded was looked at long enough after it changed.
    private func isSettled(_ record: FileStatus, _ marks: EntryMarks) -> Bool {
        marks.isEmpty && record.changed != CommitSpans.unexamined
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
    func vouches(for record: BaseEntry, in target: FileStatus) -> Bool {
        // That its change time is known says nothing of content which nobody compared.
        record.status.changed != CommitSpans.unexamined && !record.differs(from: target)
            // Nobody has looked at what takes no part: that a commit accounts for its time says nothing.
            && (record.isUncovered
                ? record.targetChanged == target.changed : isAsLeft(target, record.targetChanged))
            && !suspects.contains(target.inode)
    }

    /// What is recorded of an object that is not compared: what nothing vouches for now, nothing does until an apply has
    /// compared it. Commits move the change times of what the history holds, and no manifest tells of it.
    func asExamined(_ status: FileStatus, _ record: BaseEntry?, in target: File) -> FileStatus {
        if let record, !target.path.isInState, vouches(for: record, in: target.status) { return status }
        var status = status
        status.changed = CommitSpans.unexamined
        return status
    }

    /// The source is as it was recorded, and the target holds what was recorded of it.
    private func stands(_ match: Match) -> Bool {
        guard let record = match.record else { return false }
        // That it is racy concerns its content.
        return !record.differs(from: match.target.status)
            && isAsRecorded(match.source.status, record.status, [])
    }

    /// The target's object is the recorded one and has not been written to, and the source's is that too.
    private func holdsRecordedContent(_ match: Match) -> Bool {
        guard let record = match.record, record.status.identity == match.source.identity else { return false }
        return record.isIntact(in: match.target.status)
    }

    /// What the record says is to be compared: the content, or only the attributes.
    private func doubts(_ match: Match) -> (content: Bool, attributes: Bool) {
        guard trust != nil else { return (!knowsExtended, !knowsExtended) }
        guard let record = match.record, vouches(for: record, in: match.target.status) else {
            return (true, true)
        }
        if isAsRecorded(match.source.status, record.status, record.marks) { return (false, false) }
        return (!ignoresChangeTime || !hasOnlyTimeMoved(match), true)
    }

    /// Nothing tells of an edit but the change time of the source's object.
    func hasOnlyTimeMoved(_ match: Match) -> Bool {
        guard let record = match.record else { return false }
        return isSettled(record.status, record.marks) && isSame(match.source.status, record.status)
            && vouches(for: record, in: match.target.status)
    }

    /// The manifest's entry is not what a new one would say, although nothing is to be done.
    func isRecordStale(_ match: Match) -> Bool {
        guard let record = match.record else { return true }
        let source = match.source.status
        return record.differs(from: match.target.status)
            || (source.type != .directory && record.status.links != source.links)
            || (usesIdentity && record.status.identity != source.identity)
            || (usesChangeTime && record.status.changed != source.changed)
            || record.status.changed == CommitSpans.unexamined
            || (!trustsTarget && record.targetChanged.map { $0 != match.target.status.changed } ?? false)
            || marks(of: source, record: record) != record.marks
    }

    /// The removal of an old tree will take a name of the object, and move its change time.
    func movesLater(_ target: FileStatus) -> Bool { hasOldTrees && target.links > 1 }

    /// What a new manifest says of an entry.
    package func marks(of source: FileStatus, record: BaseEntry?) -> EntryMarks {
        racyCheck.map { $0.marks(of: source, record: record) } ?? record?.marks.subtracting(.uncovered) ?? []
    }
}

extension Match {
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
