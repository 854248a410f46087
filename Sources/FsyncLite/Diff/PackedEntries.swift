import FileSystem

// How changes are packed.

package enum ChangeCoding: PackedCoding {
    package static func head(of change: Change) -> Change.Head { change.head }
    /// A deleted entry comes before the one that gets its path.
    package static func rank(_ head: Change.Head) -> Int { head.kind == .deleted ? 0 : 1 }
    package static func path(of change: Change) -> RelativePath { change.path }

    package static func otherPath(of change: Change) -> RelativePath? {
        guard case .match(let match) = change, match.isRenamed else { return nil }
        return match.target.path
    }

    package static func pack(_ change: Change, into store: inout PackedStore) {
        switch change {
        case .match(let match):
            let (source, target) = (match.source.status, match.target.status)
            store.put(match.source)
            store.put(match.target, like: source)
            if let base = match.base { store.put(base, of: source, target) }
        case .created(let file, _): store.put(file)
        case .deleted(let file, _, let base, _):
            store.put(file)
            if let base { store.put(base, of: file.status, file.status) }
        }
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, _ head: Change.Head, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> Change {
        let file = store.file(&cursor, at: path)
        switch head.kind {
        case .match:
            let target = store.file(&cursor, at: other ?? path, like: file.status)
            let base = head.hasBase ? store.base(&cursor, of: file.status, target.status) : nil
            return .match(Match(head, source: file, target: target, base: base))
        case .created: return .created(file, isDrift: head.causes.contains(.drift))
        case .deleted:
            let base = head.hasBase ? store.base(&cursor, of: file.status, file.status) : nil
            return .deleted(
                file, isDrift: head.causes.contains(.drift), base: base, isOpen: head.isUnexamined)
        }
    }
}

/// The parts of a base that few entries have.
private struct BaseParts: OptionSet {
    let rawValue: UInt8

    static let targetInode = BaseParts(rawValue: 1)
    static let targetChanged = BaseParts(rawValue: 2)
    /// `targetChanged` differs from the target's change time.
    static let otherTime = BaseParts(rawValue: 4)
    static let marks = BaseParts(rawValue: 8)
    /// The status is like the target's, as that of an object in the history.
    static let likeTarget = BaseParts(rawValue: 16)
}

extension PackedStore {
    fileprivate mutating func put(_ base: BaseEntry, of source: FileStatus, _ target: FileStatus) {
        let known = base.known
        var parts: BaseParts = []
        if known.targetInode != target.inode { parts.insert(.targetInode) }
        if let changed = known.targetChanged {
            parts.insert(.targetChanged)
            if changed != target.changed { parts.insert(.otherTime) }
        }
        if !known.marks.isEmpty { parts.insert(.marks) }
        if base.status.identity == target.identity { parts.insert(.likeTarget) }
        put(byte: parts.rawValue)
        put(base.file, like: parts.contains(.likeTarget) ? target : BaseEntry.expected(source, target))
        if parts.contains(.targetInode) { put(known.targetInode) }
        if parts.contains(.otherTime), let changed = known.targetChanged {
            put(signed: changed.rawSeconds)
            put(signed: Int64(changed.nanoseconds))
        }
        if parts.contains(.marks) { put(byte: known.marks.rawValue) }
    }

    fileprivate func base(_ cursor: inout Cursor, of source: FileStatus, _ target: FileStatus) -> BaseEntry {
        let parts = BaseParts(rawValue: cursor.byte())
        let expected = parts.contains(.likeTarget) ? target : BaseEntry.expected(source, target)
        let file = file(&cursor, at: .root, like: expected)
        let targetInode = parts.contains(.targetInode) ? cursor.number() : target.inode
        var changed: FileTime? = parts.contains(.targetChanged) ? target.changed : nil
        if parts.contains(.otherTime) {
            changed = FileTime(
                seconds: cursor.signed(), nanoseconds: Int32(truncatingIfNeeded: cursor.signed()))
        }
        let marks = parts.contains(.marks) ? EntryMarks(rawValue: cursor.byte()) : []
        return BaseEntry(file, targetInode: targetInode, targetChanged: changed, marks: marks)
    }
}

extension BaseEntry {
    /// The status that most bases have: the source's identity and times, and the target's other values.
    fileprivate static func expected(_ source: FileStatus, _ target: FileStatus) -> FileStatus {
        var status = source
        (status.size, status.modified, status.permissions) = (
            target.size, target.modified, target.permissions
        )
        (status.owner, status.group) = (target.owner, target.group)
        // A manifest has none of these.
        (status.allocated, status.device) = (0, DeviceNumber(major: 0, minor: 0))
        (status.isMountRoot, status.isImmutable) = (false, false)
        (status.isAppendOnly, status.isEncrypted) = (false, false)
        return status
    }
}

/// A path and another one: the location of an object, and its path in an older list.
enum PathCoding: PackedCoding {
    typealias Element = (path: RelativePath, other: RelativePath)

    static func path(of element: Element) -> RelativePath { element.path }
    static func otherPath(of element: Element) -> RelativePath? {
        element.other == element.path ? nil : element.other
    }

    static func pack(_ element: Element, into store: inout PackedStore) {}

    static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> Element { (path, other ?? path) }
}

/// A set of paths, in about thirty bytes each.
struct PackedPaths: Sendable {
    private var paths = PackedMap<PathCoding>()

    init(_ paths: some Sequence<RelativePath>) {
        for path in paths { insert(path) }
    }

    func contains(_ path: RelativePath) -> Bool { paths.contains(path) }

    /// - Returns: false if the path was in the set.
    @discardableResult
    mutating func insert(_ path: RelativePath) -> Bool {
        guard !contains(path) else { return false }
        paths[path] = (path, path)
        return true
    }
}
