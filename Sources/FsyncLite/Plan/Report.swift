import FileStorage
import FileSystem

/// How an apply ended, and what it did.
public struct Report: Sendable {
    public enum Outcome: String, Sendable {
        /// The new tree is there, durable.
        case committed
        /// All is staged and durable; the target still has the old tree.
        case prepared
        /// There was nothing to do.
        case unchanged
        /// A guard refused the plan; nothing was written.
        case refused
        /// The target still has the old tree.
        case failed
        /// A commit was begun and not finished; `recover` finishes it.
        case pending
    }

    public var outcome: Outcome
    /// What was done; for a refused or failed run, what was planned.
    public internal(set) var actions: ActionList
    public var summary: ActionSummary
    public var notes: [String]
    public var problems: [Problem]
    public var refusals: [Refusal] = []
    /// By which `Target.commit` knows what was prepared.
    public var transaction: String?
    /// The sources of what was prepared, where it is committed.
    public internal(set) var sources: [(name: String?, path: [UInt8])] = []
    /// The commit was, or would have been, an exchange.
    public internal(set) var exchanges = false
    /// What the target's file system can do; nil for one on which a commit keeps all promises.
    public internal(set) var fileSystem: FileSystemCapabilities?
    /// What was removed to make room, however the run ended: snapshots by id, and old trees of exchanges.
    public var gaveWay: [String] = []
    /// What the rules of retention removed.
    public internal(set) var removed = RemovedSnapshots()
    /// Files of the source that are read again by the next run, as a later change might not show.
    package internal(set) var refusedProbes = SettlingProbes.Refused()
    /// Why it failed or is pending, unless the reason is a problem.
    public var error: SyncError?

    /// For a run that ended before there was a plan.
    public init(failedFor error: SyncError) {
        let outcome: Outcome =
            switch error.code {
            // The next run finds out.
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
        exchanges = plan.exchanges
        fileSystem = plan.fileSystem
        self.error = error
    }
}
