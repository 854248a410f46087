import FileSystem

/// An entry of a list: a file with the number of its object, which that keeps wherever it goes.
package struct ListEntry: Hashable, Sendable {
    package var file: File
    /// The filters of the list leave it out.
    package var isUncovered: Bool

    package init(_ file: File, isUncovered: Bool = false) {
        (self.file, self.isUncovered) = (file, isUncovered)
    }

    package var object: UInt64 { file.object }

    package func moved(to path: RelativePath) -> ListEntry {
        ListEntry(file.moved(to: path), isUncovered: isUncovered)
    }
}

/// What an older list has at a path, where a newer one has something else.
package struct ListLine: Hashable, Sendable {
    package let path: RelativePath
    /// nil: nothing is there, and nothing below it.
    package var entry: ListEntry?
    /// Of a directory: the path in the newer list that has what is below it; nil: nothing is below it.
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
    /// What is read of an entry without the rest.
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

    /// nil where nothing is there.
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
