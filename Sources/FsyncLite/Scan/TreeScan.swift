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

    private var cursor: TreeCursor

    package convenience init(
        _ root: Directory, _ options: Options, monitor: any Monitor = SilentMonitor()
    ) throws {
        try self.init(root, options, filter: nil, monitor: monitor)
    }

    /// - Parameter filter: excludes entries, and with a directory all that it holds.
    init(
        _ root: Directory, _ options: Options, filter: FilteredWalk?, monitor: any Monitor = SilentMonitor()
    ) throws {
        cursor = try TreeCursor(root, options, filter: filter, monitor: monitor)
    }

    package func advance() throws -> Bool { try cursor.advance() }

    package var path: RelativePath { cursor.path }
    package var status: FileStatus { cursor.status }
    package var destination: [UInt8] { cursor.destination }
    package var isListed: Bool { cursor.isListed }
    package var exclusion: Exclusion { cursor.exclusion }
    package var extended: ExtendedAttributes { cursor.extended }
    /// Whole after the last entry.
    package var findings: Findings { cursor.findings }
}
