import FileSystem

extension Stage {
    /// Tries a commit's attributes on a probe, so that the manifest does not claim any that the target cannot store.
    func tryAttributes(of matches: some Sequence<Match>) throws -> [RelativePath: File] {
        var achieved: [RelativePath: File] = [:]
        let setsOwner = attributes.contains(.owner)
        let names: [FileType: FileName] = [
            .directory: FileName("probe-directory"), .symlink: FileName("probe-symlink"),
        ]
        let other = FileName("probe-file")
        for match in matches where match.changesAttributes {
            let name = names[match.source.status.type] ?? other
            if try directory.status(of: name) == nil {
                switch match.source.status.type {
                case .directory: try directory.makeDirectory(name)
                case .symlink: try directory.makeSymlink(name, to: [UInt8(ascii: ".")])
                default:
                    _ = try directory.open(
                        name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
                }
            }
            let probe = try ObjectHandle(name, in: directory)
            var wanted = match.attributes.new
            let made = try probe.status()
            if !attributes.contains(.mode) { wanted.permissions = made.permissions }
            // The group decides whether setgid can be set. A failure to set the group is found below.
            if !setsOwner { try? probe.setOwner(wanted.owner, group: wanted.group) }
            let refused = try probe.set(
                wanted, over: made, setsOwner: setsOwner, attributes.extended)
            var status = try probe.status()
            if !setsOwner { (status.owner, status.group) = (wanted.owner, wanted.group) }
            if refused.owner != nil {
                (status.owner, status.group) = (match.target.status.owner, match.target.status.group)
            }
            let result = match.source.achieved(
                as: status, match.source.extended, refused: refused.extended, mirroring: attributes,
                timeStep: directory.fileSystem?.capabilities.timeStep ?? 1)
            if result != match.source { achieved[match.source.path] = result }
        }
        for name in [other] + names.values where try directory.status(of: name) != nil {
            try TreeRemoval.remove(name, in: directory)
        }
        return achieved
    }
}
