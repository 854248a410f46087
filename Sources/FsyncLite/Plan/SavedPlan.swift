import FileStorage
import FileSystem

/// A plan in a file. A run carries it out exactly as it was shown, or refuses it.
///
/// It is bound to the target's manifest, to both roots, and to the state of every object in its actions.
public struct SavedPlan: Hashable, Sendable {
    /// The source's absolute path, or `host:path`.
    public internal(set) var source: [UInt8]
    /// The target's absolute path, or `host:path`.
    public internal(set) var target: [UInt8]
    /// When it was saved.
    public internal(set) var saved: Timestamp
    /// The options it was made with, as command-line words.
    public internal(set) var options: [[UInt8]]
    public internal(set) var summary: ActionSummary
    /// The snapshots and old trees that are removed first, to make space.
    public internal(set) var givingWay: [String]
    package internal(set) var basis: Plan.Basis
    package internal(set) var steps: StepList

    public var actions: [Action] { steps.map(\.action) }
    /// The id of the target's manifest; nil if it had none.
    public var manifest: String? { basis.manifest }

    /// An action, and its objects when it was planned; see `FileStatus.planned`.
    package struct Step: Hashable, Sendable {
        package var action: Action
        package var source: FileStatus?
        package var target: FileStatus?

        package init(action: Action, source: FileStatus?, target: FileStatus?) {
            (self.action, self.source, self.target) = (action, source, target)
        }
    }

    package init(
        source: [UInt8], target: [UInt8], saved: Timestamp, options: [[UInt8]], basis: Plan.Basis,
        steps: StepList, unchanged: Int, givingWay: [String] = []
    ) {
        (self.source, self.target, self.saved, self.options) = (source, target, saved, options)
        (self.basis, self.steps, self.givingWay) = (basis, steps, givingWay)
        var summary = ActionSummary()
        for step in steps { summary.count(step.action) }
        summary.unchanged = unchanged
        self.summary = summary
    }

    /// - Parameter options: command-line words that repeat the options of the plan.
    /// - Throws: `SyncError` with code `refused` for a plan that a run would not carry out.
    public init(_ plan: Plan, source: [UInt8], target: [UInt8], options: [[UInt8]]) throws(SyncError) {
        if let refusal = plan.refusals.first { throw SyncError(refusal) }
        guard let basis = plan.basis else {
            throw SyncError(.usage, "only a plan that mirrors a source can be saved")
        }
        func absolute(_ path: [UInt8]) throws(SyncError) -> [UInt8] {
            SavedPlan.isRemote(path) ? path : try LocalFile(bytes: path).absolute()
        }
        self.init(
            source: try absolute(source), target: try absolute(target),
            saved: .now, options: options, basis: basis, steps: StepList(of: plan),
            unchanged: plan.summary.unchanged, givingWay: plan.givingWay)
    }

    // MARK: Deviations

    /// The differences between this plan and one made now; empty if they agree.
    func drift(from plan: Plan) -> [Refusal] {
        guard let now = plan.basis else { return [] }
        var drift: [Refusal] = []
        if now.manifest != basis.manifest {
            drift.append(
                .changedSincePlan(
                    "another run has changed the target since the plan was made"))
        }
        if now.source != basis.source {
            drift.append(.changedSincePlan("the source is another directory than in the plan"))
        }
        if now.target != basis.target {
            drift.append(.changedSincePlan("the target is another directory than in the plan"))
        }
        if plan.givingWay != givingWay {
            drift.append(
                .changedSincePlan(
                    "to make space, the run would remove other snapshots than the plan says: \(plan.givingWay.isEmpty ? "nothing" : plan.givingWay.joined(separator: ", "))"
                ))
        }
        var (planned, present) = (steps[...], StepList(of: plan)[...])
        while let path = [planned, present].compactMap(\.first?.action.path).min() {
            let (before, after) = (planned.popSteps(at: path), present.popSteps(at: path))
            if before != after {
                drift.append(.changedSincePlan("\(path): \(SavedPlan.change(from: before, to: after))"))
            }
        }
        return drift
    }

    /// How the steps of a path differ.
    private static func change(from planned: [Step], to present: [Step]) -> String {
        guard let before = planned.first else {
            return "not in the plan: \(present.map(\.action.verb.rawValue).joined(separator: ", "))"
        }
        guard let now = present.first else {
            return "no longer to be done: \(planned.map(\.action.verb.rawValue).joined(separator: ", "))"
        }
        let sides = [(before.source, now.source, "source"), (before.target, now.target, "target")]
        let changed = sides.filter { $0.0 != $0.1 }.map { "in the \($0.2)" }
        return changed.isEmpty
            ? "the plan has another action for it" : "changed \(changed.joined(separator: " and "))"
    }
}

extension Slice<StepList> {
    /// Removes and returns the first steps, if they are of this path.
    fileprivate mutating func popSteps(at path: RelativePath) -> [SavedPlan.Step] {
        var steps: [SavedPlan.Step] = []
        while let step = first, step.action.path == path {
            steps.append(step)
            removeFirst()
        }
        return steps
    }
}
