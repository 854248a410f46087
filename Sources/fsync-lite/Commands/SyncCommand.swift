import FsyncLite

/// What `plan` and `apply` have in common: their arguments and options.
struct SyncCommand {
    let invocation: Invocation
    let source: [UInt8]
    let target: [UInt8]
    let options: SyncOptions
    let isQuiet: Bool
    let isJSON: Bool

    init(_ invocation: Invocation) throws {
        self.invocation = invocation
        source = try SyncCommand.directory(invocation, "SOURCE")
        target = try SyncCommand.directory(invocation, "TARGET")
        isQuiet = invocation.has("--quiet")
        isJSON = invocation.has("--json")
        var options = SyncOptions()
        options.adopt = invocation.has("--adopt")
        options.allowEmptySource = invocation.has("--allow-empty-source")
        options.changeSource = invocation.has("--change-source")
        options.createParents = invocation.has("--create-parents")
        options.keepsDeleted = invocation.has("--no-delete")
        options.keepGoing = invocation.has("--keep-going")
        options.filters = try Filters(invocation)
        options.deletesExcluded = invocation.has("--delete-excluded")
        options.comparesContent = invocation.has("--checksum")
        options.exchanges = invocation.has("--exchange")
        options.clonesUnchanged = invocation.has("--reflink")
        guard options.exchanges || !options.clonesUnchanged else {
            throw UsageError("--reflink is for an exchange", wayOut: "add --exchange, or leave it away")
        }
        let switches: [(String, MirroredAttributes)] = [
            ("--no-owner", .owner), ("--no-xattrs", .xattrs), ("--no-acls", .acls),
            ("--no-hard-links", .hardLinks), ("--no-sparse", .holes),
        ]
        for (name, attribute) in switches where invocation.has(name) { options.attributes.remove(attribute) }
        if let text = try invocation.text("--max-delete") {
            guard let limit = DeleteLimit(text) else {
                throw UsageError(
                    "\"\(text)\" is not a value for --max-delete",
                    wayOut: "give a number, a percentage such as 20%, or unlimited")
            }
            options.deleteLimit = limit
        }
        if let threads = try invocation.integer("--threads", in: 1...1024) { options.threads = threads }
        self.options = options
    }

    /// A local path. `host:path` means another machine to every user of rsync, and must not become a
    /// directory of that name; `./host:path` does.
    private static func directory(_ invocation: Invocation, _ name: String) throws -> [UInt8] {
        let path = try invocation.argument(name)
        let head = path.prefix { $0 != UInt8(ascii: "/") }
        guard !path.isEmpty else {
            throw UsageError("\(name) is empty", wayOut: "give the path of a directory")
        }
        guard !head.contains(UInt8(ascii: ":")) else {
            throw UsageError(
                "\(QuotedBytes(path)) names another machine, which does not work yet",
                wayOut: "for a local directory of that name, write ./ before it")
        }
        return path
    }

    /// The command that would go ahead.
    func command(adding option: String) -> String {
        let words = ["fsync-lite apply"] + [source, target].map(SyncCommand.quoted) + [option]
        return words.joined(separator: " ")
    }

    static func quoted(_ path: [UInt8]) -> String {
        let isPlain = path.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "/._-+,@%=".utf8.contains(byte)
        }
        return isPlain ? String(decoding: path, as: UTF8.self) : "\(QuotedBytes(path))"
    }

    /// Notes, problems and refusals, on standard error.
    func complain(notes: [String], problems: [Problem], refusals: [Refusal]) {
        if !isQuiet { for note in notes { Console.complain("note: \(note)") } }
        for problem in problems {
            Console.complain("\(problem.path): \(problem.message) (\(problem.code.rawValue))")
        }
        for refusal in refusals {
            Console.complain("refused: \(refusal.reason)")
            if let option = refusal.option { Console.complain("to go ahead: \(command(adding: option))") }
        }
    }

    /// Appends to the log file, where one was named: a line for the run and one per problem.
    func log(_ outcome: String, _ lines: [String]) throws {
        guard let path = invocation.value("--log-file") else { return }
        let file = LocalFile(bytes: path)
        let head = "\(Timestamp.now) \(invocation.command.name)"
        try RunLog(file, line: "\(head) \(outcome)").append()
        for line in lines { try RunLog(file, line: "\(head) problem: \(line)").append() }
    }
}
