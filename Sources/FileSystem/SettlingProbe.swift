import CLinux
import Glibc

/// Finds whether the content that is read next can change later without a new time. If not, the file is *settled*.
///
/// The first store to a mapped page moves the times. Later stores move no time until the page is written back. The
/// kernel grants a read lease only if nobody has the file open for writing, and no writable mapping is left
/// (`fcntl(2)`). A store through a new mapping moves the times again. So the order is clock, lease, status, content,
/// status.
public struct SettlingProbe: Sendable {
    /// The reason why a file is not settled.
    public enum Refusal: UInt8, Sendable {
        /// A program has it open for writing, or has mapped it.
        case writer = 1
        /// It belongs to another user.
        case owner
        /// Its file system or the kernel has no reliable leases.
        case unsupported
        /// It changed at the moment of the probe, or its time is in the future.
        case moment
    }

    /// The status after the lease.
    public let status: FileStatus
    /// The reason why the file is not settled. If nil, it is settled if its status is the same after reading.
    public let refusal: Refusal?

    /// - Parameter file: open for reading only.
    public init(_ file: borrowing FileDescriptor) throws(Errno) {
        guard try file.takesLeases() else {
            (status, refusal) = (try file.status(), .unsupported)
            return
        }
        // A tick of the clock lasts at most 10 ms.
        for wait in 0... {
            let now = FileTime.now
            let refused = file.leaseRefusal()
            let found = try file.status()
            if refused != nil || found.changed.isOlder(than: now) || wait == 5
                || found.changed.nanoseconds(since: now) > 20_000_000 || found.changed.nanoseconds == 0
            {
                status = found
                refusal = refused ?? (found.changed.isOlder(than: now) ? nil : .moment)
                return
            }
            var pause = timespec(tv_sec: 0, tv_nsec: 4_000_000)
            nanosleep(&pause, nil)
        }
        preconditionFailure("the fifth wait is the last")
    }

    /// Whether the file is settled.
    ///
    /// - Parameter later: the status after the content was read.
    public func settles(_ later: FileStatus) -> Bool {
        refusal == nil && later.isUnchanged(since: status)
    }
}

extension FileTime {
    /// Whether a change after a moment would have another change time than this one. If a time has no fraction, its
    /// file system may store whole seconds only.
    public func isOlder(than moment: FileTime) -> Bool {
        nanoseconds == 0 ? advanced(bySeconds: 2) <= moment : self < moment
    }
}

extension FileDescriptor {
    /// Takes a read lease and releases it at once. A program that opens the file for writing waits only so long.
    ///
    /// - Returns: why the kernel granted no lease; nil if it did.
    fileprivate borrowing func leaseRefusal() -> SettlingProbe.Refusal? {
        // A broken lease sends SIGIO, which ends a process by default. SIGURG does not.
        guard fcntl(rawValue, F_SETSIG, SIGURG) == 0 else { return .unsupported }
        guard fcntl(rawValue, F_SETLEASE, Int32(F_RDLCK)) == 0 else {
            return switch Errno.current {
            case .wouldBlock: .writer
            case .accessDenied: .owner
            default: .unsupported
            }
        }
        return fcntl(rawValue, F_SETLEASE, Int32(F_UNLCK)) == 0 ? nil : .unsupported
    }

    /// Whether a lease is a proof. FUSE grants it although other machines write, overlayfs beside a writable mapping.
    fileprivate borrowing func takesLeases() throws(Errno) -> Bool {
        var raw = statfs()
        _ = try retrying { fstatfs(rawValue, &raw) }
        return FileSystemInfo.name(UInt32(truncatingIfNeeded: raw.f_type)).map(
            FileSystemInfo.showingChanges.contains)
            ?? false
    }
}
