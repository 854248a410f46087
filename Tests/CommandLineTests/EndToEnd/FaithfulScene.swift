import Glibc
import TestSupport
import Testing

// The common part of the tests of attributes, links and odd trees.

extension MirrorScene {
    /// Applies. The run must succeed, the trees must be equal in every way, and nothing may be left to do.
    @discardableResult
    func mirrorAll(_ options: String..., sourceLocation: SourceLocation = #_sourceLocation) throws
        -> CommandRun
    {
        let run = try run(["apply", "source", "target"] + options).expect(0, sourceLocation: sourceLocation)
        try expectAllMirrored(sourceLocation: sourceLocation)
        let again = try self.run(["apply", "source", "target", "--json"] + options).json()
        #expect(again.text("outcome") == "unchanged", "\(again)", sourceLocation: sourceLocation)
        return run
    }

    func expectAllMirrored(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try expectMirrored(sourceLocation: sourceLocation)
        let differences = try AttributeSnapshot(target).differences(from: AttributeSnapshot(source))
        #expect(differences == [], sourceLocation: sourceLocation)
    }

    // MARK: Changing

    func setAttribute(_ name: TreeName, _ value: [UInt8], of path: String) throws {
        try RawPath.setAttribute(name, value, on: self.path(path))
    }

    func setAttribute(_ name: TreeName, _ value: String, of path: String) throws {
        try setAttribute(name, Array(value.utf8), of: path)
    }

    func removeAttribute(_ name: TreeName, of path: String) throws {
        try RawPath.removeAttribute(name, from: self.path(path))
    }

    func setOwner(_ owner: UInt32, _ group: UInt32, of name: String) throws {
        try #require(lchown(path(name), owner, group) == 0)
    }

    func setTime(_ time: TreeTime, of name: String) throws { try time.set(on: path(name)) }

    func link(_ name: String, to other: String) throws {
        try #require(Glibc.link(path(other), path(name)) == 0, "\(name) to \(other)")
    }

    // MARK: Looking

    func status(_ name: String) throws -> stat {
        var status = stat()
        try #require(lstat(path(name), &status) == 0, "\(name)")
        return status
    }

    /// The whole content of a target, in both kinds of snapshots.
    struct WholeState {
        let tree: TreeSnapshot
        let attributes: AttributeSnapshot

        func differences(from other: WholeState) -> [String] {
            tree.differences(from: other.tree) + attributes.differences(from: other.attributes)
        }
    }

    func wholeState(_ name: String = "target") throws -> WholeState {
        WholeState(tree: try TreeSnapshot(path(name)), attributes: try AttributeSnapshot(path(name)))
    }

    /// Starts an apply, kills it after its last operation, and recovers.
    func recoverStoppedApply(
        _ direction: String..., options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> CommandRun {
        try paused(["apply", "source", "target"] + options, at: .after("openat", of: "mark")).kill()
        #expect(exists("target/.fsync-lite/journal"), sourceLocation: sourceLocation)
        return try unlocked(["recover", "target"] + direction)
    }

    /// Does the same, with a recovery backward.
    func takenBackApply(_ options: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        try recoverStoppedApply("--back", options: options, sourceLocation: sourceLocation).expect(
            0, sourceLocation: sourceLocation)
    }
}
