import FileStorage
import FileSystem

/// Why a path of a source is in its mirror, or is not.
public struct Explanation: Sendable {
    /// A closed list, as written in documents.
    public enum Verdict: String, Sendable {
        /// The target has it, and the next run keeps it up to date.
        case mirrored
        /// The next run copies it.
        case new
        /// The filters exclude it.
        case excluded
        case socket
        case unreadable
        /// The source has no such entry.
        case missing
        /// Its name is that of the state, or `lost+found` of a file system.
        case reserved
        case tooLong = "too_long"
    }

    public private(set) var verdict = Verdict.mirrored
    /// For people, such as `it is not in the source`.
    public private(set) var text = ""
    /// The present copy in the target. For a target on another machine, it is the manifest's entry.
    public let copy: FileStatus?
    /// A plan leaves the copy unchanged; nil unless `mirrored`. The time of a directory is not compared.
    public private(set) var isUpToDate: Bool?

    /// Looks at the entry, the filters, the manifest and the copy.
    ///
    /// - Parameters:
    ///   - manifest: that of the target; nil before the first run.
    ///   - target: the path of the target; nil if there is none on this machine.
    /// - Throws: `SyncError`: `inputMissing` without the source, `invalidDocument` for a damaged manifest.
    public init(
        of path: RelativePath, in source: MirrorSource, by filters: Filters, manifest: Tree?, target: [UInt8]?
    ) throws {
        let root = try source.open()
        let mirror = try target.map { try LocalFile(bytes: $0).directory() }
        if let reserved = FilterDecision.reserved(path, isJoined: root.isJoined) {
            (verdict, text, copy) = (.reserved, "\(reserved)", nil)
            return
        }
        let recorded = try manifest.flatMap { try Explanation.record(of: path, in: $0) }
        copy = try mirror.map { try PathResolver($0).status(of: path) } ?? recorded?.file.status
        let resolver = PathResolver(root)
        let found = Result { () throws(SystemError) in try resolver.status(of: path) }
        let status = try? found.get()
        let decision = try filters.decision(on: path, status ?? nil, or: copy?.type ?? .file, in: root)
        switch found {
        case _ where path.bytes.count > RelativePath.longest:
            (verdict, text) = (.tooLong, "its path is longer than \(RelativePath.longest) bytes")
        case .success(nil):
            (verdict, text) = (.missing, "it is not in the source")
            let above = path.ancestors.first { (try? resolver.status(of: $0)) ?? nil != nil }
            if let above, try resolver.status(of: above)?.type == .symlink {
                text += ": \(above) is a symlink, and is copied as one"
            }
            if decision.isExcluded { text += "; \(decision)" }
        case _ where decision.isExcluded: (verdict, text) = (.excluded, "\(decision)")
        case .failure(let error): (verdict, text) = (.unreadable, "it cannot be read (\(error.errno))")
        case .success(let found?) where found.type == .socket:
            (verdict, text) = (.socket, "it is a socket; sockets are not copied")
        case .success(let found?) where try Explanation.isLostAndFound(path, found, root, mirror):
            (verdict, text) = (.reserved, "a file system keeps this name for itself")
        case .success(let found?):
            if let error = Explanation.obstacle(to: path, found, resolver) {
                (verdict, text) = (.unreadable, "it cannot be read (\(error.errno))")
            } else {
                let sides = mirror.map { Sides(source: source, root: root, target: $0) }
                try compare(found, recorded, sides, decision)
            }
        }
        if ![.mirrored, .new].contains(verdict), let copy {
            text += "; the copy in the target is from \(copy.day)"
        }
    }

    private mutating func compare(
        _ found: FileStatus, _ recorded: Recorded?, _ sides: Sides?, _ decision: FilterDecision
    ) throws {
        guard let recorded, let copy else {
            verdict = .new
            text =
                recorded != nil
                ? "it was mirrored, and its copy was removed by hand; the next run copies it again"
                : copy == nil
                    ? "the target does not have it yet; the next run copies it"
                    : "no run has mirrored it yet, and the target has something else of this name"
            return
        }
        // The time of a directory moves with its entries.
        let parts: FileStatus.Differences = found.type == .directory ? .type : .content
        let isCurrent = found.equals(recorded.file.status, in: parts)
        let change = try isCurrent ? sides?.change(of: recorded, found, copy) : .ofSource
        isUpToDate = change == nil
        text =
            switch change {
            case nil: "it is mirrored, and the copy is up to date"
            case .ofSource: "it is mirrored, and has changed since: the copy is from \(copy.day)"
            case .ofTarget:
                "it is mirrored, but the copy was changed in the target since; the next run brings it back"
            }
        if case .rule? = decision.cause { text += "; \(decision)" }
    }

    private static func record(of path: RelativePath, in manifest: Tree) throws -> Recorded? {
        let stream = try manifest.stream()
        while try stream.advance() {
            guard stream.path == path else { continue }
            return Recorded(
                file: stream.file, base: BaseEntry(stream), header: try manifest.header(of: stream))
        }
        return nil
    }

    /// The error of reading a file or directory; nil for other types.
    private static func obstacle(
        to path: RelativePath, _ status: FileStatus, _ resolver: PathResolver
    ) -> SystemError? {
        guard status.type == .file || status.type == .directory else { return nil }
        do throws(SystemError) {
            guard let (directory, name) = try resolver.location(of: path) else { return nil }
            _ = try directory.open(name, [.read, .noFollow, .nonBlocking])
            return nil
        } catch {
            return error
        }
    }

