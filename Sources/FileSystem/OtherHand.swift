/// Another user who could change what is at a path: the owner of it or of a directory or symlink on the way, or one who may
/// write there.
public struct OtherHand: Sendable {
    /// What that user could change, with symlinks resolved.
    public let path: [UInt8]
    /// nil if it belongs to root, and others may write to it.
    public let owner: UInt32?

    /// Looks at each name from `/` to the end of a path. In a sticky directory, others cannot change root's files. nil if
    /// there is none, or nothing at the path.
    ///
    /// Only for root, whom others could give commands this way. Another user's commands do no more than that user may, and
    /// a group may well share its settings.
    public init?(on path: [UInt8]) throws(SystemError) {
        guard Account.isRoot, try !HostProcess.isInUserNamespace() else { return nil }
        let slash = UInt8(ascii: "/")
        let whole = path.first == slash ? path : try HostProcess.workingDirectory() + [slash] + path
        var rest = Array(whole.split(separator: slash).reversed())
        let top = try Directory.open(path: [slash])
        var (directory, links) = (top, 0)
        while let next = rest.popLast() {
            if next.elementsEqual("..".utf8) { directory = try directory.parent() }
            // `.` is no name, either.
            guard let name = FileName(next) else { continue }
            // A terminal belongs to its user.
            guard let status = try directory.status(of: name), status.type != .characterDevice else {
                return nil
            }
            let isSafe =
                status.permissions & 0o022 == 0 || status.type == .symlink
                || status.type == .directory && status.permissions & 0o1000 != 0
            guard status.owner == 0, isSafe, links < 40 else {
                self.path = directory.path(of: name)
                owner = status.owner == 0 ? nil : status.owner
                return
            }
            switch status.type {
            case .symlink:
                let destination = try directory.destination(of: name)
                if destination.first == slash { directory = top }
                rest += destination.split(separator: slash).reversed()
                links += 1
            case .directory: directory = try directory.directory(name)
            default: return nil
            }
        }
        return nil
    }
}
