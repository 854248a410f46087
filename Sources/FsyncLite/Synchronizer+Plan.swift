import FileStorage
import FileSystem

extension Synchronizer {
    /// The plan that `apply` would carry out now. Writes no file and takes no lock.
    ///
    /// - Throws: `SyncError`: `inputMissing` without a source, `pending` while a commit is unfinished,
    ///   `invalidDocument` for a damaged manifest, `refused` for a state that is not ours.
    public func plan() throws -> Plan {
        // A run may replace the manifest meanwhile. A plan that mixes two trees is made again.
        for _ in 0..<5 {
            let root = try TargetRoot(target)
            if let state = root.state, try state.hasInterruptedCommit() {
                throw SyncError.pendingCommit(name)
            }
            if isMirror, try root.state?.copy() != nil {
                throw SyncError(
                    .pending, path: target,
                    "a restore into it was cut short; run: fsync-lite recover \(escapedText(name))")
            }
            let before = try root.state?.manifestVersion()
            let found = Result {
                do {
                    return try remembering(root).examine(root)
                } catch {
                    throw try Synchronizer.closedDirectory(root, error) ?? error
                }
            }
            guard let state = root.state else { return try found.get().plan }
            // Errors caused by a concurrent run are not reported.
            if try state.hasInterruptedCommit() { throw SyncError.pendingCommit(name) }
            guard try state.manifestVersion() == before else { continue }
            let planned = try found.get()
            var plan = planned.plan
            if plan.refusals.isEmpty { plan.expiring = try expiring(planned, state) }
            if try state.hasInterruptedCommit() { throw SyncError.pendingCommit(name) }
            if try state.manifestVersion() == before { return plan }
        }
        throw SyncError(.pending, path: target, "it is being written to; run plan again")
    }

    /// The snapshots that retention removes after the plan.
    private func expiring(_ planned: PlannedSync, _ state: StateDirectory) throws -> [String] {
        guard let rules = planned.retention, planned.header != nil else { return [] }
        let plan = planned.plan
        return try Retention(state).expiring(
            rules.policy, after: plan.summary.actions > 0 || planned.isStep ? plan.summary : nil,
            began: Timestamp(planned.scanned.time.fileTime), without: plan.givingWay)
    }

    /// The directory that `plan` cannot read and `apply` would open, because `plan` changes no permissions.
    static func closedDirectory(_ root: TargetRoot, _ error: any Error) throws -> SyncError? {
        guard SyncError(wrapping: error).errno == Errno.accessDenied.rawValue, let directory = root.directory,
            let path = try ClosedDirectories.first(in: directory)
        else { return nil }
        return SyncError(
            .failed, path: root.path + [UInt8(ascii: "/")] + path.bytes,
            "its owner may not read this directory. Make it readable (chmod u+rwx), or run apply, which opens it for its run"
        )
    }
}
