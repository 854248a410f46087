import FileStorage
import FsyncLite

enum RecoverCommand: TargetCommand {
    private static let back = OptionDescription.flag(
        "--back", "take the commit back instead of finishing it")
    private static let displace = OptionDescription.flag(
        "--displace", "move files that others put in the way to the history")

    static let breakLock = OptionDescription.flag(
        "--break-lock", "remove the lock of a run on another machine, which must have ended")
    static let trustState = OptionDescription.flag(
        "--trust-state", "as root, follow a journal that others may have written")
    static let claim = OptionDescription.flag(
        "--claim", "mark the state of TARGET as yours, after a copy without extended attributes")

    static let description = CommandDescription(
        name: "recover", summary: "End a commit that a crash interrupted.",
        discussion: "Each run does this by itself first. Without an interrupted commit, nothing happens.",
        arguments: [.target],
        options: [back, displace, breakLock, trustState, claim] + OptionDescription.remote,
        examples: [
            ("fsync-lite recover mirror", "Finish an interrupted commit"),
            ("fsync-lite recover --back mirror", "Go back to the old tree"),
            (
                "fsync-lite recover --break-lock mirror",
                "Write again to a NAS, after the machine that was writing has crashed"
            ),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.target()
        guard !invocation.options.has(claim) else {
            try target.claim()
            try console.line("the state is yours from now on")
            return .done
        }
        let command = "fsync-lite recover \(Shell.path(try invocation.asTyped().argument(.target)))"
        let conflicts: Target.Conflicts
        let result: String
        do {
            let given = invocation.options
            switch try target.recover(
                undo: given.has(back), displacingConflicts: given.has(displace),
                breakingLock: given.has(breakLock), trustingState: given.has(trustState))
            {
            case .nothingToDo:
                try console.line("nothing to recover")
                return .done
            case .finished(let found):
                (conflicts, result) = (found, "the interrupted commit is finished: the new tree is in place")
            case .undone(let found):
                (conflicts, result) = (found, "the interrupted commit is taken back: the old tree is back")
            }
        } catch let error as SyncError where error.code == .pending {
            Console.complain("\(error)")
            if error.isOfTrust {
                Console.complain("next: \(command) \(trustState.name)")
                return .pending
            }
            // The hints help if foreign objects are in the way. They do not help after a system error.
            guard error.errno == nil else { return .pending }
            Console.complain("next: \(command) --displace, to move the files in the way to the history")
            Console.complain("or, to take the commit back: \(command) --back, or --back --displace")
            return .pending
        }
        KnownTargets.remember(target)
        for error in conflicts.displaced + conflicts.missing { Console.complain("\(error)") }
        guard conflicts.missing.isEmpty else {
            try console.line("\(result), without the missing files; the next run copies them again")
            return .committedWithOmissions
        }
        try console.line(result)
        return .done
    }
}
