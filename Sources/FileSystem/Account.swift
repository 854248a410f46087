import Glibc

/// The user that this process acts as.
package enum Account {
    package static var effectiveUser: UInt32 { geteuid() }
    package static var isRoot: Bool { geteuid() == 0 }
}
