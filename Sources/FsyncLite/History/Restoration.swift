import FileStorage
import FileSystem

/// An earlier tree of a target that something is to be made the mirror of: the target itself, or another directory.
public struct Restoration: Hashable, Sendable {
    /// The target whose snapshot it is.
    public var target: [UInt8]
    /// An id or its beginning, `latest~1`, or a date.
    public var snapshot: String
    /// What is wanted, with all that lies below; everything when empty.
    public var paths: [RelativePath]
    /// The directory that becomes a copy of it, which must be empty or not there; nil for the target itself.
    public var destination: [UInt8]?
    /// A copy's files are names of the target's objects where these are as the files were. What is written to one
    /// later is written to the target or its history.
    public var linksFiles = false
    /// What somebody changed in the target since the last apply stays as it is, and is listed.
    public var keepsDrift = false

    public init(target: [UInt8], snapshot: String, paths: [RelativePath] = [], destination: [UInt8]? = nil) {
        (self.target, self.snapshot, self.paths, self.destination) = (target, snapshot, paths, destination)
    }

    /// What a restoration is always allowed: whatever goes from a target is in its history, and can come back.
    var options: SyncOptions {
        var options = SyncOptions()
        options.allowEmptySource = true
        options.deleteLimit = .unlimited
        options.keepGoing = true
        return options
    }

    /// What the state of a copy says that it becomes, so that a second run can tell whether it wants the same.
    func copy(of snapshot: Snapshot) -> [UInt8]? {
        guard destination != nil else { return nil }
        return Array(([Array(snapshot.id.utf8)] + paths.sorted().map(\.bytes)).joined(separator: [0]))
    }
}
