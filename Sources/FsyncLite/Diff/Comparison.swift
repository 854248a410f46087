import FileSystem

/// What the statuses of two entries of one type tell, with what is recorded of them.
///
/// This is the only equality of entries. The merge asks it for every entry, so it makes no value on the heap.
struct Comparison {
    var causes: Causes = []
    /// The content is another: a new object takes the place of the old one.
    var replacesContent = false
    /// Size and time are equal and prove nothing.
    var needsContentComparison = false
    /// What is recorded of extended attributes proves nothing.
    var needsInspection = false
    /// The record's digest is that of the source's content, and of the target's.
    var sourceStands = false
    var targetStands = false
    /// The source's entry was not compared: the next record must not vouch for it.
    var isUnexamined = false
    /// What the mirror could not hold last time and cannot hold now either: neither side has changed since.
    var omitted: Omissions = []

    /// What the streams know beside the statuses.
    struct Payload {
        var digestsDiffer = false
        var destinationsDiffer = false
        /// The target's file has other names than the source's.
        var isMislinked = false
    }

    /// Nothing is to be done, and nothing has to be read to know it.
    var isEqual: Bool { causes.isEmpty && !needsContentComparison && !needsInspection && !isUnexamined }
}

/// What the last manifest says of an entry: the *base* of the three-way comparison, without what is on the heap.
package struct BaseStatus: Hashable, Sendable {
    /// The source's identity and times, and everything else as the target held it.
    var status: FileStatus
    var targetInode: UInt64
    var targetChanged: FileTime?
    var marks: EntryMarks
    var omitted: Omissions
    var hasDigest: Bool

    var isUncovered: Bool { marks.contains(.uncovered) }

    /// What is recorded was looked at long enough after it changed.
    var isSettled: Bool { marks.isEmpty && status.changed != CommitSpans.unexamined }

    /// The target's entry is no longer what the last apply left.
    func differs(from target: FileStatus) -> Bool { status.differs(from: target, as: targetInode) }

    /// The target's file has not been written to or replaced, as far as inode, size and time tell.
    func isIntact(in target: FileStatus) -> Bool {
        target.type == status.type && targetInode == target.inode && status.size == target.size
            && status.modified == target.modified
    }
}

extension EntryStream {
    /// The present entry as the base of a comparison.
    var base: BaseStatus {
        BaseStatus(
            status: status, targetInode: targetInode, targetChanged: targetChanged, marks: marks,
            omitted: omitted, hasDigest: digest != nil)
    }
}

extension ComparisonPolicy {
    /// Compares two entries of one type, whatever their paths.
    func compare(
        _ source: FileStatus, _ target: FileStatus, _ base: BaseStatus?, _ payload: Comparison.Payload
    ) -> Comparison {
        guard !attributes.contains(.owner) else { return compareAll(source, target, base, payload) }
        // Without the owner that cannot be set, the wanted one is the one that is there.
        var source = source
        source.keepOwner(of: target)
        return compareAll(source, target, base, payload)
    }

    private func compareAll(
        _ source: FileStatus, _ target: FileStatus, _ base: BaseStatus?, _ payload: Comparison.Payload
    ) -> Comparison {
        var found = Comparison()
        if let base, base.hasDigest {
            found.sourceStands =
                base.status.size == source.size && base.status.modified == source.modified
                && isAsRecorded(source, base)
            found.targetStands = vouches(for: base, in: target)
        }
        if let base { found.omitted = omitted(source, target, base) }
        found.isUnexamined = identityTellsContent && !(base.map { vouches(for: $0, in: target) } ?? false)
        let doubts = doubts(source, target, base)
        let isModified = source.modified != target.modified && !found.omitted.contains(.modified)
        if isModified { found.causes.insert(.modified) }
        switch source.type {
        case .file:
            if source.size != target.size { found.causes.insert(.size) }
            if payload.digestsDiffer { found.causes.insert(.content) }
            compareContent(&found, source, target, base, isDoubtful: doubts.content)
        case .symlink:
            if payload.destinationsDiffer { found.causes.insert(.destination) }
        case .characterDevice, .blockDevice:
            if source.represents != target.represents { found.causes.insert(.device) }
        case .directory, .fifo, .socket:
            break
        }
        if source.type != .symlink, source.permissions != target.permissions, !found.omitted.contains(.mode) {
            found.causes.insert(.mode)
        }
        if !found.omitted.contains(.owner) {
            if source.owner != target.owner { found.causes.insert(.owner) }
            if source.group != target.group { found.causes.insert(.group) }
        }
        if payload.isMislinked, attributes.contains(.hardLinks), !found.omitted.contains(.links) {
            found.causes.insert(.links)
        }
        if !found.causes.isDisjoint(with: [.destination, .device, .links]) { found.replacesContent = true }
        found.needsInspection =
            !knowsExtended && (alwaysInspects || doubts.attributes || identityTellsContent)
            && !attributes.extended.isEmpty
        return found
    }

