import Glibc

extension Errno {
    /// The names of errors that reading a tree can end with: the numbers are not the same on every machine.
    private static let names: [(Int32, String)] = [
        (EPERM, "EPERM"), (ENOENT, "ENOENT"), (EIO, "EIO"), (ENXIO, "ENXIO"), (EBADF, "EBADF"),
        (ENOMEM, "ENOMEM"), (EACCES, "EACCES"), (EBUSY, "EBUSY"), (ENODEV, "ENODEV"),
        (ENOTDIR, "ENOTDIR"), (EISDIR, "EISDIR"), (EINVAL, "EINVAL"), (ENFILE, "ENFILE"),
        (EMFILE, "EMFILE"), (EFBIG, "EFBIG"), (ELOOP, "ELOOP"), (ENAMETOOLONG, "ENAMETOOLONG"),
        (ENODATA, "ENODATA"), (EOVERFLOW, "EOVERFLOW"), (EOPNOTSUPP, "EOPNOTSUPP"), (ENOSYS, "ENOSYS"),
        (ETIMEDOUT, "ETIMEDOUT"), (ESTALE, "ESTALE"), (ECANCELED, "ECANCELED"), (EXDEV, "EXDEV"),
        (ENOKEY, "ENOKEY"), (EBADMSG, "EBADMSG"), (EREMOTEIO, "EREMOTEIO"),
    ]

    /// Its name, such as `ENOENT`.
    public var name: String { Errno.names.first { $0.0 == rawValue }?.1 ?? "EREMOTEIO" }

    /// An unknown name is an error of another machine.
    public init(name: String) {
        self.init(rawValue: Errno.names.first { $0.1 == name }?.0 ?? EREMOTEIO)
    }
}
