import Glibc

/// A kernel error number.
package struct Errno: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The calling thread's `errno`; read it immediately after the failed call.
    package static var current: Errno { Errno(rawValue: Glibc.errno) }

    package static let notPermitted = Errno(rawValue: EPERM)
    package static let noSuchFile = Errno(rawValue: ENOENT)
    package static let interrupted = Errno(rawValue: EINTR)
    package static let inputOutput = Errno(rawValue: EIO)
    package static let wouldBlock = Errno(rawValue: EWOULDBLOCK)
    package static let accessDenied = Errno(rawValue: EACCES)
    package static let busy = Errno(rawValue: EBUSY)
    package static let cancelled = Errno(rawValue: ECANCELED)
    package static let fileTooLarge = Errno(rawValue: EFBIG)
    package static let exists = Errno(rawValue: EEXIST)
    package static let crossDevice = Errno(rawValue: EXDEV)
    package static let notDirectory = Errno(rawValue: ENOTDIR)
    package static let isDirectory = Errno(rawValue: EISDIR)
    package static let invalid = Errno(rawValue: EINVAL)
    package static let noSpace = Errno(rawValue: ENOSPC)
    package static let quotaExceeded = Errno(rawValue: EDQUOT)
    package static let readOnlyFileSystem = Errno(rawValue: EROFS)
    package static let manyOpenFiles = Errno(rawValue: EMFILE)
    package static let manyOpenFilesInAll = Errno(rawValue: ENFILE)
    package static let manyLinks = Errno(rawValue: EMLINK)
    package static let tooManyLinks = Errno(rawValue: ELOOP)
    package static let notEmpty = Errno(rawValue: ENOTEMPTY)
    package static let notSupported = Errno(rawValue: EOPNOTSUPP)
    package static let notImplemented = Errno(rawValue: ENOSYS)
    package static let noSuchDevice = Errno(rawValue: ENXIO)
    package static let noData = Errno(rawValue: ENODATA)
    package static let overflow = Errno(rawValue: EOVERFLOW)
    package static let timedOut = Errno(rawValue: ETIMEDOUT)
    package static let notTerminal = Errno(rawValue: ENOTTY)
    package static let badDescriptor = Errno(rawValue: EBADF)
    package static let stale = Errno(rawValue: ESTALE)

    /// Errors of opening a name that is not a directory; `tooManyLinks` is a symlink opened with `noFollow`.
    package static let noDirectory: Set<Errno> = [.noSuchFile, .notDirectory, .tooManyLinks]

    /// The system's text for the number, such as "No such file or directory".
    package var description: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let base = buffer.baseAddress, let text = strerror_r(rawValue, base, buffer.count) else {
                return "error \(rawValue)"
            }
            return String(cString: text)
        }
    }
}

/// Repeats a call while a signal interrupts it. A negative result means failure.
@inline(__always)
package func retrying<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        let errno = Errno.current
        if errno != .interrupted { throw errno }
    }
}
