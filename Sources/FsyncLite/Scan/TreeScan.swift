import FileSystem

/// Walks a directory tree and yields its entries in order, each directory before its contents.
///
/// In memory are only the listings of one chain of directories. No symlink is followed, and no path is resolved twice.
/// Depth is not limited, because handles of deep directories are closed and reopened.
package final class TreeScan: EntryStream {
    package struct Options: Sendable {
        /// Sockets have no data. In a source they are counted and left out, as in rsync and tar.
        package var omitsSockets = false
        /// Makes unreadable directories and entries problems in the list. If false, each of them is an error.
        package var toleratesUnreadable = false
        /// Mount points are yielded and noted, but not entered.
        package var stopsAtMounts = false
        /// The roots of the other tree. If the scan meets one, this is an error, because neither tree may be inside the
        /// other. A bind mount can cause that, although the parent directories do not show it.
        package var others: [FileStatus] = []
        /// Leaves out the files that NFS and FUSE put in the place of a file that is open and removed.
        package var leavesRemoved = false
        /// Notes the mounts that the scan enters.
        var notesMounts = false
        /// Other targets in the tree are yielded and noted, but not entered.
        var leavesTargets = false
        /// Leaves out entries with longer paths, and adds a problem for each directory of such entries. Needed for all
        /// scans whose entries are stored in memory.
        package var longestPath = Int.max
        /// The kinds of extended attributes to read for each entry; nil for none.
        package var extended: ExtendedAttributes.Selection?

        /// The scan is of a directory inside a tree. There, an entry with the name of a state is an ordinary entry.
        var isInside = false
        /// Scans only this directory of a tree, without its subdirectories. Paths are those in the tree.
        var single: RelativePath?

        /// The most threads that read directories, including the scan's own; nil for the usual number of the file system.
        package var threads: Int? = 1
        /// The most directories that may be open for reading ahead.
        package var descriptors = 0
        /// Reports the number of entries to the monitor. Of two parallel scans, only one should do so.
        package var reportsProgress = false

        package static let source = {
            var options = Options(omitsSockets: true, toleratesUnreadable: true)
            options.reportsProgress = true
            options.notesMounts = true
            return options.bounded
        }()
        package static let target = Options(stopsAtMounts: true)

        /// The same, only for paths that can be mirrored.
        package var bounded: Options {
            var options = self
            options.longestPath = RelativePath.longest
            return options
        }

        /// Whether `lost+found` is excluded, which mkfs and fsck make for themselves. It is if source or target is the
        /// root of a file system. If there are several sources, only the target decides.
        func leavesLostAndFound(in listed: ListedDirectory) -> Bool {
            listed.status.isMountRoot || listed.role == .root && others.contains(where: \.isMountRoot)
        }

        /// The same for a target on a file system with these capabilities; nil means a complete file system.
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

        /// The same for a single directory of the tree.
        func only(_ path: RelativePath) -> Options {
            var options = self
            (options.single, options.reportsProgress) = (path, false)
            return options
        }

        /// The same, with directories read ahead.
        ///
        /// - Parameters:
        ///   - trees: the number of parallel scans.
        ///   - limit: the most threads of all scans; nil for the usual numbers.
        package func prefetching(trees: Int = 1, threads limit: Int? = nil) -> Options {
            var options = self
            options.threads = limit.map { max($0 / trees, 1) }
            options.descriptors = DescriptorBudget.ahead / trees
            return options
        }
    }

    /// The results of a scan besides its entries.
    package struct Findings: Sendable {
        /// Names that could not be looked at, and directories and symlinks that could not be read.
        package var problems: [Problem] = []
        /// Mount points, and directories of other file systems. Filled only with `stopsAtMounts`.
        package var mounts: [(path: RelativePath, isMountPoint: Bool)] = []
        /// The mounts that were entered. Filled only with `notesMounts`.
        package var mounted: [SourceMount] = []
        /// Entries that are immutable or append-only. Filled only with `stopsAtMounts`.
        package var locked: [RelativePath: FileStatus] = [:]
        /// Other targets in the tree. Filled only with `leavesTargets`.
        package var targets: [RelativePath] = []
        package var omittedSockets = 0
        package var metReservedName = false
    }

    private var cursor: TreeCursor

    /// - Parameter filter: excludes entries, and directories with all their contents.
    init(
        _ root: Directory, _ options: Options, filter: FilteredWalk? = nil,
        monitor: any Monitor = SilentMonitor()
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
