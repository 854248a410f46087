import Glibc

/// The user that this process acts as.
package enum Account {
    package static var effectiveUser: UInt32 { geteuid() }
    package static var isRoot: Bool { geteuid() == 0 }
    /// The kernel shows it in place of an owner that the user namespace lacks: the default of
    /// `/proc/sys/kernel/overflowuid`. A user may have this number, too.
    package static let unmappedUser: UInt32 = 65534
}
