/// Old and new paths of the target's directories, and of its files that have several names.
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

    /// The new path of the object at a path of the target; nil when it is deleted. What no match names stays, as does
    /// the root.
    func newPath(of path: RelativePath?) -> RelativePath? {
        guard let path else { return .root }
        if let new = newByOld[path] { return new }
        return deleted.contains(path) ? nil : path
    }

    /// The new path of an object that no match names: it moves with its directory.
    func carriedPath(of path: RelativePath) -> RelativePath {
        if let new = newByOld[path] { return new }
        guard let name = path.fileName, let parent = path.parent else { return path }
        return carriedPath(of: parent).appending(name)
    }

    /// The moving directories above a path.
    func moving(above path: RelativePath) -> [RelativePath] {
        path.ancestors.filter { newByOld[$0] != nil }
    }

    /// Nothing moves.
    var isEmpty: Bool { newByOld.isEmpty }

    /// The present path of the object that will be at a path.
    func oldPath(of path: RelativePath) -> RelativePath {
        oldByNew[path] ?? path
    }

    /// The directory at a path will be new.
    func isCreated(_ path: RelativePath?) -> Bool {
        path.map { created.contains($0) } ?? false
    }

    /// The object moves with its directory, under its name.
    func isCarried(_ match: Match) -> Bool {
        match.source.path.lastComponent == match.target.path.lastComponent
            && newPath(of: match.target.path.parent) == match.source.path.parent
    }
}