    private func compareContent(
        _ found: inout Comparison, _ source: FileStatus, _ target: FileStatus, _ base: BaseStatus?,
        isDoubtful: Bool
    ) {
        let looksEqual = found.causes.isDisjoint(with: [.size, .modified, .content])
        if identityTellsContent {
            // The target's object is the recorded one and has not been written to, and the source's is that too.
            found.replacesContent =
                base.map { $0.status.identity != source.identity || !$0.isIntact(in: target) } ?? true
            if found.replacesContent, found.causes.isDisjoint(with: [.size, .modified]) {
                found.causes.insert(.content)
            }
        } else {
            found.replacesContent = !looksEqual
            found.needsContentComparison = looksEqual && (isDoubtful || alwaysComparesContent)
        }
    }

    private func omitted(_ source: FileStatus, _ target: FileStatus, _ base: BaseStatus) -> Omissions {
        guard !base.omitted.isEmpty, !base.differs(from: target) else { return [] }
        // That an entry is racy concerns its content.
        guard base.status.changed != CommitSpans.unexamined, isUnchanged(source, base.status) else {
            return []
        }
        var omitted = base.omitted
        // Without the owner setuid and setgid are not wanted either.
        if omitted.contains(.owner), !attributes.contains(.owner) { omitted.remove(.mode) }
        return omitted.intersection(attributes.omittable)
    }

    // MARK: What is recorded

    /// The source's object is the recorded one, by everything that its file system keeps.
    private func isAsRecorded(_ source: FileStatus, _ base: BaseStatus) -> Bool {
        base.isSettled && isUnchanged(source, base.status)
    }

    private func isUnchanged(_ source: FileStatus, _ recorded: FileStatus) -> Bool {
        isSame(source, recorded) && (!usesChangeTime || source.changed == recorded.changed)
    }

    private func isSame(_ source: FileStatus, _ recorded: FileStatus) -> Bool {
        !usesIdentity || (source.inode == recorded.inode && source.created == recorded.created)
    }

    /// The target's object has the recorded change time, or one that a commit accounts for.
    ///
    /// - Parameter recorded: nil where a commit has touched it since.
    func hasKnownTime(_ target: FileStatus, _ recorded: FileTime?) -> Bool {
        recorded.map { $0 == target.changed } ?? trust?.accounts(for: target.changed) ?? false
    }

    /// The target's object is as it was recorded, by its change time too, and as it was when it was last compared.
    func vouches(for base: BaseStatus, in target: FileStatus) -> Bool {
        // That its change time is known says nothing of content that was never compared.
        guard base.status.changed != CommitSpans.unexamined, !base.differs(from: target),
            !suspects.contains(target.inode)
        else { return false }
        // What takes no part was not looked at: that a commit accounts for its time says nothing.
        if base.isUncovered { return base.targetChanged == target.changed }
        return trustsTarget || hasKnownTime(target, base.targetChanged)
    }

    /// What has to be looked at: the content, or only the attributes.
    private func doubts(
        _ source: FileStatus, _ target: FileStatus, _ base: BaseStatus?
    ) -> (content: Bool, attributes: Bool) {
        guard trust != nil else { return (!knowsExtended, !knowsExtended) }
        guard let base, vouches(for: base, in: target) else { return (true, true) }
        if isAsRecorded(source, base) { return (false, false) }
        return (!ignoresChangeTime || !hasOnlyTimeMoved(source, target, base), true)
    }

    /// Nothing tells of an edit but the change time of the source's object.
    func hasOnlyTimeMoved(_ source: FileStatus, _ target: FileStatus, _ base: BaseStatus) -> Bool {
        base.isSettled && isSame(source, base.status) && vouches(for: base, in: target)
    }

