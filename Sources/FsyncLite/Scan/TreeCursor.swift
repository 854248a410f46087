import FileStorage
import FileSystem

/// The state of a scan. It is a value inside `TreeScan`, so that one thread can use it without an exclusivity check at
/// each step.
struct TreeCursor {
    private(set) var status: FileStatus
    private(set) var destination: [UInt8] = []
    private(set) var sight = Sight.whole
    private(set) var exclusion = Exclusion.none
    private(set) var extended = ExtendedAttributes()

    /// Complete after the last entry.
    private(set) var findings = TreeScan.Findings()

    private var progress = SyncProgress(.scanning)
    private let rootDevice: DeviceNumber
    private let options: TreeScan.Options
    private let monitor: any Monitor
    private let filter: FilteredWalk?
    private let prefetch: DirectoryPrefetch
    private var chain: DirectoryChain
    /// The path of the present directory with a separator after it; empty for the root.
    private var directoryPath: [UInt8]
    /// The present directory, and the directories above it.
    private var level: Level
    private var outerLevels: [Level] = []
    /// The directory that was yielded last. The next `advance` enters it.
    private var next: ReadingList.Reading?

    private struct Level {
        let listed: ListedDirectory
        let listing: DirectoryListing
        /// The present part of the entries, and the numbers of the windows after it.
        var window: ListingWindow
        var later: ArraySlice<Int>
        /// The length of the path before the names of its entries.
        let prefix: Int
        /// Whether it has entries whose paths are too long.
        var hasTooLong = false
        /// The entry after the present one.
        var index = 0
        /// The next of the window's subdirectories.
        var subdirectory = 0

        var filter: ListedDirectory.Scope? { listed.filter }

        init(_ reading: ReadingList.Reading) {
            (listed, listing) = (reading.listed, reading.listed.listing)
            (window, later) = (reading.window, reading.later)
            prefix = reading.listed.prefix
        }
    }

    /// The least number of a directory's entries in memory. If one of the first has an error, the directory is
    /// unreadable.
    private static let windowSize = 4096

    /// - Parameter filter: excludes entries, and directories with all their contents.
    init(
        _ root: Directory, _ options: TreeScan.Options, filter: FilteredWalk?, monitor: any Monitor
    ) throws {
        self.filter = filter
        self.options = options
        self.monitor = monitor
        chain = DirectoryChain(root: root)
        status = try root.status()
        rootDevice = status.device
        prefetch = try DirectoryPrefetch(root, options, filter: filter)
        var reading = prefetch.root
        try TreeCursor.fill(&reading.window, &reading.later, prefetch) { root }
        level = Level(reading)
        directoryPath = options.single.map { $0.isRoot ? [] : $0.bytes + [UInt8(ascii: "/")] } ?? []
        _ = try level.filter?.get()
        progress.entries = level.listing.count
    }

    /// Adds later windows until there are enough entries.
    private static func fill(
        _ window: inout ListingWindow, _ later: inout ArraySlice<Int>, _ prefetch: DirectoryPrefetch,
        _ directory: () throws(SystemError) -> Directory
    ) throws(SystemError) {
        while window.count < windowSize, let id = later.popFirst() {
            window.append(try prefetch.next(id, in: directory).window)
        }
    }

    /// The path of the present entry.
    var path: RelativePath {
        var bytes: [UInt8] = []
        appendPath(to: &bytes)
        return RelativePath(validated: bytes)
    }

    func appendPath(to bytes: inout [UInt8]) {
        guard level.index > 0 else { return }
        bytes.append(contentsOf: directoryPath)
        level.listing.append(level.index - 1, to: &bytes)
    }

    mutating func advance() throws -> Bool {
        if let reading = next, let name = FileName(level.listing.name(at: level.index - 1)) {
            chain.push(reading.directory, name, inode: reading.listed.status.inode)
            _ = try reading.listed.filter?.get()
            outerLevels.append(level)
            directoryPath.append(contentsOf: name.bytes)
            directoryPath.append(UInt8(ascii: "/"))
            level = Level(reading)
            next = nil
        }
        while true {
            if level.index < level.listing.count {
                level.index += 1
                if try take(level.index - 1) { return true }
            } else {
                guard let outer = outerLevels.popLast() else { return false }
                level = outer
                directoryPath.removeLast(directoryPath.count - level.prefix)
                chain.pop()
            }
        }
    }

