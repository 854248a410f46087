import FileSystem

extension TreeMerge {
    /// Objects in the history that an earlier tree brings back are moved: nothing is copied, and no room is needed.
    mutating func offer(displaced tree: ListTree, in root: Directory) throws {
        let changed = tree.changed
        let resolver = PathResolver(root)
        // Displaced directories, and by location what is in one.
        var directories: [(index: Int, location: RelativePath)] = []
        var inner = PackedList<PathCoding>()
        // Of a file with several names, one slot is known.
        var offered: Set<RelativePath> = []
        for index in changed.indices {
            let location = changed.location(at: index)
            guard location.isInState, !location.isLost, offered.insert(location).inserted else { continue }
            guard !location.isInSlot else {
                inner.append((location, changed.path(at: index)))
                continue
            }
            guard try offer(index, location, in: tree, resolver) else { continue }
            directories.append((index, location))
        }
        inner.sort()
        func entry(_ location: RelativePath) -> Int? {
            inner.index(of: location).flatMap { changed.index(of: inner[$0].other) }
        }
        /// A directory moves with all its content, wanted or not.
        func offerContent(of location: RelativePath, _ path: RelativePath) throws {
            guard let (directory, name) = try resolver.location(of: location) else { return }
            var options = TreeScan.Options()
            options.longestPath = RelativePath.longest - path.bytes.count - 1
            options.extended = .readable
            options.isInside = true
            let scan = try TreeScan(directory.directory(name), options)
            while try scan.advance() {
                let inner = location.appending(scan.path)
                offer(entry(inner), inner, scan.status, in: tree, scan.destination, scan.extended)
            }
        }
        for (index, location) in directories { try offerContent(of: location, changed.path(at: index)) }
        let tops = Set(directories.lazy.map(\.location))
        var top: RelativePath?
        for (location, path) in inner
        where !(top.map(location.isBelow) ?? false) && !location.isBelow(anyOf: tops) {
            guard let index = changed.index(of: path),
                try offer(index, location, in: tree, resolver)
            else { continue }
            top = location
            try offerContent(of: location, path)
        }
    }

    /// - Returns: whether the object is a directory.
    private mutating func offer(
        _ index: Int, _ location: RelativePath, in tree: ListTree, _ resolver: PathResolver
    ) throws -> Bool {
        guard let (directory, name) = try resolver.location(of: location),
            let status = try directory.status(of: name)
        else { return false }
        offer(index, location, status, in: tree)
        return status.type == .directory
    }

    /// - Parameter index: of the object's entry in the tree, if that has one.
    private mutating func offer(
        _ index: Int?, _ location: RelativePath, _ status: FileStatus, in tree: ListTree,
        _ destination: [UInt8] = [],
        _ extended: ExtendedAttributes = ExtendedAttributes()
    ) {
        let entry = index.map { tree.changed[$0].file }
        var recorded = status
        if let entry, entry.status.type == status.type {
            // It may have been written to by another name.
            (recorded.size, recorded.modified) = (entry.status.size, entry.status.modified)
        }
        let file = File(
            path: location, status: status, destination: entry?.destination ?? destination,
            extended: entry?.extended ?? extended,
            object: location.relative(to: .history).flatMap(tree.stored.object) ?? entry?.object ?? 0)
        offer(
            file,
            BaseEntry(
                status: recorded, targetInode: status.inode, extended: file.extended, object: file.object))
    }
}
