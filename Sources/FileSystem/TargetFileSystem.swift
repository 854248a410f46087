import Synchronization

/// The file system of a target that is not complete, shared by all directories opened below the target's root.
public final class TargetFileSystem: Sendable {
    private let value: Mutex<FileSystemCapabilities>
    let keepsInodes: Bool

    public var capabilities: FileSystemCapabilities { value.withLock { $0 } }

    public init(_ capabilities: FileSystemCapabilities) {
        keepsInodes = capabilities.keepsInodes
        value = Mutex(capabilities)
    }

    /// Takes what a probe has found.
    public func take(_ capabilities: FileSystemCapabilities) {
        value.withLock { $0 = capabilities }
    }
}

extension FileStatus {
    /// The status without what the file system makes up: such an inode number says nothing of the object, and is 0 for
    /// all.
    func seen(on fileSystem: TargetFileSystem?) -> FileStatus {
        guard let fileSystem else { return self }
        var status = self
        status.created = nil
        guard !fileSystem.keepsInodes else { return status }
        status.inode = 0
        if type != .directory { status.links = 1 }
        return status
    }
}
