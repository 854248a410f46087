import FileStorage
import FileSystem

/// The entries of a target's state, in the order in which they are checked.
enum StateEntry: String, CaseIterable {
    /// One directory for each uncommitted transaction.
    case stage
    /// One directory for each committed transaction.
    case history
    case trash
    /// The old trees of exchanges.
    case trees

    case manifest = "manifest.json"
    case mark
    case lastRun = "last-run"
    case lastCheck = "last-check"
    /// Of earlier versions only.
    case trustingRun = "trusting-run"
    case settings = "settings.json"
    case settingsPropertyList = "settings.plist"
    case journal
    case journalBack = "journal.back"
    case syncFailed = "sync-failed"
    case linked
    case copy
    case rootTime = "root-time"
    /// Of earlier versions only.
    case compared
    case activity
    /// On a file system that is not complete: the process that writes.
    case lock
    /// On such a file system: the transaction whose objects have all left their places.
    case phase2

    var type: FileType {
        switch self {
        case .stage, .history, .trash, .trees: .directory
        default: .file
        }
    }

    var name: FileName {
        guard let name = FileName(rawValue.utf8) else { preconditionFailure("\(rawValue) is not a name") }
        return name
    }
}

/// The names in a transaction's directory, `stage/TX` and later `history/TX`, besides the numbered slot directories.
enum TransactionEntry {
    static let manifest = StateEntry.manifest.name
    /// The old manifest, if the file system cannot exchange two names.
    static let oldManifest = FileName("manifest.old.json")
    /// During an exchange: first the new tree, then the old one.
    static let tree = FileName("tree")
    static let conflicts = FileName("conflicts")
    static let reservedSpace = FileName("ballast")
    static let log = FileName("log")
    /// If it exists, the stage is whole and waits for its commit.
    static let prepared = FileName("prepared.json")
    /// The record of an earlier version.
    static let record = FileName("record.json")
}

extension SyncError {
    /// The way out that loses least if a document of a target's state is damaged, in lines. Empty for another error.
    ///
    /// - Parameter word: quotes a path for a shell.
    package func wayOut(_ word: ([UInt8]) -> String) -> [String] {
        guard code == .invalidDocument, let path,
            let marker = path.firstRange(of: FileName.state.bytes + "/".utf8)
        else { return [] }
        let statePath = path[..<(marker.upperBound - 1)]
        let state = LocalFile(bytes: Array(statePath))
        let parts = path[marker.upperBound...].split(separator: UInt8(ascii: "/")).map(Array.init)
        guard
            let entry = parts.first.flatMap({ String(validating: $0, as: UTF8.self) }).flatMap(
                StateEntry.init)
        else { return [] }
        let name = statePath.split(separator: UInt8(ascii: "/")).last.flatMap { FileName($0) }
        let target = word((name?.treeOfState.map { state.parent + $0.bytes } ?? state.parent).bytes)
        func aside(_ entries: StateEntry...) -> String {
            // If an entry cannot be looked for, the command includes it.
            let there = entries.map { state + $0.rawValue }.filter { (try? $0.exists) ?? true }
            let paths = there.map { word($0.bytes) }.joined(separator: " ")
            let damaged = word((state + "damaged").bytes)
            return "mkdir -p \(damaged) && mv \(paths) \(damaged)"
        }
        switch entry {
        case .manifest:
            return [
                "the history is in other files. Move this one aside, then run apply to \(target) with --adopt",
                "next: \(aside(.manifest))",
            ]
        case .journal, .journalBack:
            return [
                "the journal of a commit is damaged. Move it aside with the files that it had moved, then run apply to \(target)",
                "next: \(aside(entry, .stage))",
            ]
        case .history:
            return [
                "newer snapshots can be read; this removes the damaged ones, and all that are older",
                "next: fsync-lite snapshot prune --damaged \(target)",
            ]
        case .stage where parts.count == 3 && parts[2].elementsEqual(TransactionEntry.prepared.bytes):
            return ["next: fsync-lite abandon \(target) \(word(parts[1]))"]
        case .lastRun: return ["the next run writes it again"]
        default: return []
        }
    }
}
