import FileSystem

/// The numbers of the objects of a plan. An object of the target has its number from the manifest. It gets a new one if
/// the manifest has none, because somebody edited or made it. New content gets a new number, and all names of a file
/// get the same one. A copy that was edited, deleted or damaged in the target may be made again. If the new copy has the
/// recorded content, it gets the old number, because the older lists name that content. The digest shows that. Without
/// one, the times of the source show it.
///
/// New numbers follow the order of the changes. A new object needs four bytes.
package struct ObjectNumbers: Sendable {
    @Boxed private var difference: Difference
    /// The number of the first new object. The others have the following numbers.
    private let created: UInt64
    /// Changes whose new object has no number yet. They get the numbers from `created` on.
    private var new: [UInt32] = []
    /// The recorded numbers of copies that are made again, by the index of the change.
    private var again: [Int: UInt64] = [:]
    /// The numbers of found objects that had none, by the index of the change or uncovered entry.
    private var found: [Int: UInt64] = [:]
    private var foundUncovered: [Int: UInt64] = [:]
    /// Changes whose found object has rotted.
    private var rotten: Set<Int> = []
    /// Objects that remain under a name that is left out, or that somebody gave. If one of them also arrives elsewhere,
    /// that is a copy.
    private var staying: Set<UInt64> = []
    /// The numbers by inode, for files with several names and for objects that were moved by hand.
    private var byInode: [UInt64: UInt64] = [:]
    /// The inodes of files in the target that get more names.
    private var linked: Set<UInt64> = []
    /// The first number that no object has after the plan.
    package private(set) var next: UInt64

    /// The numbers of an empty plan.
    package init() { (difference, created, next) = (Difference(), 1, 1) }

    /// - Parameters:
    ///   - staged: the new objects.
    ///   - first: the first number that no object has yet.
    ///   - isStep: if false, the lists do not change: the same size and time then mean the same object.
    ///   - recorded: opens the present manifest, with uncovered entries; nil if there is none.
    package init(
        _ difference: Difference, _ staged: OperationGraph.StagedList, from first: UInt64, isStep: Bool,
        recorded: () throws -> ManifestReader?
    ) throws {
        self.difference = difference
        (created, next) = (first, first)
        noteStaying()
        noteMoved()
        if !difference.policy.pairsByNumber { noteAgain(staged) }
        let changes = difference.changes
        for index in changes.indices {
            let head = changes.head(at: index)
            guard head.arrives, again.isEmpty || again[index] == nil else { continue }
            // For most new entries, reading the heads is enough.
            let isUnnumbered = head.kind == .created && head.isUnnumbered
            if isUnnumbered || isNew(changes[file: index].object) { new.append(UInt32(index)) }
        }
        next += UInt64(new.count)
        for case .existing(let file) in difference.links.values { linked.insert(file.status.inode) }
        try noteNames(recorded)
        for index in changes.indices where changes.head(at: index).isUnnumbered {
            switch changes[index] {
            case .created: continue
            case .deleted(let file, _, _, _): found[index] = number(ofFound: file)
            case .match(let match):
                if !isStep, let base = match.base, base.object != 0,
                    base.status.equals(match.target.status, in: .content)
                {
                    found[index] = base.object
                } else {
                    found[index] = number(ofFound: match.target)
                }
            }
        }
        for (index, entry) in difference.uncovered.enumerated() where entry.file.object == 0 {
            foundUncovered[index] = number(ofFound: entry.file)
        }
    }

    private mutating func noteStaying() {
        var names = difference.policy.earlier?.leftOutNames ?? [:]
        guard !names.isEmpty else { return }
        let changes = difference.changes
        for index in changes.indices where changes.head(at: index).kind != .created {
            names[changes.targetPath(at: index)] = nil
        }
        staying = Set(names.values)
    }

    /// Finds objects that were moved by hand: missing at their path, and found at another one.
    private mutating func noteMoved() {
        guard difference.policy.keepsTargetInodes, !difference.policy.targetIsCopy else { return }
        var missing: [UInt64: File] = [:]
        for drift in difference.drift where drift.found == nil && drift.inode != 0 {
            missing[drift.inode] = drift.recorded
        }
        guard !missing.isEmpty else { return }
        for drift in difference.drift where drift.recorded == nil {
            guard let found = drift.found, let recorded = missing[found.status.inode], recorded.object != 0,
                recorded.status.type == found.status.type,
                found.isDirectory || recorded.status.equals(found.status, in: .content)
            else { continue }
            byInode[found.status.inode] = recorded.object
            staying.insert(recorded.object)
        }
    }

    /// Finds the copies that have the recorded content again.
    private mutating func noteAgain(_ staged: OperationGraph.StagedList) {
        let (changes, policy) = (difference.changes, difference.policy)
        var missing: [RelativePath: Drift] = [:]
        for drift in difference.drift where drift.found == nil {
            if let file = drift.recorded, file.isFile { missing[file.path] = drift }
        }
        let isAnyMissing = !missing.isEmpty
        for index in changes.indices(where: {
            $0.arrives && ($0.kind == .created ? isAnyMissing : $0.hasBase && $0.isUnnumbered)
        }) {
            let path = changes.path(at: index)
            var match: Match?
            if case .match(let changed) = changes[index] { match = changed }
            var copied = path
            if case .staged(let first)? = difference.links[path] { copied = first }
            let base = match?.base
            guard let recorded = base?.file ?? missing[path]?.recorded, recorded.isFile,
                !isNew(recorded.object), let copy = staged.staged(at: copied)
            else { continue }
            var isEdited = true
            if let match, let base { isEdited = policy.showsEdit(of: match.target.status, since: base.known) }
            let isSame =
                if let digest = recorded.digest, let own = copy.file.digest {
                    own == digest
                } else {
                    // If no time shows an edit of the target, the difference may be the source's.
                    copy.isAsWanted && isEdited
                        && policy.hasRecordedContent(
                            changes[file: index].status, recorded.status,
                            wasSettled: base?.known.isSettled ?? missing[path]?.wasSettled ?? false)
                }
            guard isSame else { continue }
            again[index] = recorded.object
            if let match, !match.isRenamed, let base,
                policy.showsRot(of: match.target.status, since: base.known)
            {
                rotten.insert(index)
            }
        }
    }

    /// Finds the numbers of files to which somebody gave another name.
    private mutating func noteNames(_ recorded: () throws -> ManifestReader?) throws {
        let changes = difference.changes
        func isUnnumbered(_ index: Int) -> Bool {
            let head = changes.head(at: index)
            return head.isUnnumbered && head.kind != .created
        }
        var wanted: Set<UInt64> = []
        func want(_ file: File) {
            if file.object == 0, file.isMultiplyLinked { wanted.insert(file.status.inode) }
        }
        for index in changes.indices where isUnnumbered(index) && changes.head(at: index).hasOtherNames {
            if let file = changes[index].target { want(file) }
        }
        for (file, _, _) in difference.uncovered { want(file) }
        for case .existing(let file) in difference.links.values { want(file) }
        guard !wanted.isEmpty, let manifest = try recorded() else { return }
        var others = Set(difference.forgotten)
        for index in changes.indices where isUnnumbered(index) {
            others.insert(changes.targetPath(at: index))
        }
        while try manifest.advance() {
            if wanted.contains(manifest.targetInode), !others.contains(manifest.path) {
                byInode[manifest.targetInode] = manifest.object
            }
        }
    }

    private mutating func number(ofFound file: File) -> UInt64 {
        let inode = file.status.inode
        if let number = byInode[inode] { return number }
        defer { next += 1 }
        if file.isMultiplyLinked || linked.contains(inode) { byInode[inode] = next }
        return next
    }

    // MARK: Numbers

    /// The number of the object that was found in the target.
    ///
    /// - Parameter index: the index of the change.
    func found(_ index: Int) -> UInt64 { found[index] ?? difference.changes[index].target?.object ?? 0 }

    /// Whether the disk damaged the object that was found in the target. No list names it: the list that the run found
    /// has the new copy, whose content is the recorded one.
    ///
    /// - Parameter index: the index of the change.
    func isRotten(_ index: Int) -> Bool { !rotten.isEmpty && rotten.contains(index) }

    func found(uncovered index: Int) -> UInt64 {
        foundUncovered[index] ?? difference.uncovered[index].file.object
    }

    /// The number of the object of a match after the plan.
    ///
    /// - Parameter index: the index of the match.
    func wanted(_ match: Match, at index: Int) -> UInt64 {
        guard !match.replacesContent else { return number(arriving: match.source) }
        return match.source.object != 0 ? match.source.object : found(index)
    }

    /// The number of an entry that gets a new object.
    func number(arriving file: File) -> UInt64 {
        guard isNew(file.object) else { return file.object }
        switch difference.links[file.path] {
        case .existing(let existing):
            return existing.object != 0 ? existing.object : byInode[existing.status.inode] ?? own(file.path)
        case .staged(let first): return own(first)
        case nil: return own(file.path)
        }
    }

    private func isNew(_ object: UInt64) -> Bool { object == 0 || staying.contains(object) }

    private func own(_ path: RelativePath) -> UInt64 {
        let changes = difference.changes
        guard let index = changes.index(at: path, where: \.arrives) else { return 0 }
        let position = new.partitionPoint(where: { $0 < index })
        guard position < new.count, new[position] == index else {
            return again[index] ?? changes[file: index].object
        }
        return created + UInt64(position)
    }
}
