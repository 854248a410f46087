import FileSystem

/// What a target's state holds, by its names and in the order in which they are checked.
enum StateEntry: String, CaseIterable {
    /// A directory for each transaction that is not committed yet.
    case stage
    /// A directory for each transaction that is committed.
    case history
    case trash
    /// The old trees of exchanges.
    case trees

    case manifest = "manifest.json"
    case mark
    case lastRun = "last-run"
    /// Of earlier versions.
    case trustingRun = "trusting-run"
    case settings = "settings.json"
    case settingsPropertyList = "settings.plist"
    case journal
    case journalBack = "journal.back"
    case syncFailed = "sync-failed"
    case linked
    case copy
    case rootTime = "root-time"
    case compared
    case activity

    var type: FileType {
        switch self {
        case .stage, .history, .trash, .trees: .directory
        default: .file
        }
    }

    var name: FileName {
        guard let name = FileName(rawValue.utf8) else { preconditionFailure("\(rawValue) is no name") }
        return name
    }
}

/// The names in a transaction's directory, `stage/TX` and then `history/TX`, beside the numbers of slot directories.
enum TransactionEntry {
    static let manifest = StateEntry.manifest.name
    /// Of an exchange: the new tree, then the old one.
    static let tree = FileName("tree")
    static let conflicts = FileName("conflicts")
    static let reservedSpace = FileName("ballast")
    /// Which files are staged.
    static let log = FileName("log")
    /// The same, of earlier versions.
    static let record = FileName("record.json")
}
