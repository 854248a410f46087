import FileStorage
import FileSystem

/// Finds the place to write to. Objects that another user may have put in the way are refused.
extension LocalFile {
    /// The place at the end of the symlinks. A symlink in `/proc` may lead to a file without a name. Then the place is
    /// the symlink, which only the kernel can follow.
    struct Place {
        let location: Location
        let status: FileStatus?
        var isNamed: Bool { status?.type != .symlink }
    }

    func place() throws(SyncError) -> Place {
        var file = self
        for _ in 0..<40 {
            let location = try file.location()
            let status = try location.status()
            if let status { try file.checkOwner(status, in: location.directory) }
            let place = Place(location: location, status: status)
            guard !place.isNamed else { return place }
            let link = try reporting(location.directory.destination(of: location.name))
            let next = link.first == UInt8(ascii: "/") ? LocalFile(bytes: link) : file.parent + link
            if let end = try ifPresent(file.status), try ifPresent(next.status)?.isSameObject(as: end) != true
            {
                return place
            }
            file = next
        }
        throw SyncError(.failed, path: bytes, .tooManyLinks)
    }

    /// Opens the file to append to it. Missing directories are made.
    ///
    /// - Parameter permissions: the permission bits of a new file, before the umask.
    func openToAppend(permissions: UInt16) throws(SyncError) -> FileDescriptor {
        let place = try makingParent(place())
        let flags: FileDescriptor.Flags = [.write, .append, .create, .nonBlocking]
        let file = try place.location.open(
            place.isNamed ? flags.union(.noFollow) : flags, permissions: permissions)
        try checkOwner(naming(file.status()), in: place.location.directory)
        return file
    }

    /// - Throws: `refused` if another user made this, and may make files in the directory.
    private func checkOwner(_ status: FileStatus, in directory: Directory) throws(SyncError) {
        guard try status.isPlanted(in: reporting(directory.status())) else { return }
        throw SyncError(
            .refused, path: bytes,
            "it belongs to user \(status.owner), who could read what is written, or redirect it. Name another file, or remove this one"
        )
    }
}

extension FileStatus {
    /// Whether another user made this in a directory to which that user may write.
    func isPlanted(in holder: FileStatus) -> Bool {
        isForeign && (holder.isForeign || holder.permissions & 0o002 != 0)
    }
}
