import FileSystem

/// Where to write: the end of the symlinks, and nothing that another user has put in the way.
extension LocalFile {
    /// Where to write: the end of the symlinks. One of `/proc` may lead to a file without a name, and stays a symlink then:
    /// only the kernel follows it.
    package struct Place {
        package let file: LocalFile
        package let location: Location
        package let status: FileStatus?
        package var isNamed: Bool { status?.type != .symlink }
    }

    package func place() throws(SyncError) -> Place {
        var file = self
        for _ in 0..<40 {
            let location = try file.location()
            let status = try location.status()
            if let status { try file.checkOwner(status, in: location.directory) }
            let place = Place(file: file, location: location, status: status)
            guard !place.isNamed else { return place }
            let link = try reporting(location.directory.destination(of: location.name))
            let next = link.first == UInt8(ascii: "/") ? LocalFile(bytes: link) : file.parent + link
            if let end = try file.reached(), try next.reached()?.isSameObject(as: end) != true {
                return place
            }
            file = next
        }
        throw SyncError(.failed, path: bytes, .tooManyLinks)
    }

    /// - Throws: `refused` if another user made this, and the directory is one where that user may.
    func checkOwner(_ status: FileStatus, in directory: Directory) throws(SyncError) {
        let holder = try reporting(directory.status())
        guard LocalFile.isPlanted(status, in: holder) else { return }
        throw SyncError(
            .refused, path: bytes,
            "it belongs to user \(status.owner), who may have put it there to read what is written, or to lead it elsewhere; name another file, or remove it"
        )
    }

    /// It belongs to neither root nor the present user.
    static func isForeign(_ status: FileStatus) -> Bool {
        ![0, Account.effectiveUser].contains(status.owner)
    }

    /// Another user made this, in a directory where that user may.
    package static func isPlanted(_ status: FileStatus, in holder: FileStatus) -> Bool {
        isForeign(status) && (isForeign(holder) || holder.permissions & 0o002 != 0)
    }
}
