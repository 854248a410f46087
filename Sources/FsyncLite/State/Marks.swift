import FileSystem

/// Times that the state keeps, as those of empty files: a mark's modification time is when something began, its change
/// time when that was over.
extension StateDirectory {
    /// When commits and exchanges moved the change times of what the manifest has no change time of; none without their
    /// marks.
    package func commitSpans(_ header: ManifestHeader) throws -> CommitSpans {
        var spans = header.commits.map { $0.lowerBound.fileTime..<$0.upperBound.fileTime }
        spans += try [lastCommit(header), span(.linked)].compactMap(\.self)
        return CommitSpans(spans: spans)
    }

    /// From when the last commit got its name, which is before anything was staged, to its last operation; nil where a
    /// recovery ended it.
    func lastCommit(_ header: ManifestHeader) throws -> Range<FileTime>? {
        guard let span = try span(.mark) else { return nil }
        let named = FileName(header.id.utf8).flatMap(TransactionID.time)
        return min(span.lowerBound, named ?? span.lowerBound)..<span.upperBound
    }

    /// Until when only an exchange has changed the files that it linked; nil where none is known of.
    func linkedUntil() throws -> FileTime? { try span(.linked)?.upperBound }

    /// A beginning after the end stands for no span.
    private func span(_ entry: StateEntry) throws -> Range<FileTime>? {
        guard let mark = try status(of: entry), mark.modified <= mark.changed else { return nil }
        return mark.modified..<mark.changed
    }

    /// Writes down that a commit that began then has done its last operation.
    ///
    /// - Parameter began: nil after a recovery: what others did since the crash no commit accounts for.
    package func markCommit(began: FileTime?) throws {
        var never = FileTime.now
        never.seconds += 86_400
        try mark(.mark, began: began ?? never)
    }

    /// Writes down that since then only an exchange has changed the files that it linked, as far as their change times
    /// tell.
    package func markLinked(began: FileTime) throws {
        try mark(.linked, began: began)
    }

    /// Returns when the clock that files are stamped with has gone on: a later change has a later time.
    private func mark(_ entry: StateEntry, began: FileTime) throws {
        func touched() throws -> FileTime? {
            try touch(entry, modified: began)
            return try status(of: entry)?.changed
        }
        let first = try touched()
        while let time = try touched(), let first, time <= first {}
    }

    private func touch(_ entry: StateEntry, modified: FileTime) throws {
        let descriptor = try open(entry, [.write, .create])
        try calling("futimens", path(of: entry)) { () throws(Errno) in try descriptor.setModified(modified) }
    }

    // MARK: The root's time

    /// Does what moves the root's modification time, which is then put back; by the next run that writes, where this
    /// one is cut short.
    func keepingTime(of root: Directory, _ move: () throws -> Void) throws {
        try touch(.rootTime, modified: root.status().modified)
        let moved = Result(catching: move)
        try putBackTime(of: root)
        try moved.get()
    }

    /// Puts the root's modification time back after a run that was cut short while it moved the state.
    func putBackTime(of root: Directory) throws {
        guard let modified = try status(of: .rootTime)?.modified else { return }
        try ObjectHandle(of: root).setModified(modified)
        try directory.unlink(StateEntry.rootTime.name)
    }
}
