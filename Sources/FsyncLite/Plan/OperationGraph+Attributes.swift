import FileSystem

// The attributes that are set at the end.

extension OperationGraph {
    mutating func addAttributes(_ difference: Difference, _ root: (old: Attributes, new: Attributes)) {
        let changes = difference.changes
        // Always: names that are added or removed, and the making of the state, may change a time that was right.
        var others = [
            (
                path: RelativePath.root,
                change: AttributeChange(object: OperationGraph.root, old: root.old, new: root.new)
            )
        ]
        var directories: [RelativePath: Int] = [:]
        // The objects of matches, by change.
        var targets = [UInt32](repeating: .max, count: changes.count)
        for object in objects.indices where objects.items[object].origin == .moving {
            targets[objects.items[object].index] = UInt32(object)
        }
        for index in changes.indices(of: .match) {
            let head = changes.head(at: index)
            guard !head.replacesContent else { continue }
            if head.targetIsDirectory { directories[changes.targetPath(at: index)] = index }
            if head.changesAttributes, targets[index] == .max {
                targets[index] = UInt32(objectFor(changes, index))
            }
        }
        // New and removed names change a directory's modification time, which is set last.
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
        // The move of a directory changes its `..`, and xfs then sets its time. A new directory may also lack the
        // permissions that its owner needs to move it, without root.
        touched.formUnion(staged.directories.compactMap { staged.object(at: $0) })
        touched.formUnion(explicitByOld.values.filter { objects.isDirectory($0) })
        for index in changes.indices where changes.head(at: index).changesAttributes {
            touched.remove(Int(targets[index]))
        }
        touched.remove(OperationGraph.root)
        for object in touched.sorted() {
            guard let (path, isNew) = paths[object] else { continue }
            if !isNew { touchedDirectories.insert(path) }
            if isNew, let index = created[path] {
                let attributes = Attributes(staged.file(at: index).status)
                others.append((path, AttributeChange(object: object, old: nil, new: attributes)))
                deferredDirectories.insert(path)
            } else if let match = directories[path].map({ changes[match: $0] }) {
                let (old, new) = (Attributes(match.target.status), Attributes(match.asStored.status))
                others.append((match.source.path, AttributeChange(object: object, old: old, new: new)))
            } else {
                others.append((path, AttributeChange(object: object, old: nil, new: nil)))
            }
        }
        others.sort { $0.path < $1.path }
        for index in changes.indices.reversed() where changes.head(at: index).changesAttributes {
            while let last = others.last, changes.order(index, comparedTo: last.path) < 0 {
                addAttributes(last.change)
                others.removeLast()
            }
            let object = Int(targets[index])
            if objects.items[object].origin == .other {
                let (old, new) = changes[match: index].attributes
                addAttributes(AttributeChange(object: object, old: old, new: new))
            } else {
                addAttributes(ofMatchOf: object)
            }
        }
        for (_, change) in others.reversed() { addAttributes(change) }
    }

    /// The object of an entry of which only attributes change.
    private mutating func objectFor(_ changes: ChangeList, _ index: Int) -> Int {
        let path = changes.targetPath(at: index)
        if let object = fixedByOld[path] {
            if objects.items[object].origin == .fixed {
                objects.set(object, inPlace: index)
            } else {
                let target = changes[match: index].target
                objects[object].identity = target.identity
                objects[object].seen = target.status
            }
            return object
        }
        let object = objects.append(.inPlace, index)
        objects.setParent(of: object, old: oldDirectory(path.parent ?? .root))
        if changes.head(at: index).targetIsDirectory { fixedByOld[path] = object }
        return object
    }

    /// The object of a file that gets one more name.
    mutating func objectFor(_ file: File) -> Int {
        if let object = fixedByOld[file.path] { return object }
        var object = Object(identity: file.identity, seen: file.status)
        object.old = locationOf(file.path, parent: oldDirectory(file.path.parent ?? .root))
        object.new = object.old
        objects.append(object)
        fixedByOld[file.path] = objects.count - 1
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
