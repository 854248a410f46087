/// Where the target's directories end up, by path, and its files that have several names.
struct MoveMap {
    private var newByOld: [RelativePath: RelativePath] = [:]
    private var oldByNew: [RelativePath: RelativePath] = [:]
    private var deleted: Set<RelativePath> = []
    private var created: Set<RelativePath> = []

    init(_ difference: Difference) {
        for match in difference.matches
        where match.isRenamed && !match.replacesContent
            && (match.source.isDirectory || match.source.linkCount > 1)
        {
            newByOld[match.target.path] = match.source.path
            oldByNew[match.source.path] = match.target.path
        }
        for (file, _) in difference.deleted where file.isDirectory { deleted.insert(file.path) }
        for (file, _) in difference.created where file.isDirectory { created.insert(file.path) }
    }

    /// Where the object at a path of the target ends up; nil when it goes. What no match names stays where it
    /// is, and so does the root.
    func newPath(of path: RelativePath?) -> RelativePath? {
        guard let path else { return .root }
        if let new = newByOld[path] { return new }
        return deleted.contains(path) ? nil : path
    }

    /// Where an object ends up that no match names: its directory takes it along.
    func carriedPath(of path: RelativePath) -> RelativePath {
        if let new = newByOld[path] { return new }
        guard let name = path.fileName, let parent = path.parent else { return path }
        return carriedPath(of: parent).appending(name)
    }

    /// Where the directories stand that move and may take the object at a path along.
    func moving(above path: RelativePath) -> [RelativePath] {
        path.ancestors.filter { newByOld[$0] != nil }
    }

    /// A directory moves.
    var isEmpty: Bool { newByOld.isEmpty }

    /// Where the object that will stand at a path stands now.
    func oldPath(of path: RelativePath) -> RelativePath {
        oldByNew[path] ?? path
    }

    /// The directory at a path will be a new one.
    func isCreated(_ path: RelativePath?) -> Bool {
        path.map { created.contains($0) } ?? false
    }

    /// It gets to its new place by staying in its directory, under its name.
    func isCarried(_ match: Match) -> Bool {
        match.source.path.lastComponent == match.target.path.lastComponent
            && newPath(of: match.target.path.parent) == match.source.path.parent
    }
}
