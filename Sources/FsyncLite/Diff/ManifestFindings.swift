import FileSystem

/// The merge's findings about target and manifest. The target may have entries that changed since the last run, and the
/// manifest may have entries that the target lacks or that are no longer covered.
package struct ManifestFindings {
    private let policy: ComparisonPolicy
    /// False also if the target's stream has the recorded entries.
    var hasManifest = false

    /// Entries that changed in the target since the last run.
    private(set) var drift: [Drift] = []
    /// Paths that the manifest has and the target lacks.
    private(set) var forgotten: [RelativePath] = []
    /// Entries of the manifest without an entry in the target; noted only if the source is an earlier tree.
    private(set) var missing: [BaseEntry] = []
    /// Entries of the manifest that are uncovered from now on, as the target has them.
    private(set) var uncovered: [Uncovered] = []
    /// - isSeen: the status is the target's. Otherwise it is the manifest's, because the target was not looked at.
    package typealias Uncovered = (file: File, base: BaseEntry, isSeen: Bool)

    /// Uncovered entries that the earlier tree does not cover either.
    private(set) var resting: Set<RelativePath> = []
    /// Their changes, which are reported if the entries move to the history.
    private(set) var restingDrift: [Drift] = []
    private(set) var hasUncovered = false
    /// The excluded directory of the target whose entries are skipped.
    private var excludedDirectory: RelativePath?

    /// Target change times that the manifest lacks.
    private(set) var targetTimes = TargetTimes()
    /// The number of the manifest's present entry, from 0, counting covered entries.
    private var entryNumber: UInt32 = 0

    init(_ policy: ComparisonPolicy) {
        self.policy = policy
    }

    /// The manifest's present entry is done.
    mutating func pass(_ manifest: some EntryStream) {
        if manifest.marks.contains(.uncovered) { hasUncovered = true } else { entryNumber += 1 }
    }

    // MARK: Entries that the target has

    /// The base of an entry of the target.
    ///
    /// - Returns: the base; nil if neither the manifest nor the earlier tree covers the entry. Also the manifest's
    ///   entry; nil unless it is and remains uncovered.
    mutating func base(
        _ manifest: some EntryStream, _ target: some EntryStream, isExcluded: Bool
    ) -> (BaseEntry?, resting: BaseEntry?) {
        let base = BaseEntry(manifest, at: policy.targetIsCopy ? target.status.inode : manifest.targetInode)
        if !base.isUncovered, !base.differs(from: target.status),
            policy.commitSpans?.accounts(for: target.status) ?? false
        {
            noteTime(of: target.status, base.known.targetChanged)
        }
        // Changes of uncovered entries are not reported.
        guard base.isUncovered,
            isExcluded || policy.earlier?.recovered.map({ !$0.contains(manifest.path) }) ?? false
        else {
            note(&drift, manifest, base, target)
            return (base, nil)
        }
        if isExcluded { return (base, base) }
        resting.insert(manifest.path)
        note(&restingDrift, manifest, base, target)
        return (nil, base)
    }

    /// The same if the target's stream has the recorded entries.
    mutating func base(_ recorded: ManifestReader) -> BaseEntry {
        if recorded.marks.contains(.uncovered) { hasUncovered = true }
        return BaseEntry(recorded)
    }

    private func note(
        _ drift: inout [Drift], _ manifest: some EntryStream, _ base: BaseEntry, _ target: some EntryStream
    ) {
        guard base.differs(from: target.status) else { return }
        drift.append(Drift(recorded: manifest.file, base, found: target.file))
    }

    /// Notes a change time in the span of a commit, for the next manifest.
    mutating func noteTime(of target: FileStatus, _ recorded: FileTime?) {
        guard recorded == nil, !policy.movesLater(target) else { return }
        targetTimes.append(target.changed, of: entryNumber)
    }

    /// An entry that the manifest lacks.
    mutating func noteNew(_ target: some EntryStream) {
        guard hasManifest, !policy.mayHaveBeenExcluded(target.path, target.status.type) else { return }
        drift.append(Drift(found: target.file))
    }

    /// An entry that is excluded from now on, with all entries below it.
    mutating func exclude(_ target: some EntryStream, _ base: BaseEntry?) {
        if target.status.type == .directory { excludedDirectory = target.path }
        if let base, !base.isUncovered { uncover(target.file, base, isSeen: true) }
    }

    private mutating func uncover(_ file: File, _ base: BaseEntry, isSeen: Bool) {
        var file = file
        (file.extended, file.omitted) = (base.extended, base.omitted)
        file.object = isSeen ? policy.object(of: file.status, base) : base.object
        file.digest = base.known.isIntact(in: file.status) ? base.digest : nil
        uncovered.append((file, base, isSeen))
    }

    // MARK: Entries that it lacks

    /// An entry that only the source and the manifest have.
    ///
    /// - Parameter isProtected: the source could not list its entries there.
    mutating func baseOfMissing(_ manifest: some EntryStream, isProtected: Bool) -> BaseEntry {
        let base = BaseEntry(manifest)
        lose(manifest, base, isProtected: isProtected)
        return base
    }

    /// An entry that neither tree has.
    mutating func leave(_ manifest: some EntryStream, isProtected: Bool) {
        guard let directory = excludedDirectory, manifest.path.isBelow(directory) else {
            return lose(manifest, BaseEntry(manifest), isProtected: isProtected)
        }
        guard !manifest.marks.contains(.uncovered) else { return }
        let file = manifest.file.with(FileIdentity(inode: manifest.targetInode, created: nil))
        uncover(file, BaseEntry(manifest), isSeen: false)
    }

    private mutating func lose(_ manifest: some EntryStream, _ base: BaseEntry, isProtected: Bool) {
        // A scan skips such a path, but earlier versions mirrored it. The entry is left unchanged in the target.
        let isTooLong = manifest.withPathBytes(\.count) > RelativePath.longest
        guard !isTooLong else { return forgotten.append(manifest.path) }
        if policy.pairsByNumber { missing.append(base) }
        guard !isProtected else { return }
        drift.append(Drift(recorded: manifest.file, base))
        forgotten.append(manifest.path)
    }
}
