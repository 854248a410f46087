import Glibc

extension Errno {
    /// The names of the errors that reading a tree can end with. The numbers differ between machines.
    private static let names: [(Int32, String)] = [
        (EPERM, "EPERM"), (ENOENT, "ENOENT"), (EIO, "EIO"), (ENXIO, "ENXIO"), (EBADF, "EBADF"),
        (ENOMEM, "ENOMEM"), (EACCES, "EACCES"), (EBUSY, "EBUSY"), (ENODEV, "ENODEV"),
        (ENOTDIR, "ENOTDIR"), (EISDIR, "EISDIR"), (EINVAL, "EINVAL"), (ENFILE, "ENFILE"),
        (EMFILE, "EMFILE"), (EFBIG, "EFBIG"), (ELOOP, "ELOOP"), (ENAMETOOLONG, "ENAMETOOLONG"),
        (ENODATA, "ENODATA"), (EOVERFLOW, "EOVERFLOW"), (EOPNOTSUPP, "EOPNOTSUPP"), (ENOSYS, "ENOSYS"),
        (ETIMEDOUT, "ETIMEDOUT"), (ESTALE, "ESTALE"), (ECANCELED, "ECANCELED"), (EXDEV, "EXDEV"),
        (ENOKEY, "ENOKEY"), (EBADMSG, "EBADMSG"), (EREMOTEIO, "EREMOTEIO"),
    ]

    /// The name of the error, such as `ENOENT`.
    public var name: String { Errno.names.first { $0.0 == rawValue }?.1 ?? "EREMOTEIO" }

    /// An unknown name becomes `EREMOTEIO`, an error of another machine.
    public init(name: String) {
        self.init(rawValue: Errno.names.first { $0.1 == name }?.0 ?? EREMOTEIO)
    }
}
