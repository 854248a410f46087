import FileSystem

/// A directory that a scan has opened and listed.
final class ListedDirectory: Sendable {
    let listing: DirectoryListing
    let status: FileStatus
    let filter: Scope?
    let role: Role
    let targets: Targets

    /// The targets in the tree of another target, which the scan does not enter.
    struct Targets: Sendable {
        /// Whether the directory itself is a target.
        var isOne = false
        /// Its entries that are targets, with the states beside them.
        var entries: [Int] = []
    }
    /// The length of the path before the names of its entries.
    let prefix: Int

    /// At the top of a tree, some names are reserved.
    enum Role: Sendable {
        case inner
        case root
        /// One of several roots, which are joined.
        case part
    }

    /// The rules for the entries, and the path; nil without filters. Reading the ignore files can fail.
    typealias Scope = Result<(rules: FilterScope, path: RelativePath), any Error>

    /// The handle, while a thread may read a subdirectory or a later window ahead, and the number of those that are
    /// unread. Only `DirectoryPrefetch` uses them, with its lock.
    nonisolated(unsafe) var directory: Directory?
    nonisolated(unsafe) var unread = 0

    init(
        _ listing: DirectoryListing, _ status: FileStatus, filter: Scope?, role: Role = .inner,
        targets: Targets, prefix: Int
    ) {
        self.targets = targets
        (self.listing, self.status, self.filter, self.role) = (listing, status, filter, role)
        self.prefix = prefix
    }

    /// Whether the path of an entry is longer than the scan's limit.
    func isTooLong(_ index: Int, _ options: TreeScan.Options) -> Bool {
        options.longestPath < .max && prefix + listing.name(at: index).count > options.longestPath
    }

    /// The most entries in a window.
    private static let windowSize = 512

    var firstWindow: Range<Int> { 0..<min(ListedDirectory.windowSize, listing.count) }

    var isOneWindow: Bool { listing.count <= ListedDirectory.windowSize }

    /// The windows after the first.
    var laterWindows: [Range<Int>] {
        stride(from: ListedDirectory.windowSize, to: listing.count, by: ListedDirectory.windowSize).map {
            $0..<min($0 + ListedDirectory.windowSize, listing.count)
        }
    }
}

/// Neighbouring entries of a directory, with all facts that a scan reads.
struct ListingWindow: Sendable {
    private(set) var range: Range<Int>
    /// nil for a name that has vanished.
    private var statuses: [FileStatus?]
    /// The errors of the names that cannot be looked at.
    private(set) var unseen: [Int: SystemError]
    private(set) var destinations: [Int: Result<[UInt8], SystemError>] = [:]
    private(set) var extended: [Int: Result<ExtendedAttributes, SystemError>] = [:]
    /// The entries that the scan enters.
    private(set) var subdirectories: [Subdirectory] = []

    struct Subdirectory: Sendable {
        let index: Int
        /// The first access of another file system may take long, so only the scan itself enters it.
        let isMount: Bool
        /// Its number in the list of parts that are read ahead.
        var id = -1
    }

    /// Reads statuses, destinations of symlinks and, if wanted, extended attributes.
    ///
    /// - Parameter subdirectory: makes the part for a directory that the scan enters; nil if it is not entered.
    init(
        _ range: Range<Int>, of listing: DirectoryListing, in directory: Directory,
        _ wanted: ExtendedAttributes.Selection?, _ subdirectory: (Int, FileStatus) -> Subdirectory?
    ) throws(SystemError) {
        self.range = range
        (statuses, unseen) = try listing.statuses(range, in: directory)
        for offset in statuses.indices where unseen[range.lowerBound + offset] == nil {
            switch statuses[offset]?.type {
            case nil: continue
            case .symlink: readDestination(offset, listing, directory)
            default: break
            }
            if let wanted { readAttributes(offset, listing, directory, wanted) }
            if case .directory? = statuses[offset]?.type, let status = statuses[offset],
                let entered = subdirectory(range.lowerBound + offset, status)
            {
                subdirectories.append(entered)
            }
        }
    }

    private mutating func readDestination(
        _ offset: Int, _ listing: DirectoryListing, _ directory: Directory
    ) {
        let index = range.lowerBound + offset
        guard let name = FileName(listing.name(at: index)) else { return }
        do throws(SystemError) {
            destinations[index] = .success(try directory.destination(of: name))
        } catch {
            destinations[index] = .failure(error)
            // It was removed or replaced. A slightly later scan would not have seen it.
            if [.noSuchFile, .invalid].contains(error.errno) { statuses[offset] = nil }
        }
    }

    private mutating func readAttributes(
        _ offset: Int, _ listing: DirectoryListing, _ directory: Directory,
        _ wanted: ExtendedAttributes.Selection
    ) {
        let index = range.lowerBound + offset
        guard let name = FileName(listing.name(at: index)) else { return }
        do throws(SystemError) {
            let found = try directory.extendedAttributes(of: name, wanted)
            if !found.isEmpty { extended[index] = .success(found) }
        } catch {
            extended[index] = .failure(error)
            if error.errno == .noSuchFile { statuses[offset] = nil }
        }
    }

    var count: Int { range.count }

    func status(at index: Int) -> FileStatus? { statuses[index - range.lowerBound] }

    mutating func number(_ position: Int, _ id: Int) {
        subdirectories[position].id = id
    }

    /// Appends the next window.
    mutating func append(_ next: ListingWindow) {
        guard count > 0 else {
            self = next
            return
        }
        range = range.lowerBound..<next.range.upperBound
        statuses += next.statuses
        unseen.merge(next.unseen) { $1 }
        destinations.merge(next.destinations) { $1 }
        extended.merge(next.extended) { $1 }
        subdirectories += next.subdirectories
    }
}
