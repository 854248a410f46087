import FileSystem

extension TreeMerge {
    /// Objects in the history that an earlier tree restores are moved. They are not copied and need no space.
    ///
    /// - Parameters:
    ///   - changed: the entries of the tree that the present list does not have at their path.
    ///   - places: the places of all objects in the history.
    mutating func offer(
        displaced changed: PackedList<ListTreeCoding>, _ places: Places, in root: Directory
    ) throws {
        let resolver = PathResolver(root)
        // Directories in the history, and by location the objects in such directories.
        var directories: [(index: Int, location: RelativePath)] = []
        var inner: [Int] = []
        // Most directories contain only objects of the tree.
        lazy var stored = places.objects
        // If a file has several names, only one location is known.
        var offered = PackedPaths([])
        for index in changed.indices {
            let location = changed.location(at: index)
            guard location.isInState, !location.isLost else { continue }
            guard !location.isInSlot else {
                inner.append(index)
                continue
            }
            guard offered.insert(location), try offer(index, location, in: changed, resolver) else {
                continue
            }
            directories.append((index, location))
        }
        inner.sort { (changed.location(at: $0), $0) < (changed.location(at: $1), $1) }
        /// A directory moves with all its content, wanted or not.
        func offerContent(of location: RelativePath, _ path: RelativePath) throws {
            guard let (directory, name) = try resolver.location(of: location) else { return }
            var options = TreeScan.Options()
            options.longestPath = RelativePath.longest - path.bytes.count - 1
            options.extended = .readable
            options.isInside = true
            let scan = try TreeScan(directory.directory(name), options.prefetching())
            var wanted = inner[inner.partitionPoint(where: { changed.location(at: $0) < location })...]
            while try scan.advance() {
                let found = location.appending(scan.path)
                wanted = wanted.drop { changed.location(at: $0) < found }
                let index = wanted.first.flatMap { changed.location(at: $0) == found ? $0 : nil }
                let object =
                    index == nil ? found.relative(to: .history).flatMap { stored.object(at: $0) } : nil
                offer(index, found, scan.status, scan.extended, scan.destination, object ?? 0, in: changed)
            }
        }
        for (index, location) in directories { try offerContent(of: location, changed.path(at: index)) }
        let tops = Set(directories.lazy.map(\.location))
        var top: [RelativePath] = []
        for index in inner {
            let location = changed.location(at: index)
            guard !location.isWithin(top), !location.isBelow(anyOf: tops), offered.insert(location),
                try offer(index, location, in: changed, resolver)
            else { continue }
            top = [location]
            try offerContent(of: location, changed.path(at: index))
        }
    }

    /// - Returns: whether the object is a directory.
    private mutating func offer(
        _ index: Int, _ location: RelativePath, in changed: PackedList<ListTreeCoding>,
        _ resolver: PathResolver
    ) throws -> Bool {
        guard let status = try resolver.status(of: location) else { return false }
        let file = File(path: location, status: status, destination: [])
        let extended = try resolver.extendedAttributes(of: file, .readable) ?? ExtendedAttributes()
        offer(index, location, status, extended, in: changed)
        return status.type == .directory
    }

    /// - Parameters:
    ///   - index: of the object's entry in the tree, if that has one.
    ///   - extended: its present extended attributes.
    ///   - object: the number of an object that the tree lacks; 0 if no list has it.
    private mutating func offer(
        _ index: Int?, _ location: RelativePath, _ status: FileStatus, _ extended: ExtendedAttributes,
        _ destination: [UInt8] = [], _ object: UInt64 = 0, in changed: PackedList<ListTreeCoding>
    ) {
        let entry = index.map { changed[$0].file }
        var recorded = status
        if let entry, entry.status.type == status.type {
            // The object may have been written to by another name.
            (recorded.size, recorded.modified) = (entry.status.size, entry.status.modified)
        }
        let object = entry?.object ?? object
        offer(
            File(
                path: location, status: status, destination: entry?.destination ?? destination,
                extended: extended, object: object),
            BaseEntry(
                status: recorded, targetInode: status.inode, extended: entry?.extended ?? extended,
                object: object))
    }
}
