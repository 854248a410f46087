import FileStorage
import FsyncLite

enum RecoverCommand: TargetCommand {
    private static let back = OptionDescription.flag(
        "--back", "take the commit back instead of finishing it")
    private static let displace = OptionDescription.flag(
        "--displace", "move what others put in the way to the history")

    static let breakLock = OptionDescription.flag(
        "--break-lock", "take the lock away from a run on another machine, which must have ended")
    static let trustState = OptionDescription.flag(
        "--trust-state", "as root, follow a journal that others may have written")
    static let claim = OptionDescription.flag(
        "--claim", "only say that the state of TARGET is yours, as after a copy without extended attributes")

    static let description = CommandDescription(
        name: "recover", summary: "End a commit that a crash interrupted.",
        discussion: "Every apply does this by itself first. Without an interrupted commit nothing happens.",
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
        let command = "fsync-lite recover \(Shell.word(try invocation.asTyped().argument(.target)))"
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
                (conflicts, result) = (found, "the interrupted commit is finished: the new tree is there")
            case .undone(let found):
                (conflicts, result) = (found, "the interrupted commit is taken back: the old tree is there")
            }
        } catch let error as SyncError where error.code == .pending {
            Console.complain("\(error)")
            if error.isOfTrust {
                Console.complain("to go on: \(command) \(trustState.name)")
                return .pending
            }
            // The hints help if foreign objects are in the way. They do not help after a system error.
            guard error.errno == nil else { return .pending }
            Console.complain("to move what is in the way to the history and go on: \(command) --displace")
            Console.complain("to take the commit back: \(command) --back, or --back --displace")
            return .pending
        }
        KnownTargets.remember(target)
        for error in conflicts.displaced + conflicts.missing { Console.complain("\(error)") }
        guard conflicts.missing.isEmpty else {
            try console.line("\(result), but for what has gone missing; the next apply brings it back")
            return .committedWithOmissions
        }
        try console.line(result)
        return .done
    }
}
