import FileStorage
import FileSystem
import FsyncLite

enum ManifestVerifyCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { manifest }
    static var remotePlaces: RemotePlaces { RemotePlaces(arguments: [tree]) }

    private static let manifest = ArgumentDescription(
        "MANIFEST", "a manifest file or a target; of another machine, its manifest is fetched")
    private static let tree = ArgumentDescription(
        "TREE", "the directory to look at; if MANIFEST and this are host:path, it is read on that machine")
    private static let digest = OptionDescription.flag(
        "--digest", "read the files that have a digest, and compare")
    private static let part = OptionDescription.value(
        "--part", "K/N", "read only the K-th of N parts of the files, such as 3/30")
    static let source = OptionDescription.value(
        "--source", "DIR",
        "read also the files of the source of TREE, which may be host:DIR; NAME=DIR for each of several sources",
        repeatable: true)
    private static let repair = OptionDescription.flag(
        "--repair", "replace a rotten file with the good copy; an edited one is left unchanged")

    static let description = CommandDescription(
        name: "manifest verify",
        summary: "Compare a directory with a manifest. Exits 2 if there is a difference.",
        discussion: """
            A file is rotten if its content changed and its size and time did not: the disk damaged it, or a tool \
            restored its time. It is edited if its change time shows that a program wrote to it. With --source, the \
            copy with the recorded content is the good one.
            """,
        arguments: [manifest, tree],
        options: [digest, part, source, repair, .json] + OptionDescription.remote,
        examples: [
            ("fsync-lite manifest verify --digest --part 3/30 mirror mirror", "Read a thirtieth a day"),
            (
                "fsync-lite manifest verify --digest --source photos --repair mirror mirror",
                "Repair rotten files on either side"
            ),
            ("fsync-lite manifest verify --digest nas:mirror nas:mirror", "Read a mirror on another machine"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        let tree = try invocation.argument(tree)
        if invocation.client == nil, let endpoint = try SyncRun.endpoint(tree) {
            throw UsageError(
                "\(quoted(tree)) is on another machine, so its content can only be read there",
                hint:
                    "give a MANIFEST of the same machine, or run it there: ssh \(endpoint.destination) fsync-lite "
                    + "\(name) ...")
        }
        let manifest = try Tree(invocation.argument(manifest), for: invocation)
        let client = invocation.client
        let source =
            if let client {
                client.command.source
            } else {
                try mirrored(given) { try manifest.header()?.sources.compactMap(\.name) ?? [] }
            }
        let isHere = client == nil && source?.isRemote != true
        for path in [tree] + (isHere ? source?.directories.map(\.path) ?? [] : [])
        where try !LocalFile(bytes: path).isDirectory {
            throw SyncError(.inputMissing, path: path, "there is no such directory")
        }
        TerminationSignal.watch()
        var verification = Verification(
            of: tree, by: manifest, monitor: RunMonitor(isQuiet: true))
        (verification.source, verification.client) = (source, client)
        verification.readsContent = given.has(digest) || verification.source != nil
        let repairs = given.has(repair)
        guard !repairs || client == nil else { throw noRepair }
        guard !repairs || !manifest.isFetched else {
            throw UsageError(
                "--repair and a manifest of another machine exclude each other",
                hint: "name the target here, which has its own manifest")
        }
        if repairs, verification.source == nil {
            throw UsageError(
                "--repair needs another copy", hint: "give the mirror's source with --source DIR")
        }
        if let part = try given.value(part, "give --part such as 3/30", Verification.Part.init) {
            guard verification.readsContent else {
                throw UsageError("--part needs the content of files", hint: "add --digest or --source")
            }
            verification.part = part
        }
        var output = VerificationOutput(tree, given)
        let summary = try output.run(verification, repairs: repairs, &console)
        try output.end(summary, of: verification.part, to: &console)
        return output.remaining > 0 ? .different : .done
    }

    static var noRepair: UsageError {
        UsageError(
            "--repair is not possible for a target on another machine",
            hint: "to copy files with other content again: fsync-lite apply --checksum DIR HOST:TARGET")
    }

    static func servedSource(_ invocation: Invocation) throws -> MirrorSource? {
        guard !invocation.options.has(repair) else { throw noRepair }
        return try mirrored(invocation.options) { [] }
    }

    /// The source: a directory, or several directories with the names that the manifest has for them.
    private static func mirrored(_ given: GivenOptions, _ names: () throws -> [String]) throws
        -> MirrorSource?
    {
        let values = given.values(source)
        guard let first = values.first else { return nil }
        if values.count == 1 {
            if try LocalFile(bytes: first).exists { return .directory(first) }
            if let endpoint = try SyncRun.endpoint(first) {
                return .remote(endpoint, try RemoteAccess(given))
            }
        }
        let separator = UInt8(ascii: "=")
        // A name may contain a =. If two names fit, the longer one is meant.
        let isAmbiguous = values.contains { $0.count { $0 == separator } > 1 }
        let names = try isAmbiguous ? names() : []
        var paths: [String: [UInt8]] = [:]
        for value in values {
            let known = names.filter { value.starts(with: "\($0)=".utf8) }.max {
                $0.utf8.count < $1.utf8.count
            }
            let end = known.map(\.utf8.count) ?? value.firstIndex(of: separator)
            guard let end, let name = String(validating: value[..<end], as: UTF8.self) else {
                guard values.count > 1 else { return .directory(first) }
                throw UsageError("\(quoted(value)) is a source without a name", hint: "give each as NAME=DIR")
            }
            paths[name] = Array(value[(end + 1)...])
        }
        return .named(paths)
    }
}
