import FileSystem

/// The location of each staged entry below the stage: its slot, or its path inside the slot of a new directory. Four
/// bytes each.
struct StagedLocations: Sendable {
    private let objects: OperationGraph.ObjectList
    /// For each entry the nearest one with a slot: itself, or a directory above it.
    private var tops: [UInt32] = []

    init(_ graph: OperationGraph) {
        objects = graph.objects
        let entries = objects.stagedEntries
        tops.reserveCapacity(entries.count)
        // The new directories with a slot on the way to the present entry.
        var open: [Int] = []
        for (index, entry) in entries.enumerated() {
            while let last = open.last, !entry.file.path.isBelow(entries[last].file.path) {
                open.removeLast()
            }
            guard let top = entry.object == nil ? open.last : index else {
                preconditionFailure("a staged entry without a location")
            }
            tops.append(UInt32(top))
            if top == index, entry.file.isDirectory { open.append(index) }
        }
    }

    subscript(index: Int) -> RelativePath {
        let entries = objects.stagedEntries
        let top = entries[Int(tops[index])]
        guard let object = top.object else { preconditionFailure("a staged entry without a location") }
        return objects.slotPath(object)
            .appending(bytes: entries[index].file.path.bytes[top.file.path.bytes.count...])
    }
}