    /// Whether the path is in the `lost+found` of a file system, or is that directory. Scans leave it out.
    private static func isLostAndFound(
        _ path: RelativePath, _ status: FileStatus, _ source: Directory, _ target: Directory?
    ) throws -> Bool {
        let (names, depth) = (path.components, source.isJoined ? 1 : 0)
        guard names.count > depth, names[depth].elementsEqual(FileName.lostAndFound.bytes),
            names.count > depth + 1 || status.type == .directory
        else { return false }
        let part = source.parts.first { $0.key.bytes.elementsEqual(names[0]) }?.value ?? source
        return try part.status().isMountRoot || depth == 0 && target?.status().isMountRoot == true
    }
}

/// The entry of the manifest.
private struct Recorded {
    let file: File
    let base: BaseEntry
    let header: ManifestHeader?
}

/// The side whose entry differs from the one that the last run left.
private enum ChangedSide {
    case ofSource, ofTarget
}

/// The source and the target, which are compared as a plan compares them.
private struct Sides {
    let source: MirrorSource
    let root: Directory
    let target: Directory

    /// The side that changed, if the next run would change the copy; else nil.
    func change(of recorded: Recorded, _ found: FileStatus, _ copy: FileStatus) throws -> ChangedSide? {
        let tree = try LocalTree(source, scanned: .now(), root)
        let policy = try policy(tree.facts, recorded)
        guard found.type == copy.type, try !causes(tree, policy, recorded, found, copy).isEmpty else {
            return found.type == copy.type ? nil : .ofTarget
        }
        let isEdited = recorded.base.differs(from: copy)
        return isEdited || policy.isUnchanged(found, recorded.base.status) ? .ofTarget : .ofSource
    }

    private func causes(
        _ tree: LocalTree, _ policy: ComparisonPolicy, _ recorded: Recorded, _ found: FileStatus,
        _ copy: FileStatus
    ) throws -> Causes {
        let path = recorded.file.path
        var match = Match(
            source: try File(at: path, found, in: root), target: try File(at: path, copy, in: target),
            base: recorded.base)
        match.compare(by: policy)
        if match.needsInspection {
            let inspection = AttributeInspection(
                source: tree, target: target, policy.attributes.extended, SilentMonitor())
            let (own, other) = try inspection.attributes(of: match.source, and: match.target)
            match.take(own, other, mirroring: policy.attributes)
            match.compareExtended()
        }
        if match.needsContentComparison {
            let comparer = FileComparer(tree, target, nil, SilentMonitor())
            if try !comparer.value(of: (index: 0, match: match)).isSame {
                match.causes.insert(.content)
            }
        }
        return match.target.isDirectory ? match.causes.subtracting([.modified, .drift]) : match.causes
    }

    private func policy(_ source: SourceFacts, _ recorded: Recorded) throws -> ComparisonPolicy {
        let opened = try TargetRoot(target.path)
        var policy = ComparisonPolicy()
        policy.attributes = recorded.header?.attributes ?? .all
        policy.adapt(to: opened.capabilities)
        policy.targetIsCopy = opened.isCopy(of: recorded.header)
        policy.keepsIdentity = source.keepsIdentity.allSatisfy(\.self)
        policy.replacesShared = true
        if let header = recorded.header, let state = opened.state {
            policy.commitSpans = try state.commitSpans(header)
            policy.hasOldTrees = try state.has(.trees)
        }
        return policy
    }
}

extension File {
    /// An entry of a tree of this machine, without its extended attributes.
    fileprivate init(at path: RelativePath, _ status: FileStatus, in root: Directory) throws(SystemError) {
        var destination: [UInt8] = []
        if status.type == .symlink, let (directory, name) = try PathResolver(root).location(of: path) {
            destination = try directory.destination(of: name)
        }
        self.init(path: path, status: status, destination: destination)
    }
}

extension FileStatus {
    fileprivate var day: String { Timestamp(modified).localText }
}

extension Target {
    /// The source and the filters of the last run.
    ///
    /// - Throws: `SyncError`: `inputMissing` if there was no run, `pending` while a commit is unfinished.
    public func mirrored() throws -> (source: MirrorSource, filters: Filters) {
        let (_, state) = try open()
        guard try !state.hasInterruptedCommit() else { throw SyncError.pendingCommit(name) }
        let header = try state.manifest(of: path).header
        guard let source = try header.mirrorSource, let filters = Filters(reading: header.filters) else {
            throw SyncError(
                .invalidDocument, path: state.path(of: .manifest), "it has an invalid source or filter")
        }
        return (source, filters)
    }
}

extension ManifestHeader {
    /// nil if this is no header of a mirror.
    fileprivate var mirrorSource: MirrorSource? {
        get throws(Endpoint.Fault) {
            if let far = sources.first(where: \.isRemote) {
                return try Endpoint(far.path).map { .remote($0, RemoteAccess()) }
            }
            if let source { return .directory(source.path) }
            let named = sources.compactMap { source in source.name.map { ($0, source.path) } }
            return named.isEmpty ? nil : .named(Dictionary(uniqueKeysWithValues: named))
        }
    }
}
