import FileSystem

extension LocalFile {
    /// For root, who takes commands and paths only from files that nobody else can change: looks at each name on the way
    /// from `/`, and at what symlinks lead to. In a sticky directory, others cannot change root's files. Another user's
    /// commands can do no more than that user, and a group may share its settings.
    ///
    /// - Parameter hint: another way out than to give the file to root.
    /// - Throws: `refused` with the owner. No error if there is nothing at the path.
    package func checkIsRoots(_ hint: String = "") throws(SyncError) {
        let found = try reporting { () throws(SystemError) in try othersFile() }
        guard let (path, owner) = found else { return }
        let text = escapedText(path)
        throw SyncError(
            .refused, path: path,
            (owner == 0 ? "others may write to it" : "it belongs to user \(owner)")
                + ", and root takes no commands or paths from what others can change; \(hint)"
                + (owner == 0 ? "chmod go-w \(text)" : "chown root \(text)"))
    }

    /// The first name on the way that another user could change, and its owner.
    private func othersFile() throws(SystemError) -> (path: [UInt8], owner: UInt32)? {
        guard Account.isRoot, try !HostProcess.isInUserNamespace() else { return nil }
        let slash = UInt8(ascii: "/")
        let whole = bytes.first == slash ? bytes : try HostProcess.workingDirectory() + [slash] + bytes
        var rest = Array(whole.split(separator: slash).reversed())
        let top = try Directory.open(path: [slash])
        var (directory, links) = (top, 0)
        while let next = rest.popLast() {
            if next.elementsEqual("..".utf8) { directory = try directory.parent() }
            // `.` is no name, either.
            guard let name = FileName(next) else { continue }
            // A terminal belongs to its user.
            guard let status = try directory.status(of: name), status.type != .characterDevice else { break }
            let isSafe =
                status.permissions & 0o022 == 0 || status.type == .symlink
                || status.type == .directory && status.permissions & 0o1000 != 0
            guard status.owner == 0, isSafe else { return (directory.path(of: name), status.owner) }
            if status.type == .directory {
                directory = try directory.directory(name)
            } else {
                guard status.type == .symlink, links < 40 else { break }
                let destination = try directory.destination(of: name)
                if destination.first == slash { directory = top }
                rest += destination.split(separator: slash).reversed()
                links += 1
            }
        }
        return nil
    }
}
