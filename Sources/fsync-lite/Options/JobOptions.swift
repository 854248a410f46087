import FsyncLite

extension OptionDescription {
    /// Only the command line says it, too.
    static let newTarget = flag(
        "--new-target",
        "begin a target although one that was written here is missing, with the disk that it is on"
    ).rare
}

/// What only the command line says of a job's target: in settings, a job could fill the disk below a mount point.
extension OptionDescription {
    static let createTarget = flag(
        "--create-target", "begin the job's target: for the first run, when its disk is surely there")
    static let changeTarget = flag(
        "--change-target", "accept that the job's target was moved to another file system"
    ).rare

    static let firstRun: [OptionDescription] = .section("A job's target", createTarget, changeTarget)
}
