import FileStorage
import FileSystem

/// The entries of a target's state, in the order in which they are checked.
enum StateEntry: String, CaseIterable {
    /// One directory per uncommitted transaction.
    case stage
    /// One directory per committed transaction.
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
    /// On a file system that is not complete: who writes.
    case lock
    /// There: the transaction whose objects have all left their places.
    case phase2

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

/// The names in a transaction's directory, `stage/TX` and later `history/TX`, besides the numbered slot directories.
enum TransactionEntry {
    static let manifest = StateEntry.manifest.name
    /// The old manifest, where two names cannot be exchanged.
    static let oldManifest = FileName("manifest.old.json")
    /// In an exchange: the new tree, then the old one.
    static let tree = FileName("tree")
    static let conflicts = FileName("conflicts")
    static let reservedSpace = FileName("ballast")
    static let log = FileName("log")
    /// There: the stage is whole, and waits for its commit.
    static let prepared = FileName("prepared.json")
    /// The record of an earlier version.
    static let record = FileName("record.json")
}

extension SyncError {
    /// The state of a target that can only begin anew: this error is about its manifest or its history.
    package var damagedState: [UInt8]? {
        guard code == .invalidDocument, let path else { return nil }
        let parts = [StateEntry.manifest, .history].map { FileName.state.bytes + "/".utf8 + $0.name.bytes }
        guard let part = parts.lazy.compactMap(path.firstRange).first else { return nil }
        return Array(path[..<(part.lowerBound + FileName.state.bytes.count)])
    }
}
