import Foundation
import TestSupport
import Testing

@testable import fsync_lite

/// The words that users of rsync, cp and restic type.
@Suite struct ForeignWordTests {
    private let parser = CommandLineParser(program: .fsyncLite)

    private func error(_ line: String) -> UsageError? {
        #expect(throws: UsageError.self, "\(line)") {
            _ = try parser.parse(line.split(separator: " ").map { Array($0.utf8) })
        }
    }

    @Test(arguments: [
        ("apply -n a b", "to preview the run: --dry-run, or fsync-lite plan"),
        ("plan -n a b", "leave it out: plan never writes"),
        ("plan --dry-run a b", "leave it out: plan never writes"),
        ("apply --bwlimit=5 a b", "use --bandwidth RATE, such as --bandwidth 5M"),
        ("apply -x a b", "use --one-file-system"),
        (
            "apply --reflink a b",
            "leave it out: an exchange links unchanged files into the new tree by itself, which uses no space"
        ),
        (
            "plan --ignore-change-time a b",
            "leave it out: if only the change time of a file moved, one comparison settles it"
        ),
        (
            "apply -z a nas:p",
            "leave it out: files are not compressed. To compress the connection to another machine: --ssh 'ssh -C'"
        ),
        (
            "plan --explain a",
            "to see why a file is in the mirror, or is not: fsync-lite explain JOB|TARGET PATH"
        ),
        ("backup a b", "use: fsync-lite apply a b. To preview it: fsync-lite plan a b"),
        ("backup s", "use: fsync-lite apply SOURCE TARGET. To preview it: fsync-lite plan SOURCE TARGET"),
        (
            "dump latest a",
            "use: fsync-lite snapshot restore TARGET ID [PATH...]. Add --to DIR, or --in-place"
        ),
        ("snapshots m", "use: fsync-lite snapshot list m"),
        ("ls m", "use: fsync-lite manifest list m. To list a snapshot: TARGET@ID"),
        (
            "forget --prune",
            "use: fsync-lite snapshot prune TARGET. The rules are restic's, such as --keep-daily 14"
        ),
        (
            "diff a b",
            "to compare snapshots: fsync-lite snapshot diff TARGET A B. To compare any trees: fsync-lite manifest diff A B"
        ),
        ("a/ b", "to mirror it: fsync-lite apply a/ b"),
    ])
    func areAnsweredWithWhatDoesItHere(line: String, hint: String) {
        #expect(error(line)?.hint == hint)
    }

    @Test(arguments: ["plan", "apply", "run"])
    func noneIsAnsweredWithAGuess(command: String) {
        for option in [
            "-n", "--delete", "-a", "-r", "-v -a", "-P", "-H", "-A", "-X", "-u", "-z", "-c", "--progress",
            "--stats",
            "--bwlimit", "--archive", "--recursive", "--compress", "--partial", "--inplace", "--link-dest",
            "--force",
            "--update", "--times", "--perms", "-avz", "-aHAX", "--files-from", "--delete-after",
        ] {
            let hint = error("\(command) \(option) a b")?.hint ?? "did you mean"
            #expect(!hint.contains("did you mean") && !hint.hasPrefix("see "), "\(option): \(hint)")
        }
        #expect(error("\(command) --deletes a b")?.hint.contains("--no-delete") == false)
    }

    @Test func eachLetterOfACombinationIsAnswered() {
        let hint = error("apply -qavz a b")?.hint ?? ""
        #expect(hint.contains("-a: leave it out") && hint.contains("-z: leave it out"), "\(hint)")
        let long = error("apply -aHAXxz a b")?.hint.split(separator: "\n") ?? []
        #expect(long.count == 3 && long[0].hasPrefix("-a, -H, -A, -X: leave it out: "), "\(long)")
        #expect(long.count == 3 && long[1] == "-x: use --one-file-system", "\(long)")
        #expect(error("-avz --delete a b")?.hint.hasPrefix("options go after the command, as in") == true)
        #expect(error("plan -json a b")?.hint == "did you mean '--json'?")
    }

    /// Every hint names an existing command or option.
    @Test func hintsNameWhatIsThere() throws {
        let program = ProgramDescription.fsyncLite
        let options = Set((program.descriptions.flatMap(\.allOptions) + program.options).map(\.name))
        for word in program.foreignCommands + program.foreignOptions {
            for option in word.hint.matches(of: /--[a-z][a-z-]*/).map({ String($0.output) }) {
                #expect(options.contains(option), "\(word.hint)")
            }
            for line in word.hint.matches(of: /fsync-lite ([a-z]+)( [a-z]+)?/) {
                let words = line.output.0.split(separator: " ").dropFirst().map { Array($0.utf8) }
                #expect(program.command(beginning: words) != nil, "\(word.hint)")
            }
            if let command = word.command {
                #expect(program.descriptions.contains { $0.name == command }, "\(command)")
            }
        }
        let commands = Set(program.descriptions.map(\.name))
        for word in program.foreignCommands {
            for spelling in word.spellings { #expect(!commands.contains(spelling), "\(spelling)") }
        }
    }

    /// The page for users of other tools agrees with the program.
    @Test func checksAreVerifyOnThePageToo() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = root.appending(path: "Sources/FsyncLite/FsyncLite.docc/ComingFrom.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n")
        #expect(error("check m")?.hint == "use: fsync-lite verify m")
        #expect(lines.contains("| `check` | `check` | `verify JOB` or `verify TARGET` |"))
        #expect(!lines.contains { $0.contains("`snapshot verify") || $0.contains("`manifest verify") })
    }

    @Test func helpOfAGroupIsItsCommands() throws {
        let help = HelpText(program: .fsyncLite)
        let text = help.text(forGroup: ProgramDescription.fsyncLite.group("snapshot".utf8))
        #expect(text.hasPrefix("Usage: fsync-lite snapshot COMMAND"))
        #expect(text.contains("  snapshot restore ") && !text.contains("manifest"))
        #expect(try CommandRun(["help", "snapshot"]).output == text)
        #expect(try CommandRun(["snapshot", "--help"]).output == text)
    }
}
