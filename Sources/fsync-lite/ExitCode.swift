import FsyncLite

/// What a run says to the script that called it: the one list, in help and documentation too.
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
    case locked = 75

    var meaning: String {
        switch self {
        case .done: "done; after an apply: the new tree is there and durable"
        case .failed: "failed; the target is unchanged"
        case .different: "there are differences (plan --exit-code, manifest diff)"
        case .committedWithOmissions: "committed, but something could not be mirrored and is listed"
        case .refused: "refused by a guard; nothing was written"
        case .stalePlan: "the saved plan no longer fits"
        case .pending: "a commit was begun and not ended: run recover"
        case .usage: "the command line makes no sense"
        case .invalidDocument: "a manifest, plan, journal or settings file is damaged or foreign"
        case .inputMissing: "the source, or another input, is missing"
        case .locked: "another run is writing to the target"
        }
    }

    init(_ error: SyncError) {
        switch error.code {
        case .refused: self = .refused
        case .stale: self = .stalePlan
        case .pending: self = .pending
        case .usage: self = .usage
        case .invalidDocument: self = .invalidDocument
        case .inputMissing: self = .inputMissing
        case .locked: self = .locked
        default: self = .failed
        }
    }

    init(_ report: Report) {
        switch report.outcome {
        case .committed, .unchanged: self = report.problems.isEmpty ? .done : .committedWithOmissions
        case .refused: self = .refused
        case .failed: self = .failed
        case .pending: self = .pending
        }
    }
}
