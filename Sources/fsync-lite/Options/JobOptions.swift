import FsyncLite

extension OptionDescription {
    /// Only the command line says it, too.
    static let newTarget = flag(
        "--new-target",
        "begin a new target, although the disk of the old one with this path is missing"
    ).rare
}

/// What only the command line says of a job's target: in settings, a job could fill the disk below a mount point.
extension OptionDescription {
    static let createTarget = flag(
        "--create-target", "make the job's target: for the first run, when you know that its disk is mounted")
    static let changeTarget = flag(
        "--change-target", "accept that the job's target was moved to another file system"
    ).rare

    static let firstRun: [OptionDescription] = .section("A job's target", createTarget, changeTarget)
}
