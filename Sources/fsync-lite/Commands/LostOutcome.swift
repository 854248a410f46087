import FileStorage
import FsyncLite

/// What became of a command on another machine whose line was lost.
extension RemoteInvocation {
    /// Says it, and ends as the run would have.
    ///
    /// - Returns: the exit code, and the report.
    func outcome(
        of line: LostLine, _ terminal: FarTerminal, _ console: inout Console
    ) throws -> (ExitCode, [UInt8]) {
        let name = Shell.word(endpoint.bytes)
        let status = "fsync-lite status \(name)"
        func error(_ code: SyncError.Code, _ text: String) -> SyncError {
            SyncError(code, path: endpoint.bytes, "\(line.reason); \(text)")
        }
        let fate: CommitFate
        switch line.fate {
        case .success(let found): fate = found
        case .failure(let failure):
            throw error(
                .outcomeUnknown,
                "\(begun), and it could not be asked again (\(failure.message)). To find out: \(status)")
        }
        let isCopy = try copy != nil
        switch (fate, line.commit) {
        case (.running, _): throw error(.outcomeUnknown, "\(begun). To find out: \(status)")
        case (.pending, _):
            throw error(
                .pending, "a commit was begun there and not ended; run: fsync-lite recover \(name)")
        case (.committed, let commit?):
            let omitted = Amount.of(commit.problems, "entry", "entries")
            let error = error(
                .unreachable,
                "the commit has ended there: the new tree is there"
                    + (commit.problems > 0 ? ", without \(omitted), which fsync-lite plan lists" : ""))
            say("\(error)")
            try log("committed: \(error)")
            let report = Report(committedBefore: error)
            if options.has(.json), !terminal.hasWritten { try document.write(report, to: &console) }
            var bytes: [UInt8] = []
            try document.write(report, to: &bytes)
            return (commit.problems > 0 ? .committedWithOmissions : .done, bytes)
        case (_, .some) where isCopy:
            // A copy leaves no state that tells of it.
            throw error(
                .outcomeUnknown,
                "it has ended there; the same command once more ends the copy, or says what is there")
        case (_, .some):
            throw error(.failed, "the commit did not take place: the target is unchanged")
        case (_, nil) where command == RecoverCommand.self:
            say("\(error(.unreachable, "no commit is pending there any more. To look: \(status)"))")
            return (.done, [])
        case (_, nil):
            throw error(
                .outcomeUnknown, "it has ended there, and how is not known. Run it again, or look: \(status)")
        }
    }

    private var begun: String {
        command == ApplyCommand.self
            ? "the commit may have begun there, and ends by itself" : "it may go on there, and ends by itself"
    }

    private func say(_ text: String) { Console.complain(job?.labelled(text) ?? text) }
}
