import FileStorage
import FileSystem

/// The tree that a run mirrors: everything that planner, stage and manifest take from it.
///
/// The planner, the commit and the history stay where the target is. So the source is the one thing that may be on
/// another machine, and this is its interface. It gives nothing that the filters leave out.
protocol SourceTree: ContentSource {
    var facts: SourceFacts { get }
    /// The roots, as they were when it was opened or later.
    var roots: [FileStatus] { get throws }

    /// The refusals if one of source and target takes part in the other.
    func overlaps(with target: Overlap.Goal, _ filters: Filters) throws -> [Refusal]

    /// Begins to read the entries that the filters leave in.
    ///
    /// - Parameter record: what was recorded of them, which may stand for what is still the same. The first scan ends with
    ///   `SourceHasChanged` where not all is; the next one gives what is there.
    func scan(
        _ filters: Filters, _ options: TreeScan.Options, _ monitor: any Monitor, record: SourceRecord?
    ) throws -> BackgroundScan
    /// What the directories say to the filters of the scan that has begun.
    func rules() throws -> DirectoryRules
    /// Reads again what a scan gave as recorded, so that it can be asked for.
    ///
    /// - Parameters:
    ///   - directories: the directories that hold the entries.
    ///   - take: called with each entry in one of them that was given as recorded.
    func reread(
        _ directories: () -> Set<RelativePath>, _ take: (RelativePath, FileStatus) -> Void
    ) throws
}

/// The manifest of a mirror as a record of its source.
struct SourceRecord: Sendable {
    /// Opens it, always the same one.
    let open: @Sendable () throws -> ManifestReader
    /// A file that it has no digest of is to be read.
    let needsDigests: Bool
}

/// Not all of a source is as it was recorded.
struct SourceHasChanged: Error {}

/// What is known of a source before it is scanned.
struct SourceFacts: Sendable {
    /// The sources for the manifest, in the order of their names.
    var identities: [ManifestHeader.Source]
    /// The file system of each.
    var devices: [DeviceNumber]
    /// Whether each keeps change times and inodes.
    var keepsIdentity: [Bool]
    /// Its change times come from the clock of `scanned`.
    var sharesClock: Bool
    /// See `RacyCheck`.
    var tellingDevices: Set<DeviceNumber> = []
    /// It can tell by digests of directories that all is as it was recorded.
    var tellsDigests = false
    /// When it was opened, by the clock that stamps its files.
    var scanned: ManifestHeader.Scan
    /// See `ManifestHeader`.
    var disks: String
    /// See `KernelClock.writebackDelay`.
    var writebackDelay: Int64
    /// Every file can be read, and every extended attribute.
    var isReadByRoot: Bool
    /// On another machine, with a clock of its own.
    var isRemote = false

    /// Of a first scan.
    var racyCheck: RacyCheck {
        var check = RacyCheck(
            scanned: scanned.time.fileTime, clock: scanned.clock,
            window: max(RacyCheck.shortestWindow, writebackDelay))
        (check.sharesClock, check.tellingDevices) = (sharesClock, tellingDevices)
        check.usesChangeTime = keepsIdentity.allSatisfy(\.self)
        return check
    }

    /// What a source cannot see is no reason to remove it: another machine's user may be no root, where this one is.
    func completing(
        _ found: ExtendedAttributes, by target: @autoclosure () throws -> ExtendedAttributes
    ) rethrows -> ExtendedAttributes {
        guard Account.isRoot, !isReadByRoot else { return found }
        let seen = ExtendedAttributes.Selection(plain: true, acls: true, privileged: false)
        return try found.merging(target().filter { !seen.contains($0.name) })
    }
}
