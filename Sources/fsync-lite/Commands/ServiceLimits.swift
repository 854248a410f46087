import FileStorage
import FsyncLite

/// The limits of a client, as the options of `serve` say.
struct ServiceLimits {
    let isReadOnly: Bool
    let isAppendOnly: Bool
    let served: ServedDirectory?

    /// The options that an append-only key refuses.
    static let loosening =
        SyncOptions.loosening + [
            RecoverCommand.trustState, RecoverCommand.breakLock, RecoverCommand.claim,
            SnapshotRestoreCommand.overwrite,
        ]

    /// The path of a target from now on.
    ///
    /// - Throws: `SyncError` with code `refused`, also if the state of the target has no mark.
    func open(_ target: [UInt8], isWriting: Bool) throws -> [UInt8] {
        let path = try served?.confine(to: target, isWriting: isWriting) ?? target
        if isReadOnly || isAppendOnly || served != nil { try Target(path: path).checkMark() }
        return path
    }

    /// - Throws: `SyncError` with code `refused`.
    func check(_ invocation: Invocation, _ sent: RemoteCommand) throws {
        let name = invocation.command.name
        if isReadOnly, !invocation.command.isReading || invocation.options.has(SyncOptions.weakCommit) {
            throw SyncError(.keyForbids("\(name) writes", isReadOnly: true))
        }
        guard isAppendOnly else { return }
        let planned = (invocation.saved?.options ?? []).map { word in
            String(decoding: word.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
        }
        if invocation.command == SnapshotCreateCommand.self {
            // A new label may replace one that protects a snapshot.
            throw SyncError(.keyForbids("\(name) changes a label"))
        }
        let removing: [any Command.Type] = [
            SnapshotPruneCommand.self, SnapshotRemoveCommand.self, SnapshotPurgeCommand.self,
        ]
        if removing.contains(where: { $0 == invocation.command }) {
            throw SyncError(.keyForbids("\(name) removes old versions"))
        }
        let overwrite = SnapshotRestoreCommand.overwrite
        if invocation.options.has(overwrite) {
            throw SyncError(
                .keyForbids("\(overwrite.name) replaces files that no history has", overwrite.name))
        }
        let (given, ofJob) = (invocation.options.list.map(\.name), sent.job?.options ?? [])
        let rules = OptionDescription.retention
        let asked = given + ofJob.map(\.name) + planned
        if let rule = asked.first(where: { name in rules.contains { $0.name == name } }) {
            throw SyncError(.keyForbids("\(rule) is a rule of retention", rule))
        }
        let settings = (ofJob + sent.defaults).filter { $0.values != nil }.map(\.name)
        if let loose = (given + settings + planned).first(where: { name in
            ServiceLimits.loosening.contains { $0.name == name }
        }) {
            throw SyncError(.keyForbids("\(loose) loosens a guard", loose))
        }
    }
}
