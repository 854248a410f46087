import FileStorage
import FileSystem
import FoundationEssentials
import FsyncLite

/// The settings files: the user's, and the target's.
struct SettingsSources {
    /// nil if there is no file: every option has its default.
    let own: SettingsFile<UserSettings>?
    /// The user's settings for every run; empty if there is no file.
    private(set) var defaults: [SettingsLayer] = []
    private let isQuiet: Bool
    /// The file that `--settings` names.
    private let given: [UInt8]?

    /// - Throws: `SyncError` with code `inputMissing` if the file named by `--settings` does not exist.
    init(_ given: GivenOptions) throws {
        isQuiet = given.has(.quiet)
        self.given = given.value(.settingsFile)
        if let path = given.value(.settingsFile) {
            let file = LocalFile(bytes: path)
            try file.checkIsRoots()
            let bytes = try file.input(limit: SettingsFile<UserSettings>.sizeLimit)
            own = try SettingsFile(bytes, of: file)
            // A user without a home directory has no settings.
        } else if let directory = try? SettingsSources.directory, try SettingsSources.isReachable(directory) {
            own = try .readIfPresent(in: directory)
            // After `su` or `sudo`, HOME may be that of another user, whose hooks would run as root.
            try own?.file.checkIsRoots("run with HOME=/root, or: ")
        } else {
            own = nil
        }
        if let own {
            defaults = [
                noted(try SettingsLayer(own.content.defaults, .defaults, at: ["defaults"], in: own))
            ]
        }
    }

    /// The settings of the client, if there is one.
    init(_ invocation: Invocation) throws {
        guard let client = invocation.client else {
            self = try SettingsSources(invocation.options)
            return
        }
        (own, given, isQuiet) = (nil, nil, invocation.options.has(.quiet))
        defaults = [try SettingsLayer(client.command.defaults, .defaults)]
    }

    /// Prints the notes of a layer. Each is printed once, because a command may read its settings again.
    private func noted(_ layer: SettingsLayer) -> SettingsLayer {
        guard !isQuiet else { return layer }
        for note in layer.notes { Console.complainOnce("note: \(note)") }
        return layer
    }

    /// `fsync-lite` in the user's configuration directory.
    static var directory: LocalFile {
        get throws(SyncError) { try .configurationDirectory + "fsync-lite" }
    }

    /// The absolute path in an environment variable.
    static func directory(in variable: String) -> LocalFile? {
        HostProcess.environment(variable).flatMap { $0.hasPrefix("/") ? LocalFile($0) : nil }
    }

    /// Reads a path from `/`, or from `~/`, the home directory. Others depend on the working directory: nil.
    static func path(_ text: String) throws(SyncError) -> [UInt8]? {
        if text.hasPrefix("/") { return Array(text.utf8) }
        return text.hasPrefix("~/") ? try (.homeDirectory + String(text.dropFirst(2))).bytes : nil
    }

    /// Whether this user can read it. The home may be another user's, or a daemon's `/dev/null`.
    private static func isReachable(_ directory: LocalFile) throws -> Bool {
        do {
            return try directory.isDirectory
        } catch {
            let errors = [Errno.accessDenied, .notDirectory]
            guard errors.contains(where: { $0.rawValue == error.errno }) else { throw error }
            return false
        }
    }

    /// The layers of settings below the command line of a run, weakest first.
    ///
    /// - Parameter target: nil for a target on another machine.
    func layers(target: [UInt8]?, job: Job? = nil) throws -> [SettingsLayer] {
        var layers = defaults
        if let target, let file = try Target(path: target).settings() {
            layers.append(
                noted(try SettingsLayer(file.content.defaults ?? [:], .target, at: ["defaults"], in: file)))
        }
        if let job { layers.append(job.options) }
        return layers
    }

    /// All jobs, in the order of their names.
    func jobs() throws -> [Job] {
        guard let own else { return [] }
        let jobs = try own.content.jobs.sorted { $0.key < $1.key }.map { try Job($0.key, $0.value, in: own) }
        for job in jobs { _ = noted(job.options) }
        return jobs
    }

    /// All jobs.
    ///
    /// - Throws: `UsageError` if the settings have no jobs at all.
    func someJobs() throws -> [Job] {
        let jobs = try jobs()
        guard jobs.isEmpty else { return jobs }
        guard let own else {
            // It fails only if there is no home directory.
            let place =
                (try? SettingsSources.directory).map { "in \($0)" } ?? "without HOME and XDG_CONFIG_HOME"
            throw UsageError(
                "there are no settings \(place), and so no jobs",
                hint: "to begin: fsync-lite settings init. Are they in another file? Give --settings FILE; "
                    + "cron, sudo and systemd may set another HOME")
        }
        throw UsageError(
            "\(own.file) has no jobs", hint: "add one; fsync-lite help settings init explains it")
    }

    /// The note if every job is disabled.
    var nothingEnabled: String {
        "note: every job in \(own.map { "\($0.file)" } ?? "the settings") is disabled. Remove \"\(Job.disabled)\" from a job"
    }

    func jobs(named names: [[UInt8]]) throws -> [Job] {
        let jobs = try someJobs()
        return try names.map { name in
            if let job = jobs.first(where: { $0.name.utf8.elementsEqual(name) }) { return job }
            throw try noJob(named: name)
        }
    }

    /// The error for a name that no job has.
    ///
    /// - Parameter other: another thing that does not have this name, for the message.
    func noJob(named name: [UInt8], _ other: String = "") throws -> UsageError {
        let place = own.map { " in \($0.file)" } ?? ""
        return try noJob("no job \(quoted(name))\(place)\(other)", like: name)
    }

    /// An error that lists the jobs.
    ///
    /// - Parameter name: the word that was typed as a name.
    func noJob(_ message: String, like name: [UInt8] = []) throws -> UsageError {
        let names = try someJobs().map(\.name)
        let list = Amount.list(names.map { escapedText($0.utf8) }, of: names.count)
        let suggestion = EditDistance.suggestion(for: name, among: names).map { "\($0)\n" } ?? ""
        let settings = given.map { " \(OptionDescription.settingsFile.name) \(Shell.word($0))" } ?? ""
        return UsageError(
            message,
            hint:
                "\(suggestion)the jobs are: \(list)\nfor all of them: fsync-lite run --all\(settings), fsync-lite status "
                + "--all\(settings)")
    }
}
