/// Old and new paths of the target's directories, and of its files that have several names.
struct MoveMap {
    private var newByOld: [RelativePath: RelativePath] = [:]
    private var oldByNew: [RelativePath: RelativePath] = [:]
    private var deleted: Set<RelativePath> = []
    private var created: Set<RelativePath> = []

    init(_ difference: Difference) {
        let changes = difference.changes
        var staying: [Int] = []
        for index in changes.indices {
            let head = changes.head(at: index)
            switch head.kind {
            case .deleted: if head.isDirectory { deleted.insert(changes.path(at: index)) }
            case .created: if head.isDirectory { created.insert(changes.path(at: index)) }
            case .match:
                guard !head.replacesContent, head.isDirectory || head.hasOtherNames else { continue }
                guard head.isRenamed else {
                    staying.append(index)
                    continue
                }
                let (old, new) = (changes.targetPath(at: index), changes.path(at: index))
                (newByOld[old], oldByNew[new]) = (new, old)
            }
        }
        if !newByOld.isEmpty { keep(staying.map { changes.path(at: $0) }) }
    }

    /// Notes paths that do not move although a directory above them moves away, or another one moves to its path. The
    /// entries below them do not move with that directory.
    ///
    /// - Parameter paths: in order.
    private mutating func keep(_ paths: [RelativePath]) {
        for path in paths where carriedPath(of: path) != path || oldPath(of: path) != path {
            (newByOld[path], oldByNew[path]) = (path, path)
        }
    }

    /// The new path of the object at a path of the target; nil if it is deleted. An object without a match moves with
    /// its directory. The root does not move.
    func newPath(of path: RelativePath?) -> RelativePath? {
        guard let path else { return .root }
        if let new = newByOld[path] { return new }
        if deleted.contains(path) { return nil }
        return newByOld.isEmpty ? path : carriedPath(of: path)
    }

    /// The new path of an object without a match: it moves with its directory.
    func carriedPath(of path: RelativePath) -> RelativePath {
        if let new = newByOld[path] { return new }
        guard let name = path.fileName, let parent = path.parent else { return path }
        return carriedPath(of: parent).appending(name)
    }

    /// The moving directories above a path.
    func moving(above path: RelativePath) -> [RelativePath] {
        path.ancestors.filter { path in newByOld[path].map { $0 != path } ?? false }
    }

    var isEmpty: Bool { newByOld.isEmpty }

    /// The present path of the object that will be at a path. An object without a match comes with its directory.
    func oldPath(of path: RelativePath) -> RelativePath {
        if let old = oldByNew[path] { return old }
        guard !newByOld.isEmpty, let name = path.fileName, let parent = path.parent else { return path }
        return oldPath(of: parent).appending(name)
    }

    /// The directory at a path will be new.
    func isCreated(_ path: RelativePath?) -> Bool {
        path.map { created.contains($0) } ?? false
    }

    /// The object moves with its directory, under its name.
    func isCarried(_ match: Match) -> Bool { isCarried(from: match.target.path, to: match.source.path) }

    func isCarried(from old: RelativePath, to new: RelativePath) -> Bool {
        // An object that keeps its path is carried if its directory keeps its path too.
        if old == new, newByOld.isEmpty { return deleted.isEmpty || newPath(of: old.parent) == new.parent }
        return new.lastComponent == old.lastComponent && newPath(of: old.parent) == new.parent
    }
}
