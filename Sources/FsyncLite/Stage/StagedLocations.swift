import FileSystem

/// The location of each staged entry below the stage: its slot, or its path inside the slot of a new directory.
struct StagedLocations: Sendable {
    private let objects: OperationGraph.ObjectList
    /// For each entry the nearest one with a slot: itself, or a directory above it. Empty if each has a slot.
    private var tops: [UInt32] = []

    init(_ graph: OperationGraph) {
        objects = graph.objects
        let entries = objects.stagedEntries
        guard entries.indices.contains(where: { entries.object(at: $0) == nil }) else { return }
        tops.reserveCapacity(entries.count)
        // The new directories with a slot on the way to the present entry.
        var open: [Int] = []
        var openPaths: [RelativePath] = []
        for index in entries.indices {
            if !open.isEmpty {
                let path = entries.path(at: index)
                while let last = openPaths.last, !path.isBelow(last) {
                    openPaths.removeLast()
                    open.removeLast()
                }
            }
            guard let top = entries.object(at: index) == nil ? open.last : index else {
                preconditionFailure("a staged entry without a location")
            }
            tops.append(UInt32(top))
            if top == index, entries.isDirectory(at: index) {
                open.append(index)
                openPaths.append(entries.path(at: index))
            }
        }
    }

    subscript(index: Int) -> RelativePath {
        let entries = objects.stagedEntries
        let top = tops.isEmpty ? index : Int(tops[index])
        guard let object = entries.object(at: top) else {
            preconditionFailure("a staged entry without a location")
        }
        let slot = objects.slotPath(object)
        if top == index { return slot }
        return slot.appending(bytes: entries.path(at: index).bytes[entries.path(at: top).bytes.count...])
    }
}

extension RelativePath {
    /// - Parameter bytes: empty, or a separator and the rest of a valid path.
    fileprivate func appending(bytes: ArraySlice<UInt8>) -> RelativePath {
        RelativePath(validated: self.bytes + bytes)
    }
}