    /// Makes an entry of the listing the present one. Returns false if the entry is left out or has vanished.
    private mutating func take(_ index: Int) throws -> Bool {
        if index >= level.window.range.upperBound { try loadWindow() }
        guard let found = level.window.status(at: index) else { return false }
        let obstacle = level.window.unseen[index]
        (status, sight) = (found, .whole)
        if level.listed.role != .inner {
            let name = level.listing.name(at: index)
            if name.elementsEqual(FileName.state.bytes) {
                findings.metReservedName = true
                return false
            }
            if case .directory = status.type, name.elementsEqual(FileName.lostAndFound.bytes),
                options.leavesLostAndFound(in: level.listed)
            {
                noteLostAndFound()
                return false
            }
        }
        if case .socket = status.type, options.omitsSockets {
            findings.omittedSockets += 1
            return false
        }
        if options.leavesRemoved, status.type == .file, isRemoved(level.listing.name(at: index)) {
            return false
        }
        if options.extended != nil {
            extended = try attributes(index)
        }
        exclusion = .none
        if level.listed.targets.entries.contains(index) {
            exclusion = .asTarget
            if !FileName.isReserved(level.listing.name(at: index)) { findings.targets.append(path) }
            return true
        }
        if let filter, case .success(let (rules, _))? = level.filter {
            exclusion =
                obstacle == nil
                ? filter.exclusion(of: path, status, in: rules)
                : filter.exclusion(ofUnseen: path, level.listing.type(at: index), in: rules)
        }
        if level.listed.isTooLong(index, options) {
            if case .none = exclusion, !level.hasTooLong {
                level.hasTooLong = true
                findings.problems.append(.tooLong(in: RelativePath(validated: directoryPath.dropLast())))
            }
            return false
        }
        if case .symlink = status.type { try readLink(index) }
        // It is not entered. It is yielded, because its recorded entry may need its status.
        if case .byRule = exclusion { return true }
        if let obstacle {
            guard options.toleratesUnreadable else { throw obstacle }
            leave(.unseen, obstacle.errno)
            return true
        }
        if options.stopsAtMounts {
            if status.isImmutable || status.isAppendOnly { findings.locked[path] = status }
            if status.isMountRoot || status.device != rootDevice {
                findings.mounts.append((path, status.isMountRoot))
                return true
            }
        }
        if case .directory = status.type { return try enter(index) }
        return true
    }

    /// Leaves the mirror's version of the present entry unchanged: a problem, unless the filters leave the entry out.
    private mutating func leave(_ sight: Sight, _ errno: Errno) {
        self.sight = sight
        guard filter?.isElsewhere(path, status.device) != true else { return }
        findings.problems.append(.unreadable(path, errno))
    }

    private func isRemoved(_ name: ArraySlice<UInt8>) -> Bool {
        name.starts(with: ".fuse_hidden".utf8) || name.starts(with: ".nfs0".utf8)
    }

    /// In the target, the directory belongs to the file system. In a source, its content is not mirrored.
    private mutating func noteLostAndFound() {
        if let filter, case .success(let (rules, _))? = level.filter,
            case .byRule = filter.exclusion(of: path, status, in: rules)
        {
            return
        }
        guard !options.stopsAtMounts, !level.listed.status.isMountRoot else { return }
        let names = try? DirectoryListing.names(in: chain.current().directory(.lostAndFound))
        guard names?.isEmpty != true else { return }
        findings.problems.append(
            Problem(
                path: path, code: .unsupported,
                message: "a file system keeps this name for itself, and the target is the root of one"))
    }

    private mutating func loadWindow() throws(SystemError) {
        guard let id = level.later.popFirst() else { return }
        var later = level.later
        var window = try prefetch.next(id) { () throws(SystemError) in try chain.current() }.window
        try TreeCursor.fill(&window, &later, prefetch) { () throws(SystemError) in try chain.current() }
        (level.window, level.later, level.subdirectory) = (window, later, 0)
    }

