import FileStorage
import FileSystem

/// The state of a scan. A value inside `TreeScan`, because one thread then uses it without an exclusivity check at each
/// step.
struct TreeCursor {
    private(set) var path = RelativePath.root
    private(set) var status: FileStatus
    private(set) var destination: [UInt8] = []
    private(set) var isListed = true
    private(set) var exclusion = Exclusion.none
    private(set) var extended = ExtendedAttributes()

    /// Complete after the last entry.
    private(set) var findings = TreeScan.Findings()

    private var progress = SyncProgress(.scanning)
    private let rootDevice: DeviceNumber
    /// This root or the other is one of a file system, which may have a `lost+found`.
    private let leavesLostAndFound: Bool
    private let options: TreeScan.Options
    private let monitor: any Monitor
    private var filter: FilteredWalk?
    private var chain: DirectoryChain
    /// The present directory, and the directories above it.
    private var level: Level
    private var outerLevels: [Level] = []
    /// The directory that was yielded last; the next `advance` enters it.
    private var next: OpenedDirectory?

    private struct Level {
        var listing: DirectoryListing
        /// The length of the directory's own part of `path`, in bytes.
        let pathLength: Int
        var index = 0
        /// Directories of the listing that are being read ahead, in order, and where to continue.
        var readings: [(index: Int, reading: DirectoryPrefetch)] = []
        var nextReading = 0
    }

    private let helpers: [WorkerThread]
    /// The number on all levels.
    private var readings = 0
    private var batches = 0
    /// Each may hold a listing and a descriptor.
    private static let readingLimit = (level: 16, scan: 64)

    /// - Parameter filter: excludes entries; a directory with all its contents.
    init(
        _ root: Directory, _ options: TreeScan.Options, filter: FilteredWalk?, monitor: any Monitor
    ) throws {
        self.filter = filter
        self.options = options
        self.monitor = monitor
        chain = DirectoryChain(root: root)
        // Excluded directories must not be read.
        helpers = (0..<(filter == nil ? options.helpers : 0)).map { _ in WorkerThread() }
        status = try root.status()
        rootDevice = status.device
        leavesLostAndFound = status.isMountRoot || options.other?.isMountRoot ?? false
        let listing = try DirectoryListing(of: root)
        level = Level(listing: listing, pathLength: 0)
        progress.entries = listing.count
    }

    mutating func advance() throws -> Bool {
        if let opened = next, let name = path.fileName {
            chain.push(opened.directory, name, inode: opened.status.inode)
            try filter?.enter(path)
            outerLevels.append(level)
            level = Level(listing: opened.listing, pathLength: path.bytes.count)
            next = nil
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

    /// Makes an entry of the listing the present one; false if it is left out or has vanished.
    private mutating func take(_ index: Int) throws -> Bool {
        if !level.listing.holds(index) { try level.listing.load(from: index, in: chain.current()) }
        guard let found = level.listing.status(at: index) else { return false }
        status = found
        isListed = true
        if outerLevels.isEmpty,
            level.listing.name(at: index).elementsEqual(FileName.state.bytes)
        {
            findings.metReservedName = true
            return false
        }
        // Made by mkfs and fsck for themselves.
        if leavesLostAndFound, outerLevels.isEmpty, status.type == .directory,
            level.listing.name(at: index).elementsEqual("lost+found".utf8)
        {
            return false
        }
        if status.type == .socket, options.omitsSockets {
            findings.omittedSockets += 1
            return false
        }
        if !path.isRoot { path.bytes.append(UInt8(ascii: "/")) }
        path.bytes.append(contentsOf: level.listing.name(at: index))
        exclusion = filter?.exclusion(of: path, status) ?? .none
        // Not entered, but yielded: its recorded entry may need its status.
        if case .byRule = exclusion { return try status.type != .symlink || readLink() }
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

    /// False if the entry has vanished.
    private mutating func inspect() throws -> Bool {
        guard let selection = options.extended, let name = path.fileName else { return true }
        do throws(SystemError) {
            extended = try chain.current().extendedAttributes(of: name, selection)
            return true
        } catch {
            guard error.errno == .noSuchFile else { throw error }
            next = nil
            return false
        }
    }

    private mutating func readLink() throws -> Bool {
        guard let name = path.fileName else { return false }
        do {
            destination = try chain.current().destination(of: name)
            return true
        } catch  where [.noSuchFile, .invalid].contains(error.errno) {
            // It is gone or replaced; a slightly later scan would not have seen it.
            return false
        } catch  where options.toleratesUnreadable {
            destination = []
            findings.problems.append(Problem(path: path, code: .unreadable, message: error.errno.description))
            return true
        }
    }

    /// Lets a helper read directories after the present one, in reverse order, so that scan and helper meet without
    /// waiting for each other.
    private mutating func readAhead() throws(SystemError) {
        guard !helpers.isEmpty else { return }
        let room = min(TreeCursor.readingLimit.level, TreeCursor.readingLimit.scan - readings)
        level.nextReading = max(level.nextReading, level.index - 1)
        while level.readings.count < room, level.listing.holds(level.nextReading) {
            let index = level.nextReading
            level.nextReading += 1
            guard let status = level.listing.status(at: index), status.type == .directory,
                !status.isMountRoot,
                status.device == rootDevice, let name = FileName(level.listing.name(at: index))
            else { continue }
            level.readings.append((index, DirectoryPrefetch(name, in: try chain.current())))
        }
        readings += level.readings.count
        let ahead = level.readings.dropFirst().map(\.reading)
        guard !ahead.isEmpty else { return }
        batches += 1
        // If there is no thread, the scan reads each directory itself.
        try? helpers[batches % helpers.count].start {
            for reading in ahead.reversed() { reading.readAhead() }
        }
    }

    /// Opens the directory of the present entry.
    private mutating func open(_ name: FileName) throws(SystemError) -> OpenedDirectory {
        if level.readings.isEmpty { try readAhead() }
        guard let first = level.readings.first, first.index == level.index - 1 else {
            return try OpenedDirectory(name, in: chain.current())
        }
        level.readings.removeFirst()
        readings -= 1
        return try first.reading.value()
    }

    private mutating func enter() throws -> Bool {
        guard let name = path.fileName else { return false }
        if let other = options.other, other.isSameObject(as: status) {
            throw SyncError(
                .refused, path: chain.root.path + [UInt8(ascii: "/")] + path.bytes,
                "one of source and target lies inside the other, by way of a mount")
        }
        try monitor.checkCancellation()
        do throws(SystemError) {
            let opened = try open(name)
            // Another directory has taken the name since the listing; the new one counts.
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
