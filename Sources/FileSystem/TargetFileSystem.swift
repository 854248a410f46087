import Synchronization

/// The file system of a target that is not complete. All directories that are opened below the target's root share it.
public final class TargetFileSystem: Sendable {
    private let value: Mutex<FileSystemCapabilities>
    let keepsInodes: Bool
    private let shown = Mutex<FileStatus?>(nil)

    public var capabilities: FileSystemCapabilities { value.withLock { $0 } }

    public init(_ capabilities: FileSystemCapabilities) {
        keepsInodes = capabilities.keepsInodes
        value = Mutex(capabilities)
    }

    /// The status of a new object of this user in a directory. Any kind of mount may show an owner and permissions of
    /// its own. It is tried once.
    fileprivate func new(in directory: Directory) throws(SystemError) -> FileStatus {
        if let known = shown.withLock({ $0 }) { return known }
        let name = PendingFile.temporaryName
        let file = try directory.open(name, [.write, .create, .exclusive, .noFollow], permissions: 0o600)
        let status = Result { () throws(Errno) in try file.status() }
        try directory.unlink(name)
        let found = try calling("statx", directory.path(of: name)) { () throws(Errno) in try status.get() }
        shown.withLock { $0 = found }
        return found
    }

    /// Stores the findings of a probe.
    public func take(_ capabilities: FileSystemCapabilities) {
        value.withLock { $0 = capabilities }
    }
}

/// The owner of an object, if its file system shows the owner.
public enum Ownership: Sendable {
    case own
    /// It looks like all objects that this user makes there, and others may write to it.
    case sharedByMount
    case other
    case writableForOthers
}

extension Directory {
    /// The owner of an object on this directory's file system.
    public func ownership(of status: FileStatus) throws(SystemError) -> Ownership {
        let isOwn = status.isOwn
        let isOpen = status.permissions & 0o022 != 0
        if isOwn, !isOpen { return .own }
        if fileSystem?.capabilities.showsMountOwner == true { return isOpen ? .sharedByMount : .own }
        guard let new = try? fileSystem?.new(in: self) else { return isOwn ? .writableForOthers : .other }
        guard status.owner == new.owner else { return .other }
        return isOpen && new.permissions & 0o022 == 0 ? .writableForOthers : .sharedByMount
    }
}

extension FileStatus {
    /// The status without the values that the file system invents. An invented inode number says nothing, and becomes
    /// 0.
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
