import FileStorage
import FileSystem
import FsyncLite

/// A target whose status is asked for, by its path or as a job's, and what was found.
struct StatusQuery {
    let job: Job?
    let target: Target
    let status: Result<Target.Status, SyncError>

    private let given: GivenOptions

    init(job: Job, _ given: GivenOptions) { self.init(job, Target(path: job.target), given) }

    init(path: [UInt8], _ given: GivenOptions) { self.init(nil, Target(path: path), given) }

    private init(_ job: Job?, _ target: Target, _ given: GivenOptions) {
        (self.job, self.target, self.given) = (job, target, given)
        status = Result {
            // A job's; one that is asked for alone is told of by its machine.
            guard job == nil || (try? Endpoint(target.path)) == nil else {
                throw SyncError(
                    .unreachable, path: target.path,
                    "it is on another machine: fsync-lite status \(Shell.word(target.path))")
            }
            return try target.status()
        }.mapError { $0 as? SyncError ?? SyncError(.failed, "\($0)") }
    }

    var name: String { job.map { escapedText($0.name.utf8) } ?? "\(LocalFile(bytes: target.path))" }

    func complain(_ text: String) { Console.complain(job?.labelled(text) ?? text) }

    /// What to do now; nil for nothing.
    func next(_ limit: TimeSpan?) -> String? {
        switch status {
        case .failure(let error):
            guard error.code == .inputMissing else { return "see the error" }
            return first
        case .success(let status):
            if status.isPending { return "fsync-lite recover \(Shell.word(target.path))" }
            if let activity = status.activity { return "wait: \(activity.progress.phase.rawValue)" }
            if let (id, _) = status.prepared {
                return "fsync-lite commit \(Shell.word(target.path)) \(id), or abandon"
            }
            guard status.manifest != nil else { return first }
            if status.isElsewhere {
                return "mount its disk"
                    + (job == nil ? "" : "; if it was moved: \(command("--change-target"))")
            }
            guard let last = status.lastRun else { return command() }
            if !last.isComplete {
                return job?.command("\(PlanCommand.name) --job", [], given) ?? "fsync-lite plan"
            }
            let isLate = limit.map { last.began < $0.start } ?? false
            return isLate ? command() : nil
        }
    }

    private var first: String {
        "mount its disk; to begin it: " + (job == nil ? command() : command("--create-target"))
    }

    private func command(_ options: String...) -> String {
        job?.command(RunCommand.name, options, given)
            ?? "fsync-lite apply SOURCE \(Shell.word(target.path))"
    }
}
