import FileStorage
import FileSystem
import FsyncLite

enum ExplainCommand: ReadingCommand {
    private static let path = ArgumentDescription(
        "PATH", "a path below the source; an absolute one may be in the source or in the target")

    static let description = CommandDescription(
        name: "explain",
        summary: "Say why a file is in the mirror, or is not. Exits 2 when it is not.",
        discussion: """
            The source and the filters are those of the job or, for TARGET, those of its last run. The command looks at \
            the present source and the present target. \(NamedTarget.rule)
            """,
        arguments: [NamedTarget.argument, path], options: [.json, .settingsFile] + OptionDescription.remote,
        examples: [
            ("fsync-lite explain photos 2026/raw/b.dng", "Of a job"),
            ("fsync-lite explain /mnt/backup /srv/p/thesis.txt", "Of a target, by the file's own path"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let named = try NamedTarget(of: invocation)
        let (source, filters) = try mirrored(named, invocation)
        guard case .remote(let endpoint, _) = source else {
            return try explain(named, source, filters, invocation, &console)
        }
        let asked = named.job.map { Shell.word(Array($0.name.utf8)) } ?? "JOB"
        let plan = named.job.map {
            "\nto preview the next run: fsync-lite plan --job \(Shell.word(Array($0.name.utf8)))"
        }
        throw UsageError(
            "the source \(escapedText(endpoint.bytes)) is on another machine, and explain has to run on that machine",
            hint: "if that machine has a job for it: ssh \(endpoint.destination) fsync-lite explain \(asked) "
                + Shell.word(try invocation.argument(path)) + (plan ?? ""))
    }

    private static func explain(
        _ named: NamedTarget, _ source: MirrorSource, _ filters: Filters, _ invocation: Invocation,
        _ console: inout Console
    ) throws -> ExitCode {
        let isHere = !named.isRemote
        let isThere = try !isHere || LocalFile(bytes: named.path).exists
        let manifest = try isThere ? Tree(named.path, for: invocation) : nil
        let path = try path(invocation.argument(path), source, named.path)
        let found = try Explanation(
            of: path, in: source, by: filters, manifest: manifest?.header() == nil ? nil : manifest,
            target: isHere && isThere ? named.path : nil)
        let text = text(of: found, named, isThere: isThere)
        if invocation.options.has(.json) {
            var document = DocumentWriter(format: "fsync-lite-explanation")
            if let job = named.job { document.text.field("job", job.name) }
            document.text.field("target", "target_base64", named.path[...])
            document.text.path(path)
            document.text.field("verdict", found.verdict.rawValue)
            document.text.field("text", text)
            if let copy = found.copy {
                document.text.field("copy_modified", Timestamp(copy.modified))
                if copy.type == .file { document.text.field("copy_size", copy.size) }
            }
            if found.isUpToDate == true { document.text.flag("up_to_date") }
            try document.end(to: &console)
        } else {
            try console.line("\(path): \(text)")
        }
        return found.verdict == .mirrored ? .done : .different
    }

    /// The explanation. For a new entry, it also says why no run copies it now.
    private static func text(of found: Explanation, _ named: NamedTarget, isThere: Bool) -> String {
        guard found.verdict == .new else { return found.text }
        if named.job?.disabled != nil { return "\(found.text), but the job is disabled" }
        return isThere
            ? found.text : "the target \(LocalFile(bytes: named.path)) does not exist. Is its disk mounted?"
    }

    private static func mirrored(
        _ named: NamedTarget, _ invocation: Invocation
    ) throws -> (MirrorSource, Filters) {
        guard let job = named.job else {
            guard let endpoint = try SyncRun.endpoint(named.path) else {
                return try Target(path: named.path).mirrored()
            }
            throw UsageError(
                "\(quoted(named.path)) is on another machine, and explain needs the machine of the source",
                hint: "give the job that mirrors to it, on the machine of the source. Or: "
                    + "ssh \(endpoint.destination) fsync-lite explain \(Shell.word(endpoint.path)) "
                    + Shell.word(try invocation.argument(path)))
        }
        let layers = try SettingsSources(invocation).layers(
            target: named.isRemote ? nil : named.path, job: job)
        return (job.source, try SyncOptions.filters(GivenOptions().over(layers, OptionDescription.settable)))
    }

    /// The path in the tree. If places overlap, as for a target in the source, the inner one is meant.
    private static func path(
        _ typed: [UInt8], _ source: MirrorSource, _ target: [UInt8]
    ) throws -> RelativePath {
        guard typed.first == UInt8(ascii: "/") else { return try RelativePath(argument: typed) }
        let places = source.directories + [(name: nil, path: target)]
        let found = places.map { (name: $0.name, path: TypedPath(typed, in: $0.path)) }
            .filter(\.path.isFromTop).min { $0.path.bytes.count < $1.path.bytes.count }
        guard let found else {
            let list = places.map { "\(LocalFile(bytes: $0.path))" }.joined(separator: ", ")
            throw UsageError(
                "\(quoted(typed)) is not below the source or the target", hint: "these are: \(list)")
        }
        let top = found.name.map { Array("\($0)/".utf8) } ?? []
        return try RelativePath(argument: top + found.path.bytes)
    }
}
