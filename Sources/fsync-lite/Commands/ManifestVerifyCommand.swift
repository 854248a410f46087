import FileStorage
import FileSystem
import FsyncLite

enum ManifestVerifyCommand: ReadingCommand {
    static var remoteTarget: ArgumentDescription? { manifest }
    static var remotePlaces: RemotePlaces { RemotePlaces(arguments: [tree], areReadFromHere: true) }

    private static let manifest = ArgumentDescription(
        "MANIFEST", "a manifest file or a target; of another machine, its manifest is fetched")
    private static let tree = ArgumentDescription(
        "TREE", "the directory to look at; where MANIFEST and this are host:path, it is read there")
    private static let digest = OptionDescription.flag(
        "--digest", "read the files that have a digest, and compare")
    private static let part = OptionDescription.value(
        "--part", "K/N", "read only the K-th of N parts of the files, such as 3/30")
    static let source = OptionDescription.value(
        "--source", "DIR",
        "read also the files of the directory that TREE is a mirror of, which may be host:DIR; NAME=DIR for each of several",
        repeatable: true)
    private static let repair = OptionDescription.flag(
        "--repair", "put the good copy in the place of a rotten one; an edited one is left alone")

    static let description = CommandDescription(
        name: "manifest verify",
        summary: "Compare a directory with a manifest. Exits 2 when there is a difference.",
        discussion: """
            A file is rotten if its content changed and its size and time did not. It is edited if its change \
            time shows that a program wrote to it, and put its time back. With --source, content that is as \
            recorded tells which of the two copies is good.
            """,
        arguments: [manifest, tree],
        options: [digest, part, source, repair, .json] + OptionDescription.remote,
        examples: [
            ("fsync-lite manifest verify --digest --part 3/30 mirror mirror", "A thirtieth a day"),
            (
                "fsync-lite manifest verify --digest --source photos --repair mirror mirror",
                "Mend what has rotted on either side"
            ),
            ("fsync-lite manifest verify --digest nas:mirror nas:mirror", "Read a mirror on another machine"),
        ])

    static func run(_ invocation: Invocation, _ console: inout Console) throws -> ExitCode {
        let given = invocation.options
        let tree = try invocation.argument(tree)
        if invocation.client == nil, let endpoint = try SyncRun.endpoint(tree, self.tree) {
            throw UsageError(
                "\(quoted(tree)) is on another machine, and its content is read there only",
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
                "--repair does not go with a manifest of another machine",
                hint: "name the target here, whose manifest says what it holds")
        }
        if repairs, verification.source == nil {
            throw UsageError(
                "--repair needs another copy", hint: "give the mirror's source with --source DIR")
        }
        if let part = try given.value(part, "give --part such as 3/30", Verification.Part.init) {
            guard verification.readsContent else {
                throw UsageError("nothing is read in parts", hint: "add --digest or --source to --part")
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
            "--repair does not go with a target on another machine",
            hint: "to copy again what has other content there: fsync-lite apply --checksum DIR HOST:TARGET")
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
            if let endpoint = try SyncRun.endpoint(first, tree) {
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
                throw UsageError("\(quoted(value)) is no source of several", hint: "give each as NAME=DIR")
            }
            paths[name] = Array(value[(end + 1)...])
        }
        return .named(paths)
    }
}
