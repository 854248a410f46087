import Glibc

/// A file that was opened for reading, usually before it is needed.
public final class AnnouncedFile: Sendable {
    public let descriptor: FileDescriptor

    public init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// The bytes that the kernel reads ahead on an announcement. It reads the rest ahead by itself.
    private static let length = 1 << 20

    /// Makes the kernel begin to read the file. The corresponding C function is `posix_fadvise` with
    /// `POSIX_FADV_WILLNEED`. A failure costs only time.
    public func announce() {
        _ = posix_fadvise(descriptor.rawValue, 0, AnnouncedFile.length, POSIX_FADV_WILLNEED)
    }
}

extension Directory {
    /// Opens a file of a tree for reading.
    public func openContent(_ name: FileName) throws(SystemError) -> AnnouncedFile {
        AnnouncedFile(try open(name, [.read, .noFollow, .nonBlocking]))
    }
}
