import FileStorage
import FileSystem

/// The entries that were sent. Only these can be asked for. Each takes about 12 bytes and the name.
struct IssuedEntries {
    private struct Directory {
        /// Its own entry. The root has none.
        let entry: UInt32
        /// Its entries by name.
        var entries: [UInt32] = []
        /// Its directory in the digests; nil if it is newer than these.
        let node: Int?
        var hasNumbered = false
        var hasListed = false
    }

    private var names: [UInt8] = []
    private var nameStarts: [UInt32] = []
    private var parents: [UInt32] = []
    private var directories = [Directory(entry: .max, node: 0)]

    /// - Parameter node: its directory in the digests, if these were asked for and have it.
    mutating func append(
        _ name: [UInt8], in directory: UInt32, isDirectory: Bool, node: Int? = nil
    ) throws {
        guard parents.count < Int(UInt32.max), names.count + name.count < Int(UInt32.max) else {
            throw SyncError(.failed, "one run cannot mirror so many files from another machine")
        }
        let entry = UInt32(parents.count)
        let index = index(of: name, in: directory)
        directories[Int(directory)].entries.insert(entry, at: index)
        if isDirectory { directories.append(Directory(entry: entry, node: node)) }
        nameStarts.append(UInt32(names.count))
        names.append(contentsOf: name)
        parents.append(directory)
    }

    /// Adds the present entry of a scan. A file that is excluded by its size is not added, so it cannot be
    /// asked for. It is sent only so that the other end excludes it, too.
    mutating func append(
        _ name: [UInt8], in directory: UInt32, of scan: some EntryStream, givesNumbers: Bool = true,
        node: Int? = nil
    ) throws {
        if case .byStatus = scan.exclusion { return }
        try append(
            name, in: directory, isDirectory: givesNumbers && scan.status.type == .directory, node: node)
    }

    /// Notes that a list of a directory is sent. A directory is numbered once and listed once. Otherwise a
    /// client could make this end store any number of names.
    ///
    /// - Returns: its directory in the digests; nil if it is newer than these.
    mutating func take(_ asked: AskedList) throws(WireError) -> Int? {
        let number = Int(asked.number)
        guard number < directories.count else { throw WireError("a directory that was not sent") }
        let wasSent: WritableKeyPath<Directory, Bool> =
            if case .rest = asked.wish { \.hasListed } else { \.hasNumbered }
        guard !directories[number][keyPath: wasSent] else { throw WireError("a directory twice") }
        directories[number][keyPath: wasSent] = true
        return directories[number].node
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
