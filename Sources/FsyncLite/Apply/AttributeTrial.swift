import FileSystem

extension Stage {
    /// What becomes of the attributes that a commit is to set: tried out here, so that the manifest does not
    /// say what the target cannot hold.
    func tryAttributes(of pairs: [Pair]) throws -> [RelativePath: File] {
        var achieved: [RelativePath: File] = [:]
        let setsOwner = attributes.contains(.owner)
        let names: [FileType: FileName] = [
            .directory: FileName("probe-directory"), .symlink: FileName("probe-symlink"),
        ]
        let other = FileName("probe-file")
        for pair in pairs where pair.changesAttributes {
            let name = names[pair.source.status.type] ?? other
            if try directory.status(of: name) == nil {
                switch pair.source.status.type {
                case .directory: try directory.makeDirectory(name)
                case .symlink: try directory.makeSymlink(name, to: [UInt8(ascii: ".")])
                default:
                    _ = try directory.open(
                        name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
                }
            }
            let probe = try ObjectHandle(name, in: directory)
            let wanted = pair.attributes.new
            // Whether setgid may be set depends on the group. Who may not give the file to it sees that below.
            if !setsOwner { try? probe.setOwner(wanted.owner, group: wanted.group) }
            let refused = try probe.set(
                wanted, over: try probe.status(), setsOwner: setsOwner, attributes.extended)
            var status = try probe.status()
            if !setsOwner { (status.owner, status.group) = (wanted.owner, wanted.group) }
            if refused.owner != nil {
                (status.owner, status.group) = (pair.target.status.owner, pair.target.status.group)
            }
            let result = pair.source.achieved(
                as: status, pair.source.extended, refused: refused.extended, setsOwner: setsOwner)
            if result != pair.source { achieved[pair.source.path] = result }
        }
        for name in [other] + names.values where try directory.status(of: name) != nil {
            try TreeRemoval.remove(name, in: directory)
        }
        return achieved
    }
}
