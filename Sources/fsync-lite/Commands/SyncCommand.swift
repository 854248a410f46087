import FileStorage
import FileSystem
import FsyncLite

/// What `plan` and `apply` have in common: their arguments, and the options with what the settings add.
struct SyncCommand {
    let invocation: Invocation
    let source: [UInt8]
    let target: [UInt8]
    let options: SyncOptions
    /// What `apply --plan` is to do.
    let saved: SavedPlan?
    /// What is brought back instead of a source.
    private var restoration: Restoration?
    /// The job that it is.
    private let job: String?
    var isQuiet: Bool { invocation.has("--quiet") }
    var isJSON: Bool { invocation.has("--json") }

    init(_ invocation: Invocation, _ restoration: Restoration) {
        self.invocation = invocation
        self.restoration = restoration
        source = restoration.target
        target = restoration.destination ?? restoration.target
        options = SyncOptions()
        (saved, job) = (nil, nil)
    }

    init(_ invocation: Invocation) throws {
        try self.init(invocation, SettingsSources(invocation), nil)
    }

    /// - Parameter invocation: what the command line asks of every job.
    init(_ invocation: Invocation, _ settings: SettingsSources, _ job: Job?) throws {
        self.job = job?.name
        var invocation = invocation
        var mayBeSet = CommandDescription.settings
        if let job { invocation.argumentValues = ["SOURCE": [job.source], "TARGET": [job.target]] }
        if let file = invocation.value("--plan") {
            let saved = try SavedPlan(reading: LocalFile(bytes: file))
            invocation = try saved.invocation(from: file, beside: invocation)
            mayBeSet.removeAll { option in CommandDescription.planning.contains { $0.name == option.name } }
            self.saved = saved
        } else {
            saved = nil
        }
        source = try SyncCommand.directory(invocation, "SOURCE")
        target = try SyncCommand.directory(invocation, "TARGET")
        let layers = try settings.layers(target: target, job: job)
        let retention = try RetentionOptions(invocation, layers)
        mayBeSet.removeAll { option in CommandDescription.retention.contains { $0.name == option.name } }
        self.invocation = invocation.over(layers, mayBeSet)
        var options = try SyncOptions(self.invocation)
        options.retention = retention
        self.options = options
    }

    /// A local path. `host:path` means another machine to every user of rsync, and must not become a
    /// directory of that name; `./host:path` does.
    private static func directory(_ invocation: Invocation, _ name: String) throws -> [UInt8] {
        let path = try invocation.argument(name)
        let head = path.prefix { $0 != UInt8(ascii: "/") }
        guard !path.isEmpty else {
            throw UsageError("\(name) is empty", hint: "give the path of a directory")
        }
        guard !head.contains(UInt8(ascii: ":")) else {
            throw UsageError(
                "\(quoted(path)) names another machine, which does not work yet",
                hint: "for a local directory of that name, write ./ before it")
        }
        return path
    }

    func synchronizer(_ monitor: any Monitor) -> Synchronizer {
        guard let restoration else {
            return Synchronizer(source: source, target: target, options: options, monitor: monitor)
        }
        return Synchronizer(restoration, monitor: monitor)
    }

    /// The command that would go ahead.
    func command(adding options: [String]) -> String {
        let words =
            job.map { ["run", Shell.word(Array($0.utf8))] }
            ?? ["apply"] + [source, target].map(Shell.word)
        return (["fsync-lite"] + words + options).joined(separator: " ")
    }

    /// A line that tells which job it is about, where it is one.
    func labelled(_ text: String) -> String {
        job.map { "\(escapedText($0.utf8)): \(text)" } ?? text
    }

    /// On standard error.
    func complain(_ text: String) {
        Console.complain(labelled(text))
    }

    /// What goes of the history, for people; nil where nothing does.
    static func note(_ text: String, _ names: [String]) -> String? {
        let first = names.prefix(10).map { escapedText($0.utf8) }.joined(separator: ", ")
        let more = names.count > 10 ? " and \(names.count - 10) more" : ""
        return names.isEmpty ? nil : "\(text): \(first)\(more)"
    }

    /// Notes, problems and refusals, on standard error.
    func complain(notes: [String], problems: [Problem], refusals: [Refusal]) {
        if !isQuiet { for note in notes { complain("note: \(note)") } }
        for problem in problems {
            complain("\(problem.path): \(problem.message) (\(problem.code.rawValue))")
        }
        for refusal in refusals { complain("refused: \(refusal.reason)") }
        if saved == nil, !refusals.isEmpty, refusals.allSatisfy({ $0.option != nil }) {
            var options: [String] = []
            for case let option? in refusals.map(\.option) where !options.contains(option) {
                options.append(option)
            }
            complain("to go ahead: \(command(adding: options))")
        }
        if saved != nil, !refusals.isEmpty {
            let paths = [source, target].map(Shell.word).joined(separator: " ")
            complain("to look again: fsync-lite plan \(paths) --out FILE")
        }
    }

    /// Appends to the log file, where one was named: a line for the run and one per problem.
    func log(_ outcome: String, _ lines: [String]) throws {
        guard let path = invocation.value("--log-file") else { return }
        let file = LocalFile(bytes: path)
        let head = "\(Timestamp.now) \(labelled(job == nil ? invocation.command.name : "run"))"
        try RunLog(file, line: "\(head) \(outcome)").append()
        for line in lines { try RunLog(file, line: "\(head) problem: \(line)").append() }
    }
}
