import FileSystem

extension FileStatus {
    /// Makes this the status that the object shall have. Attributes that are not mirrored are those of the target's
    /// object. So is the time, if the target cannot store the difference.
    ///
    /// - Parameter timeStep: the nanoseconds between two times of the target.
    mutating func keepUnmirrored(
        of other: FileStatus, mirroring attributes: MirroredAttributes, timeStep: Int64
    ) {
        if !attributes.contains(.owner) { keepOwner(of: other) }
        if !attributes.contains(.mode) { permissions = other.permissions }
        if type == .symlink, !attributes.contains(.symlinks) {
            (owner, group, modified) = (other.owner, other.group, other.modified)
        }
        if timeStep > 1, modified.isStored(as: other.modified, step: timeStep) { modified = other.modified }
    }

    /// The same status, recorded as not compared.
    var unexamined: FileStatus {
        var status = self
        status.changed = .unexamined
        return status
    }

    /// Whether `keepUnmirrored` can change anything.
    static func mayKeep(mirroring attributes: MirroredAttributes, timeStep: Int64) -> Bool {
        !attributes.isSuperset(of: [.owner, .mode, .symlinks]) || timeStep > 1
    }
}

extension FileTime {
    /// The change time recorded for a file that the last run did not compare. No file has it, so the next run does.
    package static let unexamined = FileTime(seconds: 0, nanoseconds: 0)

    /// Whether a target would store this time as `stored`. If its times have a step, in nanoseconds, it stores the same
    /// time or one that is less than a step earlier.
    func isStored(as stored: FileTime, step: Int64) -> Bool {
        (0..<step).contains(nanoseconds(since: stored))
    }
}
