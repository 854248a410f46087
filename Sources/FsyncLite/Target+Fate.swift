import FileStorage
import FileSystem

extension Target {
    /// What became of a commit, by lock, journal, manifest and history. Takes no lock and writes nothing.
    ///
    /// - Parameter transaction: its name; empty for a run that may have written without one.
    package func fate(of transaction: String) throws -> CommitFate {
        for _ in 1...5 {
            let root = try TargetRoot(path)
            let wasLocked = try root.isLocked()
            guard let state = root.state else { return wasLocked ? .running : .absent }
            // RACE: a run may begin or end its commit meanwhile: what was seen would be of two moments, and a commit that is
            // taken back would count as one that is there.
            let version = try state.manifestVersion()
            let isPending = try state.hasJournal()
            let fate = try isPending ? .pending : fate(of: transaction, in: state, isLocked: wasLocked)
            guard try state.hasJournal() == isPending, try state.manifestVersion() == version else {
                continue
            }
            let isLocked = try wasLocked || root.isLocked()
            return fate != .committed && isLocked ? .running : fate
        }
        return .running
    }

    /// Without a journal.
    private func fate(
        of transaction: String, in state: StateDirectory, isLocked: Bool
    ) throws -> CommitFate {
        let header = try state.manifest()?.header
        // An exchange of subvolumes has no journal, and is durable once its run has ended.
        if header?.id == transaction { return isLocked && header?.exchanged == true ? .running : .committed }
        return try state.transactions().contains { $0.bytes.elementsEqual(transaction.utf8) }
            ? .committed : .old
    }
}

extension Target {
    /// The path in this target of a file that is none of the source's and that the next apply takes away, such as a log;
    /// nil for one that stays.
    public func passing(_ file: LocalFile, _ options: SyncOptions) throws -> RelativePath? {
        let place = try file.location()
        guard let root = try TargetRoot(path).directory,
            let names = try Overlap.names(from: root, to: place.directory), names.first != .state,
            !options.keepsDeleted
        else { return nil }
        let path = (names + [place.name]).reduce(RelativePath.root) { $0.appending($1) }
        return options.deletesExcluded || !options.filters.excludes(path, .file) ? path : nil
    }
}
