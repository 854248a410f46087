import FileStorage
import FileSystem

/// The location of a target's state, which is in the target, or beside it after an exchange. Also the directory for a
/// subvolume's other trees.
extension StateDirectory {
    /// The directory for the other trees of a target that is a subvolume; nil if its name would be too long.
    static func treesName(beside target: FileName) -> FileName? {
        FileName.state(beside: target, suffix: "-trees")
    }
}

extension TargetRoot {
    /// The state beside this directory under another name. It exists if the directory was renamed after an exchange.
    func stateOfOtherName() throws -> [UInt8]? {
        guard let directory, let (parent, _) = try readableLocation(of: directory) else { return nil }
        let identity = try directory.status().identity
        for name in try DirectoryListing.names(in: parent).sorted()
        where name.bytes.first == UInt8(ascii: ".")
            && name.bytes.suffix(FileName.state.bytes.count).elementsEqual(FileName.state.bytes)
        {
            // If a state cannot be read, it belongs to another target, whose own commands report that.
            guard let state = try? StateDirectory(beside: name, in: parent),
                let manifest = try? state.manifest(), manifest.header.rootIdentity == identity
            else { continue }
            return parent.path(of: name)
        }
        return nil
    }

    /// The location of a directory; nil if the user may not read the parent directory.
    private func readableLocation(
        of directory: Directory
    ) throws(SystemError) -> (parent: Directory, name: FileName)? {
        do throws(SystemError) {
            return try directory.location(.read)
        } catch {
            guard error.errno == .accessDenied else { throw error }
            return nil
        }
    }

    /// The reason why the state cannot be moved to its new location and back; nil if it can, or need not be.
    func stateRefusal(exchanges: Bool) throws -> Refusal? {
        let beside = exchanges && !isSubvolume
        guard let directory, let state, state.isBeside != beside,
            let (holder, name) = try directory.location(.read)
        else { return nil }
        if let goal = beside ? FileName.state(beside: name) : .state,
            let other = try (beside ? holder : directory).status(of: goal)
        {
            let path = (beside ? holder : directory).path(of: goal)
            return .stateNameTaken(path, by: other.owner)
        }
        guard try FileSystemInfo(of: directory).hasDomains else { return nil }
        let own = try state.directory.domain()
        for location in [directory, holder] {
            let demand = try location.domain()
            guard demand.admits(own) == false else { continue }
            return .domain(
                escapedText(state.directory.path), .text(state.directory.path), demand, own,
                directory: escapedText(location.path))
        }
        return nil
    }

    /// Moves the state into the target, or beside it for an exchange, with one durable rename.
    mutating func moveState(beside: Bool) throws {
        guard let directory, let state, state.isBeside != beside else { return }
        guard let (parent, name) = try directory.location(.read),
            let sibling = FileName.state(beside: name)
        else { throw SyncError(.failed, path: path, "the target is being moved; run again") }
        try state.keepingTime(of: directory) {
            try ObjectHandle(of: directory).whileWritable {
                if beside {
                    try directory.rename(FileName.state, to: parent, sibling, .noReplace)
                } else {
                    try parent.rename(sibling, to: directory, FileName.state, .noReplace)
                }
            }
        }
        try parent.sync()
        try directory.sync()
        try findState()
    }

    /// The reason why the target cannot be exchanged as a whole; nil if it can.
    func exchangeRefusal() throws -> Refusal? {
        if let name = capabilities?.name {
            return .exchangeImpossible(
                "\(name) cannot swap the target and the new tree in one step; leave out --exchange")
        }
        guard try !isReadOnly() else { return .readOnlyFileSystem }
        let noName = Refusal.exchangeImpossible(
            "the target has no name, or its name is too long for a second tree beside it")
        guard let directory, let original else {
            let name = path.split(separator: UInt8(ascii: "/")).last.flatMap { FileName($0) }
            return name.flatMap { StateDirectory.treesName(beside: $0) } == nil ? noName : nil
        }
        guard !original.isMountRoot else {
            return .exchangeImpossible(
                "the target is a mount point, which cannot be swapped; use a directory in it")
        }
        guard let (parent, name) = try directory.location(), StateDirectory.treesName(beside: name) != nil
        else { return noName }
        guard try isSubvolume || parent.status().device == original.device else {
            return .exchangeImpossible("the target is on another file system than the directory above it")
        }
        guard !isSubvolume || Account.isRoot || original.isOwn else {
            return .exchangeImpossible("only its owner may make snapshots of a subvolume; run as its owner")
        }
        return parent.isWritable
            ? nil
            : .exchangeImpossible("you may not write to the directory above the target; run as its owner")
    }
}
