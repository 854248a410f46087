import FileStorage
import FileSystem

/// Updates the state after the target is as it should be. An error here becomes a note.
struct Tidying {
    let planned: PlannedSync
    let options: SyncOptions

    /// Notes that the run has ended, and removes what retention no longer keeps.
    ///
    /// - Parameter id: of the run's commit; nil without one.
    func run(
        _ root: TargetRoot, _ state: StateDirectory, _ report: inout Report, id: String? = nil
    ) throws {
        guard planned.copy == nil else { return try root.removeState() }
        func noting(_ step: () throws -> Void) {
            do {
                try step()
            } catch {
                report.notes.append("the state could not be tidied: \(SyncError(wrapping: error))")
            }
        }
        if planned.isOfSource {
            noting {
                try state.markRun(scanned: planned.scanned.time, problems: report.problems.count)
            }
            noting { try state.remove(.compared) }
        }
        noting {
            for path in try reduceOldTrees(root, state) {
                report.notes.append(
                    "what was put into the target at the last moment is kept: \(escapedText(path))")
            }
        }
        noting {
            // Only an apply of a source removes snapshots: a restoration needs the history.
            guard planned.isOfSource, options.repairs.isEmpty else { return try Retention(state).tidy() }
            let rules = try options.retention.rules(kept: planned.header?.retention, state.settings().rules)
            let snapshots = try Retention(state).apply(
                rules.policy, after: id, began: planned.scanned.time)
            report.expiredLabels = snapshots.filter { !$0.isKept }.compactMap(\.snapshot.label)
            let labels = Set(snapshots.compactMap(\.snapshot.label))
            for label in rules.policy.keepLabel ?? [] where !(labels.isEmpty || labels.contains(label)) {
                report.notes.append(
                    "keep_label names \(escapedText(label.utf8)), which no snapshot has for a label")
            }
        }
    }

    /// Removes the old trees of exchanges whose grace period is over.
    ///
    /// - Returns: where objects are kept that came into an old tree at the last moment.
    private func reduceOldTrees(_ root: TargetRoot, _ state: StateDirectory) throws -> [[UInt8]] {
        try RetiredTree.collect(in: state)
        let scanned = planned.scanned.time.fileTime
        var displaced = scanned
        displaced.seconds -= RetiredTree.gracePeriod
        let kept = try RetiredTree.reduce(
            in: state, displaced: displaced, looked: planned.trustsTarget ? nil : scanned)
        let trees = try root.directory.flatMap(SubvolumeTrees.init(of:))
        return try kept + (trees?.reduce(in: state, displaced: displaced) ?? [])
    }
}

extension TargetRoot {
    /// Ends an interrupted commit of an earlier run, and tidies the history afterwards. Another directory may have the
    /// target's name by then.
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
