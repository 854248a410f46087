import FileSystem

/// The paths of some objects in a list, by the number of the object. They need about 40 bytes each.
struct ObjectPaths {
    private enum Coding: PackedCoding {
        typealias Element = (object: UInt64, path: RelativePath)

        static func head(of element: Element) -> UInt64 { element.object }
        static func path(of element: Element) -> RelativePath { element.path }
        static func pack(_ element: Element, into store: inout PackedStore) {}

        static func unpack(
            _ cursor: inout PackedStore.Cursor, _ object: UInt64, at path: RelativePath,
            other: RelativePath?, _ store: PackedStore
        ) -> Element { (object, path) }
    }

    private var paths = PackedList<Coding>()
    /// Indices of `paths`, in the order of the objects.
    private var byObject: [UInt32] = []

    /// Call `sort()` before a path is asked for.
    mutating func append(_ path: RelativePath, of object: UInt64) { paths.append((object, path)) }

    mutating func sort() {
        byObject = paths.indices.map { UInt32($0) }.sorted {
            (paths.head(at: Int($0)), $0) < (paths.head(at: Int($1)), $1)
        }
    }

    /// The paths of an object, in the order in which they were added.
    subscript(object: UInt64) -> [RelativePath] {
        let first = byObject.partitionPoint(where: { paths.head(at: Int($0)) < object })
        return byObject[first...].prefix { paths.head(at: Int($0)) == object }.map { paths.path(at: Int($0)) }
    }
}
