import CLinux
import Glibc

/// The project and the encryption policy of an object. A directory may accept only objects of its own domain: renaming
/// or linking another object into it fails (`EXDEV`). Moving objects out is always allowed.
public struct Domain: Hashable, Sendable {
    /// nil if the kernel does not report it; it always does for a directory.
    public var project: UInt32? = 0
    /// For a directory: new objects in it get its project, and objects of other projects are refused.
    public var handsDownProject = false
    /// The `fscrypt_policy`: empty for none, nil for types that are never encrypted.
    public var policy: [UInt8]? = []

    public init() {}

    /// Whether this directory accepts only objects of its own domain.
    public var isExclusive: Bool { handsDownProject || isEncrypted }
    public var isEncrypted: Bool { policy.map { !$0.isEmpty } ?? false }

    /// Whether an object can be renamed or linked into this directory; nil if only an attempt can show it.
    public func admits(_ other: Domain) -> Bool? {
        if isEncrypted, other.policy != nil, policy != other.policy { return false }
        guard handsDownProject else { return true }
        return other.project.map { $0 == project }
    }
}

extension FileSystemInfo {
    /// Whether the file system supports projects or encrypted directories.
    public var hasDomains: Bool { ["ext4", "xfs", "f2fs"].contains(name) }
}

extension Directory {
    public func domain() throws(SystemError) -> Domain {
        try calling("ioctl", path) { () throws(Errno) in
            try withRawDescriptor { (descriptor) throws(Errno) in try Domain(descriptor) }
        }
    }

    /// The domain of a name, without following a symlink. For objects that cannot be opened, the kernel reports the
    /// project only since Linux 6.17, and only on some file systems.
    ///
    /// - Parameter own: the domain of this directory.
    public func domain(of name: FileName, in own: Domain) throws(SystemError) -> Domain {
        guard let status = try status(of: name) else {
            throw SystemError("statx", path(of: name), .noSuchFile)
        }
        var domain = Domain()
        domain.project = project(of: name)
        switch status.type {
        case .file, .directory:
            guard domain.project == nil || status.isEncrypted else { return domain }
            let descriptor = try open(name, [.read, .noFollow, .nonBlocking])
            return try calling("ioctl", path(of: name)) { () throws(Errno) in try Domain(descriptor.rawValue)
            }
        case .symlink:
            // The policy cannot be read. In an encrypted directory, it is the directory's.
            if status.isEncrypted { domain.policy = own.isEncrypted ? own.policy : [0] }
        case .fifo, .socket, .characterDevice, .blockDevice:
            domain.policy = nil
            // XFS accepts these everywhere, because its tools give them no project.
            if domain.project == 0 { domain.project = nil }
        }
        return domain
    }

    /// The corresponding call is `file_getattr` of Linux 6.17.
    private func project(of name: FileName) -> UInt32? {
        var project: UInt32 = 0
        let isKnown = name.withCString { name in
            withRawDescriptor { file_project($0, name, &project) == 0 }
        }
        return isKnown ? project : nil
    }

    /// Sets the project of the directory, and whether new objects in it inherit it.
    public func setProject(_ project: UInt32, handsDown: Bool) throws(SystemError) {
        try calling("ioctl", path) { () throws(Errno) in
            try withRawDescriptor { (descriptor) throws(Errno) in
                try Domain.setProject(of: descriptor, project, handsDown: handsDown)
            }
        }
    }

    /// Stops handing down the project, so that objects of any project can be moved in.
    public func openToAll() throws(SystemError) {
        let domain = try domain()
        if domain.handsDownProject { try setProject(domain.project ?? 0, handsDown: false) }
    }
}

extension FileDescriptor {
    public func domain() throws(Errno) -> Domain { try Domain(rawValue) }

    public func setProject(_ project: UInt32) throws(Errno) {
        try Domain.setProject(of: rawValue, project, handsDown: false)
    }
}

/// Numbers and offsets are those of `linux/fs.h` and `linux/fscrypt.h`.
extension Domain {
    private static let getAttributes: UInt = 0x801C_581F
    private static let setAttributes: UInt = 0x401C_5820
    private static let getPolicy: UInt = 0xC009_6616
    private static let inherit: UInt32 = 0x200
    private static let projectOffset = 12
    /// The errors of file systems without projects or encryption.
    private static let none: Set<Errno> = [
        .notTerminal, .notSupported, .notImplemented, .invalid, .noData, .badDescriptor,
    ]

    /// `FS_IOC_FSGETXATTR` fills a `struct fsxattr`, `FS_IOC_GET_ENCRYPTION_POLICY_EX` a `fscrypt_get_policy_ex_arg`.
    fileprivate init(_ descriptor: Int32) throws(Errno) {
        if let attributes = try Domain.ask(descriptor, Domain.getAttributes, [UInt8](repeating: 0, count: 28))
        {
            attributes.withUnsafeBytes {
                handsDownProject = $0.loadUnaligned(as: UInt32.self) & Domain.inherit != 0
                project = $0.loadUnaligned(fromByteOffset: Domain.projectOffset, as: UInt32.self)
            }
        }
        let buffer: [UInt8] = [24] + [UInt8](repeating: 0, count: 31)
        if let found = try Domain.ask(descriptor, Domain.getPolicy, buffer) {
            policy = Array(found[8..<8 + min(Int(found[0]), 24)])
        }
    }

    private static func ask(
        _ descriptor: Int32, _ number: UInt, _ argument: [UInt8]
    ) throws(Errno) -> [UInt8]? {
        var argument = argument
        do throws(Errno) {
            _ = try retrying { ioctl(descriptor, number, &argument) }
            return argument
        } catch {
            guard none.contains(error) else { throw error }
            return nil
        }
    }

    fileprivate static func setProject(
        of descriptor: Int32, _ project: UInt32, handsDown: Bool
    ) throws(Errno) {
        var attributes = [UInt8](repeating: 0, count: 28)
        _ = try retrying { ioctl(descriptor, getAttributes, &attributes) }
        attributes.withUnsafeMutableBytes {
            var flags = $0.loadUnaligned(as: UInt32.self) & ~inherit
            if handsDown { flags |= inherit }
            $0.storeBytes(of: flags, as: UInt32.self)
            $0.storeBytes(of: project, toByteOffset: projectOffset, as: UInt32.self)
        }
        _ = try retrying { ioctl(descriptor, setAttributes, &attributes) }
    }
}
