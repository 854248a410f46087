import FileSystem

/// What a run knows before it writes: the plan, and what stage, commit and manifest need beside it.
struct PlannedSync {
    var plan: Plan
    let contents: ContentSource
    /// The present manifest's; nil without one, and where the plan is not over it.
    var header: ManifestHeader?
    let source: ManifestHeader.Source
    /// What is mirrored.
    let attributes: MirroredAttributes
    /// When the scan began.
    let scanned: ManifestHeader.Scan

    /// What is covered changes: a step of the history, even if nothing else is to be done.
    var isStep = false
    /// The manifest has to be written anew even if nothing else is to be done.
    var isRecordOutdated = false
    /// Paths that differ and are left as they are.
    var passedOver: [RelativePath] = []
    /// The source was looked at; it is not when the target goes back to an earlier tree.
    var isOfSource = true
    /// What took part in the earlier tree that the target goes back to as a whole.
    var earlier: (filters: FilterSummary, attributes: MirroredAttributes)?
    /// Which earlier tree the target becomes a copy of, to be a directory like any other after.
    var copy: [UInt8]?
    /// See `TargetDomains`.
    var projects: [RelativePath: UInt32] = [:]
    /// The room that is needed; nil where nothing of the history may give way to it.
    var need: RoomNeed?
    /// Of the target only what the plan touches was looked at.
    var trustsTarget = false
    /// The target keeps entries that take part and that the manifest will not have.
    var leavesStrangers = false
    /// Directories of the target that are open for this run only, with the permissions that they had.
    var opened: [RelativePath: UInt16] = [:]

    init(
        _ plan: Plan, from contents: ContentSource, _ source: ManifestHeader.Source,
        attributes: MirroredAttributes, scanned: ManifestHeader.Scan
    ) {
        (self.plan, self.contents, self.source) = (plan, contents, source)
        (self.attributes, self.scanned) = (attributes, scanned)
    }
}
