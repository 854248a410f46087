import FileStorage
import FileSystem
import FsyncLite

/// The exit codes. This is the only list; help and documentation use it, too.
enum ExitCode: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case different = 2
    case committedWithOmissions = 3
    case refused = 4
    case stalePlan = 5
    case pending = 6
    case usage = 64
    case invalidDocument = 65
    case inputMissing = 66
    case unreachable = 69
    case busy = 71
    case locked = 75
    case interrupted = 130
    case terminated = 143

    var meaning: String {
        switch self {
        case .done: "done; after a run: the new tree is in place, and safe on the disk"
        case .failed: "failed; the target is unchanged"
        case .different:
            "there are differences, nothing matches, a file is not mirrored, or the last run is too old"
        case .committedWithOmissions:
            "committed, but some files could not be mirrored and are listed"
        case .refused: "refused by a guard; nothing was written"
        case .stalePlan: "a saved plan or a prepared run no longer fits; nothing was written"
        case .pending:
            "a commit was interrupted, or the connection to its machine was lost meanwhile: run recover"
        case .usage: "invalid usage"
        case .invalidDocument: "a manifest, plan, journal or settings file is damaged or foreign"
        case .inputMissing:
            "the source or another input is missing, or is a file in place of a directory"
        case .unreachable:
            "another machine could not be reached, or the connection was lost before a commit; the target is unchanged"
        case .interrupted: "stopped by INT; the target has the old tree or the new one, as the message says"
        case .terminated: "stopped by TERM, in the same way"
        case .busy: "serve: too many of them are running already"
        case .locked: "another run is writing to the target"
        }
    }

    /// Help shows it with `--all` only.
    var isRare: Bool {
        switch self {
        case .done, .failed, .different, .committedWithOmissions, .refused, .locked: false
        default: true
        }
    }

    /// Prints an error to standard error.
    ///
    /// - Parameters:
    ///   - advice: makes the lines after a refusal.
    ///   - complain: prints a line, and may add its job or target.
    init(
        reporting error: any Error, advice: (Refusal) -> [String] = { _ in [] },
        _ complain: (String) -> Void = Console.complain
    ) {
        self.init(of: error)
        // The other machine has printed its error.
        guard !(error is FarFailure) else { return }
        complain(error is UsageError || error is SyncError ? "\(error)" : singleLine("\(error)"))
        guard let error = error as? SyncError else { return }
        for line in error.wayOut(Shell.path) { complain(line) }
        for line in error.refusal.map(advice) ?? [] { complain(line) }
    }

    init(of error: any Error) {
        switch error {
        case is UsageError: self = .usage
        case let error as SyncError: self.init(error)
        case let error as FarFailure: self = error.code
        default: self = .failed
        }
    }

    private init(_ error: SyncError) {
        switch error.code {
        case .refused: self = .refused
        case .stale: self = .stalePlan
        case .pending: self = .pending
        case .usage: self = .usage
        case .invalidDocument: self = .invalidDocument
        case .inputMissing: self = .inputMissing
        case .locked: self = .locked
        case .noMatch: self = .different
        case .unreachable: self = .unreachable
        case .interrupted: self = .stopped
        default: self = .failed
        }
    }

    /// The code of a command that only read a tree. `problems` has the entries that could not be read.
    init(_ problems: [Problem]) {
        self = problems.isEmpty ? .done : .committedWithOmissions
    }

    /// The code of a plan: whether the run would commit, perhaps with problems.
    init(_ plan: Plan, _ options: SyncOptions) {
        self =
            !plan.refusals.isEmpty
            ? .refused : plan.problems.contains(where: options.stops(for:)) ? .failed : .done
    }

    /// The code of the received signal.
    private static var stopped: ExitCode {
        TerminationSignal.signal == TerminationSignal.terminate ? .terminated : .interrupted
    }

    init(_ report: Report) {
        if let error = report.error, error.code == .interrupted {
            self = .stopped
            return
        }
        switch report.outcome {
        case .refused where report.error?.code == .stale, .failed where report.error?.code == .stale:
            self = .stalePlan
        case .committed where TerminationSignal.signal != nil: self = .stopped
        case .committed, .unchanged, .prepared:
            self = report.problems.isEmpty ? .done : .committedWithOmissions
        case .refused: self = .refused
        case .failed:
            let known: [SyncError.Code: ExitCode] = [
                .invalidDocument: .invalidDocument, .unreachable: .unreachable,
            ]
            self = report.error.flatMap { known[$0.code] } ?? .failed
        case .pending: self = .pending
        }
    }
}
