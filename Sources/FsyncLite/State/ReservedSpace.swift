import FileSystem

/// Disk space that is reserved for the names of a commit. It is released if the disk becomes full meanwhile.
enum ReservedSpace {
    /// Reserves, for each operation, twice a name and an entry's overhead. A fixed size is not enough, because a
    /// directory grows with the names that pass through it.
    static func make(for journal: Journal, in directory: Directory) throws {
        var size = SpaceNeed.leastReserve
        for object in journal.objects.indices {
            let names = [journal.objects.old(object), journal.objects.new(object)]
            let longest = names.lazy.map { $0?.name.bytes.count ?? 0 }.max() ?? 0
            size += ByteCount(clamping: 2 * (longest + 64))
        }
        let name = TransactionEntry.reservedSpace
        // A prepared transaction has the space already.
        guard try directory.status(of: name) == nil else { return }
        let file = try directory.open(name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
        try calling("fallocate", directory.path(of: name)) { () throws(Errno) in
            do throws(Errno) {
                try file.allocate(size.rawCount)
            } catch .notSupported {
                // The file system cannot reserve space.
            }
        }
    }
}
