/// Runs the command with a later time since boot, so that new changes are no longer racy.
package enum LaterRun {
    /// The words that run another command, later by so many minutes of `CLOCK_BOOTTIME`.
    package static func prefix(minutes: Int) -> [String] {
        ["unshare", "--time", "--boottime", "\(60 * minutes)"]
    }

    package static let isAvailable = HostCommand.works("unshare", "--time", "--boottime", "600", "true")
}
