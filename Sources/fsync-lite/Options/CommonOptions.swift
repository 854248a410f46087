import FsyncLite

/// Arguments and options shared by several commands.
extension ArgumentDescription {
    static let target = ArgumentDescription("TARGET", "a directory that fsync-lite writes to")
    static let manifest = ArgumentDescription(
        "MANIFEST", "a manifest file, a target, a snapshot (TARGET@ID), or a directory")
    static let snapshot = ArgumentDescription(
        "ID",
        "a snapshot: its id or the beginning, its label, latest, latest~1, or a time, for the newest that is not later: "
            + TimeSpan.forms)
    static let second = ArgumentDescription("B", "another")
}

extension OptionDescription {
    static let json = flag("--json", "write one JSON document to standard output")
    static let all = flag("--all", "list every entry, however many")
    static let quiet = flag("--quiet", short: "-q", "say nothing when all went well")
    static let verbose = flag("--verbose", short: "-v", "list the actions, also of an apply")
    static let logFile = value("--log-file", "FILE", "append a line for this run, and one per problem")
    static let dryRun = flag("--dry-run", "show what would be done, and write nothing")
    static let settingsFile = value(
        "--settings", "FILE", "read these settings, not ~/.config/fsync-lite/settings.json")

    /// Output options of a run.
    static let output: [OptionDescription] = .section("Output", json, quiet, verbose, logFile)

    /// Options allowed in settings: the key is the option's name with _ for -.
    static let settable = planning + mirroring + retention + output
}

extension RelativePath {
    /// A path in the tree, as typed.
    init(argument: [UInt8]) throws(UsageError) {
        let path = argument.last == UInt8(ascii: "/") ? argument.dropLast() : argument[...]
        guard let path = RelativePath(path), !path.isRoot else {
            throw UsageError(
                "\(quoted(argument)) is no path in the tree",
                hint: "give one such as src/main.c, without ./ and without / at the beginning")
        }
        self = path
    }
}
