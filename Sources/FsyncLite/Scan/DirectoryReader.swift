import FileSystem

/// Reads the directories of a scan, on one of its threads.
final class DirectoryReader {
    private let options: TreeScan.Options
    private let filter: FilteredWalk?
    private let rules: DirectoryRules.Reader?
    private let rootDevice: DeviceNumber

    init(_ options: TreeScan.Options, filter: FilteredWalk?, rootDevice: DeviceNumber) {
        (self.options, self.filter, self.rootDevice) = (options, filter, rootDevice)
        rules = filter?.reader()
    }

    /// Lists the root.
    func list(_ root: Directory) throws(SystemError) -> ListedDirectory {
        var scope = scope(of: .root, below: nil)
        var path = RelativePath.root
        for name in (options.single?.components ?? []).compactMap({ FileName($0) }) {
            path = path.appending(name)
            // The rules of each directory above are applied.
            if case .success(let (outer, _))? = scope { scope = self.scope(of: path, below: outer) }
        }
        let listing = try DirectoryListing(of: root)
        let isInner = root.isJoined || !path.isRoot || options.isInside
        return ListedDirectory(
            listing, try root.status(), filter: scope, role: isInner ? .inner : .root,
            targets: try targets(listing, root),
            prefix: path.isRoot ? 0 : path.bytes.count + 1)
    }

    /// Opens and lists a subdirectory.
    func list(
        _ index: Int, of parent: ListedDirectory, in directory: Directory
    ) throws(SystemError) -> (ListedDirectory, Directory) {
        let bytes = parent.listing.name(at: index)
        guard let name = FileName(bytes) else {
            throw SystemError("openat", directory.path + [UInt8(ascii: "/")] + bytes, .noSuchFile)
        }
        let opened = try directory.directory(name)
        let status = try opened.status()
        let listing = try DirectoryListing(of: opened, isFresh: true)
        var scope: ListedDirectory.Scope?
        if case .success(let (outer, path))? = parent.filter {
            scope = self.scope(of: path.appending(name), below: outer)
        }
        let role = directory.isJoined ? ListedDirectory.Role.part : .inner
        let targets = try targets(listing, opened)
        return (
            ListedDirectory(
                listing, status, filter: scope, role: role, targets: targets,
                prefix: parent.prefix + bytes.count + 1),
            opened
        )
    }

    /// Finds other targets by the names of their states, and then by the marks of these states.
    private func targets(
        _ listing: DirectoryListing, _ directory: Directory
    ) throws(SystemError) -> ListedDirectory.Targets {
        var found = ListedDirectory.Targets()
        guard options.leavesTargets else { return found }
        for index in listing.dotted where FileName.isReserved(listing.name(at: index)) {
            guard let name = FileName(listing.name(at: index)), try directory.holdsMarkedState(name) else {
                continue
            }
            if name == .state {
                found.isOne = true
            } else if let tree = name.treeOfState {
                found.entries.append(index)
                found.entries += listing.index(of: tree).map { [$0] } ?? []
            }
        }
        return found
    }

    private func scope(of path: RelativePath, below outer: FilterScope?) -> ListedDirectory.Scope? {
        guard let filter, let rules else { return nil }
        return Result { (try filter.scope(of: path, below: outer, rules), path) }
    }

    /// Reads a window of a directory's entries.
    func window(
        _ range: Range<Int>, of listed: ListedDirectory, in directory: Directory
    ) throws(SystemError) -> ListingWindow {
        try ListingWindow(range, of: listed.listing, in: directory, options.extended) { index, status in
            guard isEntered(index, status, of: listed) else { return nil }
            let isMount = status.isMountRoot || status.device != listed.status.device
            return ListingWindow.Subdirectory(index: index, isMount: isMount)
        }
    }

    /// Whether the scan reads a directory, and not one that is excluded, a target's mount point, state or `lost+found`.
    private func isEntered(_ index: Int, _ status: FileStatus, of listed: ListedDirectory) -> Bool {
        if options.single != nil || listed.isTooLong(index, options) || listed.targets.entries.contains(index)
        {
            return false
        }
        if listed.targets.isOne, listed.role == .inner { return false }
        if options.stopsAtMounts, status.isMountRoot || status.device != rootDevice { return false }
        if listed.role != .inner {
            let name = listed.listing.name(at: index)
            if name.elementsEqual(FileName.state.bytes) { return false }
            if name.elementsEqual(FileName.lostAndFound.bytes), options.leavesLostAndFound(in: listed) {
                return false
            }
        }
        guard let filter, let scope = listed.filter else { return true }
        guard case .success(let (rules, path)) = scope, let name = FileName(listed.listing.name(at: index))
        else {
            return false
        }
        if case .byRule = filter.exclusion(of: path.appending(name), status, in: rules) { return false }
        return true
    }
}
