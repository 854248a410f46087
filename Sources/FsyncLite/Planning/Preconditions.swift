import FileStorage
import FileSystem

/// Refusals before any scan, by the locations of source and target.
enum Preconditions {
    static func refusals(
        _ source: Directory, _ root: TargetRoot, _ options: SyncOptions
    ) throws -> [Refusal] {
        var found = try overlap(source, root).map { [Refusal($0)] } ?? []
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

    /// Neither may be inside the other. This compares the directories up to the top, so neither a symlink nor a second
    /// mount hides it.
    private static func overlap(_ source: Directory, _ root: TargetRoot) throws -> String? {
        let target = try root.anchor()
        if root.directory != nil {
            if try isSame(source, target) { return "source and target are the same directory" }
            if try isInside(source, target) { return "the source lies inside the target" }
        }
        return try isInside(target, source) ? "the target lies inside the source" : nil
    }

    private static func isSame(_ left: Directory, _ right: Directory) throws -> Bool {
        try left.status().isSameObject(as: right.status())
    }

    /// Whether a directory is another one or inside it.
    private static func isInside(_ directory: Directory, _ other: Directory) throws -> Bool {
        var current = directory
        while true {
            if try isSame(current, other) { return true }
            let parent = try current.parent()
            if try isSame(parent, current) { return false }
            current = parent
        }
    }
}
