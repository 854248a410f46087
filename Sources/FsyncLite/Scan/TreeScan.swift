import FileSystem

/// The scanner: walks a directory tree and yields its entries in order, each directory before what it holds.
///
/// Memory holds the listings along one chain of directories. No symlink is followed, no path is resolved
/// twice, and neither depth nor the length of a path has a limit: deep handles are let go and found again.
package final class TreeScan: EntryStream {
    package struct Options: Sendable {
        /// Sockets hold no data: a source's are counted and left out, as rsync and tar do.
        package var omitsSockets = false
        /// A directory that cannot be read is a problem to list; without this it is an error.
        package var toleratesUnreadable = false
        /// What is mounted inside is listed as an entry, noted and not entered.
        package var staysOnMount = false
        /// The root of the other tree. Neither may lie in the other, and a mount can put it there although the
        /// directories above tell nothing of it: meeting it is an error.
        package var other: FileStatus?
        /// Extended attributes are looked up, of every entry.
        package var extended: ExtendedAttributes.Selection?

        package init(
            omitsSockets: Bool = false, toleratesUnreadable: Bool = false, staysOnMount: Bool = false
        ) {
            self.omitsSockets = omitsSockets
            self.toleratesUnreadable = toleratesUnreadable
            self.staysOnMount = staysOnMount
        }

        /// Threads that read directories before the scan comes to them.
        package var helpers = 0
        /// The monitor hears how many entries have been met; of two scans at a time, one should tell.
        package var reportsProgress = false

        package static let source = {
            var options = Options(omitsSockets: true, toleratesUnreadable: true)
            options.reportsProgress = true
            return options
        }()
        package static let target = Options(staysOnMount: true)

        /// The same, with the root of the other tree.
        package func apart(from other: FileStatus?) -> Options {
            var options = self
            options.other = other
            return options
        }

        /// The same, with as many threads as the processors have use for.
        ///
        /// - Parameter trees: how many are scanned at the same time.
        package func helped(trees: Int) -> Options {
            var options = self
            options.helpers = min(max(ThreadTeam.processors / trees - 1, 0), 3)
            return options
        }
    }

    /// What a scan finds besides entries.
    package struct Findings: Sendable {
        /// Directories that could not be listed, and symlinks that could not be read.
        package var problems: [Problem] = []
        /// Where something is mounted, or another file system begins; filled with `staysOnMount` only.
        package var mounts: [(path: RelativePath, isMountPoint: Bool)] = []
        /// Entries that are immutable or append-only; filled with `staysOnMount` only.
        package var locked: [RelativePath: FileStatus] = [:]
        package var omittedSockets = 0
        package var metReservedName = false
    }

    /// The name that is ours at the root of every tree; never part of it.
    package static let reservedName = FileName(".fsync-lite")

    package private(set) var path = RelativePath.root
    package private(set) var status: FileStatus
    package private(set) var destination: [UInt8] = []
    package private(set) var isListed = true
    package private(set) var exclusion = Exclusion.none
    package private(set) var extended = ExtendedAttributes()

    /// Whole after the last entry.
    package private(set) var findings = Findings()

    private var progress = Progress(.scanning)
    private let rootDevice: DeviceNumber
    private let options: Options
    private let monitor: any Monitor
    private var filter: FilteredWalk?
    private var chain: DirectoryChain
    /// That of the present directory, and those of the directories above it.
    private var level: Level
    private var outerLevels: [Level] = []
    /// The directory that was yielded last: entered by the next `advance`.
    private var next: OpenedDirectory?

    private struct Level {
        let listing: DirectoryListing
        /// How many bytes of `path` are the directory's own.
        let pathLength: Int
        var index = 0
        /// Directories of the listing that are read ahead, in order, and where to look for more.
        var readings: [(index: Int, reading: DirectoryReading)] = []
        var nextReading = 0
    }

    private let helpers: [WorkerThread]
    /// Of all levels.
    private var readings = 0
    /// Each may hold a listing and a descriptor.
    private static let readingLimit = (level: 4, scan: 64)

    package convenience init(
        _ root: Directory, _ options: Options, monitor: any Monitor = SilentMonitor()
    ) throws {
        try self.init(root, options, filter: nil, monitor: monitor)
    }

    /// - Parameter filter: excludes entries, and with a directory all that it holds.
    init(
        _ root: Directory, _ options: Options, filter: FilteredWalk?, monitor: any Monitor = SilentMonitor()
    ) throws {
        self.filter = filter
        self.options = options
        self.monitor = monitor
        chain = DirectoryChain(root: root)
        // What a filter leaves out is not to be read.
        helpers = (0..<(filter == nil ? options.helpers : 0)).map { _ in WorkerThread() }
        status = try root.status()
        rootDevice = status.device
        let listing = try DirectoryListing(of: root)
        level = Level(listing: listing, pathLength: 0)
        progress.entries = listing.count
        try readAhead()
    }

    package func advance() throws -> Bool {
        if let opened = next, let name = path.fileName {
            chain.push(opened.directory, name, inode: opened.status.inode)
            try filter?.enter(path)
            outerLevels.append(level)
            level = Level(listing: opened.listing, pathLength: path.bytes.count)
            next = nil
            try readAhead()
        }
        while true {
            path.bytes.removeSubrange(level.pathLength...)
            if level.index < level.listing.count {
                level.index += 1
                if try take(level.index - 1), try inspect() { return true }
            } else {
                guard let outer = outerLevels.popLast() else { return false }
                level = outer
                chain.pop()
                filter?.leave()
            }
        }
    }

    /// Makes one entry of the listing the present one; false where it is left out or has vanished.
    private func take(_ index: Int) throws -> Bool {
        status = level.listing.status(at: index)
        isListed = true
        if outerLevels.isEmpty,
            level.listing.name(at: index).elementsEqual(TreeScan.reservedName.bytes)
        {
            findings.metReservedName = true
            return false
        }
        if status.type == .socket, options.omitsSockets {
            findings.omittedSockets += 1
            return false
        }
        if !path.isRoot { path.bytes.append(UInt8(ascii: "/")) }
        path.bytes.append(contentsOf: level.listing.name(at: index))
        exclusion = filter?.exclusion(of: path, status) ?? .none
        if case .byRule = exclusion { return true }
        if options.staysOnMount {
            if status.isImmutable || status.isAppendOnly { findings.locked[path] = status }
            if status.isMountRoot || status.device != rootDevice {
                findings.mounts.append((path, status.isMountRoot))
                return true
            }
        }
        switch status.type {
        case .symlink: return try readLink()
        case .directory: return try enter()
        default: return true
        }
    }

    /// False where the entry has vanished.
    private func inspect() throws -> Bool {
        guard let selection = options.extended, let name = path.fileName else { return true }
        do throws(SystemError) {
            extended = try ObjectHandle(name, in: chain.current()).extendedAttributes(selection)
            return true
        } catch {
            guard error.errno == .noSuchFile else { throw error }
            next = nil
            return false
        }
    }

    private func readLink() throws -> Bool {
        guard let name = path.fileName else { return false }
        do {
            destination = try chain.current().destination(of: name)
            return true
        } catch  where [.noSuchFile, .invalid].contains(error.errno) {
            // Gone, or another object by now: a scan a moment later would not have met this one.
            return false
        } catch  where options.toleratesUnreadable {
            destination = []
            findings.problems.append(Problem(path: path, code: .unreadable, message: error.errno.description))
            return true
        }
    }

    /// Has the next directories of the present level read by the helpers.
    private func readAhead() throws(SystemError) {
        guard !helpers.isEmpty else { return }
        let (level, scan) = TreeScan.readingLimit
        while self.level.readings.count < level, readings < scan,
            self.level.nextReading < self.level.listing.count
        {
            let index = self.level.nextReading
            self.level.nextReading += 1
            let status = self.level.listing.status(at: index)
            guard index >= self.level.index, status.type == .directory, !status.isMountRoot,
                status.device == rootDevice, let name = FileName(self.level.listing.name(at: index))
            else { continue }
            let reading = DirectoryReading(name, in: try chain.current())
            // Without a thread to be had, each is read in its turn.
            guard (try? helpers[index % helpers.count].start { reading.readAhead() }) != nil else { return }
            self.level.readings.append((index, reading))
            readings += 1
        }
    }

    /// The directory of the present entry.
    private func open(_ name: FileName) throws(SystemError) -> OpenedDirectory {
        guard let first = level.readings.first, first.index == level.index - 1 else {
            return try OpenedDirectory(name, in: chain.current())
        }
        level.readings.removeFirst()
        readings -= 1
        try readAhead()
        return try first.reading.value()
    }

    private func enter() throws -> Bool {
        guard let name = path.fileName else { return false }
        if let other = options.other, other.inode == status.inode, other.device == status.device {
            throw SyncError(
                .refused, path: chain.root.path + [UInt8(ascii: "/")] + path.bytes,
                "one of source and target lies inside the other, by way of a mount")
        }
        try monitor.checkCancellation()
        do throws(SystemError) {
            let opened = try open(name)
            // Another directory took the name since the listing: what is here now counts.
            if opened.status.inode != status.inode { status = opened.status }
            next = opened
            if options.reportsProgress {
                progress.entries += opened.listing.count
                monitor.report(progress)
            }
        } catch {
            switch error.errno {
            case _ where Errno.noDirectory.contains(error.errno):
                return false
            case _ where options.toleratesUnreadable:
                isListed = false
                findings.problems.append(
                    Problem(path: path, code: .unreadable, message: error.errno.description))
            default:
                throw error
            }
        }
        return true
    }
}
