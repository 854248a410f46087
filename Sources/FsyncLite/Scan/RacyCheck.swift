import FileSystem

/// Finds *racy* entries (as in git): they changed so shortly before a scan that a later change may show in no time.
///
/// The first store to a mapped page moves the times. Later stores move no time until the page is written back. So a
/// file is racy if it changed less than a window before the scan. A scan at least a window later ends that, if it finds
/// the same change time and equal content. So does a reading that finds it settled. Other types have no mapping.
package struct RacyCheck: Sendable {
    /// The start of the scan, by the clock for time stamps of files.
    package var scanned: FileTime
    package var clock: KernelClock
    /// The scan of the previous manifest.
    package var previous: (scanned: FileTime, clock: KernelClock)?
    /// In seconds.
    package var window: Int64
    /// Whether the source's times come from this kernel's clock. With another clock, every new time is racy once.
    package var sharesClock = true
    /// Whether change times are used. If not, modification times are.
    package var usesChangeTime = true
    /// The devices on which each change moves the change time, by the clock of the scan.
    package var devicesShowingChanges: Set<DeviceNumber> = []
    /// Those on which each store through a mapping moves it, too.
    package var devicesShowingStores: Set<DeviceNumber> = []

    package static let shortestWindow: Int64 = 60

    package init(scanned: FileTime, clock: KernelClock, window: Int64 = RacyCheck.shortestWindow) {
        (self.scanned, self.clock, self.window) = (scanned, clock, window)
    }

    /// The marks of an entry in the new manifest.
    ///
    /// - Parameters:
    ///   - isSettled: the finding when the entry was read.
    ///   - recorded: the change time in the previous manifest; nil for a new entry.
    ///   - marks: the marks in the previous manifest.
    func marks(
        of source: FileStatus, isSettled: Bool = false, recorded: FileTime?, _ marks: EntryMarks
    ) -> EntryMarks {
        if isSettled, usesChangeTime, sharesClock { return [] }
        if recorded == source.changed { return marks.contains(.racy) && !hasAged(source) ? .racy : [] }
        return isYoung(source) || (usesChangeTime && !sharesClock) ? .racy : []
    }

    /// Whether a change since the start of the scan would show in the change time.
    func isBeforeScan(_ source: FileStatus) -> Bool { source.changed.isOlder(than: scanned) }

    /// Whether a probe can settle a file that would otherwise be racy.
    func isWorthProbing(_ source: FileStatus) -> Bool { usesChangeTime && sharesClock && isYoung(source) }

    private func isYoung(_ source: FileStatus) -> Bool {
        if source.type != .file, usesChangeTime, devicesShowingChanges.contains(source.device) {
            return !isBeforeScan(source)
        }
        let oldest = scanned.advanced(bySeconds: -window)
        return (usesChangeTime ? source.changed : source.modified) > oldest
    }

    /// Whether a window has passed since the entry was found racy.
    private func hasAged(_ source: FileStatus) -> Bool {
        // A restore records no scan, so only the time of the entry decides.
        guard let previous else { return !isYoung(source) }
        guard let elapsed = clock.milliseconds(since: previous.clock) else { return true }
        if elapsed >= window.saturatingMultiply(1000) { return true }
        // The manifest may be younger than the mark. Then the time itself decides, unless a clock was set meanwhile.
        let shown = scanned.seconds(since: previous.scanned).saturatingMultiply(1000)
        return sharesClock && !isYoung(source) && shown.saturatingSubtract(elapsed).magnitude < 2000
    }
}
