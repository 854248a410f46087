import FileStorage
import FsyncLite

/// A target that a command line names, by its path or by its job.
struct NamedTarget {
    let job: Job?
    let path: [UInt8]

    static let help = "a directory that fsync-lite writes to, or the name of a job"
    static let argument = ArgumentDescription("JOB|TARGET", help, kind: .directoryOrJob)
    static let rule =
        "A name without a slash is a job's, if the settings have such a job, unless a target of that name is here."

    /// A target in the working directory keeps its name.
    init(_ name: [UInt8], _ invocation: Invocation) throws {
        func job() throws -> Job? {
            guard !name.contains(UInt8(ascii: "/")) else { return nil }
            return try SettingsSources(invocation).jobs().first { $0.name.utf8.elementsEqual(name) }
        }
        // An error of the path is told when its state is asked for.
        guard (try? Target(path: name).hasState()) == true else {
            self.job = try job()
            path = self.job?.target ?? name
            return
        }
        (self.job, path) = (nil, name)
        // Settings with an error matter to no directory.
        if let other = try? job(), try LocalFile(bytes: name).absolute() != other.target {
            Console.complain(
                "note: \(quoted(name)) is the target here, and not the job of this name; for that: "
                    + "fsync-lite \(invocation.command.name) \(Shell.word(other.target))")
        }
    }

    /// The same of the argument `JOB|TARGET`, which is there.
    ///
    /// - Throws: `SyncError` with code `inputMissing`.
    init(of invocation: Invocation) throws {
        let name = try invocation.argument(NamedTarget.argument)
        try self.init(name, invocation)
        guard try job != nil || isRemote || LocalFile(bytes: path).exists else {
            throw SyncError(.inputMissing, path: path, "there is no such target, and no job of this name")
        }
    }

    var isRemote: Bool { get throws { try SyncRun.endpoint(path, SyncRun.target) != nil } }
}
