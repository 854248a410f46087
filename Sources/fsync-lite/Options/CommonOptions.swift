import FileStorage
import FileSystem
import FsyncLite

/// Arguments and options shared by several commands.
extension ArgumentDescription {
    static let target = ArgumentDescription(
        "TARGET", "a directory that fsync-lite writes to, or the name of a job", kind: .directoryOrJob)
    static let manifest = ArgumentDescription(
        "MANIFEST", "a manifest file, a target, a snapshot (TARGET@ID), or a directory")
    static let snapshot = ArgumentDescription(
        "ID",
        "an id or its beginning, a label, latest, latest~1, or a time: the newest snapshot up to then. A time is "
            + TimeSpan.forms)
    static let second = ArgumentDescription("B", "another")
}

/// A command whose target may be on another machine.
protocol TargetCommand: Command {}

extension TargetCommand {
    static var remoteTarget: ArgumentDescription? { .target }
}

extension OptionDescription {
    static let json = flag(
        "--json", "write JSON to standard output: a document, or one for each job")
    static let all = flag("--all", "list every file and directory")
    static let quiet = flag("--quiet", short: "-q", "print nothing if all is well")
    static let verbose = flag("--verbose", short: "-v", "list the actions of a run, too")
    static let logFile = value("--log-file", "FILE", "append a line for this run, and one per problem")
    static let dryRun = flag("--dry-run", "show what would be done, and write nothing")
    static let settingsFile = value(
        "--settings", "FILE", "read these settings, not those in ~/.config")

    /// Output options of a run.
    static let output: [OptionDescription] = .section("Output", json, quiet, verbose, logFile)

    /// The options that a saved plan has. Of those that do not change its actions, others may be given beside it.
    static let ofPlan = planning + mirroring + retention

    /// Options allowed in settings: the key is the option's name with _ for -.
    static let settable = ofPlan + output
}

extension RelativePath {
    /// A path in the tree, as typed.
    ///
    /// - Parameter target: whose tree it is; nil for a source.
    init(argument: [UInt8], in target: [UInt8]? = nil) throws(UsageError) {
        let typed = target.map { TypedPath(argument, in: $0) } ?? TypedPath(argument)
        let path = typed.bytes.last == UInt8(ascii: "/") ? typed.bytes.dropLast() : typed.bytes[...]
        guard let path = RelativePath(path), !path.isRoot else {
            throw UsageError(
                "\(quoted(argument)) is not a path in the tree",
                hint: "give one such as src/main.c, without / at the beginning")
        }
        self = path
    }
}

/// A path in a tree, as people type it: as it is shown, after `./`, or after the path of the target or its
/// source. A shell completes the last form.
struct TypedPath {
    private(set) var bytes: [UInt8]
    /// The typed path was absolute or had a `./`, so it begins at the top of the tree.
    private(set) var isFromTop = false

    init(_ typed: [UInt8]) {
        bytes = readAsShown(typed)
        while bytes.starts(with: "./".utf8) {
            bytes = Array(bytes.dropFirst(2).drop { $0 == UInt8(ascii: "/") })
            isFromTop = true
        }
    }

    init(_ typed: [UInt8], in target: [UInt8]) {
        self.init(typed)
        guard !isFromTop, bytes.first == UInt8(ascii: "/") else { return }
        // Without a working directory or a manifest, no such path is found. The command itself reports that.
        let sources = (try? Target(path: target).sources()) ?? []
        let places =
            sources.map { ($0.path, $0.name) }
            + [(try? LocalFile(bytes: target).absolute()).map { ($0, nil) }]
            .compactMap(\.self)
        // A place may be a symlink, so its resolved path is tried as well. A missing place has none.
        let resolved = places.lazy.compactMap { place in
            (try? Directory.open(path: place.0).presentPath()).map { ($0, place.1) }
        }
        for (top, name) in [AnySequence(places), AnySequence(resolved)].joined() {
            let prefix = top + (top.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")])
            guard prefix.count > 1, bytes.starts(with: prefix), bytes.count > prefix.count else { continue }
            bytes = (name.map { Array($0.utf8) + [UInt8(ascii: "/")] } ?? []) + bytes.dropFirst(prefix.count)
            isFromTop = true
            return
        }
    }
}
