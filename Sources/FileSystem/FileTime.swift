import Glibc

/// A point in time, as the kernel stores it: seconds since 1970, negative before, and 0..<1e9 nanoseconds.
///
/// Times come from file systems, documents and other machines, and may have any value. So no arithmetic on them traps.
@frozen public struct FileTime: Hashable, Comparable, Sendable {
    /// The seconds for codecs, system calls and the calendar. For arithmetic, use the functions of this type.
    public let rawSeconds: Int64
    public var nanoseconds: Int32

    @inlinable public init(seconds: Int64, nanoseconds: Int32) {
        rawSeconds = seconds
        self.nanoseconds = nanoseconds
    }

    @inlinable public static func < (left: FileTime, right: FileTime) -> Bool {
        left.rawSeconds != right.rawSeconds
            ? left.rawSeconds < right.rawSeconds : left.nanoseconds < right.nanoseconds
    }

    /// The time that is this many seconds later, or the last that exists. If the number is negative, it is an earlier
    /// time.
    public func advanced(bySeconds seconds: Int64) -> FileTime {
        FileTime(seconds: rawSeconds.saturatingAdd(seconds), nanoseconds: nanoseconds)
    }

    /// Negative if the other time is later; the nearest number of `Int64`.
    public func seconds(since other: FileTime) -> Int64 { rawSeconds.saturatingSubtract(other.rawSeconds) }

    /// See `seconds(since:)`.
    public func nanoseconds(since other: FileTime) -> Int64 {
        seconds(since: other).saturatingMultiply(1_000_000_000)
            .saturatingAdd(Int64(nanoseconds) - Int64(other.nanoseconds))
    }

    /// See `seconds(since:)`.
    public func milliseconds(since other: FileTime) -> Int64 {
        let rest = (Int64(nanoseconds) - Int64(other.nanoseconds)) / 1_000_000
        return seconds(since: other).saturatingMultiply(1000).saturatingAdd(rest)
    }

    /// The present time of the clock for the kernel's time stamps. A later change never has an earlier time, unless the
    /// clock is set back.
    public static var now: FileTime {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        return FileTime(seconds: Int64(now.tv_sec), nanoseconds: Int32(now.tv_nsec))
    }

    /// `UTIME_OMIT`, which the Glibc module does not export: leaves the time unchanged.
    static let omitted = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)

    var raw: timespec { timespec(tv_sec: Int(rawSeconds), tv_nsec: Int(nanoseconds)) }

    init(_ raw: statx_timestamp) {
        self.init(seconds: raw.tv_sec, nanoseconds: Int32(raw.tv_nsec))
    }
}
