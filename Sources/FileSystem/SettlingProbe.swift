import CLinux
import Glibc

/// Finds whether the content that is read next can change later without a new time. If not, the file is *settled*.
///
/// A store to a mapped page moves the times at the first fault only, and later stores do not until the page is written
/// back. A read lease is granted only while no one has the file open for writing and no writable mapping of it is left
/// (`fcntl(2)`); a store through a new mapping moves the times again. So the order is: the clock, the lease, a status,
/// the content, a status again.
public struct SettlingProbe: Sendable {
    /// Why a file does not count as settled.
    public enum Refusal: UInt8, Sendable {
        /// A program has it open for writing, or mapped.
        case writer = 1
        /// It belongs to another user.
        case owner
        /// Its file system, or the kernel, has no such leases.
        case unsupported
        /// It changed at the very moment of the probe, or its time is in the future.
        case moment
    }

    /// Taken after the lease.
    public let status: FileStatus
    /// nil where the file is settled if its status is the same after reading.
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
    /// - Parameter later: the status after its content was read.
    public func settles(_ later: FileStatus) -> Bool {
        refusal == nil && later.isUnchanged(since: status)
    }
}

extension FileTime {
    /// Whether a change after a moment has another change time than this one. Times without a fraction may be of a file
    /// system that keeps whole seconds.
    public func isOlder(than moment: FileTime) -> Bool {
        nanoseconds == 0 ? advanced(bySeconds: 2) <= moment : self < moment
    }
}

extension FileDescriptor {
    /// Takes a read lease and gives it back at once: a program that opens the file for writing waits that long at most.
    ///
    /// - Returns: why there is none; nil if there was one.
    fileprivate borrowing func leaseRefusal() -> SettlingProbe.Refusal? {
        // A lease that is broken sends SIGIO, which ends a process by default; SIGURG does not.
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

    /// Elsewhere a lease proves nothing: FUSE grants it beside other machines, overlayfs beside a writable mapping.
    fileprivate borrowing func takesLeases() throws(Errno) -> Bool {
        var raw = statfs()
        _ = try retrying { fstatfs(rawValue, &raw) }
        return FileSystemInfo.name(UInt32(truncatingIfNeeded: raw.f_type)).map(
            FileSystemInfo.tellingChanges.contains)
            ?? false
    }
}
