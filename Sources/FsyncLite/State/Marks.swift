import FileSystem

/// Marks: empty files whose times are data. The modification time is a beginning, and the change time is its end.
extension StateDirectory {
    /// The spans in which commits and exchanges moved change times that the manifest lacks; empty without marks.
    package func commitSpans(_ header: ManifestHeader) throws -> CommitSpans {
        var spans = header.commits.map { $0.lowerBound.fileTime..<$0.upperBound.fileTime }
        spans += try [lastCommit(header), span(.linked)].compactMap(\.self)
        var all = CommitSpans(spans: spans)
        all.isWithoutScan = !header.commits.isEmpty
        return all
    }

    /// The span of the last commit, from its naming before the staging to its last operation; nil if a recovery ended
    /// it.
    func lastCommit(_ header: ManifestHeader) throws -> Range<FileTime>? {
        guard let span = try span(.mark) else { return nil }
        let named = FileName(header.id.utf8).flatMap(TransactionID.time)
        // The staging of a prepared commit has a span of its own. Changes after that span are not the commit's.
        if let named, header.commits.contains(where: { $0.contains(Timestamp(named)) }) { return span }
        return min(span.lowerBound, named ?? span.lowerBound)..<span.upperBound
    }

    /// The time until which only an exchange changed the linked files; nil if there was none.
    func linkedUntil() throws -> FileTime? { try span(.linked)?.upperBound }

    /// The span of a mark; nil if its start is after its end.
    private func span(_ entry: StateEntry) throws -> Range<FileTime>? {
        guard let mark = try status(of: entry), mark.modified <= mark.changed else { return nil }
        return mark.modified..<mark.changed
    }

    /// Records that a commit has done its last operation.
    ///
    /// - Parameter began: the start of the commit; nil after a recovery, because changes by others after the crash are
    ///   not the commit's.
    package func markCommit(began: FileTime?) throws {
        try mark(.mark, began: began ?? FileTime.now.advanced(bySeconds: 86_400))
    }

    /// Records that since `began` only an exchange has changed the linked files, as far as change times show.
    package func markLinked(began: FileTime) throws {
        try mark(.linked, began: began)
    }

    private func mark(_ entry: StateEntry, began: FileTime) throws {
        try directory.passTick { try touch(entry, modified: began) }
    }

    /// - Returns: the change time.
    private func touch(_ entry: StateEntry, modified: FileTime) throws -> FileTime {
        let descriptor = try open(entry, [.write, .create])
        return try calling("futimens", path(of: entry)) { () throws(Errno) in
            try descriptor.setModified(modified)
            return try descriptor.status().changed
        }
    }

    // MARK: The root's time

    /// Runs `move`, which changes the root's modification time, and restores that time. If it is interrupted, the next
    /// run that writes restores the time.
    func keepingTime(of root: Directory, _ move: () throws -> Void) throws {
        // RACE: the file gets its name together with its time. Otherwise, an interruption between creating it and
        // setting its time would give the root the time of that moment.
        let rootTime = try PendingFile(StateEntry.rootTime.name, in: directory)
        try rootTime.setModified(root.status().modified)
        try rootTime.commit(durably: false)
        let moved = Result(catching: move)
        try putBackTime(of: root)
        try moved.get()
    }

    /// Restores the root's modification time, after a run was interrupted while it moved the state.
    func putBackTime(of root: Directory) throws {
        guard let modified = try status(of: .rootTime)?.modified else { return }
        try ObjectHandle(of: root).setModified(modified)
        try directory.unlink(StateEntry.rootTime.name)
    }
}

extension Directory {
    /// Changes an object in this file system until its change time is later than that of every earlier change. No clock
    /// shows such a time: since Linux 6.13, a change of a file that was looked at gets a time between two ticks
    /// (`Documentation/filesystems/multigrain-ts.rst`).
    ///
    /// - Parameter touch: changes the object, and returns its change time.
    /// - Returns: the last change time.
    @discardableResult
    func passTick(_ touch: () throws -> FileTime) rethrows -> FileTime {
        let first = try touch()
        // On other file systems, the change time is the modification time, which `touch` may have set.
        guard fileSystem?.capabilities.keepsChangeTimes ?? true else { return first }
        while true {
            let time = try touch()
            // The time may also be earlier, if the clock was set back.
            if time != first { return time }
        }
    }
}
