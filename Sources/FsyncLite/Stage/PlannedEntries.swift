import FileSystem

/// The changed entries of the next manifest, as a plan and its stage have them: made when they are written.
struct PlannedEntries: Sendable {
    @Boxed private var difference: Difference
    private let moves: MoveMap
    private let outcomes: OutcomeList
    private let numbers: ObjectNumbers

    init(
        _ difference: Difference, _ moves: MoveMap, _ outcomes: OutcomeList, _ numbers: ObjectNumbers
    ) {
        (self.difference, self.moves, self.outcomes) = (difference, moves, outcomes)
        self.numbers = numbers
    }

    var targetTimes: TargetTimes { difference.targetTimes }

    /// The approximate number of changes.
    var count: Int {
        difference.forgotten.count + difference.deleted.count + difference.created.count
            + difference.matches.heads.reduce(0) { $0 + ($1.isRenamed ? 2 : 1) }
    }

    func path(_ origin: ManifestUpdate.Origin, _ index: Int) -> RelativePath {
        switch origin {
        case .forgotten: difference.forgotten[index]
        case .deleted: difference.deleted.path(at: index)
        case .left: difference.matches.targetPath(at: index)
        case .staged: outcomes.path(index)
        default: difference.matches.path(at: index)
        }
    }

    /// The entry of a match whose object stays.
    func kept(_ index: Int) -> ManifestUpdate.Entry {
        let (match, policy) = (difference.matches[index], difference.policy)
        let target = match.target.status
        let stays = !match.changesAttributes && (!match.isRenamed || moves.isCarried(match))
        return ManifestUpdate.Entry(
            file: match.held, targetInode: target.inode,
            targetChanged: stays && !policy.movesLater(target) ? target.changed : nil,
            marks: policy.marks(of: match.source, base: match.base?.known),
            object: numbers.wanted(match, at: index), location: match.target.path)
    }

    /// The entry of a staged object.
    func staged(_ index: Int) -> ManifestUpdate.Entry? {
        guard case .staged(let file, let inode)? = outcomes[index] else { return nil }
        return ManifestUpdate.Entry(
            file: file, targetInode: inode, marks: difference.policy.marks(of: file, base: nil),
            object: numbers.number(arriving: file))
    }
}
