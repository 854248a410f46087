import FileStorage
import FileSystem

/// Refusals before any scan, by the locations of source and target.
enum Preconditions {
    /// - Parameter overlaps: the refusals if one of source and target is inside the other.
    static func refusals(
        _ overlaps: (Overlap.Goal) throws -> [Refusal], _ root: TargetRoot, _ options: SyncOptions
    ) throws -> [Refusal] {
        var found = try overlaps(root.goal())
        if let refusal = try root.danglingRefusal() { return found + [refusal] }
        if let refusal = try root.enclosingStateRefusal() { found.append(refusal) }
        if options.exchanges, let refusal = try root.exchangeRefusal() { found.append(refusal) }
        if let refusal = try root.stateRefusal(exchanges: options.exchanges) { found.append(refusal) }
        let known = options.acceptsNewTarget ? nil : options.knownTargets
        if let refusal = try known?.refusal(of: root, isOfJob: options.expectsTarget) {
            found.append(refusal)
        } else if options.expectsTarget, let refusal = try unexpected(root, options) {
            found.append(refusal)
        }
        let hasParent = try root.directory != nil || LocalFile(bytes: root.path).parent.isDirectory
        if !hasParent, !options.createParents { found.append(.noParent) }
        return found
    }

    /// If the target's disk is not mounted, its directory is on another disk, which would be filled.
    private static func unexpected(_ root: TargetRoot, _ options: SyncOptions) throws -> Refusal? {
        guard let directory = root.directory, let header = try root.state?.manifest()?.header else {
            return .unknownJobTarget(root.path, isThere: root.directory != nil)
        }
        guard !options.changeTarget, let last = header.targetFileSystem,
            let present = try directory.fileSystemUUID(), present != last
        else { return nil }
        return .otherFileSystem(root.path)
    }
}
