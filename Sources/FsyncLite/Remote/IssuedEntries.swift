import FileStorage
import FileSystem

/// The entries that were sent. Only these can be asked for. Each takes about 12 bytes and the name.
struct IssuedEntries {
    private var names: [UInt8] = []
    private var nameStarts: [UInt32] = []
    private var parents: [UInt32] = []
    /// The entry of each directory. The root has no entry.
    private var directories: [UInt32] = [.max]
    /// The entries by directory and name. They are sorted when the first one is asked for.
    private var sorted: (entries: [UInt32], starts: [Int])?

    mutating func append(_ name: [UInt8], in directory: UInt32, isDirectory: Bool) throws {
        guard parents.count < Int(UInt32.max), names.count + name.count < Int(UInt32.max) else {
            throw SyncError(.failed, "one run cannot mirror so many files from another machine")
        }
        if isDirectory { directories.append(UInt32(parents.count)) }
        sorted = nil
        nameStarts.append(UInt32(names.count))
        names.append(contentsOf: name)
        parents.append(directory)
    }

    /// Adds the present entry of a scan. A file that is excluded by its size is not added, so it cannot be
    /// asked for. It is sent only so that the other end excludes it, too.
    mutating func append(
        _ name: [UInt8], in directory: UInt32, of scan: some EntryStream, givesNumbers: Bool = true
    ) throws {
        if case .byStatus = scan.exclusion { return }
        try append(
            name, in: directory, isDirectory: givesNumbers && scan.status.type == .directory)
    }

    private func name(of entry: UInt32) -> ArraySlice<UInt8> {
        let index = Int(entry)
        let end = index + 1 < nameStarts.count ? Int(nameStarts[index + 1]) : names.count
        return names[Int(nameStarts[index])..<end]
    }

    func path(of directory: UInt32) -> RelativePath {
        var names: [ArraySlice<UInt8>] = []
        var directory = directory
        while directory > 0 {
            let entry = directories[Int(directory)]
            names.append(name(of: entry))
            directory = parents[Int(entry)]
        }
        return RelativePath(validated: Array(names.reversed().joined(separator: [UInt8(ascii: "/")])))
    }

    /// The path of an entry that was sent; nil for any other.
    mutating func path(of name: [UInt8], in directory: UInt32) -> RelativePath? {
        guard Int(directory) < directories.count, let name = FileName(name) else { return nil }
        let (entries, starts) = sorted ?? sort()
        var range = starts[Int(directory)]..<starts[Int(directory) + 1]
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let found = self.name(of: entries[middle])
            if found.elementsEqual(name.bytes) { return path(of: directory).appending(name) }
            range =
                found.lexicographicallyPrecedes(name.bytes)
                ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }

    /// Sorts the entries. A scan sends the names of a directory in order, so counting is enough. Only a
    /// directory that was listed after its subdirectories were sent needs a sort by name.
    private mutating func sort() -> (entries: [UInt32], starts: [Int]) {
        var starts = [Int](repeating: 0, count: directories.count + 1)
        for parent in parents { starts[Int(parent) + 1] += 1 }
        for index in 1..<starts.count { starts[index] += starts[index - 1] }
        var next = starts
        var entries = [UInt32](repeating: 0, count: parents.count)
        for (index, parent) in parents.enumerated() {
            entries[next[Int(parent)]] = UInt32(index)
            next[Int(parent)] += 1
        }
        for directory in directories.indices {
            let range = starts[directory]..<starts[directory + 1]
            let isInOrder = range.dropFirst().allSatisfy { !precedes(entries[$0], entries[$0 - 1]) }
            if !isInOrder { entries[range].sort { precedes($0, $1) } }
        }
        sorted = (entries, starts)
        return (entries, starts)
    }

    private func precedes(_ entry: UInt32, _ other: UInt32) -> Bool {
        name(of: entry).lexicographicallyPrecedes(name(of: other))
    }
}
