import FileStorage
import FileSystem
import Synchronization

/// A target that is mounted. It takes no lock: a run may change the target at any time, and the next look finds what there is
/// then.
final class MountedTarget: Sendable {
    private let target: MountSource
    private let only: String?
    /// Prints a line for the user who runs the mount.
    private let complaints: @Sendable (String) -> Void
    private let state: Mutex<State>
    private let printed = Mutex<Set<String>>([])
    let files = MountedFiles()

    private struct State {
        var view: MountView
        /// The numbers of snapshots. None is given twice.
        var slots: [String: UInt64]
        /// Names in the mount that the kernel has to forget.
        var stale: Set<[UInt8]> = []
        /// When the run that is changing the target was first seen.
        var goingSince: ContinuousClock.Instant?
    }

    /// How long a request waits for a run.
    private static let patience = Duration.seconds(30)
    /// The number of lines that are written once only.
    private static let mostPrinted = 10_000

    /// - Parameter only: shows this snapshot alone.
    init(_ target: MountSource, only: String?, complaints: @escaping @Sendable (String) -> Void) throws {
        (self.target, self.complaints) = (target, complaints)
        var slots: [String: UInt64] = [:]
        let view = try MountView(target, only: only) { MountedTarget.slot($0, &slots) }
        self.only = only == nil ? nil : view.shown.first?.id
        state = Mutex(State(view: view, slots: slots))
    }

    private static func slot(_ id: String, _ slots: inout [String: UInt64]) -> UInt64 {
        let slot = slots[id] ?? UInt64(slots.count + 1)
        slots[id] = slot
        return slot
    }

    var view: MountView { state.withLock(\.view) }

    enum Change {
        case none
        /// Another view is valid by now.
        case renewed
        /// A run is changing the target.
        case going
    }

    /// Looks whether a run has changed the target.
    ///
    /// - Parameter isUnreadable: a list of the view is. If records were joined at the very time of its version, others have the
    ///   lists now.
    @discardableResult
    func change(since seen: MountView, isUnreadable: Bool = false) -> Change {
        state.withLock { state in
            guard state.view === seen else { return .renewed }
            do {
                // In this order: a commit writes the manifest before it ends.
                let isPending = try seen.state.hasJournal()
                let isSame = try seen.state.version() == seen.version
                guard !isSame || isUnreadable && !isPending else {
                    if !isPending { state.goingSince = nil }
                    return isPending ? .going : .none
                }
                var slots = state.slots
                let view = try MountView(target, only: only, mayBeGone: true) {
                    MountedTarget.slot($0, &slots)
                }
                guard !isSame || !view.hasLists(of: seen) else { return .none }
                state.stale.formUnion(view.changed(since: state.view))
                (state.slots, state.view, state.goingSince) = (slots, view, nil)
                return .renewed
            } catch {
                // In the middle of a commit, or the only snapshot is gone.
                if let error = error as? SyncError, error.code != .pending { complain("\(error)") }
                return .going
            }
        }
    }

    /// Waits a moment for a run that may be moving what is looked for.
    ///
    /// - Returns: false if that has taken too long.
    func wait() -> Bool {
        let waits = state.withLock { state in
            let since = state.goingSince ?? .now
            state.goingSince = since
            return since.duration(to: .now) < MountedTarget.patience
        }
        guard waits else { return false }
        _ = Semaphore().wait(atMost: .milliseconds(20))
        return true
    }

    /// The names that have changed since the last call.
    func takeStale() -> Set<[UInt8]> {
        state.withLock { state in
            defer { state.stale = [] }
            return state.stale
        }
    }

    /// Writes a line, once.
    func complain(_ text: String) {
        let isNew = printed.withLock { $0.count < MountedTarget.mostPrinted && $0.insert(text).inserted }
        if isNew { complaints(text) }
    }
}
