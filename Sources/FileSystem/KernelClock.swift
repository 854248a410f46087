import Glibc

/// A moment on the clock that cannot be set: the time since boot, including suspended time.
public struct KernelClock: Hashable, Sendable {
    /// The ID of the boot at which the clock began.
    public var boot: String
    /// Milliseconds since boot, for codecs. For arithmetic, use the functions of this type.
    public var rawUptime: Int64

    public init(boot: String, uptime: Int64) {
        (self.boot, rawUptime) = (boot, uptime)
    }

    /// Milliseconds since another moment, the nearest number of `Int64`; nil if that moment was before the boot.
    public func milliseconds(since other: KernelClock) -> Int64? {
        boot == other.boot ? rawUptime.saturatingSubtract(other.rawUptime) : nil
    }

    /// The corresponding C function is `clock_gettime`, with `CLOCK_BOOTTIME`.
    public static func now() throws(SystemError) -> KernelClock {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return KernelClock(
            boot: try boot(), uptime: Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000)
    }

    /// The ID of the present boot, a UUID.
    public static func boot() throws(SystemError) -> String {
        String(try HostFile.line("/proc/sys/kernel/random/boot_id").prefix(36))
    }

    /// Twice the seconds after which each store to a mapped file has moved the file's change time. While a page is
    /// writable, further stores do not move any time. That ends when the page is written back.
    ///
    /// Source: the kernel's settings, in hundredths of a second; see `Documentation/admin-guide/sysctl/vm.rst`.
    public static func writebackDelay() throws(SystemError) -> Int64 {
        var hundredths: Int64 = 0
        for name in ["dirty_expire_centisecs", "dirty_writeback_centisecs"] {
            let text = try HostFile.line("/proc/sys/vm/\(name)")
            hundredths = hundredths.saturatingAdd(Int64(text.filter { $0.isNumber }) ?? 0)
        }
        return hundredths / 50
    }
}
