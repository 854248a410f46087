import FileSystem

/// The result of comparing the statuses of two entries of one type, given the base.
///
/// This is the only equality of entries. The merge asks it for every entry, so it allocates nothing on the heap.
struct Comparison {
    var causes: Causes = []
    /// The content differs: a new object replaces the old one.
    var replacesContent = false
    /// Size and modification time are equal, but the content may differ.
    var needsContentComparison = false
    /// The extended attributes may differ from the base's.
    var needsInspection = false
    /// The base's digest is still that of the source's content. `targetHasBaseDigest`: of the target's content.
    var sourceHasBaseDigest = false
    var targetHasBaseDigest = false
    /// The source's entry was not compared, so the next manifest must not show that it is unchanged.
    var isUnexamined = false
    /// Attributes that the target could not store last time. They are not tried again, since neither side has changed.
    var omitted: Omissions = []

    /// The facts that the streams know besides the statuses.
    struct Payload {
        var digestsDiffer = false
        var destinationsDiffer = false
        /// The target's file has other names than the source's file.
        var isMislinked = false
        /// Only for lists: the source's entry is of the recorded object.
        var isSameObject = false
    }

    /// No change is needed, and no object has to be read.
    var isEqual: Bool { causes.isEmpty && !needsContentComparison && !needsInspection && !isUnexamined }
}

