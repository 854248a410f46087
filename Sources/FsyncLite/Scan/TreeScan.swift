import FileSystem

/// Walks a directory tree and yields its entries in order, each directory before its contents.
///
/// Memory holds the listings of one chain of directories. No symlink is followed, no path is resolved twice, and
/// depth is not limited: handles of deep directories are closed and reopened.
package final class TreeScan: EntryStream {
    package struct Options: Sendable {
        /// Sockets hold no data: in a source they are counted and left out, as in rsync and tar.
        package var omitsSockets = false
        /// What cannot be looked at, and a directory that cannot be read, is a problem in the list; otherwise an error.
        package var toleratesUnreadable = false
        /// Mount points are yielded and noted, but not entered.
        package var staysOnMount = false
        /// The roots of the other tree. Meeting one is an error: neither tree may be inside the other, and a bind mount
        /// can put it there although the parent directories do not show it.
        package var others: [FileStatus] = []
        /// Leaves out what NFS and FUSE put in the place of a file that is open and removed.
        package var leavesRemoved = false
        /// Mounts are noted that are entered.
        var notesMounts = false
        /// Other targets in the tree are yielded and noted, but not entered.
        var leavesTargets = false
        /// Leaves out entries with longer paths, with a problem for each directory that has such. For all scans whose
        /// entries are held in memory.
        package var longestPath = Int.max
        /// The kinds of extended attributes to read for each entry; nil for none.
        package var extended: ExtendedAttributes.Selection?

        /// The scan is of a directory inside a tree: what has the name of a state there is an entry like any other.
        var isInside = false
        /// The scan is of this directory of a tree alone, without those in it. Paths are those in the tree.
        var single: RelativePath?

        package init(
            omitsSockets: Bool = false, toleratesUnreadable: Bool = false, staysOnMount: Bool = false
        ) {
            self.omitsSockets = omitsSockets
            self.toleratesUnreadable = toleratesUnreadable
            self.staysOnMount = staysOnMount
        }

        /// The number of threads that read directories, the scan's own among them: to begin with, and at most.
        package var threads = 1...1
        /// The processors that this scan may count on.
        package var processors = 1.0
        /// How many directories may be open for reading ahead.
        package var descriptors = 0
        /// Reports the number of entries to the monitor; of two parallel scans only one should.
        package var reportsProgress = false

        package static let source = {
            var options = Options(omitsSockets: true, toleratesUnreadable: true)
            options.reportsProgress = true
            options.notesMounts = true
            return options.bounded
        }()
        package static let target = Options(staysOnMount: true)

        /// The same, of paths that can be mirrored.
        package var bounded: Options {
            var options = self
            options.longestPath = RelativePath.longest
            return options
        }

        /// Whether `lost+found`, which mkfs and fsck make for themselves, is excluded: source or target is the root of
        /// a file system. With several sources only the target counts.
        func leavesLostAndFound(in listed: ListedDirectory) -> Bool {
            listed.status.isMountRoot || listed.role == .root && others.contains(where: \.isMountRoot)
        }

        /// The same for a target on a file system with these capabilities; nil where it is complete.
        func on(_ capabilities: FileSystemCapabilities?) -> Options {
            var options = self
            options.leavesRemoved = capabilities != nil
            return options
        }

        /// The same, with the roots of the other tree.
        package func apart(from others: [FileStatus]) -> Options {
            var options = self
            options.others = others
            return options
        }

        /// The same, of a single directory of the tree.
        func only(_ path: RelativePath) -> Options {
            var options = self
            (options.single, options.reportsProgress) = (path, false)
            return options
        }

        /// The same, with directories that are read ahead by as many threads as wait for the disk.
        ///
        /// - Parameters:
        ///   - trees: the number of parallel scans.
        ///   - limit: the most threads of all scans; nil for the usual limit of each.
        package func prefetching(trees: Int = 1, threads limit: Int? = nil) -> Options {
            var options = self
            options.threads = 1...max(limit.map { $0 / trees } ?? Processors.mostThreads, 1)
            options.processors = Double(Processors.usable) / Double(trees)
            options.descriptors = DescriptorBudget.ahead / trees
            return options
        }
    }

    /// Results of a scan besides its entries.
    package struct Findings: Sendable {
        /// Names that could not be looked at, directories that could not be listed, and symlinks that could not be read.
        package var problems: [Problem] = []
        /// Mount points, and directories of other file systems; filled only with `staysOnMount`.
        package var mounts: [(path: RelativePath, isMountPoint: Bool)] = []
        /// Mounts that were entered; filled only with `notesMounts`.
        package var mounted: [SourceMount] = []
        /// Entries that are immutable or append-only; filled only with `staysOnMount`.
        package var locked: [RelativePath: FileStatus] = [:]
        /// Other targets in the tree; filled only with `leavesTargets`.
        package var targets: [RelativePath] = []
        package var omittedSockets = 0
        package var metReservedName = false
    }

    private var cursor: TreeCursor

    package convenience init(
        _ root: Directory, _ options: Options, monitor: any Monitor = SilentMonitor()
    ) throws {
        try self.init(root, options, filter: nil, monitor: monitor)
    }

    /// - Parameter filter: excludes entries; a directory with all its contents.
    init(
        _ root: Directory, _ options: Options, filter: FilteredWalk?, monitor: any Monitor = SilentMonitor()
    ) throws {
        cursor = try TreeCursor(root, options, filter: filter, monitor: monitor)
    }

    package func advance() throws -> Bool { try cursor.advance() }

    package var path: RelativePath { cursor.path }
    package var status: FileStatus { cursor.status }
    package var destination: [UInt8] { cursor.destination }
    package var sight: Sight { cursor.sight }
    package var exclusion: Exclusion { cursor.exclusion }
    package var extended: ExtendedAttributes { cursor.extended }
    /// Complete after the last entry.
    package var findings: Findings { cursor.findings }
}
