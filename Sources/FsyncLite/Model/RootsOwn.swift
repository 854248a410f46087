import FileStorage
import FileSystem

// Finds objects that another user may have put in the way.

extension LocalFile {
    /// Checks a file for root, who takes commands and paths only from files that nobody else can change. It looks at
    /// each name on the way from `/`, and at the destinations of symlinks. In a sticky directory, others cannot change
    /// root's files. For other users there is no check: their commands can do no more than they can, and a group may
    /// share its settings.
    ///
    /// - Parameter hint: another way out than to give the file to root.
    /// - Throws: `refused` with the owner. It is no error if the path does not exist.
    package func checkIsRoots(_ hint: String = "") throws(SyncError) {
        guard Account.isRoot else { return }
        let found = try reporting { () throws(SystemError) in
            try walk { status, _ in
                // A terminal belongs to the user who is logged in on it.
                guard status.type != .characterDevice else { return false }
                let isSafe =
                    status.permissions & 0o022 == 0 || status.type == .symlink
                    || status.type == .directory && status.permissions & 0o1000 != 0
                return status.owner != 0 || !isSafe
            }.unsafe
        }
        guard let (path, owner) = found else { return }
        let text = escapedText(path)
        let reason =
            (owner == 0 ? "other users may write to it" : "it belongs to user \(owner)")
            + ", and root takes no commands or paths from files of other users; \(hint)"
            + (owner == 0 ? "chmod go-w \(text)" : "chown root \(text)")
        let way: WayOut =
            owner == 0 ? .first("chmod", "go-w", .text(path)) : .first("chown", "root", .text(path))
        throw SyncError(Refusal(.unsafeFile, reason, way), path: path)
    }

    /// Refuses a symlink on the way if another user may have put it there: it can lead anywhere.
    ///
    /// - Returns: the directory at the end of the path; nil for another type, if it is missing, and in a user
    ///   namespace.
    package func checkLinks() throws(SyncError) -> Directory? {
        let way = try reporting { () throws(SystemError) in
            try walk { $0.type == .symlink && $0.isPlanted(in: $1) }
        }
        guard let (path, owner) = way.unsafe else { return way.end }
        throw SyncError(
            Refusal(
                .unsafeFile,
                "this symlink belongs to user \(owner), who can redirect it; name the directory itself",
                .none), path: path)
    }

    /// Looks at each name on the way from `/`, and at the destinations of symlinks.
    ///
    /// - Parameter isUnsafe: is called with the status of a name and the status of its directory.
    /// - Returns: the first unsafe name and its owner, or the directory at the end.
    private func walk(
        until isUnsafe: (FileStatus, FileStatus) -> Bool
    ) throws(SystemError) -> (unsafe: (path: [UInt8], owner: UInt32)?, end: Directory?) {
        guard try !HostProcess.isInUserNamespace() else { return (nil, nil) }
        let slash = UInt8(ascii: "/")
        let whole = bytes.first == slash ? bytes : try HostProcess.workingDirectory() + [slash] + bytes
        var rest = Array(whole.split(separator: slash).reversed())
        let top = try Directory.open(path: [slash], .pathOnly)
        var (directory, links) = (top, 0)
        while let next = rest.popLast() {
            if next.elementsEqual("..".utf8) { directory = try directory.parent() }
            // `.` is not a name either.
            guard let name = FileName(next) else { continue }
            guard let status = try directory.status(of: name) else { return (nil, nil) }
            guard try !isUnsafe(status, directory.status()) else {
                return ((directory.path(of: name), status.owner), nil)
            }
            if status.type == .directory {
                directory = try directory.directory(name, .pathOnly)
            } else {
                guard status.type == .symlink, links < 40 else { return (nil, nil) }
                let destination = try directory.destination(of: name)
                if destination.first == slash { directory = top }
                rest += destination.split(separator: slash).reversed()
                links += 1
            }
        }
        return (nil, directory)
    }
}