/// An entry of the last manifest: the *base* of the three-way comparison, without its parts on the heap.
package struct BaseStatus: Hashable, Sendable {
    /// The source's identity and times; all other values as they are in the target.
    var status: FileStatus
    var targetInode: UInt64
    var targetChanged: FileTime?
    var marks: EntryMarks
    var omitted: Omissions
    var hasDigest: Bool

    var isUncovered: Bool { marks.contains(.uncovered) }

    /// The entry was not racy when it was recorded, and was compared.
    var isSettled: Bool { marks.isEmpty && status.changed != .unexamined }

    /// The target's entry changed since the last run.
    func differs(from target: FileStatus) -> Bool {
        targetInode != target.inode || !status.equals(target, in: .state)
    }

    /// The target's file was neither written to nor replaced, by inode, size and modification time.
    func isIntact(in target: FileStatus) -> Bool {
        targetInode == target.inode && status.equals(target, in: .content)
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
    /// Compares two entries of one type; their paths do not matter.
    func compare(
        _ source: FileStatus, _ target: FileStatus, _ base: BaseStatus?, _ payload: Comparison.Payload
    ) -> Comparison {
        if let base { return compare(source, target, base, payload) }
        return asMirrored(source, of: target) { compare($0, target, by: known(), payload) }
    }

    /// The same with a base. The merge calls it for every entry, so the base, a large value, is not copied.
    func compare(
        _ source: FileStatus, _ target: FileStatus, _ base: BaseStatus, _ payload: Comparison.Payload
    ) -> Comparison {
        asMirrored(source, of: target) {
            compare($0, target, by: known($0, target, base, payload.isSameObject), payload)
        }
    }

    /// Compares with the target's values for attributes that cannot be set, so these never differ. A status that keeps
    /// all its values is not copied.
    @inline(__always)
    private func asMirrored(
        _ source: FileStatus, of target: FileStatus, _ compare: (FileStatus) -> Comparison
    ) -> Comparison {
        guard FileStatus.mayKeep(mirroring: attributes, timeStep: timeStep) else { return compare(source) }
        var source = source
        source.keepUnmirrored(of: target, mirroring: attributes, timeStep: timeStep)
        return compare(source)
    }

    /// The facts that the base shows about two entries.
    private struct Known {
        var found = Comparison()
        var isDoubted = true
        /// The source's object is the recorded one, and the target's has its content. Only for an earlier tree.
        var isSameContent = false
    }

    private func known() -> Known {
        var known = Known()
        known.found.isUnexamined = pairsByNumber
        if commitSpans == nil { known.isDoubted = !knowsExtended }
        return known
    }

    private func known(
        _ source: FileStatus, _ target: FileStatus, _ base: BaseStatus, _ isSameObject: Bool
    ) -> Known {
        var known = known()
        let isProven = isProvenUnchanged(base, in: target)
        if base.hasDigest {
            known.found.sourceHasBaseDigest =
                base.status.equals(source, in: .content) && isAsRecorded(source, base)
            known.found.targetHasBaseDigest = isProven
        }
        known.found.omitted = omitted(source, target, base)
        known.found.isUnexamined = pairsByNumber && !isProven
        if isProven, commitSpans != nil { known.isDoubted = !isAsRecorded(source, base) }
        known.isSameContent = pairsByNumber && isSameObject && base.isIntact(in: target)
        return known
    }

    private func compare(
        _ source: FileStatus, _ target: FileStatus, by known: Known, _ payload: Comparison.Payload
    ) -> Comparison {
        var found = known.found
        let isModified = source.modified != target.modified && !found.omitted.contains(.modified)
        if isModified { found.causes.insert(.modified) }
        switch source.type {
        case .file:
            if source.size != target.size { found.causes.insert(.size) }
            if payload.digestsDiffer { found.causes.insert(.content) }
            compareContent(&found, known)
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
        if replacesShared, isShared(source, target) { found.causes.insert(.links) }
        if !found.causes.isDisjoint(with: [.destination, .device, .links]) { found.replacesContent = true }
        found.needsInspection =
            !knowsExtended && (alwaysInspects || known.isDoubted || pairsByNumber)
        return found
    }

    /// A file of the target is the source's own object, as after a deduplication by hard links.
    func isShared(_ source: FileStatus, _ target: FileStatus) -> Bool {
        source.isSameObject(as: target) && source.type != .directory
    }

    private func compareContent(_ found: inout Comparison, _ known: Known) {
        let looksEqual = found.causes.isDisjoint(with: [.size, .modified, .content])
        if pairsByNumber {
            found.replacesContent = !known.isSameContent
            if found.replacesContent, found.causes.isDisjoint(with: [.size, .modified]) {
                found.causes.insert(.content)
            }
        } else {
            found.replacesContent = !looksEqual
            found.needsContentComparison = looksEqual && (known.isDoubted || alwaysComparesContent)
        }
    }

    private func omitted(_ source: FileStatus, _ target: FileStatus, _ base: BaseStatus) -> Omissions {
        guard !base.omitted.isEmpty, !base.differs(from: target) else { return [] }
        // Only the content of a racy entry is in doubt, so its omissions are still valid.
        guard base.status.changed != .unexamined, isUnchanged(source, base.status) else {
            return []
        }
        var omitted = base.omitted
        // If the owner is not mirrored, an omitted owner no longer explains missing setuid and setgid bits.
        if omitted.contains(.owner), !attributes.contains(.owner) { omitted.remove(.mode) }
        return omitted.intersection(attributes.omittable)
    }

    // MARK: Base

    /// The number of the recorded entry's object; 0 if the target's object is another one or was edited. A directory
    /// keeps its number with its path.
    func object(of target: FileStatus, _ base: BaseEntry) -> UInt64 {
        let known = base.known
        guard known.status.type == target.type else { return 0 }
        let isSame =
            target.type == .directory || known.isIntact(in: target)
            || !keepsTargetInodes && known.status.equals(target, in: .content)
        return isSame ? base.object : 0
    }

    /// The source's object is the recorded one, unchanged by all the times that its file system has.
    private func isAsRecorded(_ source: FileStatus, _ base: BaseStatus) -> Bool {
        isAsRecorded(source, base.status, wasSettled: base.isSettled)
    }

    private func isAsRecorded(_ source: FileStatus, _ recorded: FileStatus, wasSettled: Bool) -> Bool {
        wasSettled && isUnchanged(source, recorded) && isLasting(recorded)
    }

    /// The times show that the source's content is the recorded one.
    ///
    /// - Parameter wasSettled: it was settled when it was recorded.
    func hasRecordedContent(_ source: FileStatus, _ recorded: FileStatus, wasSettled: Bool) -> Bool {
        keepsIdentity && isAsRecorded(source, recorded, wasSettled: wasSettled)
            && source.equals(recorded, in: .content)
            && racyCheck?.devicesShowingStores.contains(source.device) ?? false
    }

    func isUnchanged(_ source: FileStatus, _ recorded: FileStatus) -> Bool {
        isSame(source, recorded) && (!keepsIdentity || source.changed == recorded.changed)
    }

    private func isSame(_ source: FileStatus, _ recorded: FileStatus) -> Bool {
        !keepsIdentity || (source.inode == recorded.inode && source.created == recorded.created)
    }

    /// The target's object has the recorded change time, or one in a commit's span.
    ///
    /// - Parameter recorded: nil if a commit has touched the object since.
    func hasKnownTime(_ target: FileStatus, _ recorded: FileTime?) -> Bool {
        !usesTargetChangeTime
            || recorded.map { $0 == target.changed }
                ?? commitSpans?.accounts(for: target) ?? false
    }

    /// The target's object is unchanged since it was recorded, by its change time too, and was compared then.
    func isProvenUnchanged(_ base: BaseStatus, in target: FileStatus) -> Bool {
        // A known change time shows nothing about content that was never compared.
        base.status.changed != .unexamined && isUntouched(target, since: base)
    }

    /// The target's object is the recorded one, by its change time too. It may not have been compared with the source.
    func isUntouched(_ target: FileStatus, since base: BaseStatus) -> Bool {
        guard !base.differs(from: target), !suspects.contains(target.inode) else { return false }
        // An uncovered entry is not compared, so a time in a commit's span is no evidence.
        if base.isUncovered { return base.targetChanged == target.changed }
        return trustsTarget || hasKnownTime(target, base.targetChanged)
    }

    /// The target's object was edited. An unrecorded change time before the end of a commit is no sign of an edit: the
    /// history may have returned the object.
    func showsEdit(of target: FileStatus, since base: BaseStatus) -> Bool {
        guard base.targetChanged == nil, !base.differs(from: target), !suspects.contains(target.inode) else {
            return !isUntouched(target, since: base)
        }
        return !(commitSpans?.spans.contains { target.changed < $0.upperBound } ?? false)
    }

    /// A file of the target that differs from its digest was not edited: the disk damaged it.
    func showsRot(of target: FileStatus, since base: BaseStatus) -> Bool {
        base.hasDigest && (suspects.contains(target.inode) || isProvenUnchanged(base, in: target))
    }

    /// Only the source's change time suggests an edit.
    func hasOnlyTimeMoved(_ match: Match) -> Bool {
        guard let base = match.base?.known else { return false }
        return base.isSettled && isSame(match.source.status, base.status)
            && isProvenUnchanged(base, in: match.target.status)
    }

    /// The manifest's entry needs an update although no action is needed.
    ///
    /// - Parameter isSettled: the source's entry was found settled.
    func isStale(
        _ base: BaseStatus, _ source: FileStatus, _ target: FileStatus, isSettled: Bool = false
    ) -> Bool {
        targetIsCopy || base.differs(from: target)
            || (source.type != .directory && base.status.links != source.links)
            || (keepsIdentity
                && (base.status.identity != source.identity || base.status.changed != source.changed))
            || base.status.changed == .unexamined || !isLasting(base.status)
            || (!trustsTarget && !movesLater(target) && !hasKnownTime(target, base.targetChanged))
            || marks(of: source, isSettled: isSettled, base.status.changed, base.marks) != base.marks
    }

    /// The source's content was on its disk when it was read. A power cut can otherwise leave older content there.
    private func isLasting(_ recorded: FileStatus) -> Bool {
        lastingUntil.map { recorded.type != .file || recorded.changed < $0 } ?? true
    }

    /// The status to record for an object that is not compared. It is unexamined, unless the base shows that the object
    /// is unchanged. Commits move the change times of objects in the history, and no manifest records those.
    func asExamined(_ status: FileStatus, _ base: BaseStatus?, in target: File) -> FileStatus {
        if let base, !target.path.isInState, isProvenUnchanged(base, in: target.status) { return status }
        return status.unexamined
    }

    /// The removal of an old tree will remove one of the object's names and so move its change time.
    func movesLater(_ target: FileStatus) -> Bool { hasOldTrees && target.links > 1 }

    /// The marks of the entry in the new manifest.
    package func marks(of source: File, base: BaseStatus?) -> EntryMarks {
        marks(of: source.status, isSettled: source.isSettled, base?.status.changed, base?.marks ?? [])
    }

    private func marks(
        of source: FileStatus, isSettled: Bool, _ recorded: FileTime?, _ marks: EntryMarks
    ) -> EntryMarks {
        racyCheck?.marks(of: source, isSettled: isSettled, recorded: recorded, marks)
            ?? marks.subtracting(.uncovered)
    }
}

extension Match {
    /// Compares source and target by the known facts, without reading them.
    mutating func compare(by policy: ComparisonPolicy) {
        let own = source.digest
        let payload = Comparison.Payload(
            digestsDiffer: own != nil && target.digest != nil && own != target.digest,
            destinationsDiffer: source.status.type == .symlink && source.destination != target.destination,
            isMislinked: isMislinked, isSameObject: base.map { $0.object == source.object } ?? false)
        let found = policy.compare(source.status, target.status, base?.known, payload)
        var status = source.status
        status.keepUnmirrored(of: target.status, mirroring: policy.attributes, timeStep: policy.timeStep)
        // The extended attributes of an object of the history were read when it was offered.
        let isDisplaced = policy.pairsByNumber && target.path.isInState
        if found.isUnexamined || isDisplaced { status = status.unexamined }
        if status != source.status { source = source.with(status) }
        source.omitted = found.omitted
        causes.formUnion(found.causes)
        (replacesContent, needsContentComparison) = (found.replacesContent, found.needsContentComparison)
        (sourceHasBaseDigest, targetHasBaseDigest) = (found.sourceHasBaseDigest, found.targetHasBaseDigest)
        if policy.pairsByNumber, !policy.targetIsBase, !source.isFile, !source.isDirectory,
            source.object != 0, target.object != 0, source.object != target.object
        {
            // An object of another number is made anew, as for a file. The one at this path keeps its number.
            replacesContent = true
            if causes.isEmpty { causes.insert(.content) }
        }
        let knowsExtended = policy.knowsExtended || isDisplaced
        needsInspection = found.needsInspection && !knowsExtended
        if knowsExtended {
            take(source.extended, target.extended, mirroring: policy.attributes)
            compareExtended()
        } else if let base, !needsInspection {
            (source.extended, target.extended) = (base.extended, base.extended)
        }
        if !policy.knowsExtended, !replacesContent,
            sourceHasBaseDigest || targetHasBaseDigest || (needsContentComparison && isDigestComparable)
        {
            // Unless a comparison finds otherwise.
            source.digest = base?.digest
        }
        noteDrift()
    }

    /// The manifest's entry needs an update although no action is needed.
    func isStale(_ policy: ComparisonPolicy) -> Bool {
        base.map { policy.isStale($0.known, source.status, target.status, isSettled: source.isSettled) }
            ?? true
    }

    /// Sets the extended attributes of both sides. Those that are not mirrored are the target's.
    mutating func take(
        _ source: ExtendedAttributes, _ target: ExtendedAttributes, mirroring mirrored: MirroredAttributes
    ) {
        // The mode has the owner's rights, and the target's owner may be another one than the source's.
        self.source.extended = source.givingOwner(self.source.status.permissions)
            .filter(mirrored.contains).merging(target.filter { !mirrored.contains($0) })
        self.target.extended = target
    }

    /// Compares extended attributes that are known for both sides.
    mutating func compareExtended() {
        guard source.extended != target.extended else { return }
        // The target still lacks only the attributes that it could not store, and all others are equal.
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
