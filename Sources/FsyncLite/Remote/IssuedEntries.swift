import FileStorage
import FileSystem

/// The entries that were sent. Only these can be asked for. Each takes about 12 bytes and the name.
struct IssuedEntries {
    private var names: [UInt8] = []
    private var nameStarts: [UInt32] = []
    private var parents: [UInt32] = []
    /// The own entry of each directory, and its entries by name. The root has no entry.
    private var directories: [(entry: UInt32, entries: [UInt32])] = [(.max, [])]

    mutating func append(_ name: [UInt8], in directory: UInt32, isDirectory: Bool) throws {
        guard parents.count < Int(UInt32.max), names.count + name.count < Int(UInt32.max) else {
            throw SyncError(.failed, "one run cannot mirror so many files from another machine")
        }
        let entry = UInt32(parents.count)
        let index = index(of: name, in: directory)
        directories[Int(directory)].entries.insert(entry, at: index)
        if isDirectory { directories.append((entry, [])) }
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
            let entry = directories[Int(directory)].entry
            names.append(name(of: entry))
            directory = parents[Int(entry)]
        }
        return RelativePath(validated: Array(names.reversed().joined(separator: [UInt8(ascii: "/")])))
    }

    /// The path of an entry that was sent; nil for any other.
    func path(of name: [UInt8], in directory: UInt32) -> RelativePath? {
        guard Int(directory) < directories.count, let name = FileName(name) else { return nil }
        let index = index(of: name.bytes, in: directory)
        let entries = directories[Int(directory)].entries
        guard index < entries.count, self.name(of: entries[index]).elementsEqual(name.bytes) else {
            return nil
        }
        return path(of: directory).appending(name)
    }

    /// The index of the first entry of a directory that does not precede a name. A scan sends the names of a directory
    /// in order, so the last entry is looked at first.
    private func index(of name: some Sequence<UInt8>, in directory: UInt32) -> Int {
        let entries = directories[Int(directory)].entries
        func precedes(_ entry: UInt32) -> Bool { self.name(of: entry).lexicographicallyPrecedes(name) }
        if let last = entries.last, precedes(last) { return entries.count }
        return entries.partitionPoint(where: precedes)
    }
}
