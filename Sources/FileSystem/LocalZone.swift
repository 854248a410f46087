import Glibc

/// The time zone of this process: that of `TZ`, else the machine's.
///
/// FoundationEssentials knows only UTC. The rest of Foundation knows the zones, but brings 40 MB of ICU, and does not
/// read the rules that POSIX allows in `TZ`.
public enum LocalZone {
    /// The corresponding C function is `tzset`; `localtime_r` alone need not read `TZ`.
    private static let isRead: Bool = {
        tzset()
        return true
    }()

    /// Seconds east of UTC at a moment in seconds since 1970; 0 for a year that the C library cannot count.
    ///
    /// The corresponding C function is `localtime_r`.
    public static func offset(at seconds: Int64) -> Int64 {
        var (time, parts) = (time_t(seconds), tm())
        guard isRead, localtime_r(&time, &parts) != nil else { return 0 }
        return Int64(parts.tm_gmtoff)
    }
}
