import FileSystem

/// The facts that a run knows before it writes: the plan, and the values for stage, commit and manifest.
struct PlannedSync {
    @Boxed var plan: Plan
    let contents: any ContentSource
    /// The header of the present manifest; nil without one, and if the plan is not based on it.
    var header: ManifestHeader?
    let sources: [ManifestHeader.Source]
    /// The mounts in the sources.
    var mounts: [SourceMount] = []
    var disks = ""
    /// The attributes that are mirrored.
    let attributes: MirroredAttributes
    /// The scan of the source.
    let scanned: ManifestHeader.Scan
    /// The same scan by the clocks of the source's machine, if that is another machine.
    var sourceScanned: ManifestHeader.Scan?

    /// The coverage changes. This makes a step of the history even if there are no actions.
    var isStep = false
    /// The manifest must be rewritten even if there are no actions.
    var isRecordOutdated = false
    /// Paths that differ and are left unchanged.
    var passedOver: [RelativePath] = []
    /// The commit is an exchange.
    var exchanges: Bool { plan.exchanges }
    /// The source was scanned; false if the target returns to an earlier tree.
    var isOfSource = true
    /// The header of the earlier tree to which the whole target returns.
    var earlier: ManifestHeader?
    /// The earlier tree that is copied to the target, which is an ordinary directory afterwards.
    var copy: [UInt8]?
    /// See `TargetDomains`.
    var projects: [RelativePath: UInt32] = [:]
    /// The needed space; nil if there is no target to look at.
    var need: SpaceNeed?
    /// The rules that remove snapshots afterwards; nil if none is removed.
    var retention: RetentionRules?
    /// The newest steps of the history that the plan needs.
    var neededSteps = 0
    /// Only objects that the plan involves were checked in the target.
    var trustsTarget = false
    /// Covered entries that the manifest will not have are left in the target.
    var leavesStrangers = false
    /// Directories of the target that this run opened temporarily, with their previous permissions.
    var opened: [RelativePath: UInt16] = [:]

    init(
        _ plan: Plan, from contents: any ContentSource, _ sources: [ManifestHeader.Source],
        attributes: MirroredAttributes, scanned: ManifestHeader.Scan
    ) {
        (self.plan, self.contents, self.sources) = (plan, contents, sources)
        (self.attributes, self.scanned) = (attributes, scanned)
    }
}
