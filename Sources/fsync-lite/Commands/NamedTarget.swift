import FileStorage
import FsyncLite

/// A target that a command line names, by its path or by its job.
struct NamedTarget {
    let job: Job?
    let path: [UInt8]
    /// It is on another machine.
    let isRemote: Bool
    /// It is neither a job of the settings nor a target here: the record of runs alone knows the job.
    let isRecordedJob: Bool

    static let help = "a directory that fsync-lite writes to, or the name of a job"
    static let argument = ArgumentDescription("JOB|TARGET", help, kind: .directoryOrJob)
    static let rule =
        "A name without a slash is a target in this directory, if there is one, else a job of the settings."

    /// A target in the working directory keeps its name.
    ///
    /// - Parameter isRecorded: runs of a job of this name are recorded.
    init(_ name: [UInt8], _ invocation: Invocation, isRecorded: Bool = false) throws {
        let isHere = (try? Target(path: name).hasState()) == true
        (job, path) = try NamedTarget.find(name, invocation, isHere: isHere, isRecorded: isRecorded)
        isRecordedJob = isRecorded && !isHere && job == nil
        // That of a client is a path here, whatever is in it.
        isRemote = try invocation.client == nil && SyncRun.endpoint(path, SyncRun.target) != nil
    }

    /// - Parameter isHere: a target has this name here.
    private static func find(
        _ name: [UInt8], _ invocation: Invocation, isHere: Bool, isRecorded: Bool
    ) throws -> (Job?, [UInt8]) {
        func job(mustExist: Bool = false) throws -> Job? {
            let settings = try SettingsSources(invocation)
            let jobs = try settings.jobs()
            let job = jobs.first { $0.name.utf8.elementsEqual(name) }
            guard !mustExist || job != nil || jobs.isEmpty else {
                throw try settings.noJob(named: name, ", and no directory of this name here")
            }
            return job
        }
        // An error of the path is told when its state is asked for.
        guard isHere else {
            let isNowhere =
                try Endpoint(argument: name) == nil && (try? LocalFile(bytes: name).exists) == false
            // Settings with an error matter to no path.
            let isPath = name.contains(UInt8(ascii: "/"))
            let job = isPath ? try? job() : try job(mustExist: isNowhere && !isRecorded)
            return (job, job?.target ?? name)
        }
        // Settings with an error matter to no directory.
        if let other = try? job(), try LocalFile(bytes: name).absolute() != other.target {
            Console.complain(
                "note: \(quoted(name)) is the target in this directory, not the job of this name. For the job: "
                    + "fsync-lite \(invocation.command.name) \(Shell.word(other.target))")
        }
        return (nil, name)
    }

    /// The same of the argument `JOB|TARGET`, which is there.
    ///
    /// - Throws: `SyncError` with code `inputMissing`.
    init(of invocation: Invocation) throws {
        let name = try invocation.argument(NamedTarget.argument)
        try self.init(name, invocation)
        guard try job != nil || isRemote || LocalFile(bytes: path).exists else {
            throw SyncError(.inputMissing, path: path, "no target and no job has this name")
        }
    }
}
