/// Where the target's directories end up, by path, and its files that have several names.
struct MoveMap {
    private var newByOld: [RelativePath: RelativePath] = [:]
    private var oldByNew: [RelativePath: RelativePath] = [:]
    private var deleted: Set<RelativePath> = []
    private var created: Set<RelativePath> = []

    init(_ difference: Difference) {
        for pair in difference.pairs
        where pair.isRenamed && !pair.replacesContent
            && (pair.source.isDirectory || pair.source.linkCount > 1)
        {
            newByOld[pair.target.path] = pair.source.path
            oldByNew[pair.source.path] = pair.target.path
        }
        for (file, _) in difference.deleted where file.isDirectory { deleted.insert(file.path) }
        for (file, _) in difference.created where file.isDirectory { created.insert(file.path) }
    }

    /// Where the object at a path of the target ends up; nil when it goes. What no pair names stays where it
    /// is, and so does the root.
    func newPath(of path: RelativePath?) -> RelativePath? {
        guard let path else { return .root }
        if let new = newByOld[path] { return new }
        return deleted.contains(path) ? nil : path
    }

    /// Where an object ends up that no pair names: its directory takes it along.
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
    func isCarried(_ pair: Pair) -> Bool {
        pair.source.path.lastComponent == pair.target.path.lastComponent
            && newPath(of: pair.target.path.parent) == pair.source.path.parent
    }
}
