import Glibc

/// The user that this process acts as.
public enum Account {
    public static var effectiveUser: UInt32 { geteuid() }
    /// The effective user does not change while the process runs.
    public static let isRoot = geteuid() == 0
    /// The kernel shows it in place of an owner that the user namespace lacks: the default of
    /// `/proc/sys/kernel/overflowuid`. A user may have this number, too.
    public static let unmappedUser: UInt32 = 65534
}