    /// The manifest's entry is not what a new one would say, although nothing is to be done.
    func isStale(_ base: BaseStatus, _ source: FileStatus, _ target: FileStatus) -> Bool {
        base.differs(from: target)
            || (source.type != .directory && base.status.links != source.links)
            || (usesIdentity && base.status.identity != source.identity)
            || (usesChangeTime && base.status.changed != source.changed)
            || base.status.changed == CommitSpans.unexamined
            || (!trustsTarget && base.targetChanged.map { $0 != target.changed } ?? false)
            || marks(of: source, base: base) != base.marks
    }

    /// What is recorded of an object that is not compared: what nothing vouches for now, nothing does until an apply has
    /// compared it. Commits move the change times of what the history holds, and no manifest tells of it.
    func asExamined(_ status: FileStatus, _ base: BaseStatus?, in target: File) -> FileStatus {
        if let base, !target.path.isInState, vouches(for: base, in: target.status) { return status }
        return status.unexamined
    }

    /// The removal of an old tree will take a name of the object, and move its change time.
    func movesLater(_ target: FileStatus) -> Bool { hasOldTrees && target.links > 1 }

    /// What a new manifest says of an entry.
    package func marks(of source: FileStatus, base: BaseStatus?) -> EntryMarks {
        racyCheck.map { $0.marks(of: source, base: base) } ?? base?.marks.subtracting(.uncovered) ?? []
    }
}

extension FileStatus {
    /// What is recorded here is not what the target has.
    ///
    /// - Parameter targetInode: that of the target's object, by the record.
    func differs(from target: FileStatus, as targetInode: UInt64) -> Bool {
        type != target.type || permissions != target.permissions || owner != target.owner
            || group != target.group || modified != target.modified || targetInode != target.inode
            || (type == .file && size != target.size)
    }

    /// The same, recorded as never compared.
    var unexamined: FileStatus {
        var status = self
        status.changed = CommitSpans.unexamined
        return status
    }
}

extension Match {
    /// Compares source and target, as far as that goes without a look at them.
    mutating func compare(by policy: ComparisonPolicy) {
        let own = source.digest
        let payload = Comparison.Payload(
            digestsDiffer: own != nil && target.digest != nil && own != target.digest,
            destinationsDiffer: source.status.type == .symlink && source.destination != target.destination,
            isMislinked: isMislinked)
        let found = policy.compare(source.status, target.status, base?.known, payload)
        var status = source.status
        if !policy.attributes.contains(.owner) { status.keepOwner(of: target.status) }
        if found.isUnexamined || policy.identityTellsContent && target.path.isInState {
            status = status.unexamined
        }
        if status != source.status { source = source.with(status) }
        source.omitted = found.omitted
        causes.formUnion(found.causes)
        (replacesContent, needsContentComparison) = (found.replacesContent, found.needsContentComparison)
        (sourceStands, targetStands) = (found.sourceStands, found.targetStands)
        needsInspection = found.needsInspection
        if policy.knowsExtended {
            compareExtended()
        } else if let base, !needsInspection {
            (source.extended, target.extended) = (base.extended, base.extended)
        }
        if !policy.knowsExtended, !replacesContent,
            sourceStands || targetStands || (needsContentComparison && isDigestComparable)
        {
            // As long as no comparison finds otherwise.
            source.digest = base?.digest
        }
        noteDrift()
    }

    /// Nothing tells of an edit but the change time of the source's object.
    func hasOnlyTimeMoved(_ policy: ComparisonPolicy) -> Bool {
        base.map { policy.hasOnlyTimeMoved(source.status, target.status, $0.known) } ?? false
    }

    /// The manifest's entry is not what a new one would say, although nothing is to be done.
    func isStale(_ policy: ComparisonPolicy) -> Bool {
        base.map { policy.isStale($0.known, source.status, target.status) } ?? true
    }

    /// Compares extended attributes that are known of both sides.
    mutating func compareExtended() {
        guard source.extended != target.extended else { return }
        // What the target could not take it still lacks, and nothing else has changed.
        if !source.omitted.isDisjoint(with: [.xattrs, .acls]), base?.extended == target.extended { return }
        if source.extended.filter({ !$0.isACL }) != target.extended.filter({ !$0.isACL }) {
            causes.insert(.xattrs)
        }
        if source.extended.filter(\.isACL) != target.extended.filter(\.isACL) { causes.insert(.acls) }
    }

    mutating func noteDrift() {
        guard !causes.isEmpty, let base else { return }
        if base.known.differs(from: target.status) || (changesExtended && base.extended != target.extended) {
            causes.insert(.drift)
        }
    }
}
