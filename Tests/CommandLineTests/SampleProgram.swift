@testable import fsync_lite

/// A small program with one of everything a description can say.
let sample = ProgramDescription(
    name: "sample",
    summary: "Mirror directories",
    discussion: "It copies.",
    version: "1.2",
    released: "2026-11-21",
    commands: [
        CommandDescription(
            "plan",
            summary: "Show what apply would change",
            discussion: "Nothing is written, however many files differ between the source and the target "
                + "directory.\n\n  sample plan src dst",
            arguments: [
                .init("SOURCE", "the directory to mirror"), .init("TARGET", "the directory to change"),
            ],
            options: .section(
                "Output",
                .flag("--json", short: "-j", "Print JSON"),
                .flag("--quiet", short: "-q", "Print errors only"),
                .value("--out", short: "-o", "FILE", "Write the plan to FILE"))
                + .section(
                    "Guards",
                    .value(
                        "--max-delete", "N",
                        "Refuse a plan that deletes more than N files, counting every file below "
                            + "a deleted directory"))
                + [.value("--exclude", "PATTERN", "Leave out matching paths", repeatable: true)]
                + .section(
                    "Guards",
                    .value("--a-name-longer-than-its-column", "PLACEHOLDER", "Goes below its label"))),
        CommandDescription(
            "copy", summary: "Copy files",
            arguments: [
                .init("FILE", "what to copy", repeated: true), .init("TARGET", "where to"),
            ]),
        CommandDescription(
            "list", summary: "List snapshots",
            arguments: [
                .init("STORE", "where they are"), .init("ID", "which one", optional: true),
                .init("PATH", "what in it", optional: true, repeated: true),
            ],
            options: [.value("--sort", "KEY", "Sort by it", choices: ["name", "date"])],
            examples: [("sample list --sort date store", "List the newest first")]),
        CommandDescription("manifest create", summary: "Record a directory's contents"),
        CommandDescription("manifest verify", summary: "Compare a directory with its manifest"),
    ],
    exitCodes: [(0, "done"), (64, "the command line is wrong")])

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Parses a line split at spaces.
func parse(_ line: String) throws -> CommandLineRequest {
    try CommandLineParser(program: sample).parse(line.split(separator: " ").map { Array($0.utf8) })
}
