import FileStorage
import FileSystem

/// Updates the state after the target is complete. An error here becomes a note.
struct Tidying {
    /// When the run's scan began.
    let scanned: Timestamp
    /// The run mirrored a source.
    var isOfSource = true
    /// The run scanned the target.
    var hasLooked = true
    /// The target is a copy of an earlier tree, and gets no state.
    var isCopy = false
    /// The rules for snapshots; nil removes none.
    var rules: RetentionRules?

    /// After a prepared commit.
    init(scanned: Timestamp, _ rules: RetentionRules) {
        (self.scanned, self.rules, hasLooked) = (scanned, rules, false)
    }

    init(_ planned: PlannedSync) {
        (scanned, isOfSource, rules) = (planned.scanned.time, planned.isOfSource, planned.retention)
        (hasLooked, isCopy) = (!planned.trustsTarget, planned.copy != nil)
    }

    /// Notes that the run has ended, and removes snapshots that no rule keeps.
    ///
    /// - Parameter id: the id of the run's commit; nil without one.
    func run(
        _ root: TargetRoot, _ state: StateDirectory, _ report: inout Report, id: String? = nil
    ) throws {
        guard !isCopy else { return try root.removeState() }
        func noting(_ step: () throws -> Void) {
            do {
                try step()
            } catch {
                report.notes.append("the state could not be tidied: \(SyncError(wrapping: error))")
            }
        }
        if isOfSource {
            noting {
                try state.markRun(scanned: scanned, problems: report.problems.count)
            }
        }
        noting {
            for path in try reduceOldTrees(root, state) {
                report.notes.append(
                    "a file appeared in the target during the commit; it was moved to: \(escapedText(path))")
            }
        }
        noting {
            guard let rules else { return try Retention(state).tidy() }
            let wanted = rules.policy.keepLabel ?? []
            let labels = wanted.isEmpty ? [] : try Set(History(state).snapshots().compactMap(\.label))
            report.removed = try Retention(state).apply(rules.policy, after: id, began: scanned)
            for label in wanted where !(labels.isEmpty || labels.contains(label)) {
                report.notes.append(
                    "keep_label names \(escapedText(label.utf8)), but no snapshot has that label")
            }
        }
    }

    /// Removes the old trees of exchanges whose grace period is over.
    ///
    /// - Returns: the places of objects that were added to an old tree at the last moment.
    private func reduceOldTrees(_ root: TargetRoot, _ state: StateDirectory) throws -> [[UInt8]] {
        try RetiredTree.collect(in: state)
        let scanned = scanned.fileTime
        let displaced = scanned.advanced(bySeconds: -RetiredTree.gracePeriod)
        let lateObjects = try RetiredTree.reduce(
            in: state, displaced: displaced, looked: hasLooked ? scanned : nil)
        let trees = try root.directory.flatMap(SubvolumeTrees.init(of:))
        return try lateObjects + (trees?.reduce(in: state, displaced: displaced) ?? [])
    }
}

extension TargetRoot {
    /// Ends an interrupted commit of an earlier run, then tidies the history. Another directory may then have the
    /// target's name.
    ///
    /// - Returns: as `Recovery.run`.
    func recover(
        undo: Bool = false, displacingConflicts: Bool = false, trustingState: Bool = false
    ) throws -> (Commit.Direction, Commit)? {
        guard let directory, let state else { return nil }
        let recovery = Recovery(root: directory, state: state)
        guard
            let ended = try recovery.run(
                undo: undo, displacingConflicts: displacingConflicts, trustingState: trustingState)
        else { return nil }
        try RetiredTree.collect(in: state)
        try Retention(state).tidy()
        return ended
    }
}
