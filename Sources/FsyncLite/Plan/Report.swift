import FileStorage
import FileSystem

/// The result of a run, and its actions.
public struct Report: Sendable {
    public enum Outcome: String, Sendable {
        /// The new tree is in place, durably.
        case committed
        /// All is staged and durable; the target still has the old tree.
        case prepared
        /// There was no change to make.
        case unchanged
        /// A guard refused the plan; no file was written.
        case refused
        /// The target still has the old tree.
        case failed
        /// A commit was begun and not finished; `recover` finishes it.
        case pending
    }

    public var outcome: Outcome
    /// The actions that were done, or planned if the run was refused or failed.
    public internal(set) var actions: ActionList
    public var summary: ActionSummary
    public var notes: [String]
    public var problems: [Problem]
    public var refusals: [Refusal] = []
    /// Identifies the prepared transaction for `Target.commit`.
    public var transaction: String?
    /// The sources of a prepared transaction that is committed.
    public internal(set) var sources: [(name: String?, path: [UInt8])] = []
    /// The abilities of the target's file system; nil if a commit can keep all promises on it.
    public internal(set) var fileSystem: FileSystemCapabilities?
    /// The snapshots (by id) and the old trees of exchanges that were removed to make space, however the run ended.
    public var removedForSpace: [String] = []
    /// The snapshots that the rules of retention removed.
    public internal(set) var removed = RemovedSnapshots()
    /// Files of the source that the next run reads again, because a later change might not show.
    package internal(set) var refusedProbes = SettlingProbes.Refused()
    /// The reason of a failed or pending run, unless the reason is a problem.
    public var error: SyncError?

    /// For a run that ended before there was a plan.
    public init(failedFor error: SyncError) {
        let outcome: Outcome =
            switch error.code {
            // The next run finds the result.
            case .pending: .pending
            case .refused: .refused
            default: .failed
            }
        self.init(outcome, Plan(Difference(), root: nil), error: error)
    }

    init(_ outcome: Outcome, _ plan: Plan, error: SyncError? = nil) {
        self.outcome = outcome
        actions = plan.actions
        summary = plan.summary
        notes = plan.notes
        problems = plan.problems
        refusals = plan.refusals
        fileSystem = plan.fileSystem
        self.error = error
    }
}
