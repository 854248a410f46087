import FileStorage
import FsyncLite

/// A target that a command line names, by its path or by its job.
struct NamedTarget {
    let job: Job?
    let path: [UInt8]
    /// The target is on another machine.
    let isRemote: Bool
    /// Only the record of runs knows the job. It is not in the settings, and no target here has its name.
    let isRecordedJob: Bool

    static let help = ArgumentDescription.target.help
    static let argument = ArgumentDescription("JOB|TARGET", help, kind: .directoryOrJob)
    static let rule =
        "A name without a slash is a target in this directory, if there is one, else a job of the settings."

    /// A target in the working directory is preferred to a job of the same name.
    ///
    /// - Parameter isRecorded: a job of this name has recorded runs.
    init(_ name: [UInt8], _ invocation: Invocation, isRecorded: Bool = false) throws {
        let isHere = (try? Target(path: name).hasState()) == true
        (job, path) = try NamedTarget.find(name, invocation, isHere: isHere, isRecorded: isRecorded)
        isRecordedJob = isRecorded && !isHere && job == nil
        // A client's target is a path on this machine, whatever characters it has.
        isRemote = try invocation.client == nil && SyncRun.endpoint(path) != nil
    }

    /// - Parameter isHere: a target here has this name.
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
        // An error of the path is reported when its state is read.
        guard isHere else {
            let isNowhere =
                try Endpoint(argument: name) == nil && (try? LocalFile(bytes: name).exists) == false
            // A path needs no settings, so their error is ignored.
            let isPath = name.contains(UInt8(ascii: "/"))
            let job = isPath ? try? job() : try job(mustExist: isNowhere && !isRecorded)
            return (job, job?.target ?? name)
        }
        // A directory needs no settings, so their error is ignored.
        if let other = try? job(), try LocalFile(bytes: name).absolute() != other.target {
            Console.complain(
                "note: \(quoted(name)) is the target in this directory, not the job of this name. For the job: "
                    + "fsync-lite \(invocation.command.name) \(Shell.word(other.target))")
        }
        return (nil, name)
    }

    /// The target that the argument `JOB|TARGET` names. It must exist.
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
