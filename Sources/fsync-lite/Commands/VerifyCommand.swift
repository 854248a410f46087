import FileStorage
import FileSystem
import FsyncLite

enum VerifyCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { NamedTarget.argument }

    /// Each day of a month can read one.
    private static let usualParts = 31
    private static let part = OptionDescription.value(
        "--part", "K/N",
        "read only the K-th of N parts of the files, such as 3/31; auto: the next of \(usualParts) parts, auto/N: of N"
    )
    private static let repair = OptionDescription.flag(
        "--repair", "read the source, too, and replace a rotten file with the good copy")

    static let description = CommandDescription(
        name: "verify",
        summary: "Read a target and its history, and find damaged files.",
        discussion: """
            It runs manifest verify --digest and snapshot verify, and stores the result in the target, for status. \
            \(NamedTarget.rule)
            The content of a file is read if it has a digest: apply --digest records them, and later runs, too. With \
            --part auto, each check reads the next part. A part that was cut short is read again. Each check finds \
            missing files and other sizes and times. Status shows rotten files until their part is read again.
            A file is rotten if its content changed and none of its times did. It exits 2 if the tree differs from its \
            manifest, and 65 if an old version is damaged.
            """,
        arguments: [NamedTarget.argument],
        options: [part, repair, .quiet, .json, .settingsFile] + OptionDescription.remote,
        examples: [
            ("fsync-lite verify --part auto --quiet photos", "Once a day, from cron: all of it in a month"),
            ("fsync-lite verify --repair photos", "Repair rotten files on either side"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let (named, given) = (try NamedTarget(of: invocation), invocation.options)
        let repairs = given.has(repair)
        guard !repairs || !named.isRemote && invocation.client == nil else {
            throw ManifestVerifyCommand.noRepair
        }
        var asked = invocation
        asked.arguments[NamedTarget.argument.name] = [named.path]
        if named.isRemote, let remote = try RemoteInvocation(asked) { return try remote.run(&console) }
        let target = Target(path: named.path, name: invocation.targetOfClient)
        let (source, last) = (try target.mirrored().source, try target.lastCheck())
        TerminationSignal.watch()
        let monitor = RunMonitor(isQuiet: true)
        var verification = Verification(
            of: named.path, by: try Tree(path: named.path), monitor: monitor)
        verification.readsContent = true
        /// The part was chosen automatically.
        var isAuto = false
        let found = try given.value(part, "give \(part.name) such as 3/31, auto or auto/31") { text in
            isAuto = text == "auto" || text.hasPrefix("auto/")
            guard isAuto else { return Verification.Part(text) }
            let count = text == "auto" ? usualParts : Int(text.dropFirst("auto/".count)) ?? 0
            return count < 1 ? nil : Verification.Part("\(last?.next(of: count) ?? 1)/\(count)")
        }
        if let found { verification.part = found }
        if repairs { verification.source = try SyncRun.source(named.job?.source ?? source, given) }
        if let source = verification.source, !source.isRemote { try source.check() }
        var output = VerificationOutput(named.path, given)
        let summary = try output.run(verification, repairs: repairs, &console)
        let history = try target.verifyHistory(part: verification.part, monitor: monitor)
        try output.end(summary, of: verification.part, history, to: &console)
        let code = try SnapshotVerifyCommand.report(
            history, of: target, verification.part, isQuiet: given.has(.quiet) || given.has(.json), &console)
        var check = LastCheck(ended: .now)
        (check.part, check.parts) = (verification.part.number, verification.part.count)
        (check.filesRead, check.filesWithoutDigest) = (summary.filesRead, summary.withoutDigest)
        check.otherDifferences = output.remaining - output.rotten
        let damaged = Set(history.faults.map(\.snapshot)).sorted()
        check.find(rotten: output.rotten, damaged: damaged, after: last)
        (check.nextPart, check.autoParts) =
            isAuto ? (check.part % check.parts + 1, check.parts) : (last?.nextPart, last?.autoParts)
        do {
            guard !invocation.isReadOnly else { throw SyncError(.refused, "this key is read-only") }
            try target.note(check)
        } catch {
            Console.complain("note: the result could not be stored for status and --part auto: \(error)")
        }
        return code == .done && output.remaining > 0 ? .different : code
    }
}
