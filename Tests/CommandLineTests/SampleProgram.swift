@testable import fsync_lite

/// A small program with everything that a description can contain.
let sample = ProgramDescription(
    name: "sample",
    summary: "Mirror directories",
    discussion: "It copies.",
    version: "1.2",
    released: "2026-11-21",
    sections: [
        CommandSection("Every day", [SamplePlan.self, SampleCopy.self, SampleList.self]),
        CommandSection("Check", [SampleVerify.self]),
        CommandSection("Rarely needed", [SampleCreate.self], isRare: true),
    ],
    exitCodes: [(0, "done", false), (64, "the command line is wrong", true)])

/// A command that does nothing.
protocol SampleCommand: Command {}

extension SampleCommand {
    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode { .done }
}

enum SamplePlan: SampleCommand {
    static let source = ArgumentDescription("SOURCE", "the directory to mirror")
    static let target = ArgumentDescription("TARGET", "the directory to change")
    static let json = OptionDescription.flag("--json", short: "-j", "Print JSON")
    static let quiet = OptionDescription.flag("--quiet", short: "-q", "Print errors only")
    static let out = OptionDescription.value("--out", short: "-o", "FILE", "Write the plan to FILE")
    static let maxDelete = OptionDescription.value(
        "--max-delete", "N",
        "Refuse a plan that deletes more than N files, counting every file below a deleted directory")
    static let exclude = OptionDescription.value(
        "--exclude", "KEYWORD", "Leave out matching paths", repeatable: true)

    static let description = CommandDescription(
        name: "plan",
        summary: "Show what apply would change",
        discussion: "Nothing is written, however many files differ between the source and the target "
            + "directory.\n\n  sample plan src dst",
        arguments: [source, target],
        options: .section("Output", json, quiet, out) + .section("Guards", maxDelete) + [exclude]
            + .section(
                "Guards",
                .value("--a-name-longer-than-its-column", "PLACEHOLDER", "Goes below its label")))
}

enum SampleCopy: SampleCommand {
    static let file = ArgumentDescription("FILE", "what to copy", repeated: true)
    static let target = ArgumentDescription("TARGET", "where to")

    static let description = CommandDescription(
        name: "copy", summary: "Copy files", arguments: [file, target],
        options: [.value("--limit", "N", "Stop after N files")]
            + .section("Speed", OptionDescription.value("--threads", "N", "So many at a time").rare))
}

enum SampleList: SampleCommand {
    static let id = ArgumentDescription("ID", "which one", optional: true)
    static let path = ArgumentDescription("PATH", "what in it", optional: true, repeated: true)

    static let description = CommandDescription(
        name: "list", summary: "List snapshots",
        arguments: [.init("STORE", "where they are"), id, path],
        options: [.value("--sort", "KEY", "Sort by it", choices: ["name", "date"])],
        examples: [("sample list --sort date store", "List the newest first")])
}

enum SampleCreate: SampleCommand {
    static let description = CommandDescription(
        name: "manifest create", summary: "Record a directory's contents")
}

enum SampleVerify: SampleCommand {
    static let description = CommandDescription(
        name: "manifest verify", summary: "Compare a directory with its manifest")
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Parses a line split at spaces.
func parse(_ line: String) throws -> Invocation {
    try CommandLineParser(program: sample).parse(line.split(separator: " ").map { Array($0.utf8) })
}
