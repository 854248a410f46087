import Glibc

/// A kernel error number.
public struct Errno: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The calling thread's `errno`; read it immediately after the failed call.
    public static var current: Errno { Errno(rawValue: Glibc.errno) }

    public static let notPermitted = Errno(rawValue: EPERM)
    public static let noSuchFile = Errno(rawValue: ENOENT)
    public static let interrupted = Errno(rawValue: EINTR)
    public static let inputOutput = Errno(rawValue: EIO)
    public static let wouldBlock = Errno(rawValue: EWOULDBLOCK)
    public static let accessDenied = Errno(rawValue: EACCES)
    public static let busy = Errno(rawValue: EBUSY)
    public static let cancelled = Errno(rawValue: ECANCELED)
    public static let textBusy = Errno(rawValue: ETXTBSY)
    public static let fileTooLarge = Errno(rawValue: EFBIG)
    public static let noMemory = Errno(rawValue: ENOMEM)
    public static let exists = Errno(rawValue: EEXIST)
    public static let crossDevice = Errno(rawValue: EXDEV)
    public static let notDirectory = Errno(rawValue: ENOTDIR)
    public static let isDirectory = Errno(rawValue: EISDIR)
    public static let invalid = Errno(rawValue: EINVAL)
    public static let noSpace = Errno(rawValue: ENOSPC)
    public static let quotaExceeded = Errno(rawValue: EDQUOT)
    public static let readOnlyFileSystem = Errno(rawValue: EROFS)
    public static let manyOpenFiles = Errno(rawValue: EMFILE)
    public static let manyOpenFilesInAll = Errno(rawValue: ENFILE)
    public static let manyLinks = Errno(rawValue: EMLINK)
    public static let tooManyLinks = Errno(rawValue: ELOOP)
    public static let nameTooLong = Errno(rawValue: ENAMETOOLONG)
    public static let notEmpty = Errno(rawValue: ENOTEMPTY)
    public static let notSupported = Errno(rawValue: EOPNOTSUPP)
    public static let notImplemented = Errno(rawValue: ENOSYS)
    public static let noSuchDevice = Errno(rawValue: ENXIO)
    static let noDevice = Errno(rawValue: ENODEV)
    public static let notConnected = Errno(rawValue: ENOTCONN)
    public static let noData = Errno(rawValue: ENODATA)
    public static let overflow = Errno(rawValue: EOVERFLOW)
    public static let timedOut = Errno(rawValue: ETIMEDOUT)
    public static let notTerminal = Errno(rawValue: ENOTTY)
    public static let badDescriptor = Errno(rawValue: EBADF)
    public static let stale = Errno(rawValue: ESTALE)

    /// Errors of opening a name that is not a directory; `tooManyLinks` is a symlink opened with `noFollow`.
    public static let noDirectory: Set<Errno> = [.noSuchFile, .notDirectory, .tooManyLinks]

    /// The process or the system lacks a resource. These errors say nothing about the object.
    public static let exhausted: Set<Errno> = [.noMemory, .manyOpenFiles, .manyOpenFilesInAll]

    /// The system's text for the number, such as "No such file or directory".
    public var description: String {
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
public func retrying<Result: SignedInteger>(_ call: () -> Result) throws(Errno) -> Result {
    while true {
        let result = call()
        if result >= 0 { return result }
        let errno = Errno.current
        if errno != .interrupted { throw errno }
    }
}
