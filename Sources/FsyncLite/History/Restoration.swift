import FileStorage
import FileSystem

/// An earlier tree of a target, to restore in the target itself or in another directory.
public struct Restoration: Hashable, Sendable {
    /// The target with the snapshot.
    public var target: [UInt8]
    /// An id or a prefix of one, `latest~1`, or a date.
    public var snapshot: String
    /// The wanted paths, with everything below them; everything when empty.
    public var paths: [RelativePath]
    /// The directory that becomes a copy, which must be empty or missing; nil for the target itself.
    public var destination: [UInt8]?
    /// Files of a copy are hard links to the target's objects where these are unchanged. A later write to one changes
    /// the target or its history.
    public var linksFiles = false
    /// What changed in the target since the last apply stays as it is, and is listed.
    public var keepsDrift = false

    public init(target: [UInt8], snapshot: String, paths: [RelativePath] = [], destination: [UInt8]? = nil) {
        (self.target, self.snapshot, self.paths, self.destination) = (target, snapshot, paths, destination)
    }

    /// The fixed options of a restoration: everything that it deletes is in the history, and can be restored.
    var options: SyncOptions {
        var options = SyncOptions()
        options.allowEmptySource = true
        options.deleteLimit = .unlimited
        options.keepGoing = true
        return options
    }

    /// Recorded in the state of a copy, so that a second run can tell whether it makes the same copy.
    func copy(of snapshot: Snapshot) -> [UInt8]? {
        guard destination != nil else { return nil }
        return Array(([Array(snapshot.id.utf8)] + paths.sorted().map(\.bytes)).joined(separator: [0]))
    }
}
