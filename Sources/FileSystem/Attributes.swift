/// The metadata of an object that can be set without touching its content.
public struct Attributes: Hashable, Sendable {
    public var permissions: UInt16
    public var owner: UInt32
    public var group: UInt32
    public var modified: FileTime
    /// All extended attributes; nil leaves them unchanged.
    public var extended: ExtendedAttributes?

    public init(_ status: FileStatus, extended: ExtendedAttributes? = nil) {
        permissions = status.permissions
        owner = status.owner
        group = status.group
        modified = status.modified
        self.extended = extended
    }

    public init(permissions: UInt16, owner: UInt32, group: UInt32, modified: FileTime) {
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.modified = modified
    }
}

extension ObjectHandle {
    /// Sets the attributes that differ from the present state. The order matters. The owner comes first, because its
    /// change clears setuid, setgid and capabilities. Extended attributes are next, because an ACL sets permissions.
    /// The modification time is last.
    ///
    /// Root without `CAP_FOWNER` may give objects away, but not change those of others. It becomes the owner for the
    /// time of the change, and then gives the object back. This clears setuid and setgid of a file, so they are not
    /// set.
    ///
    /// - Parameters:
    ///   - status: the present state, without extended attributes.
    ///   - selection: the kinds of extended attributes that the object may have; nil for a new object, which has none.
    /// - Returns: the attributes that the object does not accept.
    public func set(
        _ wanted: Attributes, over status: FileStatus, setsOwner: Bool,
        _ selection: ExtendedAttributes.Selection?
    ) throws(SystemError) -> RefusedAttributes {
        guard Account.isRoot, !Account.changesOthers else {
            return try setInOrder(wanted, over: status, setsOwner: setsOwner, selection)
        }
        let own = Account.effectiveUser
        var refused = RefusedAttributes()
        if status.owner != own { try setOwner(own, group: status.group) }
        var (unprivileged, given) = (
            wanted, setsOwner ? (wanted.owner, wanted.group) : (status.owner, status.group)
        )
        if given.0 != own, status.type != .directory { unprivileged.permissions &= ~FileStatus.identityBits }
        // A change of owner also clears the capability, and setting one needs another privilege.
        let isCapability = { (attribute: ExtendedAttributes.Attribute) in
            attribute.name.elementsEqual("security.capability".utf8)
        }
        unprivileged.extended = wanted.extended?.filter { !isCapability($0) }
        let result = Result { () throws(SystemError) in
            try setInOrder(unprivileged, over: self.status(), setsOwner: false, selection)
        }
        do throws(SystemError) {
            if given != (own, status.group) { try setOwner(given.0, group: given.1) }
        } catch {
            guard setsOwner, RefusedAttributes.ofOwner.contains(error.errno) else { throw error }
            refused.owner = error
            given = (status.owner, status.group)
            if given.0 != own { try setOwner(given.0, group: given.1) }
        }
        refused.extended = try result.get().extended
        if let capability = wanted.extended?.filter(isCapability), !capability.isEmpty {
            let lost = try setExtendedAttributes(capability, over: ExtendedAttributes())
            refused.extended = ExtendedAttributes(refused.extended.attributes + lost.attributes)
        }
        return refused
    }

    private func setInOrder(
        _ wanted: Attributes, over status: FileStatus, setsOwner: Bool,
        _ selection: ExtendedAttributes.Selection?
    ) throws(SystemError) -> RefusedAttributes {
        var (wanted, refused) = (wanted, RefusedAttributes())
        let changesOwner = setsOwner && (status.owner != wanted.owner || status.group != wanted.group)
        if changesOwner {
            do throws(SystemError) {
                try setOwner(wanted.owner, group: wanted.group)
            } catch {
                guard RefusedAttributes.ofOwner.contains(error.errno) else { throw error }
                refused.owner = error
                if status.type == .file { wanted.permissions &= ~FileStatus.identityBits }
            }
        }
        if let extended = wanted.extended {
            var present = ExtendedAttributes()
            if let selection { present = try extendedAttributes(selection) }
            // Ordinary users need write permission, even on their own objects.
            if present != extended, status.permissions & 0o200 == 0, status.type != .symlink,
                !Account.isRoot, status.isOwn
            {
                try setPermissions(status.permissions | 0o200)
            }
            refused.extended = try setExtendedAttributes(extended, over: present)
        }
        if status.type != .symlink {
            let permissions =
                changesOwner || wanted.extended != nil ? try self.status().permissions : status.permissions
            if permissions != wanted.permissions { try setPermissions(tolerating: wanted.permissions) }
        }
        if status.modified != wanted.modified { try setModified(wanted.modified) }
        return refused
    }
}

extension ObjectHandle {
    /// Sets permissions. A target's file system that has no permissions may refuse all changes, or some.
    private func setPermissions(tolerating permissions: UInt16) throws(SystemError) {
        do throws(SystemError) {
            try setPermissions(permissions)
        } catch {
            guard isOnIncompleteFileSystem, RefusedAttributes.ofPermissions.contains(error.errno) else {
                throw error
            }
        }
    }

    /// Runs `body` with write permission on this directory, even if its owner has removed that permission.
    public func whileWritable<Value>(_ body: () throws -> Value) throws -> Value {
        let permissions = try status().permissions
        guard !Account.isRoot, permissions & 0o300 != 0o300 else { return try body() }
        try setPermissions(permissions | 0o300)
        let result = Result { try body() }
        try setPermissions(permissions)
        return try result.get()
    }
}

/// Attributes that an object does not accept.
public struct RefusedAttributes {
    /// The error that owner and group were refused with.
    public var owner: SystemError?
    public var extended = ExtendedAttributes()

    /// Errors for a number that the user namespace or the mount cannot map, or for a user who may not give files away.
    static let ofOwner: Set<Errno> = [.invalid, .overflow, .notPermitted]
    static let ofPermissions: Set<Errno> = [.notPermitted, .notSupported, .notImplemented, .invalid]
}

extension FileStatus {
    /// Setuid and setgid: the file runs with the rights of its owner or group.
    public static let identityBits: UInt16 = 0o6000

    /// Lets another owner read the object. Its permissions may forbid that to any owner, so it would be closed to
    /// everybody. Root needs no permission bits to read.
    ///
    /// - Returns: whether that changes anything.
    @discardableResult
    public mutating func open(to other: UInt32) -> Bool {
        let access: UInt16 = type == .directory ? 0o500 : 0o400
        guard owner != other, other != 0, type != .symlink, permissions & access != access else {
            return false
        }
        permissions |= access
        return true
    }

    /// For an object that keeps its owner. Clears the bits that would grant the rights of a different owner or group,
    /// and lets its owner read it.
    public mutating func keepOwner(of other: FileStatus) {
        open(to: other.owner)
        if type == .file {
            if owner != other.owner { permissions &= ~FileStatus.identityBits }
            // If the group is not one of the user's, the kernel clears setgid for ordinary users. The run
            // reports that as omitted.
            if group != other.group, Account.isRoot { permissions &= ~0o2000 }
        }
        (owner, group) = (other.owner, other.group)
    }
}
