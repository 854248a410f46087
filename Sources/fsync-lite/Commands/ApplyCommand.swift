import FileStorage
import FileSystem
import FsyncLite

enum ApplyCommand: Command {
    static var remoteTarget: ArgumentDescription? { SyncRun.target }

    private static let prepare = OptionDescription.flag(
        "--prepare",
        "copy everything, leave the target unchanged, and print the id for 'commit TARGET ID'"
    ).rare

    static let description = CommandDescription(
        name: "apply", summary: "Make TARGET the mirror of SOURCE, whole or not at all.",
        discussion: """
            TARGET becomes a copy of SOURCE. If the run is killed, the next command that writes restores the old tree \
            or completes the new one. Replaced and deleted files are moved to TARGET/.fsync-lite/history. Old versions \
            are kept for a week, those of the last three runs for longer. If the disk is full, the oldest are removed first. \
            Rules such as --keep-daily are stored with the target until you give others. A full disk never overrides them.
            """,
        arguments: [SyncRun.source, SyncRun.target],
        options: [SyncRun.savedPlan, .dryRun, prepare, .newTarget, .settingsFile] + OptionDescription.settable
            + OptionDescription.mirroringRemote
            + [SyncRun.allActions],
        examples: [
            ("fsync-lite apply photos /mnt/backup/photos", "Back up a directory"),
            (
                "fsync-lite apply --quiet --log-file /var/log/mirror.log /srv /mnt/backup/srv",
                "From cron: silent unless something needs attention"
            ),
            (
                "fsync-lite apply web1:/srv/www /srv/mirror/web1",
                "Mirror a directory of another machine, over ssh"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        // A signal is not handled yet, so it ends the process while it waits for a pipe.
        let run = try SyncRun(invocation, SettingsSources(invocation), SyncRun.job(of: invocation))
        console.wantsDocument = run.isJSON
        let prepares = invocation.options.has(prepare)
        guard !prepares || !run.options.exchanges else {
            throw UsageError(
                "--prepare and --exchange exclude each other, because an exchange copies the tree during the commit",
                hint: "leave out one of them, also in the settings")
        }
        guard !invocation.options.has(.dryRun) else {
            if run.saved != nil, let file = try invocation.asTyped().options.value(SyncRun.savedPlan) {
                throw UsageError(
                    "--dry-run and --plan exclude each other, because the plan has all actions",
                    hint: "next: fsync-lite plan --show \(Shell.word(file)) --all")
            }
            return ExitCode(try run.plan(&console), run.options)
        }
        TerminationSignal.watch()
        let report = try run.noted { notes in try run.apply(&console, notes, prepares: prepares) }
        if let client = run.client, client.command.wantsReport {
            var document: [UInt8] = []
            // Only the commands of a job read the actions.
            try run.document.write(report, listsActions: client.command.job != nil, to: &document)
            client.write(document, to: .document)
        }
        return ExitCode(report)
    }
}

extension SyncRun {
    /// Records a run on this machine. The run of a client is recorded there.
    fileprivate func noted(_ run: (_ notes: [String]) throws -> Report) throws -> Report {
        guard client == nil else { return try run([]) }
        return try RunRecord.noting(target, isQuiet: isQuiet, { .init($0, ExitCode($0)) }, run)
    }

    /// Applies, prints the result and logs it.
    ///
    /// - Parameters:
    ///   - notes: more notes for the report. They are printed already.
    ///   - prepares: do it without the commit.
    func apply(
        _ console: inout Console, _ notes: [String] = [], prepares: Bool = false
    ) throws -> Report {
        try telling(&console, notes) {
            try synchronizing { try prepares ? $0.prepare(exactly: saved) : $0.apply(exactly: saved) }
        }
    }

    /// Prints the result of a run and logs it.
    func telling(
        _ console: inout Console, _ notes: [String] = [], _ run: () throws -> Report
    ) throws -> Report {
        var report: Report
        do {
            report = try run()
        } catch {
            log(["failed: \(error)"])
            throw error
        }
        let ownNotes = report.notes
        report.notes += notes
        do {
            try show(report, &console)
        } catch {
            // The exit code is about the target, even if the output could not be printed.
            console.discard()
            complain("\(error)")
        }
        if report.outcome == .committed { KnownTargets.remember(Target(path: target), isQuiet: isQuiet) }
        if !isQuiet, client == nil, let file = given.value(.logFile).map({ LocalFile(bytes: $0) }),
            let path = try? Target(path: target).passing(file, options)
        {
            complain(
                "note: the log is in the target, and the next run will delete it. Use a path outside of the target, or --exclude /\(path)"
            )
        }
        let forSpace = SyncRun.note(
            "to make space, this run removed the snapshots", report.removedForSpace)
        let labels = report.removed.labels.map { quoted($0.utf8) }.joined(separator: ", ")
        let expired = labels.isEmpty ? nil : "removed the snapshot \(labels): no rule keeps its label"
        // A quiet run prints these, too, because a removed snapshot cannot be restored.
        for text in [forSpace, expired].compactMap(\.self) { complain(text) }
        let removed = report.removed.text()
        if let removed, !isQuiet { complain(removed) }
        let ids = report.removed.ids.map { SnapshotName.short($0) }.joined(separator: ", ")
        complain(notes: ownNotes, problems: report.problems, refusals: report.refusals)
        if report.outcome == .committed, TerminationSignal.signal != nil {
            complain("interrupted; the commit had begun and was finished, so the new tree is in place")
        }
        if let error = report.error { complain("\(error)") }
        if report.outcome == .failed, report.error?.code != .interrupted { complainOfFailure(report) }
        for line in advice(after: report) { complain(line) }
        let result = [logged(report), forSpace, expired, removed.map { "\($0): \(ids)" }]
        log(
            [result.compactMap(\.self).joined(separator: "; ")]
                + report.problems.map { "problem: \($0.path): \($0.message)" })
        return report
    }

    /// The result of a run, or why it did nothing.
    private func logged(_ report: Report) -> String {
        let reasons = report.refusals.map(\.reason) + (report.error.map { ["\($0)"] } ?? [])
        guard reasons.isEmpty else {
            return
                "\(report.outcome.rawValue) (\(ExitCode(report).rawValue)): \(reasons.joined(separator: "; "))"
        }
        let totals = ActionText.totals(report.summary, report.outcome == .committed ? .done : .planned)
        return "\(report.outcome.rawValue)\(report.transaction.map { ", as \($0)" } ?? ""): \(totals)"
    }

    private func complainOfFailure(_ report: Report) {
        complain("the target is unchanged")
        guard report.error == nil else { return }
        complain(
            report.problems.contains { $0.code == .changing }
                ? "next: to mirror the rest, leave out --strict"
                : "next: \(next.text(.adding(OptionDescription.keepGoing.name)))")
    }

    private func show(_ report: Report, _ console: inout Console) throws {
        if isJSON {
            try document.write(report, to: &console)
        } else {
            if given.has(.verbose) || given.has(.all) { try actionText.write(report.actions, to: &console) }
            let written = report.refusedProbes.written.map(\.description)
            if given.has(.verbose), !written.isEmpty {
                let names = Amount.list(written, of: report.refusedProbes.counts[.writer] ?? 0)
                complain("note: open for writing, so the next run reads it again: \(names)")
            }
            let isPrepared = report.outcome == .prepared
            let isGood = isPrepared || report.outcome == .committed || report.outcome == .unchanged
            let totals =
                restored(report)
                ?? labelled(ActionText.totals(report.summary, isPrepared ? .planned : .done))
            if isGood, let id = report.transaction {
                // The id alone is the output of `--prepare`.
                try console.line(id)
                if !isQuiet { complain(isPrepared ? "prepared: \(totals)" : totals) }
            } else if isGood, !isQuiet {
                try console.line(totals)
            }
        }
        try console.flush()
    }
}
