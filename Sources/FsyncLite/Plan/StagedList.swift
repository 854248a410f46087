extension OperationGraph {
    /// A source entry that is staged.
    package struct StagedEntry: Hashable, Sendable {
        package let file: File
        /// The object that goes to a slot; nil for what is staged inside a new directory.
        package let object: Int?
        /// The arrival whose file this is another name of; staged before it.
        package let primary: RelativePath?
    }

    /// The entries that are staged, in scan order. Eight bytes stand for each.
    package struct StagedList: RandomAccessCollection, Sendable {
        private var arriving: ArrivingList
        private var objects: [UInt32]
        private var primaries: [RelativePath: RelativePath] = [:]

        package init() {
            (arriving, objects) = (ArrivingList(), [])
        }

        /// - Parameter kept: called for each new name of a file that the target keeps, which is not staged.
        init(_ difference: Difference, kept: (RelativePath, File) -> Void) {
            arriving = difference.arriving
            let (all, links) = (arriving, difference.links)
            for (path, link) in links {
                if case .staged(let primary) = link { primaries[path] = primary }
            }
            if !links.isEmpty {
                arriving.keep { position in
                    let path = all.path(at: position)
                    guard case .kept(let file)? = links[path] else { return true }
                    kept(path, file)
                    return false
                }
            }
            objects = [UInt32](repeating: .max, count: arriving.count)
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { objects.count }

        package subscript(index: Int) -> StagedEntry {
            StagedEntry(file: arriving[index], object: object(at: index), primary: primary(at: index))
        }

        func path(at index: Int) -> RelativePath { arriving.path(at: index) }
        func isDirectory(at index: Int) -> Bool { arriving.isDirectory(at: index) }
        func file(at index: Int) -> File { arriving[index] }
        func object(at index: Int) -> Int? { objects[index] == .max ? nil : Int(objects[index]) }

        /// The target's file that is replaced by the one of a path.
        func replaced(by path: RelativePath) -> File? {
            let index = indices.partitionPoint { self.path(at: $0) < path }
            return index < endIndex && self.path(at: index) == path ? arriving.replaced(at: index) : nil
        }

        func primary(at index: Int) -> RelativePath? { primaries.isEmpty ? nil : primaries[path(at: index)] }

        /// Some entries are further names of others.
        var hasPrimaries: Bool { !primaries.isEmpty }

        /// The indices of directories.
        var directories: some BidirectionalCollection<Int> { indices.lazy.filter { isDirectory(at: $0) } }

        mutating func set(_ object: Int, at index: Int) { objects[index] = UInt32(object) }
    }
}