    private mutating func attributes(_ index: Int) throws -> ExtendedAttributes {
        switch level.window.extended[index] {
        case .success(let found)?: return found
        case nil: break
        case .failure(let error)?:
            guard options.toleratesUnreadable, !Errno.exhausted.contains(error.errno) else { throw error }
            findings.problems.append(
                Problem(
                    path: path, code: .attribute,
                    message: "its extended attributes cannot be read: \(error.errno)"))
        }
        return ExtendedAttributes()
    }

    private mutating func readLink(_ index: Int) throws {
        switch level.window.destinations[index] {
        case .success(let found)?: destination = found
        case .failure(let error)?:
            guard options.toleratesUnreadable else { throw error }
            destination = []
            findings.problems.append(.unreadable(path, error.errno))
        case nil: destination = []
        }
    }

    /// Reads a subdirectory with its first entries.
    private mutating func read(_ id: Int) throws(SystemError) -> ReadingList.Reading {
        var reading = try prefetch.next(id) { () throws(SystemError) in try chain.current() }
        do throws(SystemError) {
            let directory = reading.directory
            try TreeCursor.fill(&reading.window, &reading.later, prefetch) { () throws(SystemError) in
                if let directory { return directory }
                throw SystemError("openat", path.bytes, .stale)
            }
        } catch {
            prefetch.discard(reading.window.subdirectories.map(\.id) + reading.later)
            throw error
        }
        return reading
    }

    private mutating func noteMount(_ reading: ReadingList.Reading) throws(SystemError) {
        if case .success(let (rules, _))? = reading.listed.filter, rules.isOfOtherFileSystem { return }
        guard reading.listed.role == .inner, let directory = reading.directory,
            let fileSystem = try directory.lastingFileSystem()
        else { return }
        findings.mounted.append(SourceMount(path: path, fileSystem: fileSystem))
    }

    /// Whether the content of the present directory is left out because it is on another file system.
    private func leavesOutContent() throws -> Bool {
        guard let filter, case .success(let (rules, _))? = level.filter else { return false }
        return try filter.scope(of: path, below: rules, filter.reader()).isOfOtherFileSystem
    }

    private mutating func enter(_ index: Int) throws -> Bool {
        let subdirectories = level.window.subdirectories
        guard level.subdirectory < subdirectories.count, subdirectories[level.subdirectory].index == index
        else { return true }
        let id = subdirectories[level.subdirectory].id
        level.subdirectory += 1
        if options.others.contains(where: { $0.isSameObject(as: status) }), try !leavesOutContent() {
            throw SyncError(
                .overlap("source or target is inside the other one, through a mount"),
                path: chain.root.path + [UInt8(ascii: "/")] + path.bytes)
        }
        try monitor.checkCancellation()
        do throws(SystemError) {
            let reading = try read(id)
            // Since the listing, another directory has got the name. The new one is used.
            if reading.listed.status.inode != status.inode { status = reading.listed.status }
            if reading.listed.targets.isOne {
                prefetch.discard(reading.window.subdirectories.map(\.id) + reading.later)
                findings.targets.append(path)
                exclusion = .asTarget
                return true
            }
            if options.notesMounts, reading.listed.status.isMountRoot { try noteMount(reading) }
            next = reading
            if options.reportsProgress {
                progress.entries += reading.listed.listing.count
                monitor.report(progress)
            }
        } catch {
            switch error.errno {
            case .notDirectory where options.toleratesUnreadable,
                .tooManyLinks where options.toleratesUnreadable, .stale where options.toleratesUnreadable:
                sight = .unlisted
                findings.problems.append(.retyped(path))
            case _ where Errno.noDirectory.contains(error.errno):
                return false
            case _ where options.toleratesUnreadable && !Errno.exhausted.contains(error.errno):
                leave(.unlisted, error.errno)
            default:
                throw error
            }
        }
        return true
    }
}
