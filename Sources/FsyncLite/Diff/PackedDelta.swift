import FileSystem

// How the lines of a history record, and the delta made of them, are packed.

package typealias UndoEntries = PackedList<UndoEntryCoding>

package enum UndoEntryCoding: PackedCoding {
    package typealias Element = UndoEntry

    package static func path(of entry: UndoEntry) -> RelativePath { entry.file.path }
    package static func otherPath(of entry: UndoEntry) -> RelativePath? { entry.slot ?? entry.from }

    private struct Parts: OptionSet {
        let rawValue: UInt8

        static let from = Parts(rawValue: 1)
        /// The other path is the slot; the location is added where there is one too.
        static let slot = Parts(rawValue: 2)
        static let wasUncovered = Parts(rawValue: 4)
        static let causes = Parts(rawValue: 8)
        /// Above the verb.
        static let isAssumed = Parts(rawValue: 128)
    }

    package static func pack(_ entry: UndoEntry, into store: inout PackedStore) {
        var parts: Parts = []
        if entry.from != nil { parts.insert(.from) }
        if entry.slot != nil { parts.insert(.slot) }
        if entry.wasUncovered { parts.insert(.wasUncovered) }
        if !entry.causes.isEmpty { parts.insert(.causes) }
        if entry.isAssumed { parts.insert(.isAssumed) }
        store.put(byte: parts.rawValue | entry.verb.code << 4)
        if parts.contains(.slot), let from = entry.from { store.put(from.bytes) }
        if parts.contains(.causes) { store.put(UInt64(entry.causes.rawValue)) }
        store.put(entry.file)
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, at path: RelativePath, other: RelativePath?, _ store: PackedStore
    ) -> UndoEntry {
        let head = cursor.byte()
        let parts = Parts(rawValue: head & 0x8F)
        let slot = parts.contains(.slot) ? other : nil
        var from = slot == nil ? other : nil
        if slot != nil, parts.contains(.from) {
            from = RelativePath(validated: Array(cursor.bytes(cursor.integer())))
        }
        let causes =
            parts.contains(.causes) ? Causes(rawValue: UInt16(truncatingIfNeeded: cursor.number())) : []
        let file = store.file(&cursor, at: path)
        var entry = UndoEntry(
            UndoEntry.Verb(code: head >> 4 & 7), file, from: from, slot: slot, causes: causes,
            wasUncovered: parts.contains(.wasUncovered))
        entry.isAssumed = parts.contains(.isAssumed)
        return entry
    }
}

extension UndoEntry.Verb {
    fileprivate var code: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }
    fileprivate init(code: UInt8) { self = Self.allCases[Int(code)] }
}

/// A path and another one: the location of an object, and its path in an earlier tree.
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
