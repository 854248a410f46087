import FileStorage
import FileSystem
import FsyncLite

enum StatusCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { targets }
    /// The record of runs is here, even for a target of another machine.
    static func decidesPlace(_ invocation: Invocation) -> Bool { true }

    private static let maxAge = OptionDescription.value(
        "--max-age", "AGE",
        "exit 2 if the last run is older, complete or not; AGE is such as 26h, 7d or yesterday")
    private static let all = OptionDescription.flag(
        "--all", "show a table of all jobs, and of the targets that you have written to"
    )
    .replacingArguments()
    private static let prometheus = OptionDescription.flag(
        "--prometheus", "write metrics for a textfile collector, of TARGET or of all jobs")
    static let nagios = OptionDescription.flag(
        "--nagios",
        "write one line on the recorded runs, with exit codes 0 to 3, of TARGET or of all jobs. Every user may run it"
    )
    private static let warn = OptionDescription.value(
        "--warn", "AGE", "with --nagios: warn if the last good run is older; --max-age is critical")
    private static let since = OptionDescription.value(
        "--since", "TIME", "show the runs since then: a line for each job, and one for each bad run")
    private static let targets = ArgumentDescription(
        "TARGET", NamedTarget.help, optional: true, repeated: true, kind: .directoryOrJob)

    static let description = CommandDescription(
        name: "status", summary: "Show the last runs on a target, and its content.",
        discussion: """
            \(NamedTarget.rule) \
            It shows the last good run, and the last attempt if that failed, was refused or did not end. This machine \
            remembers the last 100 runs on each target. Several targets, or --all jobs, make one table, with the size of \
            each target and the next step. Other machines are asked one after the other. The exit code is the first that \
            is not 0. For metrics, which have the faults, it is 0 if the settings can be read.
            """,
        arguments: [targets],
        options: [all, .json, prometheus, nagios, since, maxAge, warn, .settingsFile]
            + OptionDescription.remote,
        examples: [
            ("fsync-lite status mirror", "See the state of a mirror"),
            ("fsync-lite status --all", "See all jobs at a glance"),
            ("fsync-lite status --all --since 7d", "Let cron send a mail each week"),
            ("fsync-lite status --max-age 26h mirror", "Let monitoring know when it is late"),
            ("fsync-lite status --nagios --warn 26h --max-age 50h", "The same for all jobs, for Nagios"),
            (
                "fsync-lite status --prometheus > fsync-lite.prom.new && mv fsync-lite.prom.new fsync-lite.prom",
                "From cron, in the directory of node_exporter's textfile collector"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        try checkForm(invocation.options)
        return try invocation.options.has(nagios)
            ? monitor(invocation, &console) : show(invocation, &console)
    }

    /// Refuses more than one form of the output.
    private static func checkForm(_ options: GivenOptions) throws {
        func pair(_ forms: [OptionDescription]) -> (String, String)? {
            let given = forms.filter(options.has).map(\.name)
            return given.count > 1 ? (given[0], given[1]) : nil
        }
        guard options.has(nagios) || !options.has(warn) else {
            throw UsageError("\(warn.name) needs \(nagios.name)", hint: "give both, or \(maxAge.name)")
        }
        // A period can be a text or a document.
        for forms in [[.json, prometheus, nagios], [since, prometheus, nagios], [maxAge, prometheus]] {
            guard let (one, other) = pair(forms) else { continue }
            throw UsageError("\(one) and \(other) exclude each other", hint: "leave one out")
        }
    }

    /// Prints the state of jobs and targets for a monitoring system.
    private static func monitor(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let options = invocation.options
        let limits = StatusNagios(warning: try options.time(warn), critical: try options.time(maxAge))
        if let warning = limits.warning, let critical = limits.critical, warning.start < critical.start {
            throw UsageError(
                "\(warn.name) is more than \(maxAge.name), so it has no effect",
                hint: "\(warn.name) is the shorter age")
        }
        let recorded = RunRecord.ofJobs
        /// - Parameter path: nil for a job that only the record of runs knows.
        func row(_ name: [UInt8], _ job: Job?, path: [UInt8]?) throws -> StatusNagios.Row {
            let isJob = job != nil || path == nil
            let isHere = try path.map { try SyncRun.endpoint($0) == nil } ?? false
            let runs =
                path.flatMap { RunRecord.runs(on: $0).nonEmpty }
                ?? (isJob ? recorded.first { $0.job.utf8.elementsEqual(name) }?.runs : nil)
            if let runs {
                return (
                    StatusQuery(escapedText(name), job, runs, path: path ?? name, invocation),
                    isHere ? path.flatMap { try? Target(path: $0).status() } : nil
                )
            }
            let query = StatusQuery(job, path: path ?? name, invocation)
            if job == nil { _ = try query.status.get() }
            return (query, try? query.status.get())
        }
        let asked = invocation.values(targets)
        guard asked.isEmpty else {
            return try limits.write(
                asked.map { name in
                    // A user of the monitoring may have no settings, and knows a job only by its runs.
                    let isRecorded = recorded.contains { $0.job.utf8.elementsEqual(name) }
                    let named = try NamedTarget(name, invocation, isRecorded: isRecorded)
                    return try row(name, named.job, path: named.isRecordedJob ? nil : named.path)
                }, to: &console)
        }
        let jobs = try SettingsSources(invocation).jobs()
        // For a user without jobs, those of root are shown, as far as they are recorded.
        let names = jobs.isEmpty ? recorded.map(\.job).sorted() : jobs.map(\.name)
        return try limits.write(
            names.map { name in
                let job = jobs.first { $0.name == name }
                return try row(Array(name.utf8), job, path: job?.target)
            }, to: &console)
    }

    private static func show(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let options = invocation.options
        let limit = try options.time(maxAge)
        let start = try options.time(since)?.start
        let names = invocation.values(targets)
        let isAll = options.has(all) || names.isEmpty && options.has(prometheus)
        guard isAll || !names.isEmpty else {
            let (message, settings) = ("'status' is missing TARGET", try SettingsSources(invocation))
            throw try settings.jobs().isEmpty
                ? UsageError(message, hint: "give a directory or a job, or --all for every job")
                : settings.noJob(message)
        }
        let settings = isAll ? try SettingsSources(invocation) : nil
        let known = isAll ? KnownTargets.found() : []
        // If there are known targets, having no jobs is not an error.
        let jobs = try settings.map { try known.isEmpty ? $0.someJobs() : $0.jobs() } ?? []
        if let settings, known.isEmpty, jobs.allSatisfy({ $0.disabled != nil }) {
            Console.complain(settings.nothingEnabled)
        }
        let asked =
            try isAll
            ? jobs.map { StatusQuery($0, path: $0.target, invocation) }
            : names.map { name in
                let named = try NamedTarget(name, invocation)
                return StatusQuery(named.job, path: named.path, invocation)
            }
        if options.has(prometheus) {
            // The exit code is 0, because a collector must receive the metrics even if they show an error.
            try StatusMetrics.write(asked, to: &console)
            return .done
        } else if isAll || asked.count > 1 || start != nil {
            if options.has(.json) {
                try StatusDocument.write(asked, limit, start, known, to: &console)
            } else if let start {
                try StatusTable.write(asked, since: start, to: &console)
            } else {
                try StatusTable.write(asked, limit, known, to: &console)
            }
        } else {
            try show(asked[0], asDocument: options.has(.json), &console)
        }
        let codes = asked.filter { !isAll || !$0.isPaused }.map { code(of: $0, limit) }
        return codes.first { $0 != .done } ?? .done
    }

    /// Shows one target. The runs that this machine remembers come first, because the target may be missing.
    private static func show(
        _ asked: StatusQuery, asDocument isJSON: Bool, _ console: inout Console
    ) throws {
        if !isJSON { for line in lines(asked) { try console.line(line) } }
        switch asked.status {
        case .failure(let error):
            if isJSON { try StatusDocument.write(asked, error, to: &console) }
            try console.flush()
            throw error
        case .success(let status):
            if isJSON { return try StatusDocument.write(asked, status, to: &console) }
            try console.line("target     \(LocalFile(bytes: asked.shownTarget))")
            try write(status, to: &console)
        }
    }

    /// Prints the fault of a target, and returns its exit code.
    private static func code(of asked: StatusQuery, _ limit: TimeSpan?) -> ExitCode {
        let status: Target.Status
        do {
            status = try asked.status.get()
        } catch {
            return ExitCode(reporting: error, asked.complain)
        }
        if status.isPending {
            asked.complain(
                "a commit was interrupted; run: fsync-lite recover \(Shell.path(asked.shownTarget))")
            return .pending
        }
        guard let limit else { return .done }
        guard let last = status.lastRun else {
            asked.complain("no run has written to this target yet")
            return .different
        }
        guard !last.began.isYoung(by: limit) else { return .done }
        let isAhead = last.began.isAhead()
        let age = isAhead ? "in the future" : "\(last.began.elapsed()) ago"
        let result =
            last.isComplete
            ? "complete" : "incomplete: \(Amount.entries(last.problems)) could not be mirrored"
        asked.complain(
            "the last run began \(age), at \(last.began.localText) (\(result))"
                + (isAhead ? ". Is the clock right?" : ""))
        return .different
    }

    /// The last good run, and the last attempt if it was another one.
    private static func lines(_ asked: StatusQuery) -> [String] {
        var lines: [String] = []
        if let good = asked.lastGood {
            let problems = asked.lastRun?.problems ?? 0
            let reason = asked.recordedGood?.outcome?.message.map { singleLine($0) }
            let rest = problems > 0 ? "\(Amount.entries(problems)) could not be mirrored" : reason
            let parts = [good.ageText()] + (asked.recordedGood?.work ?? []) + [rest].compactMap(\.self)
            lines.append("last good run   \(good.localText)   \(parts.joined(separator: ", "))")
        }
        if let failed = asked.failed {
            lines.append("last attempt    \(failed.began.localText)   \(failed.resultAndReason)")
        }
        if let check = (try? asked.status.get())?.lastCheck, let time = check.time {
            lines.append("last check      \(time.localText)   \(check.text)")
        }
        return lines
    }

    /// When the run began, and the progress of its phase.
    private static func words(_ activity: Activity) -> String {
        let progress = activity.progress
        var words = ["since \(activity.began.localText): \(progress.phase.rawValue)"]
        if progress.bytes > 0 || progress.totalBytes ?? 0 > 0 {
            let total = progress.totalBytes.map { " of \(Amount.bytes($0))" } ?? ""
            words.append(Amount.bytes(progress.bytes) + total)
        } else if let total = progress.totalEntries {
            words.append("\(progress.entries) of \(Amount.entries(total))")
        }
        if let rate = activity.bytesPerSecond() { words.append("\(Amount.bytes(rate))/s") }
        return words.joined(separator: ", ")
    }

    private static func write(_ status: Target.Status, to console: inout Console) throws {
        if let (header, summary) = status.manifest {
            try console.line("manifest   \(SnapshotName.short(header.id)), of \(header.created.localText)")
            for source in header.sources { try console.line("source     \(source.text)") }
            try console.line(
                "holds      \(Amount.of(summary.files, "file")), "
                    + "\(Amount.of(summary.directories, "directory", "directories")), "
                    + "\(Amount.of(summary.symlinks, "symlink")), \(Amount.of(summary.others, "other")); "
                    + "\(Amount.bytes(summary.bytes))")
        } else if !status.isPending {
            try console.line(
                status.history.isEmpty
                    ? "manifest   none: no run has written to this target yet"
                    : "manifest   missing: apply with --adopt makes a new one")
        }
        if let fileSystem = status.fileSystem { try console.line("commit     \(fileSystem.promise)") }
        if let activity = status.activity { try console.line("running    \(words(activity))") }
        if let (id, since) = status.prepared {
            try console.line("prepared   \(id), of \(since.localText)")
        }
        if !status.history.isEmpty {
            let count = Amount.of(status.history.count + 1, "snapshot")
            try console.line("history    \(count), \(Amount.bytes(status.bytesStored))")
        }
    }
}
