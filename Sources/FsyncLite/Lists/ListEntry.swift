import FileSystem

/// An entry of a list: a file with the number of its object. The object has the same number at every path.
package struct ListEntry: Hashable, Sendable {
    package var file: File
    /// Whether the filters of the list leave it out.
    package var isUncovered: Bool

    package init(_ file: File, isUncovered: Bool = false) {
        (self.file, self.isUncovered) = (file, isUncovered)
    }

    package var object: UInt64 { file.object }

    package func moved(to path: RelativePath) -> ListEntry {
        ListEntry(file.moved(to: path), isUncovered: isUncovered)
    }
}

/// A path at which an older list differs from the newer one, with the older entry.
package struct ListLine: Hashable, Sendable {
    package let path: RelativePath
    /// nil if the older list has no entry at the path and below it.
    package var entry: ListEntry?
    /// For a directory, the path in the newer list of the directory with the entries below it; nil if there are none.
    package var below: RelativePath?

    package init(_ entry: ListEntry, below: RelativePath? = nil) {
        (path, self.entry) = (entry.file.path, entry)
        self.below = entry.file.isDirectory ? below : nil
    }

    package init(absent path: RelativePath) { self.path = path }

    func moved(to path: RelativePath) -> ListLine {
        entry.map { ListLine($0.moved(to: path), below: below) } ?? ListLine(absent: path)
    }
}

package enum ListLineCoding: PackedCoding {
    /// The beginning of an entry, which can be read without the rest.
    struct Beginning {
        let object: UInt64
        let isUncovered, isMultiplyLinked, isDirectory: Bool
    }

    private static let (present, uncovered, linked, directory): (UInt8, UInt8, UInt8, UInt8) = (1, 2, 4, 8)

    package static func path(of line: ListLine) -> RelativePath { line.path }
    package static func otherPath(of line: ListLine) -> RelativePath? { line.below }

    package static func pack(_ line: ListLine, into store: inout PackedStore) {
        guard let entry = line.entry else { return store.put(byte: 0) }
        store.put(
            byte: present | (entry.isUncovered ? uncovered : 0)
                | (entry.file.isMultiplyLinked ? linked : 0) | (entry.file.isDirectory ? directory : 0))
        store.put(entry.object)
        store.put(entry.file)
    }

    /// nil if there is no entry.
    static func beginning(_ cursor: inout PackedStore.Cursor) -> Beginning? {
        let byte = cursor.byte()
        guard byte != 0 else { return nil }
        return Beginning(
            object: cursor.number(), isUncovered: byte & uncovered != 0, isMultiplyLinked: byte & linked != 0,
            isDirectory: byte & directory != 0)
    }

    package static func unpack(
        _ cursor: inout PackedStore.Cursor, _: Void, at path: RelativePath, other: RelativePath?,
        _ store: PackedStore
    ) -> ListLine {
        guard let beginning = beginning(&cursor) else { return ListLine(absent: path) }
        let file = store.file(&cursor, at: path)
        return ListLine(ListEntry(file, isUncovered: beginning.isUncovered), below: other)
    }
}

extension PackedList<ListLineCoding> {
    func isAbsent(at index: Int) -> Bool { beginning(at: index) == nil }
    func beginning(at index: Int) -> ListLineCoding.Beginning? {
        read(at: index) { ListLineCoding.beginning(&$0) }
    }
}
