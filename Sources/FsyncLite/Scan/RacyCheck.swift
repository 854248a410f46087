import FileSystem

/// Finds *racy* entries (as in git): changed so shortly before a scan that a later change may not show in any time.
///
/// A store to a mapped page moves the times at the first fault only, and later stores do not until the page is written
/// back. So a file that changed less than a window before the scan stays racy until a scan at least a window later
/// finds the same change time and equal content, or until it is found settled when it is read (`SettlingProbe`). What
/// is no file has no mapping.
package struct RacyCheck: Sendable {
    /// The start of the scan, by the clock that stamps files.
    package var scanned: FileTime
    package var clock: KernelClock
    /// The scan of the previous manifest.
    package var previous: (scanned: FileTime, clock: KernelClock)?
    /// Seconds.
    package var window: Int64
    /// The source's times come from this kernel's clock; with another clock every new time is racy once.
    package var sharesClock = true
    /// Change times count; otherwise modification times do.
    package var usesChangeTime = true
    /// Devices on which each change moves the change time, by the clock of the scan.
    package var tellingDevices: Set<DeviceNumber> = []

    package static let shortestWindow: Int64 = 60

    package init(scanned: FileTime, clock: KernelClock, window: Int64 = RacyCheck.shortestWindow) {
        (self.scanned, self.clock, self.window) = (scanned, clock, window)
    }

    /// The marks of an entry in the new manifest.
    ///
    /// - Parameters:
    ///   - isSettled: as found when it was read.
    ///   - recorded: the change time in the previous manifest; nil for a new entry.
    ///   - marks: those in it.
    func marks(
        of source: FileStatus, isSettled: Bool = false, recorded: FileTime?, _ marks: EntryMarks
    ) -> EntryMarks {
        if isSettled, usesChangeTime, sharesClock { return [] }
        if recorded == source.changed { return marks.contains(.racy) && !hasAged(source) ? .racy : [] }
        return isYoung(source) || (usesChangeTime && !sharesClock) ? .racy : []
    }

    /// A later write shows in the entry's times.
    func isSettled(_ source: FileStatus) -> Bool { usesChangeTime && sharesClock && !isYoung(source) }

    /// A change since the scan began would show in the change time.
    func isBeforeScan(_ source: FileStatus) -> Bool { source.changed.isOlder(than: scanned) }

    /// A probe can settle a file that would be racy otherwise.
    func isWorthProbing(_ source: FileStatus) -> Bool { usesChangeTime && sharesClock && isYoung(source) }

    private func isYoung(_ source: FileStatus) -> Bool {
        if source.type != .file, usesChangeTime, tellingDevices.contains(source.device) {
            return !isBeforeScan(source)
        }
        let oldest = scanned.advanced(bySeconds: -window)
        return (usesChangeTime ? source.changed : source.modified) > oldest
    }

    /// A window has passed since the entry was found racy.
    private func hasAged(_ source: FileStatus) -> Bool {
        // After a restore no scan is recorded, so the time of the entry decides alone.
        guard let previous else { return !isYoung(source) }
        guard let elapsed = clock.milliseconds(since: previous.clock) else { return true }
        if elapsed >= window.saturatingMultiply(1000) { return true }
        // The manifest may be younger than the mark. Then the time itself decides, unless a clock was set.
        let shown = scanned.seconds(since: previous.scanned).saturatingMultiply(1000)
        return sharesClock && !isYoung(source) && shown.saturatingSubtract(elapsed).magnitude < 2000
    }
}
