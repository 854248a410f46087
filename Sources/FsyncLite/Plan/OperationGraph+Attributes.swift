import FileSystem

// The attributes that are set at the end.

extension OperationGraph {
    mutating func addAttributes(_ difference: Difference, _ root: (old: Attributes, new: Attributes)) {
        let matches = difference.matches
        var changes = AttributeList(matches)
        // Always: the names that come and go, and the making of the state, move its time, which may have been
        // right before.
        changes.append(AttributeChange(object: OperationGraph.root, old: root.old, new: root.new), at: .root)
        var directories: [RelativePath: Int] = [:]
        var moving = ObjectList.Cursor()
        for index in matches.indices {
            let head = matches.head(at: index)
            guard !head.replacesContent else { continue }
            if head.targetIsDirectory { directories[matches.targetPath(at: index)] = index }
            guard head.changesAttributes else { continue }
            let object = moving.object(of: .moving, index, in: objects) ?? objectFor(matches, index)
            changes.append(object, ofMatch: index)
        }
        // Names that come or go change a directory's modification time, which is set last.
        var touched: Set<Int> = []
        for operation in operations {
            let parent: Int? =
                switch operation {
                case .detach(let object): objects.parents(object).old
                case .attach(let object), .exchange(let object, _): objects.parents(object).new
                case .link(let link): link.location.parent
                case .rename: nil
                }
            if let parent { touched.insert(parent) }
        }
        let staged = stagedEntries
        let paths = directoryPaths()
        var created: [RelativePath: Int] = [:]
        for index in staged.directories { created[staged.path(at: index)] = index }
        // So does the move of a directory itself: its `..` changes, and xfs counts that. A new one may also lack
        // the permissions that a user other than root needs to move it.
        touched.formUnion(staged.directories.compactMap { staged.object(at: $0) })
        touched.formUnion(explicitByOld.values.filter { objects.isDirectory($0) })
        let changed = changes.objects(of: objects.count)
        for object in touched.sorted() where !changed[object] {
            guard let (path, isNew) = paths[object] else { continue }
            if !isNew { touchedDirectories.insert(path) }
            if isNew, let index = created[path] {
                let attributes = Attributes(staged.file(at: index).status)
                changes.append(AttributeChange(object: object, old: nil, new: attributes), at: path)
                deferredDirectories.insert(path)
            } else if let match = directories[path].map({ matches[$0] }) {
                changes.append(
                    AttributeChange(
                        object: object, old: Attributes(match.target.status),
                        new: Attributes(match.held.status)),
                    at: match.source.path)
            } else {
                changes.append(AttributeChange(object: object, old: nil, new: nil), at: path)
            }
        }
        changes.sort()
        attributes = changes
    }

    /// The object of something that keeps its place but for its attributes.
    private mutating func objectFor(_ matches: MatchList, _ index: Int) -> Int {
        let path = matches.targetPath(at: index)
        if let object = fixedByOld[path] {
            if objects.items[object].origin == .fixed {
                objects.set(object, standing: index)
            } else {
                let target = matches[index].target
                objects[object].identity = target.identity
                objects[object].seen = target.status
            }
            return object
        }
        let object = objects.append(.standing, index)
        objects.setParent(of: object, old: oldDirectory(path.parent ?? .root))
        if matches.head(at: index).targetIsDirectory { fixedByOld[path] = object }
        return object
    }

    /// The object of a file that gets one more name.
    mutating func objectFor(_ kept: File) -> Int {
        if let object = fixedByOld[kept.path] { return object }
        var object = Object(identity: kept.identity, seen: kept.status)
        object.old = locationOf(kept.path, parent: oldDirectory(kept.path.parent ?? .root))
        object.new = object.old
        objects.append(object)
        fixedByOld[kept.path] = objects.count - 1
        return objects.count - 1
    }

    private func directoryPaths() -> [Int: (path: RelativePath, isNew: Bool)] {
        var paths: [Int: (path: RelativePath, isNew: Bool)] = [:]
        for (path, object) in fixedByNew { paths[object] = (path, true) }
        let staged = stagedEntries
        for index in staged.directories {
            if let object = staged.object(at: index) { paths[object] = (staged.path(at: index), true) }
        }
        for (path, object) in explicitByOld { paths[object] = (path, false) }
        for (path, object) in fixedByOld { paths[object] = (path, false) }
        return paths
    }
}
