import FileSystem

// How the entries of a merge and its difference are packed.

/// Objects of the target that stay, each with its entry of the source.
package typealias MatchList = PackedList<MatchCoding>
/// Entries that get a new object, or are deleted.
package typealias EntryList = PackedList<EntryCoding>

package enum EntryCoding: PackedCoding {
    package typealias Element = (file: File, isDrift: Bool)

    package static func path(of element: Element) -> RelativePath { element.file.path }

    package static func pack(_ element: Element, into store: inout PackedStore) {
        let (file, isDrift) = element
        store.put(
            byte: (isDrift ? 1 : 0) | (file.isDirectory ? 2 : 0)
                | (file.isMultiplyLinked || file.omitted.contains(.links) ? 4 : 0)
                | (file.status.type == .socket ? 8 : 0) | (file.object == 0 ? 16 : 0))
        store.put(file)
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> Element {
        let isDrift = cursor.byte() & 1 != 0
        return (store.file(&cursor, at: path), isDrift)
    }
}

extension PackedList<EntryCoding> {
    func isDirectory(at index: Int) -> Bool { read(at: index) { $0.byte() & 2 != 0 } }
    func isSocket(at index: Int) -> Bool { read(at: index) { $0.byte() & 8 != 0 } }
    func isUnnumbered(at index: Int) -> Bool { read(at: index) { $0.byte() & 16 != 0 } }
    /// It has other names, or had too many.
    func hasOtherNames(at index: Int) -> Bool { read(at: index) { $0.byte() & 4 != 0 } }
}

enum ArrivalCoding: PackedCoding {
    typealias Element = TreeMerge.Arrival

    static func path(of element: Element) -> RelativePath { element.file.path }

    static func pack(_ element: Element, into store: inout PackedStore) {
        store.put(byte: (element.isDrift ? 1 : 0) | (element.isListed ? 2 : 0))
        store.put(element.file)
    }

    static func unpack(
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> Element {
        let flags = cursor.byte()
        return (store.file(&cursor, at: path), flags & 1 != 0, flags & 2 != 0)
    }
}

enum DepartureCoding: PackedCoding {
    typealias Element = TreeMerge.Departure

    static func path(of element: Element) -> RelativePath { element.file.path }

    static func pack(_ element: Element, into store: inout PackedStore) {
        store.put(byte: element.base == nil ? 0 : 1)
        store.put(element.file)
        if let base = element.base { store.put(base, of: element.file.status, element.file.status) }
    }

    static func unpack(
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> Element {
        let hasBase = cursor.byte() != 0
        let file = store.file(&cursor, at: path)
        return (file, hasBase ? store.base(&cursor, of: file.status, file.status) : nil)
    }
}

package enum MatchCoding: PackedCoding {
    package typealias Element = Match

    package static func path(of match: Match) -> RelativePath { match.source.path }
    package static func otherPath(of match: Match) -> RelativePath? {
        match.isRenamed ? match.target.path : nil
    }

    package static func pack(_ match: Match, into store: inout PackedStore) {
        let head = match.head
        let (source, target) = (match.source.status, match.target.status)
        store.put(byte: UInt8(truncatingIfNeeded: head.causes.rawValue))
        store.put(byte: UInt8(truncatingIfNeeded: head.causes.rawValue >> 8))
        store.put(byte: UInt8(truncatingIfNeeded: head.facts.rawValue))
        store.put(byte: UInt8(truncatingIfNeeded: head.facts.rawValue >> 8))
        store.put(match.source)
        store.put(match.target, like: source)
        if let base = match.base { store.put(base, of: source, target) }
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> Match {
        let head = Match.Head(&cursor)
        let source = store.file(&cursor, at: path)
        let target = store.file(&cursor, at: other ?? path, like: source.status)
        let base =
            head.facts.contains(.hasBase) ? store.base(&cursor, of: source.status, target.status) : nil
        return Match(head, source: source, target: target, base: base)
    }
}

extension Match.Head {
    fileprivate init(_ cursor: inout PackedStore.Cursor) {
        causes = Causes(rawValue: UInt16(cursor.byte()) | UInt16(cursor.byte()) << 8)
        facts = Match.Facts(rawValue: UInt16(cursor.byte()) | UInt16(cursor.byte()) << 8)
    }
}

extension PackedList<MatchCoding> {
    /// What is known of a match without its files.
    func head(at index: Int) -> Match.Head { read(at: index) { Match.Head(&$0) } }

    /// The same of all matches.
    var heads: some RandomAccessCollection<Match.Head> { indices.lazy.map { head(at: $0) } }

    func targetPath(at index: Int) -> RelativePath { otherPath(at: index) ?? path(at: index) }
}

/// The parts of a base that few entries have.
private struct BaseParts: OptionSet {
    let rawValue: UInt8

    static let targetInode = BaseParts(rawValue: 1)
    static let targetChanged = BaseParts(rawValue: 2)
    /// `targetChanged` is not that of the target.
    static let otherTime = BaseParts(rawValue: 4)
    static let marks = BaseParts(rawValue: 8)
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
        put(byte: parts.rawValue)
        put(base.file, like: BaseEntry.expected(source, target))
        if parts.contains(.targetInode) { put(known.targetInode) }
        if parts.contains(.otherTime), let changed = known.targetChanged {
            put(signed: changed.rawSeconds)
            put(signed: Int64(changed.nanoseconds))
        }
        if parts.contains(.marks) { put(byte: known.marks.rawValue) }
    }

    fileprivate func base(_ cursor: inout Cursor, of source: FileStatus, _ target: FileStatus) -> BaseEntry {
        let parts = BaseParts(rawValue: cursor.byte())
        let file = file(&cursor, at: .root, like: BaseEntry.expected(source, target))
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
    /// The status that most bases have: the source's identity and times, everything else as the target holds it.
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
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> Element { (path, other ?? path) }
}
