import FileStorage
import FileSystem
import FsyncLite
import Synchronization

/// A query for the status of a target, by its path or its job, and the answer.
struct StatusQuery {
    let name: String
    let job: Job?
    let target: Target
    let status: Result<Target.Status, SyncError>
    /// The runs that this machine remembers, the newest last.
    let runs: [RecordedRun]
    /// The target as a command line names it.
    let shownTarget: [UInt8]

    private let given: GivenOptions

    /// - Parameter path: the target, of the job if there is one.
    init(_ job: Job?, path: [UInt8], _ invocation: Invocation) {
        let name = job.map { escapedText($0.name.utf8) } ?? "\(LocalFile(bytes: path))"
        let runs = invocation.client == nil ? RunRecord.runs(on: path) : []
        self.init(name, job, runs, path: path, invocation) {
            guard invocation.client == nil, let endpoint = try SyncRun.endpoint(path) else {
                return try Target(path: path).status()
            }
            guard job?.disabled == nil else {
                throw SyncError(.failed, path: path, "the job is disabled, and its machine is not asked")
            }
            var options = GivenOptions()
            options.append(.json)
            let document = Mutex<[UInt8]>([])
            let code = try RemoteInvocation.fetch(
                StatusCommand.self, endpoint.bytes, options, beside: invocation, showsErrors: false
            ) { bytes in document.withLock { $0 += bytes } }
            return try Target.Status(document: document.withLock(\.self), of: endpoint, code: code.rawValue)
        }
    }

    /// - Parameter ask: gets the status; left out if only the runs are needed.
    init(
        _ name: String, _ job: Job?, _ runs: [RecordedRun], path: [UInt8], _ invocation: Invocation,
        _ ask: () throws -> Target.Status = { throw SyncError(.failed, "it is not asked") }
    ) {
        (self.name, self.job, self.runs, given) = (name, job, runs, invocation.options)
        (target, shownTarget) = (Target(path: path), invocation.targetOfClient ?? path)
        status = Result(catching: ask).mapError { $0 as? SyncError ?? SyncError(.failed, "\($0)") }
    }

    /// The last good run that this machine remembers; nil if the target knows a later one.
    var recordedGood: RecordedRun? {
        guard let run = runs.lastGood else { return nil }
        guard let last = lastRun, let ended = run.ended else { return run }
        // A run that is over but lies in the future was dated by a wrong clock.
        let isLater = last.began > ended || run.began.isAhead() && !last.began.isAhead()
        return isLater ? nil : run
    }

    /// The job is disabled.
    var isPaused: Bool { job?.disabled != nil }

    /// The last run that the target remembers.
    var lastRun: LastRun? { (try? status.get())?.lastRun }

    /// The begin of the last run that mirrored the target as far as possible.
    var lastGood: Timestamp? { recordedGood?.began ?? lastRun?.began }

    /// The last run, if it was not good and is not running.
    var failed: RecordedRun? {
        guard let run = runs.failed else { return nil }
        guard let last = lastRun?.began, last > run.began, !last.isAhead() else { return run }
        return nil
    }

    /// The last run, if it left a file out, or a command after it failed.
    var incomplete: RecordedRun? { runs.last.flatMap { $0.isIncomplete ? $0 : nil } }

    func runs(since start: Timestamp) -> [RecordedRun] { runs.filter { $0.began >= start } }

    func complain(_ text: String) { Console.complain(job?.labelled(text) ?? text) }

    /// The next thing to do; nil for nothing.
    func next(_ limit: TimeSpan?) -> String? {
        guard !isPaused else { return nil }
        if failed != nil { return "see: \(statusCommand)" }
        switch status {
        case .failure(let error):
            guard error.code == .inputMissing else { return "see the error" }
            return first
        case .success(let status):
            if status.isPending { return "fsync-lite recover \(Shell.path(shownTarget))" }
            if let activity = status.activity { return "wait: \(activity.progress.phase.rawValue)" }
            if let (id, _) = status.prepared {
                return "fsync-lite commit \(Shell.path(shownTarget)) \(id), or abandon"
            }
            guard status.manifest != nil else { return first }
            if status.isElsewhere {
                return "mount its disk"
                    + (job == nil ? "" : "; if it was moved: \(command("--change-target"))")
            }
            if status.lastCheck?.isBad ?? false { return "see: \(statusCommand)" }
            guard let last = status.lastRun else { return command() }
            if !last.isComplete {
                return job?.command("\(PlanCommand.name) --job", [], given) ?? "fsync-lite plan"
            }
            return limit.map(last.began.isYoung) ?? true ? nil : command()
        }
    }

    private var statusCommand: String {
        job?.command(StatusCommand.name, [], given) ?? "fsync-lite status \(Shell.path(shownTarget))"
    }

    private var first: String {
        "mount its disk; to begin it: " + (job == nil ? command() : command("--create-target"))
    }

    private func command(_ options: String...) -> String {
        job?.command(RunCommand.name, options, given)
            ?? "fsync-lite apply SOURCE \(Shell.path(shownTarget))"
    }
}
