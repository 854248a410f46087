import FileStorage
import FsyncLite

enum AbandonCommand: TargetCommand {
    static let description = CommandDescription(
        name: "abandon", summary: "Remove the files that 'apply --prepare' has prepared.",
        discussion: "The target is left unchanged, and the space of the prepared files is free again.",
        arguments: [.target, CommitCommand.id],
        options: OptionDescription.remote,
        examples: [("fsync-lite abandon /srv/www $id", "Keep the old tree")])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let target = try invocation.target()
        let isRemoved = try target.abandon(try invocation.text(CommitCommand.id))
        try console.line(isRemoved ? "abandoned; the target is unchanged" : "nothing to abandon")
        return .done
    }
}
