import FileSystem

extension OperationGraph {
    /// A source entry that is staged.
    package struct StagedEntry: Hashable, Sendable {
        package let file: File
        /// The object that moves to a slot; nil for an entry that is staged inside a new directory.
        package let object: Int?
        /// The arrival of the same file that is staged first; this entry is one more name of it.
        package let primary: RelativePath?

        /// The result of staging it.
        enum Outcome: Sendable {
            /// The entry as the manifest will have it, and the staged object's inode.
            case staged(File, inode: UInt64)
            /// It no longer exists in the source.
            case vanished
            case failed(Problem)
        }
    }

    /// The staged entries in scan order: the numbers of their changes, and the results of each.
    package struct StagedList: RandomAccessCollection, Sendable {
        private var changes = ChangeList()
        /// The index of the change of each entry.
        private var numbers: [UInt32] = []
        private var objects: [UInt32] = []
        private var primaries: [RelativePath: RelativePath] = [:]
        /// For each entry the nearest one with an object: itself, or a directory above it. Empty if all have one.
        private var tops: [UInt32] = []
        private var slots: [UInt32] = []
        private var results: [Result] = []
        /// The inode of an entry staged as wanted, or the index in `others` of any other outcome.
        private var values: [UInt64] = []
        private var others: [StagedEntry.Outcome] = []

        private enum Result: UInt8 {
            case none, asWanted, settledAsWanted, other
        }

        package init() {}

        /// - Parameter existing: called for each new name of a file that remains in the target and is not staged.
        init(_ difference: Difference, existing: (RelativePath, File) -> Void) {
            changes = difference.changes
            let links = difference.links
            for (path, link) in links {
                if case .staged(let primary) = link { primaries[path] = primary }
            }
            for index in changes.indices where changes.head(at: index).arrives {
                if !links.isEmpty {
                    let path = changes.path(at: index)
                    if case .existing(let file)? = links[path] {
                        existing(path, file)
                        continue
                    }
                }
                numbers.append(UInt32(index))
            }
            objects = [UInt32](repeating: .max, count: numbers.count)
            slots = objects
        }

        package var startIndex: Int { 0 }
        package var endIndex: Int { numbers.count }

        package subscript(index: Int) -> StagedEntry {
            StagedEntry(file: file(at: index), object: object(at: index), primary: primary(at: index))
        }

        func path(at index: Int) -> RelativePath { changes.path(at: change(at: index)) }
        func isDirectory(at index: Int) -> Bool { changes.head(at: change(at: index)).isDirectory }
        func file(at index: Int) -> File { changes[file: change(at: index)] }
        func object(at index: Int) -> Int? { objects[index] == .max ? nil : Int(objects[index]) }
        func slot(at index: Int) -> Int? { slots[index] == .max ? nil : Int(slots[index]) }
        func change(at index: Int) -> Int { Int(numbers[index]) }

        /// The target's file that the entry of a path replaces.
        func replaced(by path: RelativePath) -> File? {
            changes.index(of: .match, at: path).map { changes[match: $0].target }.flatMap {
                $0.isFile ? $0 : nil
            }
        }

        func primary(at index: Int) -> RelativePath? { primaries.isEmpty ? nil : primaries[path(at: index)] }

        /// Some entries are further names of others.
        var hasPrimaries: Bool { !primaries.isEmpty }

        var directories: some BidirectionalCollection<Int> { indices.lazy.filter { isDirectory(at: $0) } }

        // MARK: Locations

        mutating func set(_ object: Int, slot: Int, at index: Int) {
            (objects[index], slots[index]) = (UInt32(object), UInt32(slot))
        }

        /// Finds the locations of the entries without an object, after all objects are set.
        mutating func findTops() {
            guard objects.contains(.max) else { return }
            tops.reserveCapacity(count)
            // The new directories with a slot above the present entry.
            var open: [(index: Int, path: RelativePath)] = []
            for index in indices {
                if !open.isEmpty {
                    let path = path(at: index)
                    while let last = open.last, !path.isBelow(last.path) { open.removeLast() }
                }
                guard let top = object(at: index) == nil ? open.last?.index : index else {
                    preconditionFailure("a staged file without a location")
                }
                tops.append(UInt32(top))
                if top == index, isDirectory(at: index) { open.append((index, path(at: index))) }
            }
        }

        /// The location of an entry below the stage: its slot, or its path inside the slot of a new directory.
        func location(at index: Int) -> RelativePath {
            let top = tops.isEmpty ? index : Int(tops[index])
            let slot = OperationGraph.path(ofSlot: Int(slots[top]))
            if top == index { return slot }
            return RelativePath(
                validated: slot.bytes + path(at: index).bytes[path(at: top).bytes.count...])
        }

        // MARK: Outcomes

        /// nil until the entry is done.
        func outcome(at index: Int) -> StagedEntry.Outcome? {
            guard !results.isEmpty else { return nil }
            return switch results[index] {
            case .none: nil
            case .asWanted, .settledAsWanted:
                .staged(
                    file(at: index).marked(isSettled: results[index] == .settledAsWanted),
                    inode: values[index])
            case .other: others[Int(values[index])]
            }
        }

        /// The staged file at a path, and whether it is as wanted; nil if none was staged.
        func staged(at path: RelativePath) -> (file: File, isAsWanted: Bool)? {
            let index = indices.partitionPoint(where: { self.path(at: $0) < path })
            guard index < count, self.path(at: index) == path, case .staged(let file, _)? = outcome(at: index)
            else { return nil }
            return (file, results[index] != .other)
        }

        /// The entries that were not staged as wanted, with their outcomes.
        var deviations: some Sequence<(path: RelativePath, outcome: StagedEntry.Outcome)> {
            results.indices.lazy.filter { results[$0] == .other }
                .map { (path(at: $0), others[Int(values[$0])]) }
        }

        /// - Parameter isAsWanted: see `Outcome.isStaged`.
        mutating func set(_ outcome: StagedEntry.Outcome, at index: Int, isAsWanted: Bool) {
            if results.isEmpty {
                results = Array(repeating: .none, count: count)
                values = Array(repeating: 0, count: count)
            }
            if isAsWanted, case .staged(let file, let inode) = outcome {
                (results[index], values[index]) = (file.isSettled ? .settledAsWanted : .asWanted, inode)
            } else {
                (results[index], values[index]) = (.other, UInt64(others.count))
                others.append(outcome)
            }
        }
    }
}

extension OperationGraph.StagedEntry.Outcome {
    /// The entry's own file was staged completely.
    func isStaged(as file: File) -> Bool {
        guard case .staged(let staged, _) = self else { return false }
        return staged.marked(isSettled: file.isSettled) == file && staged.omitted.isEmpty && !staged.isGrowing
    }
}
