import FileStorage
import FileSystem

/// Refusals before any scan, by the locations of source and target.
enum Preconditions {
    /// - Parameter overlaps: those of a source and a target of which one lies inside the other.
    static func refusals(
        _ overlaps: (Overlap.Goal) throws -> [Refusal], _ root: TargetRoot, _ options: SyncOptions
    ) throws -> [Refusal] {
        var found = try overlaps(root.goal())
        if let refusal = try root.danglingRefusal() { return found + [refusal] }
        if let refusal = try root.enclosingStateRefusal() { found.append(refusal) }
        if options.exchanges { found += try root.exchangeRefusals() }
        if let refusal = try root.stateRefusal(exchanges: options.exchanges) { found.append(refusal) }
        if options.expectsTarget, let refusal = try unexpected(root, options) { found.append(refusal) }
        if try !root.hasParent(), !options.createParents {
            found.append(
                Refusal(
                    "neither the target nor the directory that would hold it exists: is a disk missing?",
                    option: "--create-parents"))
        }
        return found
    }

    /// A directory where a disk should be mounted is on another disk, which would be filled.
    private static func unexpected(_ root: TargetRoot, _ options: SyncOptions) throws -> Refusal? {
        guard let directory = root.directory, let header = try root.state?.manifest()?.header else {
            let what = root.directory == nil ? "does not exist" : "was never written by fsync-lite"
            return Refusal(
                "the target \(LocalFile(bytes: root.path)) \(what), and a job does not begin one by itself: is a disk missing?",
                option: "--create-target")
        }
        guard !options.changeTarget, let last = header.targetFileSystem,
            let present = try directory.fileSystemUUID(), present != last
        else { return nil }
        return Refusal(
            "the target \(LocalFile(bytes: root.path)) is on another file system than last time: is a disk missing?",
            option: "--change-target")
    }
}
