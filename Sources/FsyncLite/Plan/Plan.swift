import FileStorage
import FileSystem

/// The actions of a run, as a pure value. It is the same for `plan` and `apply`.
public struct Plan: Sendable {
    /// In the order of their paths.
    public let actions: ActionList
    public private(set) var summary: ActionSummary
    /// Facts that are no errors, such as sockets that were left out.
    public internal(set) var notes: [String] = []
    /// Entries and attributes that could not be mirrored.
    public internal(set) var problems: [Problem] = []
    /// The reasons for which a run would refuse this plan; empty if it would not.
    public internal(set) var refusals: [Refusal] = []

    /// The snapshots (by id, oldest first) and the old trees of exchanges that are removed first, to make space.
    public internal(set) var givingWay: [String] = []
    /// The ids of the snapshots that no retention rule keeps afterwards, if they were computed.
    public internal(set) var expiring: [String] = []

    /// The abilities of the target's file system; nil if a commit can keep all promises on it.
    public internal(set) var fileSystem: FileSystemCapabilities?

    /// The commit swaps in a complete new tree.
    public internal(set) var exchanges = false

    /// The basis of the plan; nil for a comparison of two trees, and without a scan.
    package internal(set) var basis: Basis?

    /// The ids that a plan depends on, besides the paths in it.
    package struct Basis: Hashable, Sendable {
        /// The id of the target's manifest, if it has one.
        package var manifest: String?
        /// The identity of the source's root.
        package var source: FileIdentity
        /// The identity of the target's root; nil while it does not exist.
        package var target: FileIdentity?

        package init(manifest: String?, source: FileIdentity, target: FileIdentity?) {
            (self.manifest, self.source, self.target) = (manifest, source, target)
        }
    }

    @Boxed package private(set) var difference: Difference
    /// The change of the target's root.
    package let root: Match?

    /// - Parameter root: source and target roots, which the streams of a tree leave out.
    package init(_ difference: Difference, root: Match?) {
        self.difference = difference
        self.root = root
        actions = ActionList(difference, root: root)
        var summary = ActionSummary()
        // Count the distinct paths of the source in the actions; actions of one path are adjacent. The root is no
        // entry, and a deleted path is not in the source.
        var (named, last) = (0, RelativePath.root)
        for action in actions {
            summary.count(action)
            guard action.verb != .delete, action.path != last else { continue }
            (named, last) = (named + 1, action.path)
        }
        summary.unchanged = max(0, difference.sourceCount - named - actions.carried)
        self.summary = summary
    }
}

extension Plan {
    /// Lists the entries that could not be mirrored. The target's entries at these paths are not reported as unchanged.
    mutating func take(_ found: [Problem]) {
        problems = found.sorted { $0.path < $1.path }
        let unmirrored = Set(problems.lazy.filter(\.isOfWholeEntry).map(\.path))
        guard !unmirrored.isEmpty else { return }
        var counted = unmirrored.subtracting(difference.missing)
        for action in actions where action.verb != .delete { counted.remove(action.path) }
        let changes = difference.changes
        for index in changes.indices where changes.head(at: index).isRenamed {
            counted.remove(changes.path(at: index))
        }
        summary.unchanged = max(0, summary.unchanged - counted.count)
        summary.unmirrored = unmirrored.count
    }

    /// The losses of a target that is taken over; nil for none.
    var adopted: String? {
        func named(_ verb: Action.Verb, _ count: Int) -> String {
            let paths = actions.lazy.filter { $0.verb == verb }.prefix(3).map(\.path.description)
            return "(\(Amount.list(Array(paths), of: count)))"
        }
        let (deleted, replaced) = (summary.delete, summary.update)
        let parts = [
            deleted > 0
                ? "deletes \(Amount.entries(deleted)) that only the target has \(named(.delete, deleted))"
                : nil,
            replaced > 0 ? "replaces \(Amount.entries(replaced)) \(named(.update, replaced))" : nil,
        ].compactMap(\.self)
        guard !parts.isEmpty else { return nil }
        return "taking it over \(parts.joined(separator: " and ")), which the history keeps"
    }

    /// The changes made in the target that this plan reverts, for people; nil for none.
    var revertedChanges: String? {
        let drifted = actions.filter { $0.causes.contains(.drift) }
        // A change in a directory also moves the directory's time.
        let changes = drifted.filter { $0.type != "directory" || $0.verb != .attributes }
        let count = drifted.isEmpty ? 0 : max(changes.count, 1)
        guard count > 0 else { return nil }
        // A file that was deleted by hand is only made again.
        let isStored = changes.contains { $0.verb != .create }
        return
            "\(Amount.of(count, "change")) made in the target since the last run \(count == 1 ? "is" : "are") taken back"
            + (isStored ? "; the history keeps the changed files" : "")
    }

    /// A plan that does nothing, for these reasons.
    init(refusing refusals: [Refusal]) {
        self.init(Difference(), root: nil)
        self.refusals = refusals
    }
}
