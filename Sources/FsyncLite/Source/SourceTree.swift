import FileStorage
import FileSystem

/// The tree that a run mirrors, with everything that planner, stage and manifest need from it.
///
/// The planner, the commit and the history are always on the target's machine. Only the source may be on another
/// machine, and this is its interface. It supplies no entries that the filters leave out.
protocol SourceTree: ContentSource {
    var facts: SourceFacts { get }
    /// The roots, at the time of opening or later.
    var roots: [FileStatus] { get throws }

    /// The refusals if source or target takes part in the other one.
    func overlaps(with target: Overlap.Goal, _ filters: Filters) throws -> [Refusal]

    /// Begins to read the entries that the filters leave in.
    ///
    /// - Parameter record: the recorded entries, which can be used for unchanged ones. If some have changed, the first
    ///   scan ends with `SourceHasChanged`. The next one yields the present entries.
    func scan(
        _ filters: Filters, _ options: TreeScan.Options, _ monitor: any Monitor, record: SourceRecord?
    ) throws -> BackgroundScan
    /// The filter data of the directories of the scan that has begun.
    func rules() throws -> DirectoryRules
    /// Reads entries again that a scan took from the record, so that their present state is known.
    ///
    /// - Parameters:
    ///   - directories: the directories that contain the entries.
    ///   - take: called with each entry in one of them that was taken from the record.
    func reread(
        _ directories: () -> Set<RelativePath>, _ take: (RelativePath, FileStatus) -> Void
    ) throws
}

/// The manifest of a mirror as a record of its source.
struct SourceRecord: Sendable {
    /// Opens the manifest. It is always the same one.
    let open: @Sendable () throws -> ManifestReader
    /// Whether files without a recorded digest must be read.
    let needsDigests: Bool
}

/// Some entries of a source differ from their records.
struct SourceHasChanged: Error {}

/// The known facts about a source before it is scanned.
struct SourceFacts: Sendable {
    /// The sources for the manifest, sorted by their names.
    var identities: [ManifestHeader.Source]
    /// The file system of each source.
    var devices: [DeviceNumber]
    /// Whether each file system preserves change times and inodes.
    var keepsIdentity: [Bool]
    /// Whether its change times come from the clock of `scanned`.
    var sharesClock: Bool
    /// See `RacyCheck`.
    var devicesShowingChanges: Set<DeviceNumber> = []
    var devicesShowingStores: Set<DeviceNumber> = []
    /// Whether it can show by digests of directories that all entries are unchanged.
    var hasDirectoryDigests = false
    /// The time of opening, by the clock for time stamps of its files.
    var scanned: ManifestHeader.Scan
    /// See `ManifestHeader`.
    var disks: String
    /// See `KernelClock.writebackDelay`.
    var writebackDelay: Int64
    /// Whether every file and every extended attribute can be read.
    var isReadByRoot: Bool
    /// Whether it is on another machine, with a clock of its own.
    var isRemote = false

    /// The check for a first scan.
    var racyCheck: RacyCheck {
        var check = RacyCheck(
            scanned: scanned.time.fileTime, clock: scanned.clock,
            window: max(RacyCheck.shortestWindow, writebackDelay))
        (check.sharesClock, check.devicesShowingChanges) = (sharesClock, devicesShowingChanges)
        check.devicesShowingStores = devicesShowingStores
        check.usesChangeTime = keepsIdentity.allSatisfy(\.self)
        return check
    }

    /// Adds the target's attributes that the source's user could not read: that user may not be root, even if this one
    /// is.
    func completing(
        _ found: ExtendedAttributes, by target: @autoclosure () throws -> ExtendedAttributes
    ) rethrows -> ExtendedAttributes {
        guard Account.isRoot, !isReadByRoot else { return found }
        let seen = ExtendedAttributes.Selection(plain: true, acls: true, privileged: false)
        return try found.merging(target().filter { !seen.contains($0.name) })
    }
}
