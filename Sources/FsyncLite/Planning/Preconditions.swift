import FileStorage
import FileSystem

/// Refusals before any scan, by the locations of source and target.
enum Preconditions {
    static func refusals(
        _ source: Directory, _ root: TargetRoot, _ options: SyncOptions
    ) throws -> [Refusal] {
        var found = try overlaps(source, root).map { Refusal($0) }
        if let refusal = try root.danglingRefusal() { return found + [refusal] }
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

    /// None of sources and target may be inside another. This compares the directories up to the top, so neither a
    /// symlink nor a second mount hides it.
    private static func overlaps(_ source: Directory, _ root: TargetRoot) throws -> [String] {
        let target = try root.anchor()
        var found: [String] = []
        let parts = source.parts.sorted { $0.key < $1.key }
        let sources: [(name: FileName?, directory: Directory)] =
            source.isJoined ? parts.map { ($0, $1) } : [(nil, source)]
        for (name, directory) in sources {
            let title = ManifestHeader.Source.title(name?.description)
            if root.directory != nil, try isSame(directory, target) {
                found.append("\(title) and the target are the same directory")
            } else if root.directory != nil, try isInside(directory, target) {
                found.append("\(title) lies inside the target")
            } else if try isInside(target, directory) {
                found.append("the target lies inside \(title)")
            }
            for (other, outer) in parts where try other != name && isInside(directory, outer) {
                // Of two names of one directory, one is enough.
                guard let name, try !isSame(directory, outer) || name < other else { continue }
                found.append(
                    "\(title) lies inside \(ManifestHeader.Source.title(other.description)), or is the same")
            }
        }
        return found
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
