import FileSystem

/// Removing parts of the state, and the state itself.
extension StateDirectory {
    /// Moves a directory to the trash, which is emptied later.
    ///
    /// - Parameter header: the file that makes the directory valid. If the disk is too full for the trash itself, this
    ///   file is removed first. Then the rest is invalid after a kill.
    package func discard(_ name: FileName, in parent: Directory, header: FileName? = nil) throws {
        guard try parent.status(of: name) != nil else { return }
        let trash: Directory
        do {
            trash = try makeTrash()
        } catch let error as SystemError where [.noSpace, .quotaExceeded].contains(error.errno) {
            if let header {
                let directory = try parent.directory(name)
                if try directory.status(of: header) != nil { try directory.unlink(header) }
            }
            return try TreeRemoval.remove(name, in: parent)
        }
        try parent.rename(name, to: trash, FileName(RandomID.hexadecimal(bytes: 8).utf8) ?? name, .noReplace)
    }

    func emptyTrash() throws {
        try TreeRemoval.remove(StateEntry.trash.name, in: directory)
    }

    /// Empties the trash and the remains of interrupted runs, except a prepared transaction. There must be no journal.
    package func clean() throws {
        let (stage, left) = (
            StateEntry.stage.name, [StateEntry.trash, .syncFailed, .activity, .phase2, .compared].map(\.name)
        )
        if let prepared = try preparedStage() {
            let stages = try makeStage()
            for name in try DirectoryListing.names(in: stages) where name != prepared.name {
                try discard(name, in: stages)
            }
        } else if try has(.stage) {
            try discard(stage, in: directory)
        }
        for name in try DirectoryListing.names(in: directory)
        where left.contains(name) || PendingFile.isTemporary(name) {
            try TreeRemoval.remove(name, in: directory)
        }
    }

    /// Removes the state, its copy mark last. There must be no journal.
    package func removeAll(from root: Directory) throws {
        for name in try DirectoryListing.names(in: directory) where name != StateEntry.copy.name {
            try TreeRemoval.remove(name, in: directory)
        }
        try TreeRemoval.remove(FileName.state, in: root)
    }
}
