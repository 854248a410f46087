import FileStorage
import FileSystem

/// Applies the filters during a scan of any tree, with the ignore files and cache tags of the *source*.
struct FilteredWalk: Sendable {
    private let filters: Filters
    private let rules: DirectoryRules

    /// nil if there are no filters.
    init?(_ filters: Filters, _ rules: DirectoryRules) {
        guard !filters.isEmpty else { return nil }
        self.filters = filters
        self.rules = rules
    }

    /// Reads what the directories of the source say; for one thread.
    func reader() -> DirectoryRules.Reader { rules.reader(for: filters) }

    /// The rules for the entries of a directory.
    ///
    /// - Parameter outer: those for the directory itself; nil for the root.
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

    /// The same of a name that cannot be looked at, which may be anything if its type is not known.
    func exclusion(ofUnseen path: RelativePath, _ type: FileType?, in scope: FilterScope) -> Exclusion {
        let mayBe = type.map { [$0 == .directory] } ?? [true, false]
        return mayBe.allSatisfy { scope.excludes(path, isDirectory: $0) } ? .byRule : .none
    }

    /// The entry is on a file system that the filters leave out.
    func isElsewhere(_ path: RelativePath, _ device: DeviceNumber) -> Bool {
        filters.staysOnFileSystem && rules.device(at: path).map { $0 != device } ?? false
    }
}

extension Filters {
    /// A single file may be mounted, too.
    fileprivate func leavesOut(mounted status: FileStatus) -> Bool {
        staysOnFileSystem && status.isMountRoot && status.type != .directory
    }

    /// The decision for one path of a source, as in a run.
    ///
    /// - Parameters:
    ///   - status: of the entry; nil if it is not known.
    ///   - type: of the entry then.
    func decision(
        on path: RelativePath, _ status: FileStatus?, or type: FileType, in source: Directory
    ) throws -> FilterDecision {
        if let status, leavesOut(mounted: status) {
            return FilterDecision(isExcluded: true, cause: .otherFileSystem, directory: path)
        }
        return try decisions(by: DirectoryRules(of: source))(path, status?.type ?? type, status?.size ?? 0)
    }

    /// The decision for a path, by type and size of an entry.
    typealias Decisions = (RelativePath, FileType, ByteCount) throws -> FilterDecision

    /// Decisions for single paths, by the directories of a source.
    func decisions(by rules: DirectoryRules) -> Decisions {
        let reader = rules.reader(for: self)
        return { path, type, size in
            try explain(path, type: type, size: size) { try reader.contents(of: $0) }
        }
    }
}
