import FileSystem

extension Directory {
    /// Moves a foreign object that is in the way of a commit into this directory of a transaction.
    ///
    /// - Returns: its new path.
    func takeConflict(_ name: FileName, from other: Directory) throws -> [UInt8] {
        let holder = TransactionEntry.conflicts
        let isNew = try status(of: holder) == nil
        if isNew { try makeDirectory(holder) }
        let conflicts = try directory(holder)
        if isNew, try FileSystemInfo(of: conflicts).hasDomains { try conflicts.openToAll() }
        // An interrupted recovery may have put some objects there already.
        var number = 1
        while try conflicts.status(of: FileName(number: number)) != nil { number += 1 }
        try other.rename(name, to: conflicts, FileName(number: number), .noReplace)
        return conflicts.path(of: FileName(number: number))
    }
}

extension Commit {
    /// Moves late changes to the conflicts: entries that others have put into new directories since the transaction
    /// began, and new files that others wrote to. In an undone commit they are in the stage, which will be emptied.
    ///
    /// RACE: a file's time is the last tick of the kernel's clock. So an earlier change in the tick in which the
    /// transaction began is treated as late, too.
    func keepLateChanges(in stage: Directory) throws {
        let own = Set(journal.objects.indices.compactMap { journal.objects.identity(of: $0) })
        let now = FileTime.now
        func isLate(_ status: FileStatus) -> Bool {
            let isOwn = own.contains(status.identity)
            guard status.type != .directory else {
                return !isOwn && status.created.map { $0 >= journal.began } ?? false
            }
            // The operations themselves move the change times of their objects. A modification time in the future is
            // the source's: no write sets it.
            guard isOwn else { return status.changed >= journal.began }
            return status.modified >= journal.began && status.modified <= now
        }
        for holder in try DirectoryListing.names(in: stage)
        where holder == TransactionEntry.tree || Int(holder.description) != nil {
            let directory = try stage.directory(holder)
            let scan = try TreeScan(directory, TreeScan.Options(toleratesUnreadable: true))
            var late: [RelativePath] = []
            while try scan.advance() {
                if let last = late.last, scan.path.isBelow(last) { continue }
                if isLate(scan.status) { late.append(scan.path) }
            }
            let resolver = PathResolver(directory)
            for path in late {
                guard let (parent, name) = try resolver.location(of: path) else { continue }
                try displace(name, in: parent, to: stage)
            }
        }
    }
}
