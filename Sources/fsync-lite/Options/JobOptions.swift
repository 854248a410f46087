extension OptionDescription {
    /// Only for the command line, not for settings.
    static let newTarget = flag(
        "--new-target",
        "begin a new target, although the disk of the old one with this path is missing"
    ).rare

    // Options only for the command line. In settings, they would let a job fill the disk below a mount point.

    static let createTarget = flag(
        "--create-target", "make the job's target: for the first run, when you know that its disk is mounted")
    static let changeTarget = flag(
        "--change-target", "accept that the job's target was moved to another file system"
    ).rare

    static let firstRun: [OptionDescription] = .section("A job's target", createTarget, changeTarget)
}
