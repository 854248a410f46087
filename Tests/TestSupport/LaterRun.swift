/// Runs the command as if time had gone by since boot, so that what was changed just now is no longer racy.
package enum LaterRun {
    /// A command that runs another one, so much later by `CLOCK_BOOTTIME`.
    package static func prefix(minutes: Int) -> [String] {
        ["unshare", "--time", "--boottime", "\(60 * minutes)"]
    }

    package static let isAvailable = HostCommand.works("unshare", "--time", "--boottime", "600", "true")
}
