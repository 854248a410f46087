import FileStorage
import FileSystem

/// Applies the filters during a scan of any tree. The ignore files and cache tags are always those of the *source*.
struct FilteredWalk: Sendable {
    private let filters: Filters
    private let rules: DirectoryRules

    /// nil if there are no filters.
    init?(_ filters: Filters, _ rules: DirectoryRules) {
        guard !filters.isEmpty else { return nil }
        self.filters = filters
        self.rules = rules
    }

    /// Reads the data of the source's directories. Each thread needs its own reader.
    func reader() -> DirectoryRules.Reader { rules.reader(for: filters) }

    /// The rules for the entries of a directory.
    ///
    /// - Parameter outer: the rules for the directory itself; nil for the root.
    func scope(
        of path: RelativePath, below outer: FilterScope?, _ reader: DirectoryRules.Reader
    ) throws -> FilterScope {
        let contents = try reader.contents(of: path)
        guard var scope = outer else { return FilterScope(filters, root: contents) }
        scope.enter(path, contents)
        return scope
    }

    func exclusion(of path: RelativePath, _ status: FileStatus, in scope: FilterScope) -> Exclusion {
        if scope.excludes(path, isDirectory: status.type == .directory) { return .byRule }
        if filters.leavesOut(mounted: status) { return .byStatus }
        return filters.sizes.exclusion(of: status.type, size: status.size) == nil ? .none : .byStatus
    }

    /// The exclusion of a name that cannot be looked at. If its type is unknown, it must be excluded as any type.
    func exclusion(ofUnseen path: RelativePath, _ type: FileType?, in scope: FilterScope) -> Exclusion {
        let mayBe = type.map { [$0 == .directory] } ?? [true, false]
        return mayBe.allSatisfy { scope.excludes(path, isDirectory: $0) } ? .byRule : .none
    }

    /// Whether an entry is on a file system that the filters leave out.
    func isElsewhere(_ path: RelativePath, _ device: DeviceNumber) -> Bool {
        filters.excludesOtherFileSystems && rules.device(at: path).map { $0 != device } ?? false
    }
}

extension Filters {
    /// A single file can also be a mount point.
    fileprivate func leavesOut(mounted status: FileStatus) -> Bool {
        excludesOtherFileSystems && status.isMountRoot && status.type != .directory
    }

    /// The decision about one path of a source, as a run decides it.
    ///
    /// - Parameters:
    ///   - status: the status of the entry; nil if it is unknown.
    ///   - type: the type of the entry if its status is unknown.
    func decision(
        on path: RelativePath, _ status: FileStatus?, or type: FileType, in source: Directory
    ) throws -> FilterDecision {
        if let status, leavesOut(mounted: status) {
            return FilterDecision(isExcluded: true, cause: .otherFileSystem, directory: path)
        }
        return try decisions(by: DirectoryRules(of: source))(path, status?.type ?? type, status?.size ?? 0)
    }

    /// Decides about a path, from the type and size of the entry.
    typealias Decisions = (RelativePath, FileType, ByteCount) throws -> FilterDecision

    /// Decides about single paths, with the data of a source's directories.
    func decisions(by rules: DirectoryRules) -> Decisions {
        let reader = rules.reader(for: self)
        return { path, type, size in
            try explain(path, type: type, size: size) { try reader.contents(of: $0) }
        }
    }
}
