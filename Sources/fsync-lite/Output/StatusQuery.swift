import FileStorage
import FileSystem
import FsyncLite

/// A target whose status is asked for, by its path or as a job's, and what was found.
struct StatusQuery {
    let job: Job?
    let target: Target
    let status: Result<Target.Status, SyncError>

    init(job: Job) { self.init(job, Target(path: job.target)) }

    init(path: [UInt8]) { self.init(nil, Target(path: path)) }

    private init(_ job: Job?, _ target: Target) {
        (self.job, self.target) = (job, target)
        status = Result { try target.status() }.mapError { $0 as? SyncError ?? SyncError(.failed, "\($0)") }
    }

    var name: String { job.map { escapedText($0.name.utf8) } ?? "\(LocalFile(bytes: target.path))" }

    func complain(_ text: String) { Console.complain(job?.labelled(text) ?? text) }

    /// What to do now; nil for nothing.
    func next(_ limit: Age?) -> String? {
        switch status {
        case .failure(let error):
            guard error.code == .inputMissing else { return "see the error" }
            return first
        case .success(let status):
            if status.isPending { return "fsync-lite recover \(Shell.word(target.path))" }
            if let activity = status.activity { return "wait: \(activity.progress.phase.rawValue)" }
            guard status.manifest != nil else { return first }
            if status.isElsewhere {
                return "mount its disk" + (job == nil ? "" : "; if it was moved: \(command) --change-target")
            }
            guard let last = status.lastRun else { return command }
            if !last.isComplete { return job.map { "fsync-lite plan --job \(StatusQuery.word($0))" } ?? "fsync-lite plan" }
            let isLate = limit.map { ElapsedTime(since: last.began).seconds > $0.seconds } ?? false
            return isLate ? command : nil
        }
    }

    private var first: String { "mount its disk; to begin it: \(command)\(job == nil ? "" : " --create-target")" }

    private var command: String {
        job.map { "fsync-lite run \(StatusQuery.word($0))" }
            ?? "fsync-lite apply SOURCE \(Shell.word(target.path))"
    }

    private static func word(_ job: Job) -> String { Shell.word(Array(job.name.utf8)) }
}
