import FileSystem

/// What a run knows before it writes: the plan, and what stage, commit and manifest need besides it.
struct PlannedSync {
    @Boxed var plan: Plan
    let contents: any ContentSource
    /// The present manifest's; nil without one, and where the plan is not based on it.
    var header: ManifestHeader?
    let sources: [ManifestHeader.Source]
    /// What is mounted in them.
    var mounts: [SourceMount] = []
    var disks = ""
    /// What is mirrored.
    let attributes: MirroredAttributes
    /// The scan of the source.
    let scanned: ManifestHeader.Scan
    /// The same by the clocks of the source's machine, if that is another.
    var sourceScanned: ManifestHeader.Scan?

    /// Coverage changes: a step of the history, even if there is nothing else to do.
    var isStep = false
    /// The manifest must be rewritten, even if there is nothing else to do.
    var isRecordOutdated = false
    /// Paths that differ and are left as they are.
    var passedOver: [RelativePath] = []
    /// The commit is an exchange.
    var exchanges: Bool { plan.exchanges }
    /// The source was scanned; false when the target returns to an earlier tree.
    var isOfSource = true
    /// What the earlier tree mirrored to which the whole target returns.
    var earlier: ManifestHeader?
    /// The earlier tree of which the target becomes a copy, as an ordinary directory afterwards.
    var copy: [UInt8]?
    /// See `TargetDomains`.
    var projects: [RelativePath: UInt32] = [:]
    /// The room that is needed; nil where there is no target to look at.
    var need: RoomNeed?
    /// The rules that remove snapshots afterwards; nil where none is removed.
    var retention: RetentionRules?
    /// The newest steps of the history that the plan needs.
    var neededSteps = 0
    /// Only what the plan touches was checked in the target.
    var trustsTarget = false
    /// The target keeps covered entries that the manifest will not have.
    var leavesStrangers = false
    /// Directories of the target that are open for this run only, with their previous permissions.
    var opened: [RelativePath: UInt16] = [:]

    init(
        _ plan: Plan, from contents: any ContentSource, _ sources: [ManifestHeader.Source],
        attributes: MirroredAttributes, scanned: ManifestHeader.Scan
    ) {
        (self.plan, self.contents, self.sources) = (plan, contents, sources)
        (self.attributes, self.scanned) = (attributes, scanned)
    }
}
