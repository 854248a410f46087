import FileSystem

/// Refusals before any scan, by the locations of source and target.
enum Preconditions {
    static func refusals(
        _ source: Directory, _ root: TargetRoot, _ options: SyncOptions
    ) throws -> [Refusal] {
        var found = try overlap(source, root).map { [Refusal($0)] } ?? []
        if options.exchanges { found += try root.exchangeRefusals() }
        if let refusal = try root.stateRefusal(exchanges: options.exchanges) { found.append(refusal) }
        if try !root.hasParent(), !options.createParents {
            found.append(
                Refusal(
                    "neither the target nor the directory that would hold it exists: is a disk missing?",
                    option: "--create-parents"))
        }
        return found
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
